//! Entry points of chapter `topo`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;
use oxmpi_mpi::topo;

entry! { MPI_Cart_coords PMPI_Cart_coords(comm: Comm, rank: i32, maxdims: i32, coords: Arr<i32>)
    [ErrObject::Comm(comm)], topo::cart_coords(comm, rank, maxdims, coords) }
entry! { MPI_Cart_create PMPI_Cart_create(comm_old: Comm, ndims: i32, dims: Arr<i32>, periods: Arr<i32>, reorder: i32, comm_cart: Out<Comm>)
    [ErrObject::Comm(comm_old)], topo::cart_create(comm_old, ndims, dims, periods, reorder, comm_cart) }
entry! { MPI_Cart_get PMPI_Cart_get(comm: Comm, maxdims: i32, dims: Arr<i32>, periods: Arr<i32>, coords: Arr<i32>)
    [ErrObject::Comm(comm)], topo::cart_get(comm, maxdims, dims, periods, coords) }
entry! { MPI_Cart_map PMPI_Cart_map(comm: Comm, ndims: i32, dims: Arr<i32>, periods: Arr<i32>, newrank: Out<i32>)
    [ErrObject::Comm(comm)], topo::cart_map(comm, ndims, dims, periods, newrank) }
entry! { MPI_Cart_rank PMPI_Cart_rank(comm: Comm, coords: Arr<i32>, rank: Out<i32>)
    [ErrObject::Comm(comm)], topo::cart_rank(comm, coords, rank) }
entry! { MPI_Cart_shift PMPI_Cart_shift(comm: Comm, direction: i32, disp: i32, rank_source: Out<i32>, rank_dest: Out<i32>)
    [ErrObject::Comm(comm)], topo::cart_shift(comm, direction, disp, rank_source, rank_dest) }
entry! { MPI_Cart_sub PMPI_Cart_sub(comm: Comm, remain_dims: Arr<i32>, newcomm: Out<Comm>)
    [ErrObject::Comm(comm)], topo::cart_sub(comm, remain_dims, newcomm) }
entry! { MPI_Cartdim_get PMPI_Cartdim_get(comm: Comm, ndims: Out<i32>)
    [ErrObject::Comm(comm)], topo::cartdim_get(comm, ndims) }
entry! { MPI_Dims_create PMPI_Dims_create(nnodes: i32, ndims: i32, dims: Arr<i32>)
    [ErrObject::None], topo::dims_create(nnodes, ndims, dims) }
entry! { MPI_Dist_graph_create PMPI_Dist_graph_create(comm_old: Comm, n: i32, sources: Arr<i32>, degrees: Arr<i32>, destinations: Arr<i32>, weights: Arr<i32>, info: Info, reorder: i32, comm_dist_graph: Out<Comm>)
    [ErrObject::Comm(comm_old)], topo::dist_graph_create(comm_old, n, sources, degrees, destinations, weights, info, reorder, comm_dist_graph) }
entry! { MPI_Dist_graph_create_adjacent PMPI_Dist_graph_create_adjacent(comm_old: Comm, indegree: i32, sources: Arr<i32>, sourceweights: Arr<i32>, outdegree: i32, destinations: Arr<i32>, destweights: Arr<i32>, info: Info, reorder: i32, comm_dist_graph: Out<Comm>)
    [ErrObject::Comm(comm_old)], topo::dist_graph_create_adjacent(comm_old, indegree, sources, sourceweights, outdegree, destinations, destweights, info, reorder, comm_dist_graph) }
entry! { MPI_Dist_graph_neighbors PMPI_Dist_graph_neighbors(comm: Comm, maxindegree: i32, sources: Arr<i32>, sourceweights: Arr<i32>, maxoutdegree: i32, destinations: Arr<i32>, destweights: Arr<i32>)
    [ErrObject::Comm(comm)], topo::dist_graph_neighbors(comm, maxindegree, sources, sourceweights, maxoutdegree, destinations, destweights) }
entry! { MPI_Dist_graph_neighbors_count PMPI_Dist_graph_neighbors_count(comm: Comm, indegree: Out<i32>, outdegree: Out<i32>, weighted: Out<i32>)
    [ErrObject::Comm(comm)], topo::dist_graph_neighbors_count(comm, indegree, outdegree, weighted) }
