//! Entry points of chapter `op`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;
use oxmpi_mpi::op;

entry! { MPI_Op_commutative PMPI_Op_commutative(op: Op, commute: Out<i32>)
    [ErrObject::None], op::op_commutative(op, commute) }
entry! { MPI_Op_create PMPI_Op_create(user_fn: FnPtr, commute: i32, op: Out<Op>)
    [ErrObject::None], op::op_create(user_fn, commute, op, false) }
entry! { MPI_Op_create_c PMPI_Op_create_c(user_fn: FnPtr, commute: i32, op: Out<Op>)
    [ErrObject::None], op::op_create(user_fn, commute, op, true) }
entry! { MPI_Op_free PMPI_Op_free(op: Out<Op>)
    [ErrObject::None], op::op_free(op) }
value! { MPI_Op_fromint PMPI_Op_fromint(op: i32) -> Op, from_int(op) }
value! { MPI_Op_toint PMPI_Op_toint(op: Op) -> i32, to_int(op) }
