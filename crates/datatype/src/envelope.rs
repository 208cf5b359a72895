//! How a derived type was made (MPI-5.0 5.1.13, MPI_Type_get_envelope and MPI_Type_get_contents): the arguments of the
//! constructor call, in the order MPI_Type_get_contents returns them.
//!
//! Invariant: a type made by a `_c` constructor keeps every POLY count and displacement in `large_counts`; `integers` then holds
//! only what stays `int` in the `_c` form (ndims, order, ranks, distributions). Types made otherwise have no large counts.
use crate::Datatype;
use oxmpi_base::{Result, bail, consts::*};

#[derive(Debug, Default)]
pub struct Envelope {
    /// MPI_COMBINER_*.
    pub combiner: i32,
    pub integers: Vec<i32>,
    pub addresses: Vec<i64>,
    pub large_counts: Vec<i64>,
    pub datatypes: Vec<Datatype>,
}

impl Envelope {
    pub(crate) fn named() -> Envelope {
        Envelope { combiner: MPI_COMBINER_NAMED, ..Default::default() }
    }

    /// `counts` and `displs` are int and MPI_Aint arguments of the plain form, all of them large counts of the `_c` form.
    pub(crate) fn new(
        combiner: i32,
        large: bool,
        counts: &[&[i64]],
        displs: &[&[i64]],
        types: &[&Datatype],
    ) -> Result<Envelope> {
        let mut e = Envelope { combiner, datatypes: types.iter().copied().cloned().collect(), ..Default::default() };
        if large {
            e.large_counts = [counts.concat(), displs.concat()].concat();
        } else {
            e.integers = Vec::with_capacity(counts.iter().map(|c| c.len()).sum());
            for c in counts {
                e.ints(c)?;
            }
            e.addresses = displs.concat();
        }
        Ok(e)
    }

    /// Appends `int` arguments.
    pub(crate) fn ints(&mut self, list: &[i64]) -> Result<()> {
        for &v in list {
            let Ok(v) = i32::try_from(v) else {
                bail!(
                    MPI_ERR_ARG,
                    "{v} does not fit an int argument of {}; use its _c form",
                    combiner_name(self.combiner)
                );
            };
            self.integers.push(v);
        }
        Ok(())
    }
}

/// The constructor's short name, for messages.
pub fn combiner_name(combiner: i32) -> &'static str {
    match combiner {
        MPI_COMBINER_NAMED => "named",
        MPI_COMBINER_DUP => "dup",
        MPI_COMBINER_CONTIGUOUS => "contiguous",
        MPI_COMBINER_VECTOR => "vector",
        MPI_COMBINER_HVECTOR => "hvector",
        MPI_COMBINER_INDEXED => "indexed",
        MPI_COMBINER_HINDEXED => "hindexed",
        MPI_COMBINER_INDEXED_BLOCK => "indexed_block",
        MPI_COMBINER_HINDEXED_BLOCK => "hindexed_block",
        MPI_COMBINER_STRUCT => "struct",
        MPI_COMBINER_SUBARRAY => "subarray",
        MPI_COMBINER_DARRAY => "darray",
        MPI_COMBINER_F90_REAL => "f90_real",
        MPI_COMBINER_F90_COMPLEX => "f90_complex",
        MPI_COMBINER_F90_INTEGER => "f90_integer",
        MPI_COMBINER_RESIZED => "resized",
        MPI_COMBINER_VALUE_INDEX => "value_index",
        _ => "unknown constructor",
    }
}