entry! { MPI_Graph_create PMPI_Graph_create(comm_old: Comm, nnodes: i32, index: Arr<i32>, edges: Arr<i32>, reorder: i32, comm_graph: Out<Comm>)
    [ErrObject::Comm(comm_old)], topo::graph_create(comm_old, nnodes, index, edges, reorder, comm_graph) }
entry! { MPI_Graph_get PMPI_Graph_get(comm: Comm, maxindex: i32, maxedges: i32, index: Arr<i32>, edges: Arr<i32>)
    [ErrObject::Comm(comm)], topo::graph_get(comm, maxindex, maxedges, index, edges) }
entry! { MPI_Graph_map PMPI_Graph_map(comm: Comm, nnodes: i32, index: Arr<i32>, edges: Arr<i32>, newrank: Out<i32>)
    [ErrObject::Comm(comm)], topo::graph_map(comm, nnodes, index, edges, newrank) }
entry! { MPI_Graph_neighbors PMPI_Graph_neighbors(comm: Comm, rank: i32, maxneighbors: i32, neighbors: Arr<i32>)
    [ErrObject::Comm(comm)], topo::graph_neighbors(comm, rank, maxneighbors, neighbors) }
entry! { MPI_Graph_neighbors_count PMPI_Graph_neighbors_count(comm: Comm, rank: i32, nneighbors: Out<i32>)
    [ErrObject::Comm(comm)], topo::graph_neighbors_count(comm, rank, nneighbors) }
entry! { MPI_Graphdims_get PMPI_Graphdims_get(comm: Comm, nnodes: Out<i32>, nedges: Out<i32>)
    [ErrObject::Comm(comm)], topo::graphdims_get(comm, nnodes, nedges) }
entry! { MPI_Ineighbor_allgather PMPI_Ineighbor_allgather(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::ineighbor_allgather(sendbuf, i64::from(sendcount), sendtype, recvbuf, i64::from(recvcount), recvtype, comm, request) }
entry! { MPI_Ineighbor_allgather_c PMPI_Ineighbor_allgather_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request) }
entry! { MPI_Ineighbor_allgatherv PMPI_Ineighbor_allgatherv(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i32>, displs: Arr<i32>, recvtype: Datatype, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::ineighbor_allgatherv(sendbuf, i64::from(sendcount), sendtype, recvbuf, Counts::Int(recvcounts), Counts::Int(displs), recvtype, comm, request) }
entry! { MPI_Ineighbor_allgatherv_c PMPI_Ineighbor_allgatherv_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i64>, displs: Arr<i64>, recvtype: Datatype, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, Counts::Wide(recvcounts), Counts::Wide(displs), recvtype, comm, request) }
entry! { MPI_Ineighbor_alltoall PMPI_Ineighbor_alltoall(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::ineighbor_alltoall(sendbuf, i64::from(sendcount), sendtype, recvbuf, i64::from(recvcount), recvtype, comm, request) }
entry! { MPI_Ineighbor_alltoall_c PMPI_Ineighbor_alltoall_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request) }
entry! { MPI_Ineighbor_alltoallv PMPI_Ineighbor_alltoallv(sendbuf: Buf, sendcounts: Arr<i32>, sdispls: Arr<i32>, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i32>, rdispls: Arr<i32>, recvtype: Datatype, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::ineighbor_alltoallv(sendbuf, Counts::Int(sendcounts), Counts::Int(sdispls), sendtype, recvbuf, Counts::Int(recvcounts), Counts::Int(rdispls), recvtype, comm, request) }
entry! { MPI_Ineighbor_alltoallv_c PMPI_Ineighbor_alltoallv_c(sendbuf: Buf, sendcounts: Arr<i64>, sdispls: Arr<i64>, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i64>, rdispls: Arr<i64>, recvtype: Datatype, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::ineighbor_alltoallv(sendbuf, Counts::Wide(sendcounts), Counts::Wide(sdispls), sendtype, recvbuf, Counts::Wide(recvcounts), Counts::Wide(rdispls), recvtype, comm, request) }
entry! { MPI_Ineighbor_alltoallw PMPI_Ineighbor_alltoallw(sendbuf: Buf, sendcounts: Arr<i32>, sdispls: Arr<i64>, sendtypes: Arr<Datatype>, recvbuf: Buf, recvcounts: Arr<i32>, rdispls: Arr<i64>, recvtypes: Arr<Datatype>, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::ineighbor_alltoallw(sendbuf, Counts::Int(sendcounts), sdispls, sendtypes, recvbuf, Counts::Int(recvcounts), rdispls, recvtypes, comm, request) }
entry! { MPI_Ineighbor_alltoallw_c PMPI_Ineighbor_alltoallw_c(sendbuf: Buf, sendcounts: Arr<i64>, sdispls: Arr<i64>, sendtypes: Arr<Datatype>, recvbuf: Buf, recvcounts: Arr<i64>, rdispls: Arr<i64>, recvtypes: Arr<Datatype>, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::ineighbor_alltoallw(sendbuf, Counts::Wide(sendcounts), sdispls, sendtypes, recvbuf, Counts::Wide(recvcounts), rdispls, recvtypes, comm, request) }
entry! { MPI_Neighbor_allgather PMPI_Neighbor_allgather(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, comm: Comm)
    [ErrObject::Comm(comm)], topo::neighbor_allgather(sendbuf, i64::from(sendcount), sendtype, recvbuf, i64::from(recvcount), recvtype, comm) }
entry! { MPI_Neighbor_allgather_c PMPI_Neighbor_allgather_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, comm: Comm)
    [ErrObject::Comm(comm)], topo::neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) }
entry! { MPI_Neighbor_allgather_init PMPI_Neighbor_allgather_init(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::neighbor_allgather_init(sendbuf, i64::from(sendcount), sendtype, recvbuf, i64::from(recvcount), recvtype, comm, info, request) }
entry! { MPI_Neighbor_allgather_init_c PMPI_Neighbor_allgather_init_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::neighbor_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request) }
entry! { MPI_Neighbor_allgatherv PMPI_Neighbor_allgatherv(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i32>, displs: Arr<i32>, recvtype: Datatype, comm: Comm)
    [ErrObject::Comm(comm)], topo::neighbor_allgatherv(sendbuf, i64::from(sendcount), sendtype, recvbuf, Counts::Int(recvcounts), Counts::Int(displs), recvtype, comm) }
entry! { MPI_Neighbor_allgatherv_c PMPI_Neighbor_allgatherv_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i64>, displs: Arr<i64>, recvtype: Datatype, comm: Comm)
    [ErrObject::Comm(comm)], topo::neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, Counts::Wide(recvcounts), Counts::Wide(displs), recvtype, comm) }
