//! MPI_Comm_create_from_group (MPI-5.0 7.4.2): a communicator of a group, without a parent.
use super::{get, of_group};
use crate::{errhan, group, info};
use oxmpi_base::args::{Out, Str};
use oxmpi_base::consts::*;
use oxmpi_base::handle::Kind;
use oxmpi_base::{Result, bail, handle};

/// The string of a call, checked.
pub(super) fn tag<'a>(stringtag: Str) -> Result<&'a [u8]> {
    let tag = stringtag.get()?.to_bytes();
    if tag.len() >= MPI_MAX_STRINGTAG_LEN as usize {
        bail!(MPI_ERR_ARG, "the string tag has {} bytes; at most {} are allowed", tag.len(), MPI_MAX_STRINGTAG_LEN - 1);
    }
    Ok(tag)
}

/// An error of this call goes to the handler that the communicator would have had.
pub fn comm_create_from_group(
    group: handle::Group,
    stringtag: Str,
    info: handle::Info,
    errhandler: handle::Errhandler,
    newcomm: Out<handle::Comm>,
) -> Result<()> {
    let g = group::get(group)?;
    let tag = tag(stringtag)?;
    let hints = info::optional(info)?;
    let handler = errhan::Cell::new(errhan::get_for(Kind::Comm, errhandler)?);
    newcomm.set(MPI_COMM_NULL)?;
    if g.size() == 0 {
        return Ok(());
    }
    if g.my_rank().is_none() {
        bail!(MPI_ERR_GROUP, "this process is not in the group of {} processes; only its members call", g.size());
    }
    let new = of_group(g.to_arc(), tag, handler)?;
    if let Some(i) = hints {
        get(new)?.take_hints(&i)?;
    }
    newcomm.set(new)
}
