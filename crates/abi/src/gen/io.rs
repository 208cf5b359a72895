//! Entry points of chapter `io`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;

entry! { MPI_File_close PMPI_File_close(fh: Out<File>)
    [ErrObject::File(held(fh, MPI_FILE_NULL))], unsupported("MPI_File_close") }
entry! { MPI_File_delete PMPI_File_delete(filename: Str, info: Info)
    [ErrObject::None], unsupported("MPI_File_delete") }
value! { MPI_File_fromint PMPI_File_fromint(file: i32) -> File, from_int(file) }
entry! { MPI_File_get_amode PMPI_File_get_amode(fh: File, amode: Out<i32>)
    [ErrObject::File(fh)], unsupported("MPI_File_get_amode") }
entry! { MPI_File_get_atomicity PMPI_File_get_atomicity(fh: File, flag: Out<i32>)
    [ErrObject::File(fh)], unsupported("MPI_File_get_atomicity") }
entry! { MPI_File_get_byte_offset PMPI_File_get_byte_offset(fh: File, offset: i64, disp: Out<i64>)
    [ErrObject::File(fh)], unsupported("MPI_File_get_byte_offset") }
entry! { MPI_File_get_group PMPI_File_get_group(fh: File, group: Out<Group>)
    [ErrObject::File(fh)], unsupported("MPI_File_get_group") }
entry! { MPI_File_get_info PMPI_File_get_info(fh: File, info_used: Out<Info>)
    [ErrObject::File(fh)], unsupported("MPI_File_get_info") }
entry! { MPI_File_get_position PMPI_File_get_position(fh: File, offset: Out<i64>)
    [ErrObject::File(fh)], unsupported("MPI_File_get_position") }
entry! { MPI_File_get_position_shared PMPI_File_get_position_shared(fh: File, offset: Out<i64>)
    [ErrObject::File(fh)], unsupported("MPI_File_get_position_shared") }
entry! { MPI_File_get_size PMPI_File_get_size(fh: File, size: Out<i64>)
    [ErrObject::File(fh)], unsupported("MPI_File_get_size") }
entry! { MPI_File_get_type_extent PMPI_File_get_type_extent(fh: File, datatype: Datatype, extent: Out<i64>)
    [ErrObject::File(fh)], unsupported("MPI_File_get_type_extent") }
entry! { MPI_File_get_type_extent_c PMPI_File_get_type_extent_c(fh: File, datatype: Datatype, extent: Out<i64>)
    [ErrObject::File(fh)], unsupported("MPI_File_get_type_extent_c") }
entry! { MPI_File_get_view PMPI_File_get_view(fh: File, disp: Out<i64>, etype: Out<Datatype>, filetype: Out<Datatype>, datarep: OutStr)
    [ErrObject::File(fh)], unsupported("MPI_File_get_view") }
