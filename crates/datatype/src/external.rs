//! The portable representation `external32` (MPI-5.0 14.5.2; MPI_Pack_external and friends, 5.3): big-endian, IEEE formats,
//! long double as binary128, long in four bytes and wide characters in two.
//!
//! The native packed stream is converted along the type signature, a stack buffer at a time.
//! Invariant: an integer that does not fit its external size is MPI_ERR_CONVERSION, never a wrong number.
use crate::predefined::{Elem, prim, prim_size};
use crate::{Cursor, Datatype};
use oxmpi_base::{Error, Result, args::Buf, bail, consts::*};

/// How one number of a basic type is converted.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// Byte order only.
    Swap(usize),
    /// A signed or an unsigned integer of 8 bytes in 4.
    Long(bool),
    /// A wide character of 4 bytes in 2.
    Wide,
    /// x87 in 16 bytes to binary128.
    Extended,
}

impl Form {
    fn native(self) -> usize {
        match self {
            Form::Swap(n) => n,
            Form::Long(_) => 8,
            Form::Wide => 4,
            Form::Extended => 16,
        }
    }
    fn external(self) -> usize {
        match self {
            Form::Swap(n) => n,
            Form::Long(_) => 4,
            Form::Wide => 2,
            Form::Extended => 16,
        }
    }
}

/// The form of a basic type, and of how many numbers an element consists.
fn form(row: u8) -> (Form, usize) {
    let r = prim(row);
    match (r.handle, r.elem) {
        (MPI_LONG, _) => (Form::Long(true), 1),
        (MPI_UNSIGNED_LONG, _) => (Form::Long(false), 1),
        (MPI_WCHAR, _) => (Form::Wide, 1),
        (_, Elem::F80) => (Form::Extended, 1),
        (_, Elem::C80) => (Form::Extended, 2),
        (_, Elem::C16 | Elem::C32 | Elem::C64 | Elem::C128) => (Form::Swap(r.size as usize / 2), 2),
        _ => (Form::Swap(r.size as usize), 1),
    }
}

fn external_size(row: u8) -> u64 {
    let (f, n) = form(row);
    (f.external() * n) as u64
}

fn swap<const N: usize>(from: &[u8], to: &mut [u8]) {
    for (f, t) in from.chunks_exact(N).zip(to.chunks_exact_mut(N)) {
        for i in 0..N {
            t[i] = if cfg!(target_endian = "little") { f[N - 1 - i] } else { f[i] };
        }
    }
}

fn convert_swap(width: usize, from: &[u8], to: &mut [u8]) {
    match width {
        2 => swap::<2>(from, to),
        4 => swap::<4>(from, to),
        8 => swap::<8>(from, to),
        16 => swap::<16>(from, to),
        _ => to.copy_from_slice(from),
    }
}

/// The first `N` bytes.
fn head<const N: usize>(b: &[u8]) -> [u8; N] {
    std::array::from_fn(|i| b[i])
}

fn does_not_fit(what: &str, v: i128) -> Error {
    Error::new(
        MPI_ERR_CONVERSION,
        format!("external32: {what} {v} does not fit its external size; use a type of fixed size"),
    )
}

/// Whole numbers of one form from native to external.
fn encode(f: Form, from: &[u8], to: &mut [u8]) -> Result<()> {
    let pairs = from.chunks_exact(f.native()).zip(to.chunks_exact_mut(f.external()));
    match f {
        Form::Swap(n) => convert_swap(n, from, to),
        Form::Long(true) => {
            for (f, t) in pairs {
                let v = i64::from_ne_bytes(head(f));
                t.copy_from_slice(&i32::try_from(v).map_err(|_| does_not_fit("MPI_LONG", v as i128))?.to_be_bytes());
            }
        }
        Form::Long(false) => {
            for (f, t) in pairs {
                let v = u64::from_ne_bytes(head(f));
                t.copy_from_slice(
                    &u32::try_from(v).map_err(|_| does_not_fit("MPI_UNSIGNED_LONG", v as i128))?.to_be_bytes(),
                );
            }
        }
        Form::Wide => {
            for (f, t) in pairs {
                let v = u32::from_ne_bytes(head(f));
                t.copy_from_slice(&u16::try_from(v).map_err(|_| does_not_fit("MPI_WCHAR", v as i128))?.to_be_bytes());
            }
        }
        Form::Extended => pairs.for_each(|(f, t)| t.copy_from_slice(&quad_of_extended(f).to_be_bytes())),
    }
    Ok(())
}

