//! Reduction operations (MPI-5.0 6.9): predefined ones, the program's own, and what a reducing collective
//! needs of either.
//!
//! Invariants: whether operation and datatype go together is settled before any data moves (MPI_ERR_OP
//! with the reason); an operation that is in use outlives its handle; the program's function is called
//! with the handle of the datatype that the collective was called with, and without any lock held.
//!
//! `unsafe` here: the buffers of a reduction are handed to kernels and to the program's function, on the
//! promise of who calls [`Reduction::apply`].
//!
//! Known gaps: none.

use crate::datatype::TypeObj;
use crate::table::{Ref, Table};
use crate::{callback, datatype};
use oxmpi_base::args::{self, Buf, FnPtr, Out};
use oxmpi_base::consts::*;
use oxmpi_base::{Result, bail, handle};
use oxmpi_datatype::{Datatype, Reducer, predefined_op_name};
use std::sync::{Arc, LazyLock};

#[derive(Clone, Copy, Debug)]
enum Function {
    Predefined(handle::Op),
    /// MPI_User_function.
    User(FnPtr),
    /// MPI_User_function_c.
    UserLarge(FnPtr),
}

/// What an operation handle names.
#[derive(Debug)]
pub struct OpObj {
    function: Function,
    commutative: bool,
}

static OPS: LazyLock<Table<handle::Op, OpObj>> = LazyLock::new(|| {
    let t = Table::new();
    // The standard reserves 32 values for operations, MPI_OP_NULL the first of them.
    for raw in MPI_OP_NULL.0..MPI_OP_NULL.0 + 32 {
        let h = handle::Op(raw);
        if predefined_op_name(h).is_some() {
            let commutative = h != MPI_REPLACE && h != MPI_NO_OP;
            t.bind(h, Arc::new(OpObj { function: Function::Predefined(h), commutative }));
        }
    }
    t
});

/// The operation of a handle, or MPI_ERR_OP with the reason.
pub fn get(h: handle::Op) -> Result<Ref<'static, handle::Op, OpObj>> {
    OPS.get(h)
}

/// What to call for elements of one datatype, settled once.
#[derive(Clone, Debug)]
enum Call<'a> {
    Predefined(Reducer<'a>),
    User(FnPtr),
    UserLarge(FnPtr),
}

/// An operation on elements of one datatype.
#[derive(Clone, Debug)]
pub struct Reduction<'a> {
    pub commutative: bool,
    call: Call<'a>,
    dt: &'a Datatype,
    dt_handle: handle::Datatype,
}

/// The operation `op` on elements of `dt`, which `dt_handle` names.
#[inline(always)]
pub fn reduction(op: handle::Op, dt: &Datatype, dt_handle: handle::Datatype) -> Result<Reduction<'_>> {
    let o = get(op)?;
    let call = match o.function {
        Function::Predefined(h) => {
            if h == MPI_REPLACE || h == MPI_NO_OP {
                let name = predefined_op_name(h).unwrap_or_default();
                bail!(MPI_ERR_OP, "{name} is for accumulating into windows only; reductions cannot use it");
            }
            Call::Predefined(Reducer::new(h, dt)?)
        }
        Function::User(f) => Call::User(f),
        Function::UserLarge(f) => Call::UserLarge(f),
    };
    Ok(Reduction { commutative: o.commutative, call, dt, dt_handle })
}

impl Reduction<'_> {
    /// `inout[i] = input[i] op inout[i]` for `count` elements laid out with the datatype's extent.
    ///
    /// # Safety
    /// Both buffers are valid for `count` elements of the datatype and do not overlap.
    pub unsafe fn apply(&self, input: *const u8, inout: *mut u8, count: usize) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe {
            match &self.call {
                Call::Predefined(r) => r.apply(input, inout, inout, count),
                Call::User(f) => callback::user_op(*f, input, inout, count, self.dt_handle.0, self.dt.extent()),
                Call::UserLarge(f) => callback::user_op_large(*f, input, inout, count, self.dt_handle.0),
            }
        }
        Ok(())
    }
}

