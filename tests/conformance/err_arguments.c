/* ranks: 1 2 */
/* MPI-5.0 9.2 and the argument descriptions of chapters 3, 5, 6, 7: a wrong argument is an error of its class, and leaves everything as it was. */
#include "check.h"

static int v, w[8];

static void point_to_point(MPI_Comm c)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s;
    MPI_Message m;
    MPI_Datatype fresh;
    int flag, n;
    OK(MPI_Type_contiguous(2, MPI_INT, &fresh));
    FAILS(MPI_ERR_COMM, MPI_Send(&v, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
    FAILS(MPI_ERR_RANK, MPI_Send(&v, 1, MPI_INT, size, 0, c));
    FAILS(MPI_ERR_RANK, MPI_Send(&v, 1, MPI_INT, -77, 0, c));
    FAILS(MPI_ERR_RANK, MPI_Send(&v, 1, MPI_INT, MPI_ANY_SOURCE, 0, c));
    FAILS(MPI_ERR_TAG, MPI_Send(&v, 1, MPI_INT, 0, -1, c));
    FAILS(MPI_ERR_TAG, MPI_Send(&v, 1, MPI_INT, 0, MPI_ANY_TAG, c));
    FAILS(MPI_ERR_COUNT, MPI_Send(&v, -1, MPI_INT, 0, 0, c));
    FAILS(MPI_ERR_TYPE, MPI_Send(&v, 1, MPI_DATATYPE_NULL, 0, 0, c));
    FAILS(MPI_ERR_TYPE, MPI_Send(&v, 1, fresh, 0, 0, c));
    FAILS(MPI_ERR_BUFFER, MPI_Send(NULL, 1, MPI_INT, 0, 0, c));
    FAILS(MPI_ERR_RANK, MPI_Recv(&v, 1, MPI_INT, size, 0, c, &s));
    FAILS(MPI_ERR_TAG, MPI_Recv(&v, 1, MPI_INT, 0, -77, c, &s));
    FAILS(MPI_ERR_COUNT, MPI_Recv(&v, -3, MPI_INT, 0, 0, c, &s));
    FAILS(MPI_ERR_TYPE, MPI_Recv(&v, 1, fresh, 0, 0, c, &s));
    FAILS(MPI_ERR_RANK, MPI_Isend(&v, 1, MPI_INT, size, 0, c, &r));
    FAILS(MPI_ERR_TAG, MPI_Irecv(&v, 1, MPI_INT, 0, -77, c, &r));
    FAILS(MPI_ERR_RANK, MPI_Ssend(&v, 1, MPI_INT, size, 0, c));
    FAILS(MPI_ERR_RANK, MPI_Bsend(&v, 1, MPI_INT, size, 0, c));
    FAILS(MPI_ERR_TAG, MPI_Rsend(&v, 1, MPI_INT, 0, -1, c));
    FAILS(MPI_ERR_RANK, MPI_Send_init(&v, 1, MPI_INT, size, 0, c, &r));
    FAILS(MPI_ERR_COUNT, MPI_Recv_init(&v, -1, MPI_INT, 0, 0, c, &r));
    FAILS(MPI_ERR_RANK, MPI_Probe(size, 0, c, &s));
    FAILS(MPI_ERR_TAG, MPI_Iprobe(0, -77, c, &flag, &s));
    FAILS(MPI_ERR_RANK, MPI_Improbe(size, 0, c, &flag, &m, &s));
    FAILS(MPI_ERR_RANK, MPI_Sendrecv(&v, 1, MPI_INT, size, 0, w, 1, MPI_INT, 0, 0, c, &s));
    FAILS(MPI_ERR_TAG, MPI_Sendrecv(&v, 1, MPI_INT, 0, 0, w, 1, MPI_INT, 0, -77, c, &s));
    CHECK(r == MPI_REQUEST_NULL, "a failed call made a request");
    OK(MPI_Type_free(&fresh));
    s = (MPI_Status){ 0 };
    FAILS(MPI_ERR_TYPE, MPI_Get_count(&s, MPI_DATATYPE_NULL, &n));
    /* A message that is too long is an error of its receive, and the message is gone. */
    OK(MPI_Sendrecv(w, 0, MPI_INT, rank, 1, w, 0, MPI_INT, rank, 1, c, &s));
    OK(MPI_Isend(w, 4, MPI_INT, rank, 2, c, &r));
    FAILS(MPI_ERR_TRUNCATE, MPI_Recv(w + 4, 2, MPI_INT, rank, 2, c, &s));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Iprobe(rank, 2, c, &flag, &s));
    SAME(flag, 0, "the message is still there");
}

