//! Statuses (MPI-5.0 3.2.5, 3.2.6, 3.8.4, 5.1.11, 13.3): reading and setting what a status says.
//!
//! The byte count is what a status keeps; elements are worked out from it and the datatype. The Fortran
//! forms of a status are the same eight integers, so their conversions are copies that `mpi.h` makes.
//!
//! Known gaps: none.

use crate::datatype;
use oxmpi_base::args::{self, Out, OutCount};
use oxmpi_base::consts::*;
use oxmpi_base::{Result, Status, bail, handle};

fn given(status: Out<Status>) -> Result<Status> {
    if status.is_null() {
        bail!(
            MPI_ERR_ARG,
            "the status is MPI_STATUS_IGNORE (a null pointer); this procedure needs a status to look at"
        );
    }
    status.get()
}

fn change(status: Out<Status>, f: impl FnOnce(&mut Status)) -> Result<()> {
    let mut s = given(status)?;
    f(&mut s);
    status.set(s)
}

/// MPI_UNDEFINED where the bytes are no whole number of elements, or the number does not fit `count`.
pub fn get_count(status: Out<Status>, datatype: handle::Datatype, count: OutCount) -> Result<()> {
    let s = given(status)?;
    let n = datatype::get(datatype)?.dt.count_of(s.bytes());
    count.set(n.unwrap_or(MPI_UNDEFINED as i64))
}

/// As [`get_count`], in basic elements.
pub fn get_elements(status: Out<Status>, datatype: handle::Datatype, count: OutCount) -> Result<()> {
    let s = given(status)?;
    let n = datatype::get(datatype)?.dt.elements(s.bytes());
    count.set(n.unwrap_or(MPI_UNDEFINED as i64))
}

pub fn get_elements_x(status: Out<Status>, datatype: handle::Datatype, count: Out<i64>) -> Result<()> {
    get_elements(status, datatype, OutCount::Wide(count))
}

/// Sets the bytes so that MPI_Get_elements returns `count`.
pub fn status_set_elements(status: Out<Status>, datatype: handle::Datatype, count: i64) -> Result<()> {
    let t = datatype::get(datatype)?;
    args::count(count)?;
    let Some(bytes) = t.dt.bytes_of_elements(count) else {
        bail!(MPI_ERR_COUNT, "{count} basic elements of {} are no amount of data a status can hold", t.describe());
    };
    change(status, |s| s.set_bytes(bytes))
}

pub fn status_set_elements_x(status: Out<Status>, datatype: handle::Datatype, count: i64) -> Result<()> {
    status_set_elements(status, datatype, count)
}

pub fn status_set_cancelled(status: Out<Status>, flag: i32) -> Result<()> {
    change(status, |s| s.set_cancelled(flag != 0))
}

pub fn test_cancelled(status: Out<Status>, flag: Out<i32>) -> Result<()> {
    flag.set(given(status)?.cancelled() as i32)
}

pub fn status_get_source(status: Out<Status>, source: Out<i32>) -> Result<()> {
    source.set(given(status)?.MPI_SOURCE)
}

pub fn status_set_source(status: Out<Status>, source: i32) -> Result<()> {
    change(status, |s| s.MPI_SOURCE = source)
}

pub fn status_get_tag(status: Out<Status>, tag: Out<i32>) -> Result<()> {
    tag.set(given(status)?.MPI_TAG)
}

pub fn status_set_tag(status: Out<Status>, tag: i32) -> Result<()> {
    change(status, |s| s.MPI_TAG = tag)
}

pub fn status_get_error(status: Out<Status>, err: Out<i32>) -> Result<()> {
    err.set(given(status)?.MPI_ERROR)
}

pub fn status_set_error(status: Out<Status>, err: i32) -> Result<()> {
    change(status, |s| s.MPI_ERROR = err)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn out<T: Copy>(v: &mut T) -> Out<T> {
        // SAFETY: a live local.
        unsafe { Out::new(v) }
    }

    #[test]
    fn counts_and_elements() {
        let mut s = Status::new(3, 4, 10);
        let mut n = 0i32;
        for (dt, want) in [(MPI_SHORT, 5), (MPI_INT, MPI_UNDEFINED), (MPI_BYTE, 10)] {
            get_count(out(&mut s), dt, OutCount::Int(out(&mut n))).unwrap();
            assert_eq!(n, want);
        }
        s.set_bytes(12);
        let mut x = 0i64;
        get_elements_x(out(&mut s), MPI_2INT, out(&mut x)).unwrap();
        assert_eq!(x, 3);
        get_count(out(&mut s), MPI_2INT, OutCount::Int(out(&mut n))).unwrap();
        assert_eq!(n, MPI_UNDEFINED);
        s.set_bytes(1 << 40);
        get_count(out(&mut s), MPI_BYTE, OutCount::Int(out(&mut n))).unwrap();
        assert_eq!(n, MPI_UNDEFINED);
        get_count(out(&mut s), MPI_BYTE, OutCount::Wide(out(&mut x))).unwrap();
        assert_eq!(x, 1 << 40);
        status_set_elements(out(&mut s), MPI_DOUBLE_INT, 3).unwrap();
        assert_eq!(s.bytes(), 20);
        assert_eq!(status_set_elements(out(&mut s), MPI_INT, -1).unwrap_err().class, MPI_ERR_COUNT);
        assert_eq!(
            get_count(out(&mut s), MPI_DATATYPE_NULL, OutCount::Wide(out(&mut x))).unwrap_err().class,
            MPI_ERR_TYPE
        );
    }

    #[test]
    fn fields() {
        let mut s = Status::EMPTY;
        let mut v = 0;
        status_set_source(out(&mut s), 7).unwrap();
        status_set_tag(out(&mut s), 8).unwrap();
        status_set_error(out(&mut s), 9).unwrap();
        status_get_source(out(&mut s), out(&mut v)).unwrap();
        assert_eq!(v, 7);
        status_get_tag(out(&mut s), out(&mut v)).unwrap();
        assert_eq!(v, 8);
        status_get_error(out(&mut s), out(&mut v)).unwrap();
        assert_eq!(v, 9);
        test_cancelled(out(&mut s), out(&mut v)).unwrap();
        assert_eq!(v, 0);
        status_set_cancelled(out(&mut s), 1).unwrap();
        test_cancelled(out(&mut s), out(&mut v)).unwrap();
        assert_eq!(v, 1);
        // SAFETY: null is allowed.
        let none = unsafe { Out::<Status>::new(std::ptr::null_mut()) };
        assert_eq!(status_get_tag(none, out(&mut v)).unwrap_err().class, MPI_ERR_ARG);
    }
}
