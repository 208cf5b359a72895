//! The predefined datatypes of the MPI-5.0 ABI (tables 3.2, 3.3, 5.1, 6.9.2, 6.9.4 and appendix A.1) as Linux on x86_64 and
//! aarch64 lays them out.
//!
//! Invariants: a handle is found by one table index; every predefined type is committed; a pair type is laid out as the C
//! struct of its two members and counts as two basic elements.
//! Known gap: Fortran INTEGER, REAL and LOGICAL have four bytes (MPI_Abi_set_fortran_info cannot say otherwise).
use crate::Datatype;
use crate::node::{Node, SeqBuilder};
use crate::signature::Sig;
use crate::types::{Inner, Uniform};
use oxmpi_base::{consts::*, handle};
use std::sync::LazyLock;

/// MPI-5.0 6.9.2: the groups operations are allowed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    CInteger,
    FortranInteger,
    Floating,
    Logical,
    Complex,
    Byte,
    MultiLanguage,
    /// 6.9.4: value and index.
    Pair,
    /// Printable characters and MPI_PACKED: no computing operation.
    None,
}

/// What a kernel computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elem {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    I128,
    F16,
    F32,
    F64,
    /// x87 extended precision in 16 bytes.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    F80,
    F128,
    C16,
    C32,
    C64,
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    C80,
    C128,
    /// Value and index, as rows of the table of basic types.
    Pair {
        value: u8,
        index: u8,
    },
}

#[cfg(target_arch = "x86_64")]
pub(crate) const LONG_DOUBLE: Elem = Elem::F80;
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const LONG_DOUBLE: Elem = Elem::F128;
#[cfg(target_arch = "x86_64")]
const LONG_DOUBLE_COMPLEX: Elem = Elem::C80;
#[cfg(not(target_arch = "x86_64"))]
const LONG_DOUBLE_COMPLEX: Elem = Elem::C128;

pub(crate) struct Row {
    pub handle: handle::Datatype,
    pub name: &'static str,
    pub size: u8,
    pub align: u8,
    pub group: Group,
    pub elem: Elem,
}

macro_rules! rows {
    ($($name:ident $size:literal $align:literal $group:ident $elem:expr;)*) => {
        &[$(Row { handle: $name, name: stringify!($name), size: $size, align: $align, group: Group::$group, elem: $elem }),*]
    };
}

static ROWS: &[Row] = {
    use Elem::*;
    rows! {
        MPI_AINT 8 8 MultiLanguage I64;
        MPI_COUNT 8 8 MultiLanguage I64;
        MPI_OFFSET 8 8 MultiLanguage I64;
        MPI_PACKED 1 1 None U8;
        MPI_SHORT 2 2 CInteger I16;
        MPI_INT 4 4 CInteger I32;
        MPI_LONG 8 8 CInteger I64;
        MPI_LONG_LONG_INT 8 8 CInteger I64;
        MPI_UNSIGNED_SHORT 2 2 CInteger U16;
        MPI_UNSIGNED 4 4 CInteger U32;
        MPI_UNSIGNED_LONG 8 8 CInteger U64;
        MPI_UNSIGNED_LONG_LONG 8 8 CInteger U64;
        MPI_FLOAT 4 4 Floating F32;
        MPI_C_COMPLEX 8 4 Complex C32;
        MPI_CXX_FLOAT_COMPLEX 8 4 Complex C32;
        MPI_DOUBLE 8 8 Floating F64;
        MPI_C_DOUBLE_COMPLEX 16 8 Complex C64;
        MPI_CXX_DOUBLE_COMPLEX 16 8 Complex C64;
        MPI_LOGICAL 4 4 Logical I32;
        MPI_INTEGER 4 4 FortranInteger I32;
        MPI_REAL 4 4 Floating F32;
        MPI_COMPLEX 8 4 Complex C32;
        MPI_DOUBLE_PRECISION 8 8 Floating F64;
        MPI_DOUBLE_COMPLEX 16 8 Complex C64;
        MPI_CHARACTER 1 1 None U8;
        MPI_LONG_DOUBLE 16 16 Floating LONG_DOUBLE;
        MPI_C_LONG_DOUBLE_COMPLEX 32 16 Complex LONG_DOUBLE_COMPLEX;
        MPI_CXX_LONG_DOUBLE_COMPLEX 32 16 Complex LONG_DOUBLE_COMPLEX;
        MPI_C_BOOL 1 1 Logical U8;
        MPI_CXX_BOOL 1 1 Logical U8;
        MPI_WCHAR 4 4 None I32;
        MPI_INT8_T 1 1 CInteger I8;
        MPI_UINT8_T 1 1 CInteger U8;
        MPI_CHAR 1 1 None I8;
        MPI_SIGNED_CHAR 1 1 CInteger I8;
        MPI_UNSIGNED_CHAR 1 1 CInteger U8;
        MPI_BYTE 1 1 Byte U8;
        MPI_INT16_T 2 2 CInteger I16;
        MPI_UINT16_T 2 2 CInteger U16;
        MPI_INT32_T 4 4 CInteger I32;
        MPI_UINT32_T 4 4 CInteger U32;
        MPI_INT64_T 8 8 CInteger I64;
        MPI_UINT64_T 8 8 CInteger U64;
        MPI_LOGICAL1 1 1 Logical I8;
        MPI_INTEGER1 1 1 FortranInteger I8;
        MPI_LOGICAL2 2 2 Logical I16;
        MPI_INTEGER2 2 2 FortranInteger I16;
        MPI_REAL2 2 2 Floating F16;
        MPI_LOGICAL4 4 4 Logical I32;
        MPI_INTEGER4 4 4 FortranInteger I32;
        MPI_REAL4 4 4 Floating F32;
        MPI_COMPLEX4 4 2 Complex C16;
        MPI_LOGICAL8 8 8 Logical I64;
        MPI_INTEGER8 8 8 FortranInteger I64;
        MPI_REAL8 8 8 Floating F64;
        MPI_COMPLEX8 8 4 Complex C32;
        MPI_LOGICAL16 16 16 Logical I128;
        MPI_INTEGER16 16 16 FortranInteger I128;
        MPI_REAL16 16 16 Floating F128;
        MPI_COMPLEX16 16 8 Complex C64;
        MPI_COMPLEX32 32 16 Complex C128;
    }
};

