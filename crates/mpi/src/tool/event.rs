//! Events and their sources (MPI-5.0 15.3.8): there are none, so every index, name, registration and instance is refused
//! as one that does not exist.
use super::*;
use oxmpi_base::args::{Arr, Buf, FnPtr};
use oxmpi_base::handle::{Datatype, Info};

fn no_index() -> Result<()> {
    ready()?;
    Err(error(MPI_T_ERR_INVALID_INDEX))
}

fn no_handle() -> Result<()> {
    ready()?;
    Err(error(MPI_T_ERR_INVALID_HANDLE))
}

pub fn t_source_get_num(num_sources: Out<i32>) -> Result<()> {
    ready()?;
    give(num_sources, 0)
}

#[allow(clippy::too_many_arguments)] // the standard's argument list
pub fn t_source_get_info(
    _source_index: i32,
    _name: OutStr,
    _name_len: Out<i32>,
    _desc: OutStr,
    _desc_len: Out<i32>,
    _ordering: Out<i32>,
    _ticks_per_second: Out<i64>,
    _max_ticks: Out<i64>,
    _info: Out<Info>,
) -> Result<()> {
    no_index()
}

pub fn t_source_get_timestamp(_source_index: i32, _timestamp: Out<i64>) -> Result<()> {
    no_index()
}

pub fn t_event_get_num(num_events: Out<i32>) -> Result<()> {
    ready()?;
    give(num_events, 0)
}

#[allow(clippy::too_many_arguments)] // the standard's argument list
pub fn t_event_get_info(
    _event_index: i32,
    _name: OutStr,
    _name_len: Out<i32>,
    _verbosity: Out<i32>,
    _array_of_datatypes: Arr<Datatype>,
    _array_of_displacements: Arr<i64>,
    _num_elements: Out<i32>,
    _enumtype: Out<usize>,
    _info: Out<Info>,
    _desc: OutStr,
    _desc_len: Out<i32>,
    _bind: Out<i32>,
) -> Result<()> {
    no_index()
}

pub fn t_event_get_index(name: Str, _event_index: Out<i32>) -> Result<()> {
    ready()?;
    name_of(name)?;
    Err(error(MPI_T_ERR_INVALID_NAME))
}

pub fn t_event_handle_alloc(
    _event_index: i32,
    _obj_handle: Buf,
    _info: Info,
    _event_registration: Out<usize>,
) -> Result<()> {
    no_index()
}

pub fn t_event_handle_set_info(_event_registration: usize, _info: Info) -> Result<()> {
    no_handle()
}

pub fn t_event_handle_get_info(_event_registration: usize, _info_used: Out<Info>) -> Result<()> {
    no_handle()
}

pub fn t_event_register_callback(
    _event_registration: usize,
    _cb_safety: i32,
    _info: Info,
    _user_data: usize,
    _event_cb_function: FnPtr,
) -> Result<()> {
    no_handle()
}

pub fn t_event_callback_set_info(_event_registration: usize, _cb_safety: i32, _info: Info) -> Result<()> {
    no_handle()
}

pub fn t_event_callback_get_info(_event_registration: usize, _cb_safety: i32, _info_used: Out<Info>) -> Result<()> {
    no_handle()
}

pub fn t_event_handle_free(_event_registration: usize, _user_data: usize, _free_cb_function: FnPtr) -> Result<()> {
    no_handle()
}

pub fn t_event_set_dropped_handler(_event_registration: usize, _dropped_cb_function: FnPtr) -> Result<()> {
    no_handle()
}

pub fn t_event_read(_event_instance: usize, _element_index: i32, _buffer: Buf) -> Result<()> {
    no_handle()
}

pub fn t_event_copy(_event_instance: usize, _buffer: Buf) -> Result<()> {
    no_handle()
}

pub fn t_event_get_timestamp(_event_instance: usize, _event_timestamp: Out<i64>) -> Result<()> {
    no_handle()
}

pub fn t_event_get_source(_event_instance: usize, _source_index: Out<i32>) -> Result<()> {
    no_handle()
}
