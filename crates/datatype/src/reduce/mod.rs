//! The predefined reduction operations (MPI-5.0 6.9.2, 6.9.4; MPI_REPLACE and MPI_NO_OP of 12.3.4) on predefined types.
//!
//! Invariants: what the standard's table does not allow is MPI_ERR_OP, whether or not a computer could do it; no alignment is
//! assumed; of a pair type only the members are touched, never its padding.
//! Known gap: Fortran's `.TRUE.` is written as 1 and anything but 0 is true (MPI_Abi_set_fortran_booleans cannot say otherwise).
mod half;
mod kernel;
mod quad;
#[cfg(target_arch = "x86_64")]
mod x87;

use crate::level::Level;
use crate::predefined::{Elem, Group};
use crate::{Datatype, copy};
use kernel::Kernel;
use oxmpi_base::{Result, args::Buf, bail, consts::*, handle};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Sum,
    Min,
    Max,
    Prod,
    Band,
    Bor,
    Bxor,
    Land,
    Lor,
    Lxor,
    Minloc,
    Maxloc,
    Replace,
    Nothing,
}

fn operation(op: handle::Op) -> Option<(Op, &'static str)> {
    Some(match op {
        MPI_SUM => (Op::Sum, "MPI_SUM"),
        MPI_MIN => (Op::Min, "MPI_MIN"),
        MPI_MAX => (Op::Max, "MPI_MAX"),
        MPI_PROD => (Op::Prod, "MPI_PROD"),
        MPI_BAND => (Op::Band, "MPI_BAND"),
        MPI_BOR => (Op::Bor, "MPI_BOR"),
        MPI_BXOR => (Op::Bxor, "MPI_BXOR"),
        MPI_LAND => (Op::Land, "MPI_LAND"),
        MPI_LOR => (Op::Lor, "MPI_LOR"),
        MPI_LXOR => (Op::Lxor, "MPI_LXOR"),
        MPI_MINLOC => (Op::Minloc, "MPI_MINLOC"),
        MPI_MAXLOC => (Op::Maxloc, "MPI_MAXLOC"),
        MPI_REPLACE => (Op::Replace, "MPI_REPLACE"),
        MPI_NO_OP => (Op::Nothing, "MPI_NO_OP"),
        _ => return None,
    })
}

/// The standard's name of a predefined operation.
pub fn predefined_op_name(op: handle::Op) -> Option<&'static str> {
    operation(op).map(|o| o.1)
}

/// The table of 6.9.2, and 6.9.4 for the last line.
fn allowed(op: Op, group: Group) -> bool {
    use Group::*;
    match op {
        Op::Min | Op::Max => matches!(group, CInteger | FortranInteger | Floating | MultiLanguage),
        Op::Sum | Op::Prod => matches!(group, CInteger | FortranInteger | Floating | Complex | MultiLanguage),
        Op::Land | Op::Lor | Op::Lxor => matches!(group, CInteger | Logical),
        Op::Band | Op::Bor | Op::Bxor => matches!(group, CInteger | FortranInteger | Byte | MultiLanguage),
        Op::Minloc | Op::Maxloc => group == Pair,
        Op::Replace | Op::Nothing => true,
    }
}

fn groups(op: Op) -> &'static str {
    match op {
        Op::Min | Op::Max => "C integer, Fortran integer, floating point and multi-language types",
        Op::Sum | Op::Prod => "C integer, Fortran integer, floating point, complex and multi-language types",
        Op::Land | Op::Lor | Op::Lxor => "C integer and logical types",
        Op::Band | Op::Bor | Op::Bxor => "C integer, Fortran integer, byte and multi-language types",
        Op::Minloc | Op::Maxloc => "the pair types (MPI_DOUBLE_INT, MPI_2INT, ...)",
        Op::Replace | Op::Nothing => "all types",
    }
}

/// What a predefined operation does to elements of a datatype, found once and applied often.
#[derive(Clone, Debug)]
pub struct Reducer<'a> {
    job: Job,
    dt: &'a Datatype,
}

#[derive(Clone, Copy, Debug)]
enum Job {
    Compute(Kernel),
    Replace,
    Nothing,
}

impl<'a> Reducer<'a> {
    /// MPI_ERR_OP with the reason where 6.9.2 does not allow the pair.
    pub fn new(op: handle::Op, dt: &'a Datatype) -> Result<Reducer<'a>> {
        Ok(Reducer { job: job(op, dt, Level::best())?, dt })
    }

    /// `out[i] = op(a[i], b[i])`. For MPI_REPLACE that is `a[i]`, for MPI_NO_OP `b[i]`.
    /// # Safety
    /// `a` and `b` are valid for reads and `out` for writes of `count` elements (no alignment is assumed); `out` is equal to `a`
    /// or `b` or overlaps neither.
    #[inline]
    pub unsafe fn apply(&self, a: *const u8, b: *const u8, out: *mut u8, count: usize) {
        match self.job {
            // SAFETY: the caller's promise; the kernel is that of the type.
            Job::Compute(kernel) => unsafe { kernel(a, b, out, count) },
            // SAFETY: the caller's promise.
            Job::Replace => unsafe { self.copy(a, out, count) },
            // SAFETY: the caller's promise.
            Job::Nothing => unsafe { self.copy(b, out, count) },
        }
    }

    /// # Safety
    /// that of `apply`.
    unsafe fn copy(&self, from: *const u8, to: *mut u8, count: usize) {
        if from != to {
            let (from, to) = (Buf(from.cast_mut().cast()), Buf(to.cast()));
            // SAFETY: the caller's promise; one is only read.
            unsafe { copy(from, count, self.dt, to, count, self.dt) };
        }
    }
}

fn job(op: handle::Op, dt: &Datatype, level: Level) -> Result<Job> {
    let Some((op, name)) = operation(op) else {
        bail!(MPI_ERR_OP, "operation handle {:#x} is not a predefined operation", op.0);
    };
    match op {
        Op::Replace => return Ok(Job::Replace),
        Op::Nothing => return Ok(Job::Nothing),
        _ => {}
    }
    let Some((group, elem)) = dt.0.elem else {
        bail!(
            MPI_ERR_OP,
            "{name} is defined on predefined types only, not on {}; make an operation with MPI_Op_create, or reduce the predefined type",
            dt.describe()
        );
    };
    match kernel_of(op, group, elem, level) {
        Some(k) => Ok(Job::Compute(k)),
        None => bail!(MPI_ERR_OP, "{name} is not defined on {}; it is on {}", dt.describe(), groups(op)),
    }
}

fn kernel_of(op: Op, group: Group, elem: Elem, level: Level) -> Option<Kernel> {
    if allowed(op, group) { kernel::find(op, elem, level) } else { None }
}

/// Whether there is a [`Reducer`] for the pair; MPI_ERR_OP with the reason if not.
pub fn check_reduce(op: handle::Op, dt: &Datatype) -> Result<()> {
    Reducer::new(op, dt).map(|_| ())
}

/// `inout[i] = op(in[i], inout[i])`, once.
/// # Safety
/// both pointers are valid for `count` elements (no alignment is assumed) and do not overlap.
pub unsafe fn reduce(op: handle::Op, dt: &Datatype, input: *const u8, inout: *mut u8, count: usize) -> Result<()> {
    let r = Reducer::new(op, dt)?;
    // SAFETY: the caller's promise.
    unsafe { r.apply(input, inout, inout, count) };
    Ok(())
}

#[cfg(test)]
mod tests;
