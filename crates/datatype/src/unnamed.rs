//! Predefined types without a name, and named ones found by their properties: MPI_Type_create_f90_real, _complex, _integer and
//! MPI_Type_match_size (MPI-5.0 19.1.9), MPI_Type_get_value_index (6.9.4).
//!
//! Invariant: equal arguments give the same object, so that a caller that keeps one handle per object gives the same handle.
//! Known gaps: kinds are gfortran's (on x86_64, precision 16 to 18 is the x87 format); a pair's index is of 4 or 8 bytes.
use crate::Datatype;
use crate::envelope::Envelope;
use crate::predefined::{Elem, Group, PAIRS, pair, row, scalar};
use oxmpi_base::{Result, bail, consts::*, handle};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

type Key = (i32, i64, i64);

/// The types made so far, by combiner and arguments.
static MADE: Mutex<BTreeMap<Key, Datatype>> = Mutex::new(BTreeMap::new());

fn once(key: Key, make: impl FnOnce() -> Datatype) -> Datatype {
    MADE.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert_with(make).clone()
}

/// selected_real_kind(p, r): the row for reals and for complex numbers.
fn real_kind(what: &str, p: i32, r: i32) -> Result<(handle::Datatype, handle::Datatype)> {
    if p == MPI_UNDEFINED && r == MPI_UNDEFINED {
        bail!(MPI_ERR_ARG, "{what}: precision and range are both MPI_UNDEFINED; give at least one");
    }
    let within = |digits, range| p <= digits && r <= range;
    let x87 = cfg!(target_arch = "x86_64");
    if within(6, 37) {
        Ok((MPI_REAL4, MPI_COMPLEX8))
    } else if within(15, 307) {
        Ok((MPI_REAL8, MPI_COMPLEX16))
    } else if x87 && within(18, 4931) {
        Ok((MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX))
    } else if within(33, 4931) {
        Ok((MPI_REAL16, MPI_COMPLEX32))
    } else {
        bail!(MPI_ERR_ARG, "{what}: no real kind has precision {p} and range {r}; the most there is are 33 and 4931");
    }
}

fn f90(combiner: i32, like: handle::Datatype, args: &[i32]) -> Datatype {
    let key = (combiner, args[0] as i64, args.get(1).copied().unwrap_or(0) as i64);
    once(key, || {
        let mut inner = scalar(row(like));
        inner.envelope = Envelope { combiner, integers: args.to_vec(), ..Default::default() };
        Datatype::new(inner)
    })
}

impl Datatype {
    /// MPI_Type_create_f90_real.
    pub fn f90_real(p: i32, r: i32) -> Result<Datatype> {
        Ok(f90(MPI_COMBINER_F90_REAL, real_kind("MPI_Type_create_f90_real", p, r)?.0, &[p, r]))
    }

    /// MPI_Type_create_f90_complex.
    pub fn f90_complex(p: i32, r: i32) -> Result<Datatype> {
        Ok(f90(MPI_COMBINER_F90_COMPLEX, real_kind("MPI_Type_create_f90_complex", p, r)?.1, &[p, r]))
    }

    /// MPI_Type_create_f90_integer.
    pub fn f90_integer(r: i32) -> Result<Datatype> {
        let like = match r {
            MPI_UNDEFINED => bail!(MPI_ERR_ARG, "MPI_Type_create_f90_integer: the range is MPI_UNDEFINED"),
            ..=2 => MPI_INTEGER1,
            3..=4 => MPI_INTEGER2,
            5..=9 => MPI_INTEGER4,
            10..=18 => MPI_INTEGER8,
            19..=38 => MPI_INTEGER16,
            _ => bail!(
                MPI_ERR_ARG,
                "MPI_Type_create_f90_integer: no integer kind has range {r}; the most there is is 38"
            ),
        };
        Ok(f90(MPI_COMBINER_F90_INTEGER, like, &[r]))
    }

