//! Categories (MPI-5.0 15.3.9): one for each part of the library, some within others, never changing. A variable or event is in one.
use super::*;
use crate::config::{PARTS, VARIABLES};
use crate::measures::{EVENTS, MEASURES};
use oxmpi_base::args::Arr;

fn checked(cat_index: i32) -> Result<usize> {
    index(0..PARTS.len(), cat_index)
}

/// Where the variables of part `p` begin among those of all `groups`, and how many they are.
fn range<T>(groups: &[&[T]], p: usize) -> std::ops::Range<usize> {
    let before: usize = groups.iter().take(p).map(|g| g.len()).sum();
    before..before + groups.get(p).map_or(0, |g| g.len())
}

/// The parts within part `p`.
fn within(p: usize) -> Vec<usize> {
    (0..PARTS.len()).filter(|i| PARTS[*i].within == Some(PARTS[p].name)).collect()
}

/// As many of the indices as there is room for.
fn list(len: i32, indices: Arr<i32>, all: impl ExactSizeIterator<Item = usize>) -> Result<()> {
    let room = usize::try_from(len).map_err(|_| error(MPI_T_ERR_INVALID))?;
    let n = room.min(all.len());
    if n > 0 && indices.is_null() {
        return Err(error(MPI_T_ERR_INVALID));
    }
    for (to, i) in all.take(n).enumerate() {
        indices.put(to, i as i32);
    }
    Ok(())
}

pub fn t_category_get_num(num_cat: Out<i32>) -> Result<()> {
    ready()?;
    give(num_cat, PARTS.len() as i32)
}

#[allow(clippy::too_many_arguments)] // the standard's argument list
pub fn t_category_get_info(
    cat_index: i32,
    name: OutStr,
    name_len: Out<i32>,
    desc: OutStr,
    desc_len: Out<i32>,
    num_cvars: Out<i32>,
    num_pvars: Out<i32>,
    num_categories: Out<i32>,
) -> Result<()> {
    ready()?;
    let p = checked(cat_index)?;
    give_string(name, name_len, PARTS[p].name)?;
    give_string(desc, desc_len, PARTS[p].help)?;
    put(num_cvars, range(VARIABLES, p).len() as i32);
    put(num_pvars, range(MEASURES, p).len() as i32);
    put(num_categories, within(p).len() as i32);
    Ok(())
}

pub fn t_category_get_index(name: Str, cat_index: Out<i32>) -> Result<()> {
    ready()?;
    let name = name_of(name)?;
    give(cat_index, place(PARTS.iter().position(|p| p.name == name))?)
}

pub fn t_category_get_cvars(cat_index: i32, len: i32, indices: Arr<i32>) -> Result<()> {
    ready()?;
    list(len, indices, range(VARIABLES, checked(cat_index)?))
}

pub fn t_category_get_pvars(cat_index: i32, len: i32, indices: Arr<i32>) -> Result<()> {
    ready()?;
    list(len, indices, range(MEASURES, checked(cat_index)?))
}

pub fn t_category_get_categories(cat_index: i32, len: i32, indices: Arr<i32>) -> Result<()> {
    ready()?;
    list(len, indices, within(checked(cat_index)?).into_iter())
}

pub fn t_category_get_num_events(cat_index: i32, num_events: Out<i32>) -> Result<()> {
    ready()?;
    give(num_events, range(EVENTS, checked(cat_index)?).len() as i32)
}

pub fn t_category_get_events(cat_index: i32, len: i32, indices: Arr<i32>) -> Result<()> {
    ready()?;
    list(len, indices, range(EVENTS, checked(cat_index)?))
}

/// Nothing changes, so the number does not.
pub fn t_category_changed(update_number: Out<i32>) -> Result<()> {
    ready()?;
    give(update_number, 0)
}