static void collectives(MPI_Comm c)
{
    FAILS(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_NULL));
    FAILS(MPI_ERR_ROOT, MPI_Bcast(&v, 1, MPI_INT, size, c));
    FAILS(MPI_ERR_ROOT, MPI_Bcast(&v, 1, MPI_INT, -1, c));
    FAILS(MPI_ERR_COUNT, MPI_Bcast(&v, -1, MPI_INT, 0, c));
    FAILS(MPI_ERR_TYPE, MPI_Bcast(&v, 1, MPI_DATATYPE_NULL, 0, c));
    FAILS(MPI_ERR_ROOT, MPI_Reduce(&v, w, 1, MPI_INT, MPI_SUM, size, c));
    FAILS(MPI_ERR_OP, MPI_Allreduce(&v, w, 1, MPI_INT, MPI_OP_NULL, c));
    FAILS(MPI_ERR_OP, MPI_Allreduce(&v, w, 1, MPI_FLOAT, MPI_BAND, c));
    FAILS(MPI_ERR_COUNT, MPI_Allreduce(&v, w, -1, MPI_INT, MPI_SUM, c));
    FAILS(MPI_ERR_TYPE, MPI_Allreduce(&v, w, 1, MPI_DATATYPE_NULL, MPI_SUM, c));
    FAILS(MPI_ERR_ROOT, MPI_Gather(&v, 1, MPI_INT, w, 1, MPI_INT, size, c));
    FAILS(MPI_ERR_ROOT, MPI_Scatter(w, 1, MPI_INT, &v, 1, MPI_INT, -7, c));
    FAILS(MPI_ERR_COUNT, MPI_Allgather(&v, -1, MPI_INT, w, 1, MPI_INT, c));
    FAILS(MPI_ERR_TYPE, MPI_Alltoall(w, 1, MPI_DATATYPE_NULL, w + 4, 1, MPI_INT, c));
    FAILS(MPI_ERR_OP, MPI_Scan(&v, w, 1, MPI_INT, MPI_OP_NULL, c));
}

static void objects(MPI_Comm c)
{
    MPI_Comm n;
    MPI_Group g, h;
    MPI_Datatype t = MPI_INT, u;
    MPI_Info i;
    MPI_Op op = MPI_SUM;
    int flag, k, bad[2] = { 0, 0 }, far[1] = { 99 };
    OK(MPI_Comm_group(c, &g));
    FAILS(MPI_ERR_COMM, MPI_Comm_rank(MPI_COMM_NULL, &v));
    FAILS(MPI_ERR_COMM, MPI_Comm_dup(MPI_COMM_NULL, &n));
    FAILS(MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &v));
    FAILS(MPI_ERR_RANK, MPI_Group_incl(g, 2, bad, &h));
    FAILS(MPI_ERR_RANK, MPI_Group_incl(g, 1, far, &h));
    FAILS(MPI_ERR_RANK, MPI_Group_excl(g, 1, far, &h));
    FAILS(MPI_ERR_GROUP, MPI_Comm_create(c, MPI_GROUP_NULL, &n));
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_get_attr(c, MPI_KEYVAL_INVALID, &k, &flag));
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_set_attr(c, MPI_TAG_UB, &k));
    FAILS(MPI_ERR_TYPE, MPI_Type_free(&t));
    FAILS(MPI_ERR_TYPE, MPI_Type_commit(&(MPI_Datatype){ MPI_DATATYPE_NULL }));
    FAILS(MPI_ERR_COUNT, MPI_Type_contiguous(-1, MPI_INT, &u));
    FAILS(MPI_ERR_TYPE, MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &u));
    FAILS(MPI_ERR_OP, MPI_Op_free(&op));
    FAILS(MPI_ERR_INFO, MPI_Info_set(MPI_INFO_NULL, "a", "b"));
    OK(MPI_Info_create(&i));
    FAILS(MPI_ERR_INFO_NOKEY, MPI_Info_delete(i, "there is no such key"));
    OK(MPI_Info_free(&i));
    OK(MPI_Group_free(&g));
}

int main(int argc, char **argv)
{
    MPI_Comm c;
    check_begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
    point_to_point(c);
    collectives(c);
    objects(c);
    /* Nothing was left behind by any of them. */
    OK(MPI_Allreduce(&rank, &v, 1, MPI_INT, MPI_SUM, c));
    SAME(v, size * (size - 1) / 2, "a sum after all the errors");
    OK(MPI_Comm_free(&c));
    return check_end();
}