/// Named pair types: handle, name, value type, index type.
pub(crate) static PAIRS: &[(handle::Datatype, &str, handle::Datatype, handle::Datatype)] = &[
    (MPI_FLOAT_INT, "MPI_FLOAT_INT", MPI_FLOAT, MPI_INT),
    (MPI_DOUBLE_INT, "MPI_DOUBLE_INT", MPI_DOUBLE, MPI_INT),
    (MPI_LONG_INT, "MPI_LONG_INT", MPI_LONG, MPI_INT),
    (MPI_2INT, "MPI_2INT", MPI_INT, MPI_INT),
    (MPI_SHORT_INT, "MPI_SHORT_INT", MPI_SHORT, MPI_INT),
    (MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE, MPI_INT),
    (MPI_2REAL, "MPI_2REAL", MPI_REAL, MPI_REAL),
    (MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION", MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION),
    (MPI_2INTEGER, "MPI_2INTEGER", MPI_INTEGER, MPI_INTEGER),
];

const BASE: usize = MPI_DATATYPE_NULL.0;
const SLOTS: usize = 256;
const NO_ROW: u8 = u8::MAX;

/// Row of each handle value.
static INDEX: [u8; SLOTS] = {
    let mut t = [NO_ROW; SLOTS];
    let mut i = 0;
    while i < ROWS.len() {
        t[ROWS[i].handle.0 - BASE] = i as u8;
        i += 1;
    }
    t
};

static TYPES: LazyLock<[Option<Datatype>; SLOTS]> = LazyLock::new(|| {
    let mut t = [const { None }; SLOTS];
    for (i, r) in ROWS.iter().enumerate() {
        t[r.handle.0 - BASE] = Some(basic(i));
    }
    for &(h, name, v, x) in PAIRS {
        let mut inner = pair(row(v), row(x));
        inner.identify(h, name);
        t[h.0 - BASE] = Some(Datatype::new(inner));
    }
    t
});

pub(crate) fn row(h: handle::Datatype) -> u8 {
    INDEX[h.0 - BASE]
}

/// Size of a row of the table of basic types, as signatures name them.
#[inline]
pub(crate) fn prim_size(row: u8) -> usize {
    ROWS[row as usize].size as usize
}

pub(crate) fn prim(row: u8) -> &'static Row {
    &ROWS[row as usize]
}

fn basic(i: usize) -> Datatype {
    let r = &ROWS[i];
    let mut inner = scalar(i as u8);
    inner.identify(r.handle, r.name);
    Datatype::new(inner)
}

/// An unnamed predefined type like this row of the table.
pub(crate) fn scalar(i: u8) -> Inner {
    let r = prim(i);
    let size = r.size as usize;
    let mut inner = Inner::predefined(
        Node::Run { off: 0, len: size },
        Sig::Uniform { prim: i, n: 1 },
        size,
        size as isize,
        r.align as usize,
    );
    inner.elem = Some((r.group, r.elem));
    inner.uniform = Uniform::One(r.handle);
    inner
}

/// An unnamed predefined pair type, laid out like the C struct.
pub(crate) fn pair(value: u8, index: u8) -> Inner {
    let (v, x) = (prim(value), prim(index));
    let at = (v.size as usize).next_multiple_of(x.align as usize);
    let align = v.align.max(x.align) as usize;
    let end = at + x.size as usize;
    let mut seq = SeqBuilder::default();
    seq.push(&Node::Run { off: 0, len: v.size as usize });
    seq.push(&Node::Run { off: at as isize, len: x.size as usize });
    let sig = Sig::concat([value, index].into_iter().map(|prim| Sig::Uniform { prim, n: 1 }));
    let size = v.size as usize + x.size as usize;
    let mut inner = Inner::predefined(seq.finish(), sig, size, end.next_multiple_of(align) as isize, align);
    inner.elem = Some((Group::Pair, Elem::Pair { value, index }));
    inner.true_ub = end as isize;
    inner
}

impl Datatype {
    /// The predefined type of this handle value (MPI_INT, MPI_2INT, MPI_PACKED, ...); None for MPI_DATATYPE_NULL.
    #[inline]
    pub fn predefined(h: handle::Datatype) -> Option<&'static Datatype> {
        TYPES.get(h.0.wrapping_sub(BASE))?.as_ref()
    }
}

/// The standard's name of a predefined type.
pub fn predefined_name(h: handle::Datatype) -> Option<&'static str> {
    Datatype::predefined(h)?.0.name
}

/// All predefined types, in handle order.
pub fn all_predefined() -> impl Iterator<Item = &'static Datatype> {
    TYPES.iter().flatten()
}
