//! Entry points of chapter `datatype`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;
use oxmpi_mpi::datatype;

value! { MPI_Aint_add PMPI_Aint_add(base: i64, disp: i64)
    -> i64, datatype::aint_add(base, disp) }
value! { MPI_Aint_diff PMPI_Aint_diff(addr1: i64, addr2: i64)
    -> i64, datatype::aint_diff(addr1, addr2) }
entry! { MPI_Get_address PMPI_Get_address(location: Buf, address: Out<i64>)
    [ErrObject::None], datatype::get_address(location, address) }
entry! { MPI_Pack PMPI_Pack(inbuf: Buf, incount: i32, datatype: Datatype, outbuf: Buf, outsize: i32, position: Out<i32>, comm: Comm)
    [ErrObject::Comm(comm)], datatype::pack(inbuf, i64::from(incount), datatype, outbuf, i64::from(outsize), OutCount::Int(position), comm, false) }
entry! { MPI_Pack_c PMPI_Pack_c(inbuf: Buf, incount: i64, datatype: Datatype, outbuf: Buf, outsize: i64, position: Out<i64>, comm: Comm)
    [ErrObject::Comm(comm)], datatype::pack(inbuf, incount, datatype, outbuf, outsize, OutCount::Wide(position), comm, true) }
entry! { MPI_Pack_external PMPI_Pack_external(datarep: Str, inbuf: Buf, incount: i32, datatype: Datatype, outbuf: Buf, outsize: i64, position: Out<i64>)
    [ErrObject::None], datatype::pack_external(datarep, inbuf, i64::from(incount), datatype, outbuf, outsize, OutCount::Wide(position), false) }
entry! { MPI_Pack_external_c PMPI_Pack_external_c(datarep: Str, inbuf: Buf, incount: i64, datatype: Datatype, outbuf: Buf, outsize: i64, position: Out<i64>)
    [ErrObject::None], datatype::pack_external(datarep, inbuf, incount, datatype, outbuf, outsize, OutCount::Wide(position), true) }
entry! { MPI_Pack_external_size PMPI_Pack_external_size(datarep: Str, incount: i32, datatype: Datatype, size: Out<i64>)
    [ErrObject::None], datatype::pack_external_size(datarep, i64::from(incount), datatype, OutCount::Wide(size), false) }
entry! { MPI_Pack_external_size_c PMPI_Pack_external_size_c(datarep: Str, incount: i64, datatype: Datatype, size: Out<i64>)
    [ErrObject::None], datatype::pack_external_size(datarep, incount, datatype, OutCount::Wide(size), true) }
entry! { MPI_Pack_size PMPI_Pack_size(incount: i32, datatype: Datatype, comm: Comm, size: Out<i32>)
    [ErrObject::Comm(comm)], datatype::pack_size(i64::from(incount), datatype, comm, OutCount::Int(size), false) }
entry! { MPI_Pack_size_c PMPI_Pack_size_c(incount: i64, datatype: Datatype, comm: Comm, size: Out<i64>)
    [ErrObject::Comm(comm)], datatype::pack_size(incount, datatype, comm, OutCount::Wide(size), true) }
entry! { MPI_Type_commit PMPI_Type_commit(datatype: Out<Datatype>)
    [ErrObject::None], datatype::type_commit(datatype) }
