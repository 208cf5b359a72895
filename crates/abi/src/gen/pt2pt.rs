//! Entry points of chapter `pt2pt`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;
use oxmpi_mpi::pt2pt;

entry! { MPI_Bsend PMPI_Bsend(buf: Buf, count: i32, datatype: Datatype, dest: i32, tag: i32, comm: Comm)
    [ErrObject::Comm(comm)], pt2pt::bsend(buf, i64::from(count), datatype, dest, tag, comm) }
entry! { MPI_Bsend_c PMPI_Bsend_c(buf: Buf, count: i64, datatype: Datatype, dest: i32, tag: i32, comm: Comm)
    [ErrObject::Comm(comm)], pt2pt::bsend(buf, count, datatype, dest, tag, comm) }
entry! { MPI_Bsend_init PMPI_Bsend_init(buf: Buf, count: i32, datatype: Datatype, dest: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::bsend_init(buf, i64::from(count), datatype, dest, tag, comm, request) }
entry! { MPI_Bsend_init_c PMPI_Bsend_init_c(buf: Buf, count: i64, datatype: Datatype, dest: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::bsend_init(buf, count, datatype, dest, tag, comm, request) }
entry! { MPI_Buffer_attach PMPI_Buffer_attach(buffer: Buf, size: i32)
    [ErrObject::None], pt2pt::buffer_attach(buffer, i64::from(size)) }
entry! { MPI_Buffer_attach_c PMPI_Buffer_attach_c(buffer: Buf, size: i64)
    [ErrObject::None], pt2pt::buffer_attach(buffer, size) }
entry! { MPI_Buffer_detach PMPI_Buffer_detach(buffer_addr: Buf, size: Out<i32>)
    [ErrObject::None], pt2pt::buffer_detach(buffer_addr, OutCount::Int(size)) }
entry! { MPI_Buffer_detach_c PMPI_Buffer_detach_c(buffer_addr: Buf, size: Out<i64>)
    [ErrObject::None], pt2pt::buffer_detach(buffer_addr, OutCount::Wide(size)) }
entry! { MPI_Buffer_flush PMPI_Buffer_flush()
    [ErrObject::None], pt2pt::buffer_flush() }
entry! { MPI_Buffer_iflush PMPI_Buffer_iflush(request: Out<Request>)
    [ErrObject::None], pt2pt::buffer_iflush(request) }
entry! { MPI_Comm_attach_buffer PMPI_Comm_attach_buffer(comm: Comm, buffer: Buf, size: i32)
    [ErrObject::Comm(comm)], pt2pt::comm_attach_buffer(comm, buffer, i64::from(size)) }
entry! { MPI_Comm_attach_buffer_c PMPI_Comm_attach_buffer_c(comm: Comm, buffer: Buf, size: i64)
    [ErrObject::Comm(comm)], pt2pt::comm_attach_buffer(comm, buffer, size) }
entry! { MPI_Comm_detach_buffer PMPI_Comm_detach_buffer(comm: Comm, buffer_addr: Buf, size: Out<i32>)
    [ErrObject::Comm(comm)], pt2pt::comm_detach_buffer(comm, buffer_addr, OutCount::Int(size)) }
entry! { MPI_Comm_detach_buffer_c PMPI_Comm_detach_buffer_c(comm: Comm, buffer_addr: Buf, size: Out<i64>)
    [ErrObject::Comm(comm)], pt2pt::comm_detach_buffer(comm, buffer_addr, OutCount::Wide(size)) }
entry! { MPI_Comm_flush_buffer PMPI_Comm_flush_buffer(comm: Comm)
    [ErrObject::Comm(comm)], pt2pt::comm_flush_buffer(comm) }
entry! { MPI_Comm_iflush_buffer PMPI_Comm_iflush_buffer(comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::comm_iflush_buffer(comm, request) }
entry! { MPI_Ibsend PMPI_Ibsend(buf: Buf, count: i32, datatype: Datatype, dest: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::ibsend(buf, i64::from(count), datatype, dest, tag, comm, request) }
entry! { MPI_Ibsend_c PMPI_Ibsend_c(buf: Buf, count: i64, datatype: Datatype, dest: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::ibsend(buf, count, datatype, dest, tag, comm, request) }
entry! { MPI_Improbe PMPI_Improbe(source: i32, tag: i32, comm: Comm, flag: Out<i32>, message: Out<Message>, status: Out<Status>)
    [ErrObject::Comm(comm)], pt2pt::improbe(source, tag, comm, flag, message, status) }
entry! { MPI_Imrecv PMPI_Imrecv(buf: Buf, count: i32, datatype: Datatype, message: Out<Message>, request: Out<Request>)
    [ErrObject::None], pt2pt::imrecv(buf, i64::from(count), datatype, message, request) }
entry! { MPI_Imrecv_c PMPI_Imrecv_c(buf: Buf, count: i64, datatype: Datatype, message: Out<Message>, request: Out<Request>)
    [ErrObject::None], pt2pt::imrecv(buf, count, datatype, message, request) }
entry! { MPI_Iprobe PMPI_Iprobe(source: i32, tag: i32, comm: Comm, flag: Out<i32>, status: Out<Status>)
    [ErrObject::Comm(comm)], pt2pt::iprobe(source, tag, comm, flag, status) }
entry! { MPI_Irecv PMPI_Irecv(buf: Buf, count: i32, datatype: Datatype, source: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::irecv(buf, i64::from(count), datatype, source, tag, comm, request) }
entry! { MPI_Irecv_c PMPI_Irecv_c(buf: Buf, count: i64, datatype: Datatype, source: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::irecv(buf, count, datatype, source, tag, comm, request) }
entry! { MPI_Irsend PMPI_Irsend(buf: Buf, count: i32, datatype: Datatype, dest: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::irsend(buf, i64::from(count), datatype, dest, tag, comm, request) }
entry! { MPI_Irsend_c PMPI_Irsend_c(buf: Buf, count: i64, datatype: Datatype, dest: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::irsend(buf, count, datatype, dest, tag, comm, request) }
entry! { MPI_Isend PMPI_Isend(buf: Buf, count: i32, datatype: Datatype, dest: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::isend(buf, i64::from(count), datatype, dest, tag, comm, request) }
entry! { MPI_Isend_c PMPI_Isend_c(buf: Buf, count: i64, datatype: Datatype, dest: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::isend(buf, count, datatype, dest, tag, comm, request) }
entry! { MPI_Isendrecv PMPI_Isendrecv(sendbuf: Buf, sendcount: i32, sendtype: Datatype, dest: i32, sendtag: i32, recvbuf: Buf, recvcount: i32, recvtype: Datatype, source: i32, recvtag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::isendrecv(sendbuf, i64::from(sendcount), sendtype, dest, sendtag, recvbuf, i64::from(recvcount), recvtype, source, recvtag, comm, request) }
entry! { MPI_Isendrecv_c PMPI_Isendrecv_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, dest: i32, sendtag: i32, recvbuf: Buf, recvcount: i64, recvtype: Datatype, source: i32, recvtag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, request) }
entry! { MPI_Isendrecv_replace PMPI_Isendrecv_replace(buf: Buf, count: i32, datatype: Datatype, dest: i32, sendtag: i32, source: i32, recvtag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::isendrecv_replace(buf, i64::from(count), datatype, dest, sendtag, source, recvtag, comm, request) }
entry! { MPI_Isendrecv_replace_c PMPI_Isendrecv_replace_c(buf: Buf, count: i64, datatype: Datatype, dest: i32, sendtag: i32, source: i32, recvtag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, request) }
entry! { MPI_Issend PMPI_Issend(buf: Buf, count: i32, datatype: Datatype, dest: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::issend(buf, i64::from(count), datatype, dest, tag, comm, request) }
entry! { MPI_Issend_c PMPI_Issend_c(buf: Buf, count: i64, datatype: Datatype, dest: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::issend(buf, count, datatype, dest, tag, comm, request) }
value! { MPI_Message_fromint PMPI_Message_fromint(message: i32) -> Message, from_int(message) }
value! { MPI_Message_toint PMPI_Message_toint(message: Message) -> i32, to_int(message) }
entry! { MPI_Mprobe PMPI_Mprobe(source: i32, tag: i32, comm: Comm, message: Out<Message>, status: Out<Status>)
    [ErrObject::Comm(comm)], pt2pt::mprobe(source, tag, comm, message, status) }
entry! { MPI_Mrecv PMPI_Mrecv(buf: Buf, count: i32, datatype: Datatype, message: Out<Message>, status: Out<Status>)
    [ErrObject::None], pt2pt::mrecv(buf, i64::from(count), datatype, message, status) }
entry! { MPI_Mrecv_c PMPI_Mrecv_c(buf: Buf, count: i64, datatype: Datatype, message: Out<Message>, status: Out<Status>)
    [ErrObject::None], pt2pt::mrecv(buf, count, datatype, message, status) }
entry! { MPI_Probe PMPI_Probe(source: i32, tag: i32, comm: Comm, status: Out<Status>)
    [ErrObject::Comm(comm)], pt2pt::probe(source, tag, comm, status) }
entry! { MPI_Recv PMPI_Recv(buf: Buf, count: i32, datatype: Datatype, source: i32, tag: i32, comm: Comm, status: Out<Status>)
    [ErrObject::Comm(comm)], pt2pt::recv(buf, i64::from(count), datatype, source, tag, comm, status) }
entry! { MPI_Recv_c PMPI_Recv_c(buf: Buf, count: i64, datatype: Datatype, source: i32, tag: i32, comm: Comm, status: Out<Status>)
    [ErrObject::Comm(comm)], pt2pt::recv(buf, count, datatype, source, tag, comm, status) }
entry! { MPI_Recv_init PMPI_Recv_init(buf: Buf, count: i32, datatype: Datatype, source: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::recv_init(buf, i64::from(count), datatype, source, tag, comm, request) }
entry! { MPI_Recv_init_c PMPI_Recv_init_c(buf: Buf, count: i64, datatype: Datatype, source: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::recv_init(buf, count, datatype, source, tag, comm, request) }
entry! { MPI_Rsend PMPI_Rsend(buf: Buf, count: i32, datatype: Datatype, dest: i32, tag: i32, comm: Comm)
    [ErrObject::Comm(comm)], pt2pt::rsend(buf, i64::from(count), datatype, dest, tag, comm) }
entry! { MPI_Rsend_c PMPI_Rsend_c(buf: Buf, count: i64, datatype: Datatype, dest: i32, tag: i32, comm: Comm)
    [ErrObject::Comm(comm)], pt2pt::rsend(buf, count, datatype, dest, tag, comm) }
entry! { MPI_Rsend_init PMPI_Rsend_init(buf: Buf, count: i32, datatype: Datatype, dest: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::rsend_init(buf, i64::from(count), datatype, dest, tag, comm, request) }
entry! { MPI_Rsend_init_c PMPI_Rsend_init_c(buf: Buf, count: i64, datatype: Datatype, dest: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::rsend_init(buf, count, datatype, dest, tag, comm, request) }
entry! { MPI_Send PMPI_Send(buf: Buf, count: i32, datatype: Datatype, dest: i32, tag: i32, comm: Comm)
    [ErrObject::Comm(comm)], pt2pt::send(buf, i64::from(count), datatype, dest, tag, comm) }
entry! { MPI_Send_c PMPI_Send_c(buf: Buf, count: i64, datatype: Datatype, dest: i32, tag: i32, comm: Comm)
    [ErrObject::Comm(comm)], pt2pt::send(buf, count, datatype, dest, tag, comm) }
entry! { MPI_Send_init PMPI_Send_init(buf: Buf, count: i32, datatype: Datatype, dest: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::send_init(buf, i64::from(count), datatype, dest, tag, comm, request) }
entry! { MPI_Send_init_c PMPI_Send_init_c(buf: Buf, count: i64, datatype: Datatype, dest: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::send_init(buf, count, datatype, dest, tag, comm, request) }
entry! { MPI_Sendrecv PMPI_Sendrecv(sendbuf: Buf, sendcount: i32, sendtype: Datatype, dest: i32, sendtag: i32, recvbuf: Buf, recvcount: i32, recvtype: Datatype, source: i32, recvtag: i32, comm: Comm, status: Out<Status>)
    [ErrObject::Comm(comm)], pt2pt::sendrecv(sendbuf, i64::from(sendcount), sendtype, dest, sendtag, recvbuf, i64::from(recvcount), recvtype, source, recvtag, comm, status) }
entry! { MPI_Sendrecv_c PMPI_Sendrecv_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, dest: i32, sendtag: i32, recvbuf: Buf, recvcount: i64, recvtype: Datatype, source: i32, recvtag: i32, comm: Comm, status: Out<Status>)
    [ErrObject::Comm(comm)], pt2pt::sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status) }
entry! { MPI_Sendrecv_replace PMPI_Sendrecv_replace(buf: Buf, count: i32, datatype: Datatype, dest: i32, sendtag: i32, source: i32, recvtag: i32, comm: Comm, status: Out<Status>)
    [ErrObject::Comm(comm)], pt2pt::sendrecv_replace(buf, i64::from(count), datatype, dest, sendtag, source, recvtag, comm, status) }
entry! { MPI_Sendrecv_replace_c PMPI_Sendrecv_replace_c(buf: Buf, count: i64, datatype: Datatype, dest: i32, sendtag: i32, source: i32, recvtag: i32, comm: Comm, status: Out<Status>)
    [ErrObject::Comm(comm)], pt2pt::sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, status) }
entry! { MPI_Session_attach_buffer PMPI_Session_attach_buffer(session: Session, buffer: Buf, size: i32)
    [ErrObject::Session(session)], pt2pt::session_attach_buffer(session, buffer, i64::from(size)) }
entry! { MPI_Session_attach_buffer_c PMPI_Session_attach_buffer_c(session: Session, buffer: Buf, size: i64)
    [ErrObject::Session(session)], pt2pt::session_attach_buffer(session, buffer, size) }
entry! { MPI_Session_detach_buffer PMPI_Session_detach_buffer(session: Session, buffer_addr: Buf, size: Out<i32>)
    [ErrObject::Session(session)], pt2pt::session_detach_buffer(session, buffer_addr, OutCount::Int(size)) }
entry! { MPI_Session_detach_buffer_c PMPI_Session_detach_buffer_c(session: Session, buffer_addr: Buf, size: Out<i64>)
    [ErrObject::Session(session)], pt2pt::session_detach_buffer(session, buffer_addr, OutCount::Wide(size)) }
entry! { MPI_Session_flush_buffer PMPI_Session_flush_buffer(session: Session)
    [ErrObject::Session(session)], pt2pt::session_flush_buffer(session) }
entry! { MPI_Session_iflush_buffer PMPI_Session_iflush_buffer(session: Session, request: Out<Request>)
    [ErrObject::Session(session)], pt2pt::session_iflush_buffer(session, request) }
entry! { MPI_Ssend PMPI_Ssend(buf: Buf, count: i32, datatype: Datatype, dest: i32, tag: i32, comm: Comm)
    [ErrObject::Comm(comm)], pt2pt::ssend(buf, i64::from(count), datatype, dest, tag, comm) }
entry! { MPI_Ssend_c PMPI_Ssend_c(buf: Buf, count: i64, datatype: Datatype, dest: i32, tag: i32, comm: Comm)
    [ErrObject::Comm(comm)], pt2pt::ssend(buf, count, datatype, dest, tag, comm) }
entry! { MPI_Ssend_init PMPI_Ssend_init(buf: Buf, count: i32, datatype: Datatype, dest: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::ssend_init(buf, i64::from(count), datatype, dest, tag, comm, request) }
entry! { MPI_Ssend_init_c PMPI_Ssend_init_c(buf: Buf, count: i64, datatype: Datatype, dest: i32, tag: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], pt2pt::ssend_init(buf, count, datatype, dest, tag, comm, request) }