    /// MPI_Type_match_size: the named type of this class and size.
    pub fn match_size(typeclass: i32, size: i32) -> Result<&'static Datatype> {
        let h = match (typeclass, size) {
            (MPI_TYPECLASS_REAL, 2) => MPI_REAL2,
            (MPI_TYPECLASS_REAL, 4) => MPI_REAL4,
            (MPI_TYPECLASS_REAL, 8) => MPI_REAL8,
            (MPI_TYPECLASS_REAL, 16) => MPI_REAL16,
            (MPI_TYPECLASS_INTEGER, 1) => MPI_INTEGER1,
            (MPI_TYPECLASS_INTEGER, 2) => MPI_INTEGER2,
            (MPI_TYPECLASS_INTEGER, 4) => MPI_INTEGER4,
            (MPI_TYPECLASS_INTEGER, 8) => MPI_INTEGER8,
            (MPI_TYPECLASS_INTEGER, 16) => MPI_INTEGER16,
            (MPI_TYPECLASS_COMPLEX, 4) => MPI_COMPLEX4,
            (MPI_TYPECLASS_COMPLEX, 8) => MPI_COMPLEX8,
            (MPI_TYPECLASS_COMPLEX, 16) => MPI_COMPLEX16,
            (MPI_TYPECLASS_COMPLEX, 32) => MPI_COMPLEX32,
            (MPIX_TYPECLASS_LOGICAL, 1) => MPI_LOGICAL1,
            (MPIX_TYPECLASS_LOGICAL, 2) => MPI_LOGICAL2,
            (MPIX_TYPECLASS_LOGICAL, 4) => MPI_LOGICAL4,
            (MPIX_TYPECLASS_LOGICAL, 8) => MPI_LOGICAL8,
            (MPIX_TYPECLASS_LOGICAL, 16) => MPI_LOGICAL16,
            _ => MPI_DATATYPE_NULL,
        };
        let Some(t) = Datatype::predefined(h) else {
            let class = match typeclass {
                MPI_TYPECLASS_REAL => "real",
                MPI_TYPECLASS_INTEGER => "integer",
                MPI_TYPECLASS_COMPLEX => "complex",
                MPIX_TYPECLASS_LOGICAL => "logical",
                _ => bail!(MPI_ERR_ARG, "MPI_Type_match_size: {typeclass} is no MPI_TYPECLASS_*"),
            };
            bail!(MPI_ERR_ARG, "MPI_Type_match_size: there is no {class} type of {size} bytes");
        };
        Ok(t)
    }

    /// MPI_Type_get_value_index: the pair type of these two, named if there is such; None (MPI_DATATYPE_NULL) if it is not supported.
    pub fn value_index(value: &Datatype, index: &Datatype) -> Option<Datatype> {
        let (v, x) = (value.predefined_handle()?, index.predefined_handle()?);
        if let Some(named) = PAIRS.iter().find(|p| p.2 == v && p.3 == x) {
            return Datatype::predefined(named.0).cloned();
        }
        let ((vg, _), (xg, xe)) = (value.0.elem?, index.0.elem?);
        let value_ok = matches!(vg, Group::CInteger | Group::FortranInteger | Group::Floating | Group::MultiLanguage);
        let index_ok = matches!(xg, Group::CInteger | Group::FortranInteger | Group::MultiLanguage)
            && matches!(xe, Elem::I32 | Elem::U32 | Elem::I64 | Elem::U64);
        (value_ok && index_ok).then(|| {
            once((MPI_COMBINER_VALUE_INDEX, v.0 as i64, x.0 as i64), || {
                let mut inner = pair(row(v), row(x));
                inner.envelope = Envelope {
                    combiner: MPI_COMBINER_VALUE_INDEX,
                    datatypes: vec![value.clone(), index.clone()],
                    ..Default::default()
                };
                Datatype::new(inner)
            })
        })
    }
}
