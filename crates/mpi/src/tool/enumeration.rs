//! Enumerations of control variables (MPI-5.0 15.3.5): the two values of a switch, the names of a choice.
use super::*;
use crate::config::REGISTRY;
use oxmpi_base::config::Kind;

/// The handle of the enumeration of the control variable at index 0; the others follow.
const FIRST: usize = 0x100;

/// The enumeration of a control variable, MPI_T_ENUM_NULL if it has none.
pub(super) fn of(cvar_index: usize, kind: Kind) -> usize {
    if items(kind).is_some() { FIRST + cvar_index } else { MPI_T_ENUM_NULL }
}

fn items(kind: Kind) -> Option<&'static [&'static str]> {
    match kind {
        Kind::Switch => Some(&["false", "true"]),
        Kind::Choice(names) => Some(names),
        _ => None,
    }
}

/// The name and the items of an enumeration.
fn find(enumtype: usize) -> Result<(&'static str, &'static [&'static str])> {
    let v = enumtype.checked_sub(FIRST).and_then(|i| REGISTRY.variables().nth(i));
    v.and_then(|v| Some((v.name, items(v.kind)?))).ok_or_else(|| error(MPI_T_ERR_INVALID_HANDLE))
}

pub fn t_enum_get_info(enumtype: usize, num: Out<i32>, name: OutStr, name_len: Out<i32>) -> Result<()> {
    ready()?;
    let (own_name, items) = find(enumtype)?;
    put(num, items.len() as i32);
    give_string(name, name_len, own_name)
}

pub fn t_enum_get_item(enumtype: usize, index: i32, value: Out<i32>, name: OutStr, name_len: Out<i32>) -> Result<()> {
    ready()?;
    let (_, items) = find(enumtype)?;
    let item = super::index(items.iter(), index)?;
    put(value, index);
    give_string(name, name_len, item)
}