entry! { MPI_Type_contiguous PMPI_Type_contiguous(count: i32, oldtype: Datatype, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_contiguous(i64::from(count), oldtype, newtype, false) }
entry! { MPI_Type_contiguous_c PMPI_Type_contiguous_c(count: i64, oldtype: Datatype, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_contiguous(count, oldtype, newtype, true) }
entry! { MPI_Type_create_darray PMPI_Type_create_darray(size: i32, rank: i32, ndims: i32, array_of_gsizes: Arr<i32>, array_of_distribs: Arr<i32>, array_of_dargs: Arr<i32>, array_of_psizes: Arr<i32>, order: i32, oldtype: Datatype, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_create_darray(size, rank, ndims, Counts::Int(array_of_gsizes), array_of_distribs, array_of_dargs, array_of_psizes, order, oldtype, newtype, false) }
entry! { MPI_Type_create_darray_c PMPI_Type_create_darray_c(size: i32, rank: i32, ndims: i32, array_of_gsizes: Arr<i64>, array_of_distribs: Arr<i32>, array_of_dargs: Arr<i32>, array_of_psizes: Arr<i32>, order: i32, oldtype: Datatype, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_create_darray(size, rank, ndims, Counts::Wide(array_of_gsizes), array_of_distribs, array_of_dargs, array_of_psizes, order, oldtype, newtype, true) }
entry! { MPI_Type_create_f90_complex PMPI_Type_create_f90_complex(p: i32, r: i32, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_create_f90_complex(p, r, newtype) }
entry! { MPI_Type_create_f90_integer PMPI_Type_create_f90_integer(r: i32, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_create_f90_integer(r, newtype) }
entry! { MPI_Type_create_f90_real PMPI_Type_create_f90_real(p: i32, r: i32, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_create_f90_real(p, r, newtype) }
entry! { MPI_Type_create_hindexed PMPI_Type_create_hindexed(count: i32, array_of_blocklengths: Arr<i32>, array_of_displacements: Arr<i64>, oldtype: Datatype, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_create_hindexed(i64::from(count), Counts::Int(array_of_blocklengths), Counts::Wide(array_of_displacements), oldtype, newtype, false) }
entry! { MPI_Type_create_hindexed_c PMPI_Type_create_hindexed_c(count: i64, array_of_blocklengths: Arr<i64>, array_of_displacements: Arr<i64>, oldtype: Datatype, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_create_hindexed(count, Counts::Wide(array_of_blocklengths), Counts::Wide(array_of_displacements), oldtype, newtype, true) }
entry! { MPI_Type_create_hindexed_block PMPI_Type_create_hindexed_block(count: i32, blocklength: i32, array_of_displacements: Arr<i64>, oldtype: Datatype, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_create_hindexed_block(i64::from(count), i64::from(blocklength), Counts::Wide(array_of_displacements), oldtype, newtype, false) }
entry! { MPI_Type_create_hindexed_block_c PMPI_Type_create_hindexed_block_c(count: i64, blocklength: i64, array_of_displacements: Arr<i64>, oldtype: Datatype, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_create_hindexed_block(count, blocklength, Counts::Wide(array_of_displacements), oldtype, newtype, true) }
entry! { MPI_Type_create_hvector PMPI_Type_create_hvector(count: i32, blocklength: i32, stride: i64, oldtype: Datatype, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_create_hvector(i64::from(count), i64::from(blocklength), stride, oldtype, newtype, false) }
entry! { MPI_Type_create_hvector_c PMPI_Type_create_hvector_c(count: i64, blocklength: i64, stride: i64, oldtype: Datatype, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_create_hvector(count, blocklength, stride, oldtype, newtype, true) }
entry! { MPI_Type_create_indexed_block PMPI_Type_create_indexed_block(count: i32, blocklength: i32, array_of_displacements: Arr<i32>, oldtype: Datatype, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_create_indexed_block(i64::from(count), i64::from(blocklength), Counts::Int(array_of_displacements), oldtype, newtype, false) }
entry! { MPI_Type_create_indexed_block_c PMPI_Type_create_indexed_block_c(count: i64, blocklength: i64, array_of_displacements: Arr<i64>, oldtype: Datatype, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_create_indexed_block(count, blocklength, Counts::Wide(array_of_displacements), oldtype, newtype, true) }
entry! { MPI_Type_create_resized PMPI_Type_create_resized(oldtype: Datatype, lb: i64, extent: i64, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_create_resized(oldtype, lb, extent, newtype, false) }
entry! { MPI_Type_create_resized_c PMPI_Type_create_resized_c(oldtype: Datatype, lb: i64, extent: i64, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_create_resized(oldtype, lb, extent, newtype, true) }
entry! { MPI_Type_create_struct PMPI_Type_create_struct(count: i32, array_of_blocklengths: Arr<i32>, array_of_displacements: Arr<i64>, array_of_types: Arr<Datatype>, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_create_struct(i64::from(count), Counts::Int(array_of_blocklengths), Counts::Wide(array_of_displacements), array_of_types, newtype, false) }
entry! { MPI_Type_create_struct_c PMPI_Type_create_struct_c(count: i64, array_of_blocklengths: Arr<i64>, array_of_displacements: Arr<i64>, array_of_types: Arr<Datatype>, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_create_struct(count, Counts::Wide(array_of_blocklengths), Counts::Wide(array_of_displacements), array_of_types, newtype, true) }
entry! { MPI_Type_create_subarray PMPI_Type_create_subarray(ndims: i32, array_of_sizes: Arr<i32>, array_of_subsizes: Arr<i32>, array_of_starts: Arr<i32>, order: i32, oldtype: Datatype, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_create_subarray(ndims, Counts::Int(array_of_sizes), Counts::Int(array_of_subsizes), Counts::Int(array_of_starts), order, oldtype, newtype, false) }
entry! { MPI_Type_create_subarray_c PMPI_Type_create_subarray_c(ndims: i32, array_of_sizes: Arr<i64>, array_of_subsizes: Arr<i64>, array_of_starts: Arr<i64>, order: i32, oldtype: Datatype, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_create_subarray(ndims, Counts::Wide(array_of_sizes), Counts::Wide(array_of_subsizes), Counts::Wide(array_of_starts), order, oldtype, newtype, true) }
entry! { MPI_Type_dup PMPI_Type_dup(oldtype: Datatype, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_dup(oldtype, newtype) }
entry! { MPI_Type_free PMPI_Type_free(datatype: Out<Datatype>)
    [ErrObject::None], datatype::type_free(datatype) }
value! { MPI_Type_fromint PMPI_Type_fromint(datatype: i32) -> Datatype, from_int(datatype) }
entry! { MPI_Type_get_contents PMPI_Type_get_contents(datatype: Datatype, max_integers: i32, max_addresses: i32, max_datatypes: i32, array_of_integers: Arr<i32>, array_of_addresses: Arr<i64>, array_of_datatypes: Arr<Datatype>)
    [ErrObject::None], datatype::type_get_contents(datatype, i64::from(max_integers), i64::from(max_addresses), 0, i64::from(max_datatypes), array_of_integers, array_of_addresses, absent_array(), array_of_datatypes, false) }
entry! { MPI_Type_get_contents_c PMPI_Type_get_contents_c(datatype: Datatype, max_integers: i64, max_addresses: i64, max_large_counts: i64, max_datatypes: i64, array_of_integers: Arr<i32>, array_of_addresses: Arr<i64>, array_of_large_counts: Arr<i64>, array_of_datatypes: Arr<Datatype>)
    [ErrObject::None], datatype::type_get_contents(datatype, max_integers, max_addresses, max_large_counts, max_datatypes, array_of_integers, array_of_addresses, array_of_large_counts, array_of_datatypes, true) }
entry! { MPI_Type_get_envelope PMPI_Type_get_envelope(datatype: Datatype, num_integers: Out<i32>, num_addresses: Out<i32>, num_datatypes: Out<i32>, combiner: Out<i32>)
    [ErrObject::None], datatype::type_get_envelope(datatype, OutCount::Int(num_integers), OutCount::Int(num_addresses), OutCount::Wide(absent()), OutCount::Int(num_datatypes), combiner, false) }
entry! { MPI_Type_get_envelope_c PMPI_Type_get_envelope_c(datatype: Datatype, num_integers: Out<i64>, num_addresses: Out<i64>, num_large_counts: Out<i64>, num_datatypes: Out<i64>, combiner: Out<i32>)
    [ErrObject::None], datatype::type_get_envelope(datatype, OutCount::Wide(num_integers), OutCount::Wide(num_addresses), OutCount::Wide(num_large_counts), OutCount::Wide(num_datatypes), combiner, true) }
entry! { MPI_Type_get_extent PMPI_Type_get_extent(datatype: Datatype, lb: Out<i64>, extent: Out<i64>)
    [ErrObject::None], datatype::type_get_extent(datatype, OutCount::Wide(lb), OutCount::Wide(extent), false) }
entry! { MPI_Type_get_extent_c PMPI_Type_get_extent_c(datatype: Datatype, lb: Out<i64>, extent: Out<i64>)
    [ErrObject::None], datatype::type_get_extent(datatype, OutCount::Wide(lb), OutCount::Wide(extent), true) }
entry! { MPI_Type_get_extent_x PMPI_Type_get_extent_x(datatype: Datatype, lb: Out<i64>, extent: Out<i64>)
    [ErrObject::None], datatype::type_get_extent_x(datatype, lb, extent) }
entry! { MPI_Type_get_name PMPI_Type_get_name(datatype: Datatype, type_name: OutStr, resultlen: Out<i32>)
    [ErrObject::None], datatype::type_get_name(datatype, type_name, resultlen) }
entry! { MPI_Type_get_true_extent PMPI_Type_get_true_extent(datatype: Datatype, true_lb: Out<i64>, true_extent: Out<i64>)
    [ErrObject::None], datatype::type_get_true_extent(datatype, OutCount::Wide(true_lb), OutCount::Wide(true_extent), false) }
entry! { MPI_Type_get_true_extent_c PMPI_Type_get_true_extent_c(datatype: Datatype, true_lb: Out<i64>, true_extent: Out<i64>)
    [ErrObject::None], datatype::type_get_true_extent(datatype, OutCount::Wide(true_lb), OutCount::Wide(true_extent), true) }
entry! { MPI_Type_get_true_extent_x PMPI_Type_get_true_extent_x(datatype: Datatype, true_lb: Out<i64>, true_extent: Out<i64>)
    [ErrObject::None], datatype::type_get_true_extent_x(datatype, true_lb, true_extent) }
entry! { MPI_Type_get_value_index PMPI_Type_get_value_index(value_type: Datatype, index_type: Datatype, pair_type: Out<Datatype>)
    [ErrObject::None], datatype::type_get_value_index(value_type, index_type, pair_type) }
entry! { MPI_Type_indexed PMPI_Type_indexed(count: i32, array_of_blocklengths: Arr<i32>, array_of_displacements: Arr<i32>, oldtype: Datatype, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_indexed(i64::from(count), Counts::Int(array_of_blocklengths), Counts::Int(array_of_displacements), oldtype, newtype, false) }
entry! { MPI_Type_indexed_c PMPI_Type_indexed_c(count: i64, array_of_blocklengths: Arr<i64>, array_of_displacements: Arr<i64>, oldtype: Datatype, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_indexed(count, Counts::Wide(array_of_blocklengths), Counts::Wide(array_of_displacements), oldtype, newtype, true) }
entry! { MPI_Type_match_size PMPI_Type_match_size(typeclass: i32, size: i32, datatype: Out<Datatype>)
    [ErrObject::None], datatype::type_match_size(typeclass, size, datatype) }
entry! { MPI_Type_set_name PMPI_Type_set_name(datatype: Datatype, type_name: Str)
    [ErrObject::None], datatype::type_set_name(datatype, type_name) }
entry! { MPI_Type_size PMPI_Type_size(datatype: Datatype, size: Out<i32>)
    [ErrObject::None], datatype::type_size(datatype, OutCount::Int(size), false) }
entry! { MPI_Type_size_c PMPI_Type_size_c(datatype: Datatype, size: Out<i64>)
    [ErrObject::None], datatype::type_size(datatype, OutCount::Wide(size), true) }
entry! { MPI_Type_size_x PMPI_Type_size_x(datatype: Datatype, size: Out<i64>)
    [ErrObject::None], datatype::type_size_x(datatype, size) }
value! { MPI_Type_toint PMPI_Type_toint(datatype: Datatype) -> i32, to_int(datatype) }
entry! { MPI_Type_vector PMPI_Type_vector(count: i32, blocklength: i32, stride: i32, oldtype: Datatype, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_vector(i64::from(count), i64::from(blocklength), i64::from(stride), oldtype, newtype, false) }
entry! { MPI_Type_vector_c PMPI_Type_vector_c(count: i64, blocklength: i64, stride: i64, oldtype: Datatype, newtype: Out<Datatype>)
    [ErrObject::None], datatype::type_vector(count, blocklength, stride, oldtype, newtype, true) }
entry! { MPI_Unpack PMPI_Unpack(inbuf: Buf, insize: i32, position: Out<i32>, outbuf: Buf, outcount: i32, datatype: Datatype, comm: Comm)
    [ErrObject::Comm(comm)], datatype::unpack(inbuf, i64::from(insize), OutCount::Int(position), outbuf, i64::from(outcount), datatype, comm, false) }
entry! { MPI_Unpack_c PMPI_Unpack_c(inbuf: Buf, insize: i64, position: Out<i64>, outbuf: Buf, outcount: i64, datatype: Datatype, comm: Comm)
    [ErrObject::Comm(comm)], datatype::unpack(inbuf, insize, OutCount::Wide(position), outbuf, outcount, datatype, comm, true) }
entry! { MPI_Unpack_external PMPI_Unpack_external(datarep: Str, inbuf: Buf, insize: i64, position: Out<i64>, outbuf: Buf, outcount: i32, datatype: Datatype)
    [ErrObject::None], datatype::unpack_external(datarep, inbuf, insize, OutCount::Wide(position), outbuf, i64::from(outcount), datatype, false) }
entry! { MPI_Unpack_external_c PMPI_Unpack_external_c(datarep: Str, inbuf: Buf, insize: i64, position: Out<i64>, outbuf: Buf, outcount: i64, datatype: Datatype)
    [ErrObject::None], datatype::unpack_external(datarep, inbuf, insize, OutCount::Wide(position), outbuf, outcount, datatype, true) }
