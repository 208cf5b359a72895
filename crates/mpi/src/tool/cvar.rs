//! Control variables (MPI-5.0 15.3.6). A size is an MPI_UNSIGNED_LONG_LONG, an integer an MPI_INT, a switch and a choice
//! an MPI_INT with an enumeration, a set of names and a text an MPI_CHAR string.
//!
//! What the declaration calls `live` can be written at any time; all others until MPI_Init, which uses them.
use super::*;
use crate::config::REGISTRY;
use crate::world::any_world;
use oxmpi_base::args::Buf;
use oxmpi_base::config::{Kind, Source, TEXT_MAX, Value, Variable};
use oxmpi_base::handle::Datatype;
use std::collections::BTreeMap;

static HANDLES: Mutex<BTreeMap<usize, &'static Variable>> = Mutex::new(BTreeMap::new());

fn of(handle: usize) -> Result<&'static Variable> {
    lock(&HANDLES).get(&handle).copied().ok_or_else(|| error(MPI_T_ERR_INVALID_HANDLE))
}

fn datatype(kind: Kind) -> Datatype {
    match kind {
        Kind::Size { .. } => MPI_UNSIGNED_LONG_LONG,
        Kind::Integer { .. } | Kind::Switch | Kind::Choice(_) => MPI_INT,
        Kind::Set(_) | Kind::Text => MPI_CHAR,
    }
}

pub fn t_cvar_get_num(num_cvar: Out<i32>) -> Result<()> {
    ready()?;
    give(num_cvar, REGISTRY.variables().count() as i32)
}

#[allow(clippy::too_many_arguments)] // the standard's argument list
pub fn t_cvar_get_info(
    cvar_index: i32,
    name: OutStr,
    name_len: Out<i32>,
    verbosity: Out<i32>,
    datatype: Out<Datatype>,
    enumtype: Out<usize>,
    desc: OutStr,
    desc_len: Out<i32>,
    bind: Out<i32>,
    scope: Out<i32>,
) -> Result<()> {
    ready()?;
    let v = index(REGISTRY.variables(), cvar_index)?;
    give_string(name, name_len, v.name)?;
    put(verbosity, v.verbosity);
    put(datatype, self::datatype(v.kind));
    put(enumtype, enumeration::of(cvar_index as usize, v.kind));
    give_string(desc, desc_len, v.help())?;
    put(bind, MPI_T_BIND_NO_OBJECT);
    put(scope, v.scope);
    Ok(())
}

pub fn t_cvar_get_index(name: Str, cvar_index: Out<i32>) -> Result<()> {
    ready()?;
    let name = name_of(name)?;
    give(cvar_index, place(REGISTRY.variables().position(|v| v.name == name))?)
}

pub fn t_cvar_handle_alloc(cvar_index: i32, _obj_handle: Buf, handle: Out<usize>, count: Out<i32>) -> Result<()> {
    ready()?;
    let v = index(REGISTRY.variables(), cvar_index)?;
    let h = new_handle();
    give(handle, h)?;
    put(count, if datatype(v.kind) == MPI_CHAR { TEXT_MAX as i32 + 1 } else { 1 });
    lock(&HANDLES).insert(h, v);
    Ok(())
}

pub fn t_cvar_handle_free(handle: Out<usize>) -> Result<()> {
    ready()?;
    lock(&HANDLES).remove(&held(handle)?).ok_or_else(|| error(MPI_T_ERR_INVALID_HANDLE))?;
    give(handle, MPI_T_CVAR_HANDLE_NULL)
}

pub fn t_cvar_read(handle: usize, buf: Buf) -> Result<()> {
    ready()?;
    let v = of(handle)?;
    if buf.addr() == 0 {
        return Err(error(MPI_T_ERR_INVALID));
    }
    let value = v.value();
    // SAFETY: the buffer holds one element of the datatype that get_info gave, or for MPI_CHAR the number of
    // bytes that handle_alloc gave, TEXT_MAX + 1, which no text with its zero byte exceeds.
    unsafe {
        match (v.kind, &value) {
            (Kind::Size { .. }, Value::Word(w)) => buf.as_mut_ptr().cast::<u64>().write_unaligned(*w),
            (Kind::Integer { .. } | Kind::Switch | Kind::Choice(_), Value::Word(w)) => {
                buf.as_mut_ptr().cast::<i32>().write_unaligned(*w as i32)
            }
            _ => {
                let text = v.show(&value);
                let n = text.len().min(TEXT_MAX);
                std::ptr::copy_nonoverlapping(text.as_ptr(), buf.as_mut_ptr(), n);
                buf.as_mut_ptr().add(n).write(0);
            }
        }
    }
    Ok(())
}

pub fn t_cvar_write(handle: usize, buf: Buf) -> Result<()> {
    ready()?;
    let v = of(handle)?;
    if buf.addr() == 0 {
        return Err(error(MPI_T_ERR_INVALID));
    }
    if !v.live && any_world().is_some() {
        return Err(error(MPI_T_ERR_CVAR_SET_NOT_NOW));
    }
    // SAFETY: the buffer holds one element of the datatype that get_info gave; a string ends with a zero byte or
    // has the length that handle_alloc gave.
    let value = unsafe {
        match v.kind {
            Kind::Size { .. } => Value::Word(buf.as_ptr().cast::<u64>().read_unaligned()),
            Kind::Integer { .. } => Value::Word(buf.as_ptr().cast::<i32>().read_unaligned() as u32 as u64),
            // A negative number becomes one that is out of range.
            Kind::Switch | Kind::Choice(_) => Value::Word(buf.as_ptr().cast::<i32>().read_unaligned() as i64 as u64),
            Kind::Set(_) | Kind::Text => {
                let length = (0..=TEXT_MAX).find(|at| *buf.as_ptr().add(*at) == 0);
                let length = length.ok_or_else(|| error(MPI_T_ERR_INVALID))?;
                let text = std::str::from_utf8(std::slice::from_raw_parts(buf.as_ptr(), length));
                v.parse(text.map_err(|_| error(MPI_T_ERR_INVALID))?).map_err(|_| error(MPI_T_ERR_INVALID))?
            }
        }
    };
    v.check(&value).map_err(|_| error(MPI_T_ERR_INVALID))?;
    v.set(value, Source::Tool);
    Ok(())
}