/// Calls `f` with the operation in the form the collective algorithms take.
pub fn with_reduction<R>(
    op: handle::Op,
    dt: &Datatype,
    dt_handle: handle::Datatype,
    f: impl FnOnce(&oxmpi_coll::Reduction<'_>) -> Result<R>,
) -> Result<R> {
    let r = reduction(op, dt, dt_handle)?;
    // SAFETY: the collective calls this with the program's buffers and its own scratch memory, both of
    // `count` elements.
    let apply = |input: *const u8, inout: *mut u8, count: usize| unsafe { r.apply(input, inout, count) };
    let apply = &apply;
    let commutative = r.commutative;
    match &r.call {
        Call::Predefined(p) => {
            // SAFETY: as above.
            let apply3 = |a: *const u8, b: *const u8, out: *mut u8, n: usize| unsafe { p.apply(a, b, out, n) };
            f(&oxmpi_coll::Reduction { commutative, apply, apply3: Some(&apply3) })
        }
        _ => f(&oxmpi_coll::Reduction { commutative, apply, apply3: None }),
    }
}

/// The operation in the form a schedule takes, which outlives the handles of operation and datatype.
pub fn combine(op: handle::Op, t: Arc<TypeObj>, dt_handle: handle::Datatype) -> Result<oxmpi_coll::schedule::Combine> {
    let r = reduction(op, &t.dt, dt_handle)?;
    let (commutative, function) = (r.commutative, get(op)?.function);
    let apply = move |input: *const u8, inout: *mut u8, count: usize| {
        let in_handle = |h: handle::Datatype| {
            let call = match function {
                Function::Predefined(h) => Call::Predefined(Reducer::new(h, &t.dt)?),
                Function::User(f) => Call::User(f),
                Function::UserLarge(f) => Call::UserLarge(f),
            };
            // SAFETY: the schedule calls this with the program's buffers and its own temporary memory, both of `count` elements.
            unsafe { Reduction { commutative, call, dt: &t.dt, dt_handle: h }.apply(input, inout, count) }
        };
        match function {
            Function::Predefined(_) => in_handle(dt_handle),
            // The program may have freed the type since, but its function gets a handle that is valid.
            _ => datatype::with_handle(&t, dt_handle, in_handle),
        }
    };
    Ok(oxmpi_coll::schedule::Combine { commutative, apply: Box::new(apply) })
}

// ---- the procedures ----

pub fn op_create(user_fn: FnPtr, commute: i32, op: Out<handle::Op>, large: bool) -> Result<()> {
    if user_fn.0 == 0 {
        bail!(MPI_ERR_ARG, "the reduction function is a null pointer");
    }
    if op.is_null() {
        return op.set(MPI_OP_NULL);
    }
    let function = if large { Function::UserLarge(user_fn) } else { Function::User(user_fn) };
    op.set(OPS.insert(Arc::new(OpObj { function, commutative: commute != 0 }))?)
}

pub fn op_free(op: Out<handle::Op>) -> Result<()> {
    let h = op.get()?;
    if let Some(name) = predefined_op_name(h) {
        bail!(MPI_ERR_OP, "{name} is predefined and cannot be freed");
    }
    OPS.remove(h)?;
    op.set(MPI_OP_NULL)
}

pub fn op_commutative(op: handle::Op, commute: Out<i32>) -> Result<()> {
    commute.set(get(op)?.commutative as i32)
}

/// Chapter `coll` re-exports this one.
pub fn reduce_local(inbuf: Buf, inoutbuf: Buf, count: i64, datatype: handle::Datatype, op: handle::Op) -> Result<()> {
    let n = args::count(count)?;
    let t = datatype::get_committed(datatype)?;
    let r = reduction(op, &t.dt, datatype)?;
    if n == 0 || t.dt.size() == 0 {
        return Ok(());
    }
    for (buf, name) in [(inbuf, "inbuf"), (inoutbuf, "inoutbuf")] {
        if buf.is_in_place() {
            bail!(MPI_ERR_BUFFER, "{name} is MPI_IN_PLACE, which MPI_Reduce_local does not take");
        }
        if buf.addr() == 0 && t.dt.true_lb() == 0 {
            bail!(MPI_ERR_BUFFER, "{name} is a null pointer though count is {n}");
        }
    }
    if inbuf == inoutbuf {
        bail!(MPI_ERR_BUFFER, "inbuf and inoutbuf are the same buffer; they must not overlap");
    }
    // SAFETY: the program promises buffers of `count` elements that do not overlap.
    unsafe { r.apply(inbuf.as_ptr(), inoutbuf.as_mut_ptr(), n) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::c_int;

    fn out<T: Copy>(v: &mut T) -> Out<T> {
        // SAFETY: a live local.
        unsafe { Out::new(v) }
    }
    fn local(a: &[i32], b: &mut [i32], op: handle::Op) -> Result<()> {
        let n = a.len() as i64;
        reduce_local(Buf(a.as_ptr() as *mut _), Buf(b.as_mut_ptr() as *mut _), n, MPI_INT, op)
    }

    /// Not commutative: `10 * in + inout`.
    extern "C" fn digits(a: *mut i32, b: *mut i32, n: *mut c_int, dt: *mut usize) {
        // SAFETY: MPI_Reduce_local passes the test's arrays.
        unsafe {
            assert_eq!(*dt, MPI_INT.0);
            for i in 0..*n as usize {
                *b.add(i) += 10 * *a.add(i);
            }
        }
    }
    extern "C" fn largest(a: *mut i32, b: *mut i32, n: *mut i64, _: *mut usize) {
        // SAFETY: as above.
        unsafe {
            for i in 0..*n as usize {
                *b.add(i) = (*b.add(i)).max(*a.add(i));
            }
        }
    }

    #[test]
    fn predefined_and_own() {
        let (a, mut b) = ([1, 5, 3], [4, 2, 6]);
        local(&a, &mut b, MPI_SUM).unwrap();
        assert_eq!(b, [5, 7, 9]);
        let (mut op, mut flag) = (MPI_OP_NULL, 1);
        op_create(FnPtr(digits as *const () as usize), 0, out(&mut op), false).unwrap();
        op_commutative(op, out(&mut flag)).unwrap();
        assert_eq!(flag, 0);
        local(&a, &mut b, op).unwrap();
        assert_eq!(b, [15, 57, 39]);
        let r = reduction(op, Datatype::predefined(MPI_INT).unwrap(), MPI_INT).unwrap();
        op_free(out(&mut op)).unwrap();
        assert_eq!(op, MPI_OP_NULL);
        // It outlives its handle. SAFETY: arrays of three.
        unsafe { r.apply(a.as_ptr() as *const u8, b.as_mut_ptr() as *mut u8, 3).unwrap() };
        assert_eq!(b, [25, 107, 69]);
        op_create(FnPtr(largest as *const () as usize), 1, out(&mut op), true).unwrap();
        local(&[1, 200, 3], &mut b, op).unwrap();
        assert_eq!(b, [25, 200, 69]);
    }

    #[test]
    fn refusals() {
        let (a, mut b) = ([1], [2]);
        let class = |r: Result<()>| r.err().map_or(MPI_SUCCESS, |e| e.class);
        assert_eq!(class(local(&a, &mut b, MPI_OP_NULL)), MPI_ERR_OP);
        assert_eq!(class(local(&a, &mut b, MPI_REPLACE)), MPI_ERR_OP);
        assert_eq!(class(local(&a, &mut b, MPI_MINLOC)), MPI_ERR_OP);
        assert_eq!(class(local(&a, &mut b, handle::Op(MPI_INT.0))), MPI_ERR_OP);
        let mut op = MPI_SUM;
        assert_eq!(class(op_free(out(&mut op))), MPI_ERR_OP);
        assert_eq!(class(op_create(FnPtr(0), 1, out(&mut op), false)), MPI_ERR_ARG);
        let (p, q) = (Buf(a.as_ptr() as *mut _), Buf(b.as_mut_ptr() as *mut _));
        assert_eq!(class(reduce_local(p, q, -1, MPI_INT, MPI_SUM)), MPI_ERR_COUNT);
        assert_eq!(class(reduce_local(p, Buf(std::ptr::null_mut()), 1, MPI_INT, MPI_SUM)), MPI_ERR_BUFFER);
        assert_eq!(class(reduce_local(Buf(MPI_IN_PLACE as *mut _), q, 1, MPI_INT, MPI_SUM)), MPI_ERR_BUFFER);
        let mut flag = 0;
        op_commutative(MPI_MAX, out(&mut flag)).unwrap();
        assert_eq!(flag, 1);
    }
}