/// Whole numbers of one form from external to native.
fn decode(f: Form, from: &[u8], to: &mut [u8]) {
    let pairs = from.chunks_exact(f.external()).zip(to.chunks_exact_mut(f.native()));
    match f {
        Form::Swap(n) => convert_swap(n, from, to),
        Form::Long(true) => {
            pairs.for_each(|(f, t)| t.copy_from_slice(&(i32::from_be_bytes(head(f)) as i64).to_ne_bytes()))
        }
        Form::Long(false) => {
            pairs.for_each(|(f, t)| t.copy_from_slice(&(u32::from_be_bytes(head(f)) as u64).to_ne_bytes()))
        }
        Form::Wide => pairs.for_each(|(f, t)| t.copy_from_slice(&(u16::from_be_bytes(head(f)) as u32).to_ne_bytes())),
        Form::Extended => pairs.for_each(|(f, t)| t.copy_from_slice(&extended_of_quad(u128::from_be_bytes(head(f))))),
    }
}

/// Both formats have the same exponent; x87's integer bit is explicit and its fraction 49 bits shorter.
fn quad_of_extended(b: &[u8]) -> u128 {
    let (m, se) = (u64::from_le_bytes(head(b)), u16::from_le_bytes(head(&b[8..])));
    // A subnormal whose integer bit is set has the exponent 1.
    let e = if se & 0x7fff == 0 && m >> 63 == 1 { 1 } else { se & 0x7fff };
    ((se & 0x8000) as u128 | e as u128) << 112 | ((m << 1) as u128) << 48
}

fn extended_of_quad(q: u128) -> [u8; 16] {
    let (se, f) = ((q >> 112) as u16, q & ((1 << 112) - 1));
    let (sign, mut e) = (se & 0x8000, se & 0x7fff);
    let mut m = u64::from(e > 0) << 63 | (f >> 49) as u64;
    if e == 0x7fff {
        // A NaN keeps its upper bits and stays one.
        m |= u64::from(f != 0) << 62;
    } else {
        let (rest, half) = (f & ((1 << 49) - 1), 1 << 48);
        if rest > half || rest == half && m & 1 == 1 {
            m = m.wrapping_add(1);
            if m == 0 || e == 0 && m >> 63 == 1 {
                m = 1 << 63;
                e += 1;
            }
        }
    }
    let mut b = [0; 16];
    b[..8].copy_from_slice(&m.to_le_bytes());
    b[8..10].copy_from_slice(&(sign | e).to_le_bytes());
    b
}

/// Native bytes converted at a time; a multiple of every basic size.
const CHUNK: usize = 4096;

/// Calls `f(form, numbers)` for pieces of the signature of `count` elements that fit a chunk, until it fails.
fn pieces(dt: &Datatype, count: usize, mut f: impl FnMut(Form, usize) -> Result<()>) -> Result<()> {
    let mut result = Ok(());
    dt.0.sig.repeat(if dt.size() == 0 { 0 } else { count as u64 }).visit(&mut |row, n| {
        let (form, each) = form(row);
        let mut left = n * each as u64;
        debug_assert_eq!(form.native() * each, prim_size(row));
        while left > 0 && result.is_ok() {
            let k = left.min((CHUNK / form.native()) as u64);
            result = f(form, k as usize);
            left -= k;
        }
        result.is_ok()
    });
    result
}

impl Datatype {
    /// MPI_Pack_external_size for `external32`.
    pub fn external_size(&self, count: usize) -> Result<u64> {
        self.pack_size(count)?;
        match self.0.sig.bytes_as(&external_size).and_then(|n| n.checked_mul(count as u64)) {
            Some(n) if i64::try_from(n).is_ok() => Ok(n),
            _ => bail!(
                MPI_ERR_COUNT,
                "external32: {count} elements of {} are more bytes than 63 bits count",
                self.describe()
            ),
        }
    }

