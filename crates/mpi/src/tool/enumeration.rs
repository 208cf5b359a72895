//! Enumerations (MPI-5.0 15.3.5): the two values of a switch, the names of a choice, the states of a performance variable, the names of
//! an event's elements.
use super::*;
use crate::config::REGISTRY;
use crate::measures;
use oxmpi_base::config::Kind;
use oxmpi_base::measure::{Measure, Reading};

/// What has an enumeration; a handle is one of these and an index, far above the values of other handles.
const CVAR: usize = 1 << 40;
const PVAR: usize = 2 << 40;
const EVENT: usize = 3 << 40;

/// The enumeration of a control variable, MPI_T_ENUM_NULL if it has none.
pub(super) fn of(cvar_index: usize, kind: Kind) -> usize {
    if items(kind).is_some() { CVAR + cvar_index } else { MPI_T_ENUM_NULL }
}

pub(super) fn of_measure(pvar_index: usize, m: &Measure) -> usize {
    if matches!(m.reading, Reading::State(..)) { PVAR + pvar_index } else { MPI_T_ENUM_NULL }
}

pub(super) fn of_event(event_index: usize) -> usize {
    EVENT + event_index
}

fn items(kind: Kind) -> Option<&'static [&'static str]> {
    match kind {
        Kind::Switch => Some(&["false", "true"]),
        Kind::Choice(names) => Some(names),
        _ => None,
    }
}

/// The name and the items of an enumeration.
fn find(enumtype: usize) -> Result<(&'static str, Vec<&'static str>)> {
    let i = enumtype & (CVAR - 1);
    let found = match enumtype - i {
        CVAR => REGISTRY.variables().nth(i).and_then(|v| Some((v.name, items(v.kind)?.to_vec()))),
        PVAR => measures::all().nth(i).and_then(|m| match m.reading {
            Reading::State(_, names) => Some((m.name, names.to_vec())),
            _ => None,
        }),
        EVENT => event::elements(i),
        _ => None,
    };
    found.ok_or_else(|| error(MPI_T_ERR_INVALID_HANDLE))
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
    let item = usize::try_from(index).ok().and_then(|i| items.get(i));
    let item = item.ok_or_else(|| error(MPI_T_ERR_INVALID_ITEM))?;
    put(value, index);
    give_string(name, name_len, item)
}
