//! Whether arguments are checked (MPI-5.0 9.2: which errors are found is the library's choice).
//!
//! A check asks [`on`] when it has found something, not before, so that it costs nothing where all is well; loops over arrays of the caller ask
//! first. What the library itself relies on is always checked: handles, ranks and roots (they index tables), negative counts,
//! operations without a function for their type.
oxmpi_base::control! {
    /// Whether procedures look at their arguments: tags, null buffers, MPI_IN_PLACE where it is not allowed, arrays of counts, datatypes that are not
    /// committed. Without it a wrong argument may do anything; handles, ranks and negative counts are checked all the same.
    pub static CHECK: Switch = Switch::new("check_arguments", true).live();
}

/// Whether the switch is on.
#[inline]
pub fn on() -> bool {
    CHECK.get()
}
