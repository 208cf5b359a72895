//! The datatype object: what the rest of the library asks of a type, precomputed at construction (MPI-5.0 5.1.5 to 5.1.11).
//!
//! Invariants: immutable but for the committed flag; sizes and all bounds fit an `isize`; `ub == lb + extent`;
//! without explicit bounds `lb == true_lb`, and the extent is that of the data with its components' padding, rounded up to the
//! strictest alignment among the basic types (the standard's epsilon).
use crate::envelope::Envelope;
use crate::node::Node;
use crate::predefined::{Elem, Group};
use crate::signature::Sig;
use oxmpi_base::{Error, Result, consts::*, handle};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A datatype: cheap to clone, immutable but for its committed flag.
#[derive(Clone)]
pub struct Datatype(pub(crate) Arc<Inner>);

/// Which predefined types a type is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Uniform {
    Empty,
    One(handle::Datatype),
    Mixed,
}

pub(crate) struct Inner {
    pub dense: Option<isize>,
    pub size: usize,
    pub lb: isize,
    pub extent: isize,
    pub committed: AtomicBool,
    /// Bounds were set with resized (here or in a component), or by subarray or darray.
    pub marked: bool,
    pub true_lb: isize,
    pub true_ub: isize,
    pub align: usize,
    pub node: Arc<Node>,
    pub handle: Option<handle::Datatype>,
    pub name: Option<&'static str>,
    /// For predefined types, named or not: what the predefined operations do with it.
    pub elem: Option<(Group, Elem)>,
    pub uniform: Uniform,
    pub sig: Sig,
    pub envelope: Envelope,
}

impl Inner {
    /// A committed predefined type of these dimensions.
    pub fn predefined(node: Node, sig: Sig, size: usize, extent: isize, align: usize) -> Inner {
        Inner {
            dense: None,
            size,
            lb: 0,
            extent,
            committed: AtomicBool::new(true),
            marked: false,
            true_lb: 0,
            true_ub: extent,
            align,
            node: Arc::new(node),
            handle: None,
            name: None,
            elem: None,
            uniform: Uniform::Empty,
            sig,
            envelope: Envelope::named(),
        }
    }
    /// Makes it a named one.
    pub fn identify(&mut self, h: handle::Datatype, name: &'static str) {
        self.handle = Some(h);
        self.name = Some(name);
        self.uniform = Uniform::One(h);
    }
    pub fn ub(&self) -> isize {
        self.lb + self.extent
    }
}

/// Long chains of types made from one another are taken apart without recursion.
impl Drop for Inner {
    fn drop(&mut self) {
        let mut todo = std::mem::take(&mut self.envelope.datatypes);
        while let Some(t) = todo.pop() {
            if let Some(mut inner) = Arc::into_inner(t.0) {
                todo.append(&mut inner.envelope.datatypes);
            }
        }
    }
}

impl Datatype {
    pub(crate) fn new(mut inner: Inner) -> Datatype {
        inner.dense = match *inner.node {
            Node::Empty => Some(0),
            Node::Run { off, len } if len as isize == inner.extent => Some(off),
            _ => None,
        };
        Datatype(Arc::new(inner))
    }