entry! { MPI_Neighbor_allgatherv_init PMPI_Neighbor_allgatherv_init(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i32>, displs: Arr<i32>, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::neighbor_allgatherv_init(sendbuf, i64::from(sendcount), sendtype, recvbuf, Counts::Int(recvcounts), Counts::Int(displs), recvtype, comm, info, request) }
entry! { MPI_Neighbor_allgatherv_init_c PMPI_Neighbor_allgatherv_init_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i64>, displs: Arr<i64>, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::neighbor_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, Counts::Wide(recvcounts), Counts::Wide(displs), recvtype, comm, info, request) }
entry! { MPI_Neighbor_alltoall PMPI_Neighbor_alltoall(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, comm: Comm)
    [ErrObject::Comm(comm)], topo::neighbor_alltoall(sendbuf, i64::from(sendcount), sendtype, recvbuf, i64::from(recvcount), recvtype, comm) }
entry! { MPI_Neighbor_alltoall_c PMPI_Neighbor_alltoall_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, comm: Comm)
    [ErrObject::Comm(comm)], topo::neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) }
entry! { MPI_Neighbor_alltoall_init PMPI_Neighbor_alltoall_init(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::neighbor_alltoall_init(sendbuf, i64::from(sendcount), sendtype, recvbuf, i64::from(recvcount), recvtype, comm, info, request) }
entry! { MPI_Neighbor_alltoall_init_c PMPI_Neighbor_alltoall_init_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request) }
entry! { MPI_Neighbor_alltoallv PMPI_Neighbor_alltoallv(sendbuf: Buf, sendcounts: Arr<i32>, sdispls: Arr<i32>, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i32>, rdispls: Arr<i32>, recvtype: Datatype, comm: Comm)
    [ErrObject::Comm(comm)], topo::neighbor_alltoallv(sendbuf, Counts::Int(sendcounts), Counts::Int(sdispls), sendtype, recvbuf, Counts::Int(recvcounts), Counts::Int(rdispls), recvtype, comm) }