    /// MPI_Pack_external: converts `count` elements at `base` to the start of `out`; returns the bytes written. Does nothing but
    /// fail with MPI_ERR_TRUNCATE when `out` is too short.
    /// # Safety
    /// `base` is valid for reads over the type map of `count` elements.
    pub unsafe fn pack_external(&self, base: Buf, count: usize, out: &mut [u8]) -> Result<usize> {
        let need = self.external_size(count)?;
        if need > out.len() as u64 {
            bail!(
                MPI_ERR_TRUNCATE,
                "external32: {count} elements of {self} need {need} bytes, the buffer has {} left",
                out.len()
            );
        }
        let mut cursor = Cursor::new(self, base, count);
        let mut at = 0;
        pieces(self, count, |form, n| {
            let mut native = [0; CHUNK];
            let native = &mut native[..n * form.native()];
            // SAFETY: the caller's promise.
            unsafe { cursor.pack(native) };
            let end = at + n * form.external();
            encode(form, native, &mut out[at..end])?;
            at = end;
            Ok(())
        })?;
        Ok(at)
    }

    /// MPI_Unpack_external: converts `count` elements from the start of `data` to `base`; returns the bytes read.
    /// # Safety
    /// `base` is valid for writes over the type map of `count` elements.
    pub unsafe fn unpack_external(&self, base: Buf, count: usize, data: &[u8]) -> Result<usize> {
        let need = self.external_size(count)?;
        if need > data.len() as u64 {
            bail!(
                MPI_ERR_TRUNCATE,
                "external32: {count} elements of {self} take {need} bytes, the buffer has {} left",
                data.len()
            );
        }
        let mut cursor = Cursor::new(self, base, count);
        let mut at = 0;
        pieces(self, count, |form, n| {
            let mut native = [0; CHUNK];
            let native = &mut native[..n * form.native()];
            let end = at + n * form.external();
            decode(form, &data[at..end], native);
            // SAFETY: the caller's promise.
            unsafe { cursor.unpack(native) };
            at = end;
            Ok(())
        })?;
        Ok(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn x87(m: u64, se: u16) -> [u8; 16] {
        let mut b = [0; 16];
        b[..8].copy_from_slice(&m.to_le_bytes());
        b[8..10].copy_from_slice(&se.to_le_bytes());
        b
    }

    #[test]
    fn extended_numbers_survive_the_way_there_and_back() {
        let cases = [
            (0, 0),
            (0, 0x8000),
            (1 << 63, 0x3fff),
            (u64::MAX, 0x7ffe),
            (1, 0),
            (u64::MAX >> 1, 0x8000),
            (1 << 63, 0x7fff),
            (3 << 62, 0x7fff),
        ];
        for (m, se) in cases {
            let b = x87(m, se);
            assert_eq!(extended_of_quad(quad_of_extended(&b)), b, "{m:#x} {se:#x}");
        }
        assert_eq!(quad_of_extended(&x87(1 << 63, 0x3fff)), 0x3fff << 112);
        assert_eq!(quad_of_extended(&x87(3 << 62, 0xc000)), 0xc0008 << 108);
    }

    #[test]
    fn binary128_is_rounded_to_extended() {
        let one = 0x3fffu128 << 112;
        assert_eq!(extended_of_quad(one | 1 << 48), x87(1 << 63, 0x3fff));
        assert_eq!(extended_of_quad(one | 1 << 48 | 1), x87(1 << 63 | 1, 0x3fff));
        assert_eq!(extended_of_quad(one | 3 << 48), x87(1 << 63 | 2, 0x3fff));
        assert_eq!(extended_of_quad(one | ((1 << 112) - 1)), x87(1 << 63, 0x4000));
        assert_eq!(extended_of_quad((1 << 112) - 1), x87(1 << 63, 1));
        assert_eq!(extended_of_quad(0x7ffe << 112 | ((1 << 112) - 1)), x87(1 << 63, 0x7fff));
        assert_eq!(extended_of_quad(0x7fff << 112 | 1), x87(3 << 62, 0x7fff));
    }
}