entry! { MPI_File_iread PMPI_File_iread(fh: File, buf: Buf, count: i32, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iread") }
entry! { MPI_File_iread_c PMPI_File_iread_c(fh: File, buf: Buf, count: i64, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iread_c") }
entry! { MPI_File_iread_all PMPI_File_iread_all(fh: File, buf: Buf, count: i32, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iread_all") }
entry! { MPI_File_iread_all_c PMPI_File_iread_all_c(fh: File, buf: Buf, count: i64, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iread_all_c") }
entry! { MPI_File_iread_at PMPI_File_iread_at(fh: File, offset: i64, buf: Buf, count: i32, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iread_at") }
entry! { MPI_File_iread_at_c PMPI_File_iread_at_c(fh: File, offset: i64, buf: Buf, count: i64, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iread_at_c") }
entry! { MPI_File_iread_at_all PMPI_File_iread_at_all(fh: File, offset: i64, buf: Buf, count: i32, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iread_at_all") }
entry! { MPI_File_iread_at_all_c PMPI_File_iread_at_all_c(fh: File, offset: i64, buf: Buf, count: i64, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iread_at_all_c") }
entry! { MPI_File_iread_shared PMPI_File_iread_shared(fh: File, buf: Buf, count: i32, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iread_shared") }
entry! { MPI_File_iread_shared_c PMPI_File_iread_shared_c(fh: File, buf: Buf, count: i64, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iread_shared_c") }
entry! { MPI_File_iwrite PMPI_File_iwrite(fh: File, buf: Buf, count: i32, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iwrite") }
entry! { MPI_File_iwrite_c PMPI_File_iwrite_c(fh: File, buf: Buf, count: i64, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iwrite_c") }
entry! { MPI_File_iwrite_all PMPI_File_iwrite_all(fh: File, buf: Buf, count: i32, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iwrite_all") }
entry! { MPI_File_iwrite_all_c PMPI_File_iwrite_all_c(fh: File, buf: Buf, count: i64, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iwrite_all_c") }
entry! { MPI_File_iwrite_at PMPI_File_iwrite_at(fh: File, offset: i64, buf: Buf, count: i32, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iwrite_at") }
entry! { MPI_File_iwrite_at_c PMPI_File_iwrite_at_c(fh: File, offset: i64, buf: Buf, count: i64, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iwrite_at_c") }
entry! { MPI_File_iwrite_at_all PMPI_File_iwrite_at_all(fh: File, offset: i64, buf: Buf, count: i32, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iwrite_at_all") }
entry! { MPI_File_iwrite_at_all_c PMPI_File_iwrite_at_all_c(fh: File, offset: i64, buf: Buf, count: i64, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iwrite_at_all_c") }
entry! { MPI_File_iwrite_shared PMPI_File_iwrite_shared(fh: File, buf: Buf, count: i32, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iwrite_shared") }
entry! { MPI_File_iwrite_shared_c PMPI_File_iwrite_shared_c(fh: File, buf: Buf, count: i64, datatype: Datatype, request: Out<Request>)
    [ErrObject::File(fh)], unsupported("MPI_File_iwrite_shared_c") }
entry! { MPI_File_open PMPI_File_open(comm: Comm, filename: Str, amode: i32, info: Info, fh: Out<File>)
    [ErrObject::Comm(comm)], unsupported("MPI_File_open") }
entry! { MPI_File_preallocate PMPI_File_preallocate(fh: File, size: i64)
    [ErrObject::File(fh)], unsupported("MPI_File_preallocate") }
entry! { MPI_File_read PMPI_File_read(fh: File, buf: Buf, count: i32, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_read") }
entry! { MPI_File_read_c PMPI_File_read_c(fh: File, buf: Buf, count: i64, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_read_c") }
entry! { MPI_File_read_all PMPI_File_read_all(fh: File, buf: Buf, count: i32, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_read_all") }
entry! { MPI_File_read_all_c PMPI_File_read_all_c(fh: File, buf: Buf, count: i64, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_read_all_c") }
entry! { MPI_File_read_all_begin PMPI_File_read_all_begin(fh: File, buf: Buf, count: i32, datatype: Datatype)
    [ErrObject::File(fh)], unsupported("MPI_File_read_all_begin") }
entry! { MPI_File_read_all_begin_c PMPI_File_read_all_begin_c(fh: File, buf: Buf, count: i64, datatype: Datatype)
    [ErrObject::File(fh)], unsupported("MPI_File_read_all_begin_c") }
entry! { MPI_File_read_all_end PMPI_File_read_all_end(fh: File, buf: Buf, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_read_all_end") }
entry! { MPI_File_read_at PMPI_File_read_at(fh: File, offset: i64, buf: Buf, count: i32, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_read_at") }
entry! { MPI_File_read_at_c PMPI_File_read_at_c(fh: File, offset: i64, buf: Buf, count: i64, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_read_at_c") }
entry! { MPI_File_read_at_all PMPI_File_read_at_all(fh: File, offset: i64, buf: Buf, count: i32, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_read_at_all") }
entry! { MPI_File_read_at_all_c PMPI_File_read_at_all_c(fh: File, offset: i64, buf: Buf, count: i64, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_read_at_all_c") }
entry! { MPI_File_read_at_all_begin PMPI_File_read_at_all_begin(fh: File, offset: i64, buf: Buf, count: i32, datatype: Datatype)
    [ErrObject::File(fh)], unsupported("MPI_File_read_at_all_begin") }
entry! { MPI_File_read_at_all_begin_c PMPI_File_read_at_all_begin_c(fh: File, offset: i64, buf: Buf, count: i64, datatype: Datatype)
    [ErrObject::File(fh)], unsupported("MPI_File_read_at_all_begin_c") }
entry! { MPI_File_read_at_all_end PMPI_File_read_at_all_end(fh: File, buf: Buf, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_read_at_all_end") }
entry! { MPI_File_read_ordered PMPI_File_read_ordered(fh: File, buf: Buf, count: i32, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_read_ordered") }
entry! { MPI_File_read_ordered_c PMPI_File_read_ordered_c(fh: File, buf: Buf, count: i64, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_read_ordered_c") }
entry! { MPI_File_read_ordered_begin PMPI_File_read_ordered_begin(fh: File, buf: Buf, count: i32, datatype: Datatype)
    [ErrObject::File(fh)], unsupported("MPI_File_read_ordered_begin") }
entry! { MPI_File_read_ordered_begin_c PMPI_File_read_ordered_begin_c(fh: File, buf: Buf, count: i64, datatype: Datatype)
    [ErrObject::File(fh)], unsupported("MPI_File_read_ordered_begin_c") }
entry! { MPI_File_read_ordered_end PMPI_File_read_ordered_end(fh: File, buf: Buf, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_read_ordered_end") }
entry! { MPI_File_read_shared PMPI_File_read_shared(fh: File, buf: Buf, count: i32, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_read_shared") }
entry! { MPI_File_read_shared_c PMPI_File_read_shared_c(fh: File, buf: Buf, count: i64, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_read_shared_c") }
entry! { MPI_File_seek PMPI_File_seek(fh: File, offset: i64, whence: i32)
    [ErrObject::File(fh)], unsupported("MPI_File_seek") }
entry! { MPI_File_seek_shared PMPI_File_seek_shared(fh: File, offset: i64, whence: i32)
    [ErrObject::File(fh)], unsupported("MPI_File_seek_shared") }
entry! { MPI_File_set_atomicity PMPI_File_set_atomicity(fh: File, flag: i32)
    [ErrObject::File(fh)], unsupported("MPI_File_set_atomicity") }
entry! { MPI_File_set_info PMPI_File_set_info(fh: File, info: Info)
    [ErrObject::File(fh)], unsupported("MPI_File_set_info") }
entry! { MPI_File_set_size PMPI_File_set_size(fh: File, size: i64)
    [ErrObject::File(fh)], unsupported("MPI_File_set_size") }
entry! { MPI_File_set_view PMPI_File_set_view(fh: File, disp: i64, etype: Datatype, filetype: Datatype, datarep: Str, info: Info)
    [ErrObject::File(fh)], unsupported("MPI_File_set_view") }
entry! { MPI_File_sync PMPI_File_sync(fh: File)
    [ErrObject::File(fh)], unsupported("MPI_File_sync") }
value! { MPI_File_toint PMPI_File_toint(file: File) -> i32, to_int(file) }
entry! { MPI_File_write PMPI_File_write(fh: File, buf: Buf, count: i32, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_write") }
entry! { MPI_File_write_c PMPI_File_write_c(fh: File, buf: Buf, count: i64, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_write_c") }
entry! { MPI_File_write_all PMPI_File_write_all(fh: File, buf: Buf, count: i32, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_write_all") }
entry! { MPI_File_write_all_c PMPI_File_write_all_c(fh: File, buf: Buf, count: i64, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_write_all_c") }
entry! { MPI_File_write_all_begin PMPI_File_write_all_begin(fh: File, buf: Buf, count: i32, datatype: Datatype)
    [ErrObject::File(fh)], unsupported("MPI_File_write_all_begin") }
entry! { MPI_File_write_all_begin_c PMPI_File_write_all_begin_c(fh: File, buf: Buf, count: i64, datatype: Datatype)
    [ErrObject::File(fh)], unsupported("MPI_File_write_all_begin_c") }
entry! { MPI_File_write_all_end PMPI_File_write_all_end(fh: File, buf: Buf, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_write_all_end") }
entry! { MPI_File_write_at PMPI_File_write_at(fh: File, offset: i64, buf: Buf, count: i32, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_write_at") }
entry! { MPI_File_write_at_c PMPI_File_write_at_c(fh: File, offset: i64, buf: Buf, count: i64, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_write_at_c") }
entry! { MPI_File_write_at_all PMPI_File_write_at_all(fh: File, offset: i64, buf: Buf, count: i32, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_write_at_all") }
entry! { MPI_File_write_at_all_c PMPI_File_write_at_all_c(fh: File, offset: i64, buf: Buf, count: i64, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_write_at_all_c") }
entry! { MPI_File_write_at_all_begin PMPI_File_write_at_all_begin(fh: File, offset: i64, buf: Buf, count: i32, datatype: Datatype)
    [ErrObject::File(fh)], unsupported("MPI_File_write_at_all_begin") }
entry! { MPI_File_write_at_all_begin_c PMPI_File_write_at_all_begin_c(fh: File, offset: i64, buf: Buf, count: i64, datatype: Datatype)
    [ErrObject::File(fh)], unsupported("MPI_File_write_at_all_begin_c") }
entry! { MPI_File_write_at_all_end PMPI_File_write_at_all_end(fh: File, buf: Buf, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_write_at_all_end") }
entry! { MPI_File_write_ordered PMPI_File_write_ordered(fh: File, buf: Buf, count: i32, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_write_ordered") }
entry! { MPI_File_write_ordered_c PMPI_File_write_ordered_c(fh: File, buf: Buf, count: i64, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_write_ordered_c") }
entry! { MPI_File_write_ordered_begin PMPI_File_write_ordered_begin(fh: File, buf: Buf, count: i32, datatype: Datatype)
    [ErrObject::File(fh)], unsupported("MPI_File_write_ordered_begin") }
entry! { MPI_File_write_ordered_begin_c PMPI_File_write_ordered_begin_c(fh: File, buf: Buf, count: i64, datatype: Datatype)
    [ErrObject::File(fh)], unsupported("MPI_File_write_ordered_begin_c") }
entry! { MPI_File_write_ordered_end PMPI_File_write_ordered_end(fh: File, buf: Buf, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_write_ordered_end") }
entry! { MPI_File_write_shared PMPI_File_write_shared(fh: File, buf: Buf, count: i32, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_write_shared") }
entry! { MPI_File_write_shared_c PMPI_File_write_shared_c(fh: File, buf: Buf, count: i64, datatype: Datatype, status: Out<Status>)
    [ErrObject::File(fh)], unsupported("MPI_File_write_shared_c") }
entry! { MPI_Register_datarep PMPI_Register_datarep(datarep: Str, read_conversion_fn: FnPtr, write_conversion_fn: FnPtr, dtype_file_extent_fn: FnPtr, extra_state: usize)
    [ErrObject::None], unsupported("MPI_Register_datarep") }
entry! { MPI_Register_datarep_c PMPI_Register_datarep_c(datarep: Str, read_conversion_fn: FnPtr, write_conversion_fn: FnPtr, dtype_file_extent_fn: FnPtr, extra_state: usize)
    [ErrObject::None], unsupported("MPI_Register_datarep_c") }
