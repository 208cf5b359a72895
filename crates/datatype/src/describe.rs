//! Types in words, for error messages and debuggers.
use crate::Datatype;
use crate::envelope::combiner_name;
use oxmpi_base::consts::*;
use std::fmt::{Debug, Display, Formatter, Result, Write};

/// Deeper components are written as "...".
const DEPTH: usize = 4;
const ITEMS: usize = 4;

impl Datatype {
    /// `MPI_INT`, `vector(3 x 2, stride 5) of MPI_INT`, `struct{1 x MPI_INT @0, 1 x MPI_DOUBLE @8}` ...
    pub fn describe(&self) -> String {
        let mut s = String::new();
        let _ = write(self, DEPTH, &mut s);
        s
    }
}

fn write(t: &Datatype, depth: usize, s: &mut dyn Write) -> Result {
    if let Some(name) = t.0.name {
        return s.write_str(name);
    }
    if depth == 0 {
        return s.write_str("...");
    }
    let e = t.envelope();
    // The arguments in one order, whichever constructor twin was called.
    let arg = |i: usize| match e.integers.get(i) {
        _ if !e.large_counts.is_empty() => e.large_counts.get(i).copied().unwrap_or(0),
        Some(v) => *v as i64,
        None => e.addresses.get(i - e.integers.len()).copied().unwrap_or(0),
    };
    s.write_str(combiner_name(e.combiner))?;
    match e.combiner {
        MPI_COMBINER_CONTIGUOUS => write!(s, "({})", arg(0))?,
        MPI_COMBINER_VECTOR => write!(s, "({} x {}, stride {})", arg(0), arg(1), arg(2))?,
        MPI_COMBINER_HVECTOR => write!(s, "({} x {}, stride {} bytes)", arg(0), arg(1), arg(2))?,
        MPI_COMBINER_RESIZED => write!(s, "(lb {}, extent {})", arg(0), arg(1))?,
        MPI_COMBINER_INDEXED | MPI_COMBINER_HINDEXED => write!(s, "({} blocks)", arg(0))?,
        MPI_COMBINER_INDEXED_BLOCK | MPI_COMBINER_HINDEXED_BLOCK => write!(s, "({} blocks of {})", arg(0), arg(1))?,
        MPI_COMBINER_SUBARRAY | MPI_COMBINER_DARRAY => {
            let dims = if e.combiner == MPI_COMBINER_SUBARRAY { e.integers.first() } else { e.integers.get(2) };
            write!(s, "({} dimensions)", dims.copied().unwrap_or(0))?;
        }
        MPI_COMBINER_F90_REAL | MPI_COMBINER_F90_COMPLEX => write!(s, "({}, {})", arg(0), arg(1))?,
        MPI_COMBINER_F90_INTEGER => write!(s, "({})", arg(0))?,
        MPI_COMBINER_VALUE_INDEX => {
            let name = |i: usize| e.datatypes.get(i).and_then(|t| t.0.name).unwrap_or("?");
            return write!(s, "({}, {})", name(0), name(1));
        }
        MPI_COMBINER_STRUCT => {
            let n = e.datatypes.len();
            s.write_char('{')?;
            for i in 0..n.min(ITEMS) {
                write!(s, "{}{} x ", if i > 0 { ", " } else { "" }, arg(1 + i))?;
                write(&e.datatypes[i], depth - 1, s)?;
                write!(s, " @{}", arg(1 + n + i))?;
            }
            return s.write_str(if n > ITEMS { ", ...}" } else { "}" });
        }
        _ => {}
    }
    match e.datatypes.first() {
        Some(old) => {
            s.write_str(" of ")?;
            write(old, depth - 1, s)
        }
        None => Ok(()),
    }
}

impl Display for Datatype {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.describe())
    }
}

impl Debug for Datatype {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "Datatype({}; {} bytes, lb {}, extent {}", self, self.size(), self.lb(), self.extent())?;
        f.write_str(if self.committed() { ")" } else { ", not committed)" })
    }
}
