//! Datatypes (MPI-5.0 chapter 5): type maps, flattening, pack and unpack, reduction kernels.
//!
//! - `predefined`, `unnamed`, `construct`, `array`: the ways to a [`Datatype`]; `envelope`: how it was made; `describe`: it in words.
//! - `node`: the flattened form; `signature`: the basic types in order; `copy`, `kernel`: moving bytes; `external`: the portable format.
//! - `reduce`: the predefined operations.
//!
//! `unsafe` is allowed in `copy`, `kernel`, `reduce` and `external` only.
mod array;
mod construct;
mod copy;
mod describe;
mod envelope;
mod external;
mod kernel;
mod level;
mod node;
mod predefined;
mod reduce;
mod signature;
mod types;
mod unnamed;

pub use array::Darray;
pub use copy::{Cursor, copy, for_each_block};
pub use envelope::{Envelope, combiner_name};
pub use predefined::{all_predefined, predefined_name};
pub use reduce::{Reducer, check_reduce, predefined_op_name, reduce};
pub use types::Datatype;
