//! Placeholder: what the object modules need of a communicator.
use crate::table::Table;
use crate::{attr, errhan};
use oxmpi_base::{Result, handle};
use std::sync::Arc;

pub struct Comm {
    pub attrs: attr::AttrSet,
    pub errhandler: errhan::Cell,
}

pub static COMMS: Table<handle::Comm, Comm> = Table::new();

pub fn get(h: handle::Comm) -> Result<Arc<Comm>> {
    COMMS.arc(h)
}
