//! Datatype objects.
use crate::attr::AttrSet;
use crate::table::{Ref, Table};
use oxmpi_base::{Result, handle};
use oxmpi_datatype::Datatype;
use std::sync::Mutex;

pub struct TypeObj {
    pub dt: Datatype,
    pub name: Mutex<String>,
    pub attrs: AttrSet,
}

static TYPES: Table<handle::Datatype, TypeObj> = Table::new();

pub fn get(h: handle::Datatype) -> Result<Ref<'static, handle::Datatype, TypeObj>> {
    TYPES.get(h)
}
