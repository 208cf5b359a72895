//! An operation on elements of one datatype (MPI-5.0 6.9), as the reducing collectives get it, and what a
//! rank contributes to one.
use crate::blocks;
use crate::buffer::{Data, copy};
use crate::link::Datatype;
use crate::steps::Steps;
use oxmpi_base::{Result, args::Buf};

/// `apply(in, inout, count)` computes `inout[i] = in[i] op inout[i]` on elements laid out with the
/// datatype's extent; both pointers are the origins of element 0. Operations are associative.
pub struct Reduction<'a> {
    pub commutative: bool,
    pub apply: &'a dyn Fn(*const u8, *mut u8, usize) -> Result<()>,
    /// `apply3(a, b, out, count)` computes `out[i] = a[i] op b[i]`, where that needs no copy (predefined operations); `out` is
    /// equal to `a` or `b` or overlaps neither.
    pub apply3: Option<&'a dyn Fn(*const u8, *const u8, *mut u8, usize)>,
}

/// The vectors of a reduction at one rank. In place means that `input` is the output's memory.
#[derive(Clone, Copy)]
pub struct Vectors<'a> {
    pub input: Data<'a>,
    /// Where the result goes, at ranks that get one.
    pub out: Option<Data<'a>>,
    pub in_place: bool,
}

impl<'a> Vectors<'a> {
    /// `gets_result`: whether `rbuf` is significant at this rank.
    pub fn new(sbuf: Buf, rbuf: Buf, count: usize, dt: &'a Datatype, gets_result: bool) -> Vectors<'a> {
        let in_place = gets_result && sbuf.is_in_place();
        let input = Data::new(if in_place { rbuf } else { sbuf }, count, dt);
        Vectors { input, out: gets_result.then(|| Data::new(rbuf, count, dt)), in_place }
    }
    pub fn part(&self, range: std::ops::Range<usize>) -> Vectors<'a> {
        let out = self.out.map(|o| o.part(range.clone()));
        Vectors { input: self.input.part(range), out, in_place: self.in_place }
    }
    /// The vectors in chunks of at most `bytes` bytes.
    pub fn chunks(self, bytes: usize) -> impl Iterator<Item = Vectors<'a>> {
        let elements = bytes / self.input.dt.size().max(1);
        blocks::chunks(self.input.count, elements).map(move |r| self.part(r))
    }
    /// The result of one rank alone.
    pub fn keep(&self, x: &impl Steps) {
        if let (Some(out), false) = (self.out, self.in_place) {
            x.copy(self.input, out);
        }
    }
    /// The same at once.
    pub fn keep_now(&self) {
        if let (Some(out), false) = (self.out, self.in_place) {
            copy(self.input, out);
        }
    }
}
