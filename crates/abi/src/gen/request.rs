//! Entry points of chapter `request`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;
use oxmpi_mpi::request;

entry! { MPI_Cancel PMPI_Cancel(request: Out<Request>)
    [ErrObject::Request(held(request, MPI_REQUEST_NULL))], request::cancel(request) }
entry! { MPI_Get_count PMPI_Get_count(status: Out<Status>, datatype: Datatype, count: Out<i32>)
    [ErrObject::None], request::get_count(status, datatype, OutCount::Int(count)) }
entry! { MPI_Get_count_c PMPI_Get_count_c(status: Out<Status>, datatype: Datatype, count: Out<i64>)
    [ErrObject::None], request::get_count(status, datatype, OutCount::Wide(count)) }
entry! { MPI_Get_elements PMPI_Get_elements(status: Out<Status>, datatype: Datatype, count: Out<i32>)
    [ErrObject::None], request::get_elements(status, datatype, OutCount::Int(count)) }
entry! { MPI_Get_elements_c PMPI_Get_elements_c(status: Out<Status>, datatype: Datatype, count: Out<i64>)
    [ErrObject::None], request::get_elements(status, datatype, OutCount::Wide(count)) }
entry! { MPI_Get_elements_x PMPI_Get_elements_x(status: Out<Status>, datatype: Datatype, count: Out<i64>)
    [ErrObject::None], request::get_elements_x(status, datatype, count) }
entry! { MPI_Grequest_complete PMPI_Grequest_complete(request: Request)
    [ErrObject::Request(request)], request::grequest_complete(request) }
entry! { MPI_Grequest_start PMPI_Grequest_start(query_fn: FnPtr, free_fn: FnPtr, cancel_fn: FnPtr, extra_state: usize, request: Out<Request>)
    [ErrObject::None], request::grequest_start(query_fn, free_fn, cancel_fn, extra_state, request) }
entry! { MPI_Request_free PMPI_Request_free(request: Out<Request>)
    [ErrObject::Request(held(request, MPI_REQUEST_NULL))], request::request_free(request) }
value! { MPI_Request_fromint PMPI_Request_fromint(request: i32) -> Request, from_int(request) }
entry! { MPI_Request_get_status PMPI_Request_get_status(request: Request, flag: Out<i32>, status: Out<Status>)
    [ErrObject::Request(request)], request::request_get_status(request, flag, status) }
entry! { MPI_Request_get_status_all PMPI_Request_get_status_all(count: i32, array_of_requests: Arr<Request>, flag: Out<i32>, array_of_statuses: Arr<Status>)
    [ErrObject::None], request::request_get_status_all(count, array_of_requests, flag, array_of_statuses) }
entry! { MPI_Request_get_status_any PMPI_Request_get_status_any(count: i32, array_of_requests: Arr<Request>, index: Out<i32>, flag: Out<i32>, status: Out<Status>)
    [ErrObject::None], request::request_get_status_any(count, array_of_requests, index, flag, status) }
entry! { MPI_Request_get_status_some PMPI_Request_get_status_some(incount: i32, array_of_requests: Arr<Request>, outcount: Out<i32>, array_of_indices: Arr<i32>, array_of_statuses: Arr<Status>)
    [ErrObject::None], request::request_get_status_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses) }
value! { MPI_Request_toint PMPI_Request_toint(request: Request) -> i32, to_int(request) }
entry! { MPI_Start PMPI_Start(request: Out<Request>)
    [ErrObject::Request(held(request, MPI_REQUEST_NULL))], request::start(request) }
entry! { MPI_Startall PMPI_Startall(count: i32, array_of_requests: Arr<Request>)
    [ErrObject::None], request::startall(count, array_of_requests) }
entry! { MPI_Status_get_error PMPI_Status_get_error(status: Out<Status>, err: Out<i32>)
    [ErrObject::None], request::status_get_error(status, err) }
entry! { MPI_Status_get_source PMPI_Status_get_source(status: Out<Status>, source: Out<i32>)
    [ErrObject::None], request::status_get_source(status, source) }
entry! { MPI_Status_get_tag PMPI_Status_get_tag(status: Out<Status>, tag: Out<i32>)
    [ErrObject::None], request::status_get_tag(status, tag) }
entry! { MPI_Status_set_cancelled PMPI_Status_set_cancelled(status: Out<Status>, flag: i32)
    [ErrObject::None], request::status_set_cancelled(status, flag) }
entry! { MPI_Status_set_elements PMPI_Status_set_elements(status: Out<Status>, datatype: Datatype, count: i32)
    [ErrObject::None], request::status_set_elements(status, datatype, i64::from(count)) }
entry! { MPI_Status_set_elements_c PMPI_Status_set_elements_c(status: Out<Status>, datatype: Datatype, count: i64)
    [ErrObject::None], request::status_set_elements(status, datatype, count) }
entry! { MPI_Status_set_elements_x PMPI_Status_set_elements_x(status: Out<Status>, datatype: Datatype, count: i64)
    [ErrObject::None], request::status_set_elements_x(status, datatype, count) }
entry! { MPI_Status_set_error PMPI_Status_set_error(status: Out<Status>, err: i32)
    [ErrObject::None], request::status_set_error(status, err) }
entry! { MPI_Status_set_source PMPI_Status_set_source(status: Out<Status>, source: i32)
    [ErrObject::None], request::status_set_source(status, source) }
entry! { MPI_Status_set_tag PMPI_Status_set_tag(status: Out<Status>, tag: i32)
    [ErrObject::None], request::status_set_tag(status, tag) }
entry! { MPI_Test PMPI_Test(request: Out<Request>, flag: Out<i32>, status: Out<Status>)
    [ErrObject::Request(held(request, MPI_REQUEST_NULL))], request::test(request, flag, status) }
entry! { MPI_Test_cancelled PMPI_Test_cancelled(status: Out<Status>, flag: Out<i32>)
    [ErrObject::None], request::test_cancelled(status, flag) }
entry! { MPI_Testall PMPI_Testall(count: i32, array_of_requests: Arr<Request>, flag: Out<i32>, array_of_statuses: Arr<Status>)
    [ErrObject::None], request::testall(count, array_of_requests, flag, array_of_statuses) }
entry! { MPI_Testany PMPI_Testany(count: i32, array_of_requests: Arr<Request>, index: Out<i32>, flag: Out<i32>, status: Out<Status>)
    [ErrObject::None], request::testany(count, array_of_requests, index, flag, status) }
entry! { MPI_Testsome PMPI_Testsome(incount: i32, array_of_requests: Arr<Request>, outcount: Out<i32>, array_of_indices: Arr<i32>, array_of_statuses: Arr<Status>)
    [ErrObject::None], request::testsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses) }
entry! { MPI_Wait PMPI_Wait(request: Out<Request>, status: Out<Status>)
    [ErrObject::Request(held(request, MPI_REQUEST_NULL))], request::wait(request, status) }
entry! { MPI_Waitall PMPI_Waitall(count: i32, array_of_requests: Arr<Request>, array_of_statuses: Arr<Status>)
    [ErrObject::None], request::waitall(count, array_of_requests, array_of_statuses) }
entry! { MPI_Waitany PMPI_Waitany(count: i32, array_of_requests: Arr<Request>, index: Out<i32>, status: Out<Status>)
    [ErrObject::None], request::waitany(count, array_of_requests, index, status) }
entry! { MPI_Waitsome PMPI_Waitsome(incount: i32, array_of_requests: Arr<Request>, outcount: Out<i32>, array_of_indices: Arr<i32>, array_of_statuses: Arr<Status>)
    [ErrObject::None], request::waitsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses) }
