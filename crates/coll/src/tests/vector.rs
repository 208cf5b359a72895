//! Typed buffers of elements that are pairs of u32, with guard bytes in all gaps.
use super::Datatype;
use oxmpi_base::args::{Arr, Buf, Counts};

pub type Pair = (u32, u32);
const GUARD: u8 = 0xA5;
const MARGIN: usize = 64;

/// Layouts of a pair: gap-free, gap-free at an offset, with gaps, with a negative lower bound, reversed.
pub fn types() -> Vec<Datatype> {
    let t = |extent, runs: &[(isize, usize)]| Datatype { extent, runs: runs.to_vec() };
    vec![
        t(8, &[(0, 8)]),
        t(8, &[(16, 8)]),
        t(20, &[(4, 4), (12, 4)]),
        t(16, &[(-8, 4), (0, 4)]),
        t(-12, &[(0, 4), (4, 4)]),
    ]
}

#[derive(Clone, PartialEq, Debug)]
pub struct Vector {
    mem: Vec<u8>,
    origin: usize,
    dt: Datatype,
}

impl Vector {
    pub fn blank(dt: &Datatype, count: usize) -> Vector {
        let reach = (count + 1) * dt.extent.unsigned_abs();
        let origin = MARGIN + if dt.extent < 0 { reach } else { 0 };
        Vector { mem: vec![GUARD; reach + 2 * MARGIN], origin, dt: dt.clone() }
    }
    pub fn filled(dt: &Datatype, count: usize, value: impl Fn(usize) -> Pair) -> Vector {
        let mut v = Vector::blank(dt, count);
        (0..count).for_each(|i| v.set(i, value(i)));
        v
    }
    /// Only guards again.
    pub fn clear(&mut self) {
        self.mem.fill(GUARD);
    }
    pub fn set(&mut self, i: usize, (a, b): Pair) {
        let bytes = [a.to_le_bytes(), b.to_le_bytes()].concat();
        let mut done = 0;
        for &(offset, len) in &self.dt.runs {
            let at = (self.origin as isize + i as isize * self.dt.extent + offset) as usize;
            self.mem[at..at + len].copy_from_slice(&bytes[done..done + len]);
            done += len;
        }
    }
    pub fn buf(&mut self) -> Buf {
        Buf(self.mem.as_mut_ptr().wrapping_add(self.origin).cast())
    }
    /// This vector has the elements of `value` in `range`, and guards elsewhere.
    pub fn expect(&self, what: &str, count: usize, value: impl Fn(usize) -> Option<Pair>) {
        let mut want = Vector::blank(&self.dt, count);
        (0..count).for_each(|i| {
            if let Some(p) = value(i) {
                want.set(i, p)
            }
        });
        if want.mem != self.mem {
            let at = want.mem.iter().zip(&self.mem).position(|(a, b)| a != b);
            panic!("{what}: differs at byte {at:?} of {} (origin {}), type {:?}", self.mem.len(), self.origin, self.dt);
        }
    }
}

/// An `int` array argument; it must outlive the call.
pub fn counts(v: &[i32]) -> Counts {
    // SAFETY: the callers keep `v` during the call and ask for as many elements.
    Counts::Int(unsafe { Arr::new(v.as_ptr()) })
}