    /// Some(handle) exactly for predefined types.
    pub fn predefined_handle(&self) -> Option<handle::Datatype> {
        self.0.handle
    }
    /// Named, or made by MPI_Type_create_f90_* or MPI_Type_get_value_index: always committed, never freed, and the predefined
    /// operations work on it.
    pub fn is_predefined(&self) -> bool {
        self.0.elem.is_some()
    }
    /// Bytes of data in one element.
    #[inline]
    pub fn size(&self) -> usize {
        self.0.size
    }
    #[inline]
    pub fn lb(&self) -> isize {
        self.0.lb
    }
    #[inline]
    pub fn extent(&self) -> isize {
        self.0.extent
    }
    #[inline]
    pub fn true_lb(&self) -> isize {
        self.0.true_lb
    }
    #[inline]
    pub fn true_extent(&self) -> isize {
        self.0.true_ub - self.0.true_lb
    }
    /// `Some(offset)`: `count` elements are one gap-free ascending run of `count*size` bytes that starts at `buf+offset`,
    /// for any count. One load on the hot path. Types without data are dense.
    #[inline]
    pub fn dense(&self) -> Option<isize> {
        self.0.dense
    }
    /// As `dense`, for `count` elements of this type: one element may be gap-free where several are not.
    #[inline]
    pub fn dense_for(&self, count: usize) -> Option<isize> {
        match (self.0.dense, &*self.0.node) {
            (Some(off), _) => Some(off),
            (None, Node::Run { off, .. }) if count <= 1 => Some(*off),
            _ if count == 0 => Some(0),
            _ => None,
        }
    }
    #[inline]
    pub fn committed(&self) -> bool {
        self.0.committed.load(Relaxed)
    }
    pub fn commit(&self) {
        self.0.committed.store(true, Relaxed)
    }
    /// How the type was made.
    pub fn envelope(&self) -> &Envelope {
        &self.0.envelope
    }
    /// Strictest alignment among the basic types.
    pub fn align(&self) -> usize {
        self.0.align
    }
    /// The one predefined type (a pair type included) this type is made of; None if there are several or none. What
    /// MPI_Accumulate and MPI_Get_accumulate ask of their types (MPI-5.0 12.3.4).
    pub fn basic_type(&self) -> Option<&'static Datatype> {
        match self.0.uniform {
            Uniform::One(h) => Datatype::predefined(h),
            _ => None,
        }
    }
    /// Basic elements in one element of this type.
    pub fn basic_count(&self) -> u64 {
        self.0.sig.count()
    }
    /// Blocks a walk over one element meets.
    pub fn blocks(&self) -> u64 {
        self.0.node.blocks()
    }
    /// Same object.
    pub fn same(&self, other: &Datatype) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// MPI_Get_elements (5.1.11): basic elements in `bytes` received bytes; None when that is not a whole number of them.
    pub fn elements(&self, bytes: u64) -> Option<i64> {
        let size = self.0.size as u64;
        if bytes == 0 || size == 0 {
            return (bytes == 0).then_some(0);
        }
        let whole = (bytes / size).checked_mul(self.0.sig.count())?;
        let n = whole.checked_add(self.0.sig.elements_in(bytes % size)?)?;
        i64::try_from(n).ok()
    }
    /// MPI_Get_count (3.2.5): whole elements in `bytes` received bytes; None when there is a rest.
    pub fn count_of(&self, bytes: u64) -> Option<i64> {
        let size = self.0.size as u64;
        if bytes == 0 || size == 0 {
            return (bytes == 0).then_some(0);
        }
        if bytes.is_multiple_of(size) { i64::try_from(bytes / size).ok() } else { None }
    }
    /// MPI_Status_set_elements: the bytes that `count` basic elements of the repeated signature take.
    pub fn bytes_of_elements(&self, count: i64) -> Option<u64> {
        let count = u64::try_from(count).ok()?;
        let each = self.0.sig.count();
        if count == 0 || each == 0 {
            return (count == 0).then_some(0);
        }
        (count / each).checked_mul(self.0.size as u64)?.checked_add(self.0.sig.bytes_in(count % each))
    }
    /// Bytes of the packed stream of `count` elements (MPI_Pack_size); MPI_ERR_COUNT when it does not fit 63 bits.
    pub fn pack_size(&self, count: usize) -> Result<u64> {
        match self.0.size.checked_mul(count) {
            Some(n) if n <= isize::MAX as usize => Ok(n as u64),
            _ => Err(Error::new(
                MPI_ERR_COUNT,
                format!(
                    "{count} elements of {} bytes ({}) are more bytes than a message can hold",
                    self.0.size,
                    self.describe()
                ),
            )),
        }
    }
}
