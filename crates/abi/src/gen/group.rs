//! Entry points of chapter `group`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;
use oxmpi_mpi::group;

entry! { MPI_Group_compare PMPI_Group_compare(group1: Group, group2: Group, result: Out<i32>)
    [ErrObject::None], group::group_compare(group1, group2, result) }
entry! { MPI_Group_difference PMPI_Group_difference(group1: Group, group2: Group, newgroup: Out<Group>)
    [ErrObject::None], group::group_difference(group1, group2, newgroup) }
entry! { MPI_Group_excl PMPI_Group_excl(group: Group, n: i32, ranks: Arr<i32>, newgroup: Out<Group>)
    [ErrObject::None], group::group_excl(group, n, ranks, newgroup) }
entry! { MPI_Group_free PMPI_Group_free(group: Out<Group>)
    [ErrObject::None], group::group_free(group) }
value! { MPI_Group_fromint PMPI_Group_fromint(group: i32) -> Group, from_int(group) }
entry! { MPI_Group_incl PMPI_Group_incl(group: Group, n: i32, ranks: Arr<i32>, newgroup: Out<Group>)
    [ErrObject::None], group::group_incl(group, n, ranks, newgroup) }
entry! { MPI_Group_intersection PMPI_Group_intersection(group1: Group, group2: Group, newgroup: Out<Group>)
    [ErrObject::None], group::group_intersection(group1, group2, newgroup) }
entry! { MPI_Group_range_excl PMPI_Group_range_excl(group: Group, n: i32, ranges: Arr<i32>, newgroup: Out<Group>)
    [ErrObject::None], group::group_range_excl(group, n, ranges, newgroup) }
entry! { MPI_Group_range_incl PMPI_Group_range_incl(group: Group, n: i32, ranges: Arr<i32>, newgroup: Out<Group>)
    [ErrObject::None], group::group_range_incl(group, n, ranges, newgroup) }
entry! { MPI_Group_rank PMPI_Group_rank(group: Group, rank: Out<i32>)
    [ErrObject::None], group::group_rank(group, rank) }
entry! { MPI_Group_size PMPI_Group_size(group: Group, size: Out<i32>)
    [ErrObject::None], group::group_size(group, size) }
value! { MPI_Group_toint PMPI_Group_toint(group: Group) -> i32, to_int(group) }
entry! { MPI_Group_translate_ranks PMPI_Group_translate_ranks(group1: Group, n: i32, ranks1: Arr<i32>, group2: Group, ranks2: Arr<i32>)
    [ErrObject::None], group::group_translate_ranks(group1, n, ranks1, group2, ranks2) }
entry! { MPI_Group_union PMPI_Group_union(group1: Group, group2: Group, newgroup: Out<Group>)
    [ErrObject::None], group::group_union(group1, group2, newgroup) }