entry! { MPI_Neighbor_alltoallv_c PMPI_Neighbor_alltoallv_c(sendbuf: Buf, sendcounts: Arr<i64>, sdispls: Arr<i64>, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i64>, rdispls: Arr<i64>, recvtype: Datatype, comm: Comm)
    [ErrObject::Comm(comm)], topo::neighbor_alltoallv(sendbuf, Counts::Wide(sendcounts), Counts::Wide(sdispls), sendtype, recvbuf, Counts::Wide(recvcounts), Counts::Wide(rdispls), recvtype, comm) }
entry! { MPI_Neighbor_alltoallv_init PMPI_Neighbor_alltoallv_init(sendbuf: Buf, sendcounts: Arr<i32>, sdispls: Arr<i32>, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i32>, rdispls: Arr<i32>, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::neighbor_alltoallv_init(sendbuf, Counts::Int(sendcounts), Counts::Int(sdispls), sendtype, recvbuf, Counts::Int(recvcounts), Counts::Int(rdispls), recvtype, comm, info, request) }
entry! { MPI_Neighbor_alltoallv_init_c PMPI_Neighbor_alltoallv_init_c(sendbuf: Buf, sendcounts: Arr<i64>, sdispls: Arr<i64>, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i64>, rdispls: Arr<i64>, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::neighbor_alltoallv_init(sendbuf, Counts::Wide(sendcounts), Counts::Wide(sdispls), sendtype, recvbuf, Counts::Wide(recvcounts), Counts::Wide(rdispls), recvtype, comm, info, request) }
entry! { MPI_Neighbor_alltoallw PMPI_Neighbor_alltoallw(sendbuf: Buf, sendcounts: Arr<i32>, sdispls: Arr<i64>, sendtypes: Arr<Datatype>, recvbuf: Buf, recvcounts: Arr<i32>, rdispls: Arr<i64>, recvtypes: Arr<Datatype>, comm: Comm)
    [ErrObject::Comm(comm)], topo::neighbor_alltoallw(sendbuf, Counts::Int(sendcounts), sdispls, sendtypes, recvbuf, Counts::Int(recvcounts), rdispls, recvtypes, comm) }
entry! { MPI_Neighbor_alltoallw_c PMPI_Neighbor_alltoallw_c(sendbuf: Buf, sendcounts: Arr<i64>, sdispls: Arr<i64>, sendtypes: Arr<Datatype>, recvbuf: Buf, recvcounts: Arr<i64>, rdispls: Arr<i64>, recvtypes: Arr<Datatype>, comm: Comm)
    [ErrObject::Comm(comm)], topo::neighbor_alltoallw(sendbuf, Counts::Wide(sendcounts), sdispls, sendtypes, recvbuf, Counts::Wide(recvcounts), rdispls, recvtypes, comm) }
entry! { MPI_Neighbor_alltoallw_init PMPI_Neighbor_alltoallw_init(sendbuf: Buf, sendcounts: Arr<i32>, sdispls: Arr<i64>, sendtypes: Arr<Datatype>, recvbuf: Buf, recvcounts: Arr<i32>, rdispls: Arr<i64>, recvtypes: Arr<Datatype>, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::neighbor_alltoallw_init(sendbuf, Counts::Int(sendcounts), sdispls, sendtypes, recvbuf, Counts::Int(recvcounts), rdispls, recvtypes, comm, info, request) }
entry! { MPI_Neighbor_alltoallw_init_c PMPI_Neighbor_alltoallw_init_c(sendbuf: Buf, sendcounts: Arr<i64>, sdispls: Arr<i64>, sendtypes: Arr<Datatype>, recvbuf: Buf, recvcounts: Arr<i64>, rdispls: Arr<i64>, recvtypes: Arr<Datatype>, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], topo::neighbor_alltoallw_init(sendbuf, Counts::Wide(sendcounts), sdispls, sendtypes, recvbuf, Counts::Wide(recvcounts), rdispls, recvtypes, comm, info, request) }
entry! { MPI_Topo_test PMPI_Topo_test(comm: Comm, status: Out<i32>)
    [ErrObject::Comm(comm)], topo::topo_test(comm, status) }
