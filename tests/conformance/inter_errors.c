/* ranks: 2 3 5 */
/* MPI-5.0 7.6, 7.4.4, 6.2.3: what is wrong with arguments of and on intercommunicators, and on communicators' info */
#include "inter.h"

static void constructors(const Inter *c)
{
    MPI_Comm made;
    MPI_Group group;
    int n;
    FAILS(MPI_ERR_COMM, MPI_Comm_remote_size(MPI_COMM_WORLD, &n));
    FAILS(MPI_ERR_COMM, MPI_Comm_remote_group(MPI_COMM_WORLD, &group));
    FAILS(MPI_ERR_COMM, MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &made));
    FAILS(MPI_ERR_COMM, MPI_Intercomm_create(c->comm, 0, MPI_COMM_WORLD, 0, 0, &made));
    FAILS(MPI_ERR_RANK, MPI_Intercomm_create(c->local, c->size, MPI_COMM_WORLD, 0, 0, &made));
    FAILS(MPI_ERR_RANK, MPI_Intercomm_create(c->local, -1, MPI_COMM_WORLD, 0, 0, &made));
    /* What only the leader sees, all of its group hear. */
    FAILS(MPI_ERR_RANK, MPI_Intercomm_create(c->local, 0, MPI_COMM_WORLD, size, 0, &made));
    FAILS(MPI_ERR_TAG, MPI_Intercomm_create(c->local, 0, MPI_COMM_WORLD, c->members[c->other][0], -1, &made));
    FAILS(MPI_ERR_COMM, MPI_Intercomm_create(c->local, 0, MPI_COMM_NULL, 0, 0, &made));
    FAILS(MPI_ERR_COMM, MPI_Intercomm_create(c->local, 0, MPI_COMM_WORLD, c->members[c->me][0], 0, &made));
    FAILS(MPI_ERR_COMM, MPI_Comm_create_group(c->comm, MPI_GROUP_EMPTY, 0, &made));
    FAILS(MPI_ERR_GROUP, MPI_Comm_create(c->local, MPI_GROUP_NULL, &made));
    if (c->size > 1)
        FAILS(MPI_ERR_ARG, MPI_Intercomm_merge(c->comm, c->rank == 0, &made));
    else if (c->remote == 1) {
        OK(MPI_Intercomm_merge(c->comm, 0, &made));
        OK(MPI_Comm_free(&made));
    } else
        MPI_Intercomm_merge(c->comm, 0, &made);
}

static void messages(const Inter *c)
{
    int n = 0;
    MPI_Request request;
    FAILS(MPI_ERR_RANK, MPI_Send(&n, 1, MPI_INT, c->remote, 0, c->comm));
    FAILS(MPI_ERR_RANK, MPI_Isend(&n, 1, MPI_INT, -5, 0, c->comm, &request));
    FAILS(MPI_ERR_RANK, MPI_Recv(&n, 1, MPI_INT, c->remote, 0, c->comm, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_RANK, MPI_Send(&n, 1, MPI_INT, MPI_ROOT, 0, c->comm));
    OK(MPI_Send(&n, 1, MPI_INT, MPI_PROC_NULL, 0, c->comm));
}

static void collectives(const Inter *c)
{
    int a = 1, b = 2, all[128];
    MPI_Request request;
    FAILS(MPI_ERR_COMM, MPI_Scan(&a, &b, 1, MPI_INT, MPI_SUM, c->comm));
    FAILS(MPI_ERR_COMM, MPI_Exscan(&a, &b, 1, MPI_INT, MPI_SUM, c->comm));
    FAILS(MPI_ERR_COMM, MPI_Iscan(&a, &b, 1, MPI_INT, MPI_SUM, c->comm, &request));
    FAILS(MPI_ERR_ROOT, MPI_Bcast(&a, 1, MPI_INT, c->remote, c->comm));
    FAILS(MPI_ERR_ROOT, MPI_Bcast(&a, 1, MPI_INT, -77, c->comm));
    FAILS(MPI_ERR_ROOT, MPI_Ireduce(&a, &b, 1, MPI_INT, MPI_SUM, c->remote, c->comm, &request));
    FAILS(MPI_ERR_ROOT, MPI_Bcast(&a, 1, MPI_INT, MPI_ROOT, MPI_COMM_WORLD));
    FAILS(MPI_ERR_ROOT, MPI_Bcast(&a, 1, MPI_INT, MPI_PROC_NULL, MPI_COMM_WORLD));
    FAILS(MPI_ERR_BUFFER, MPI_Allreduce(MPI_IN_PLACE, &b, 1, MPI_INT, MPI_SUM, c->comm));
    FAILS(MPI_ERR_BUFFER, MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, all, 1, MPI_INT, c->comm));
    FAILS(MPI_ERR_COUNT, MPI_Allreduce(&a, &b, -1, MPI_INT, MPI_SUM, c->comm));
    FAILS(MPI_ERR_TYPE, MPI_Allreduce(&a, &b, 1, MPI_DATATYPE_NULL, MPI_SUM, c->comm));
    FAILS(MPI_ERR_OP, MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_OP_NULL, c->comm));
    FAILS(MPI_ERR_OP, MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_OP_NULL, c->comm, &request));
}

/* Most arguments of rooted operations mean something at some ranks only. */
static void not_significant(const Inter *c)
{
    int a = rank, all[64], root = c->side ? 0 : c->rank == 0 ? MPI_ROOT : MPI_PROC_NULL, null = root == MPI_PROC_NULL;
    OK(MPI_Bcast(null ? NULL : &a, null ? -1 : 1, null ? MPI_DATATYPE_NULL : MPI_INT, root, c->comm));
    if (root == MPI_ROOT)
        OK(MPI_Gather(NULL, -1, MPI_DATATYPE_NULL, all, 1, MPI_INT, root, c->comm));
    else
        OK(MPI_Gather(null ? NULL : &a, null ? -1 : 1, null ? MPI_DATATYPE_NULL : MPI_INT, NULL, -1, MPI_DATATYPE_NULL, root,
                      c->comm));
    for (int i = 0; root == MPI_ROOT && i < c->remote; i++)
        SAME(all[i], c->members[0][0], "what came back from a broadcast");
    OK(MPI_Reduce(null ? NULL : &a, root == MPI_ROOT ? all : NULL, null ? -1 : 1, null ? MPI_DATATYPE_NULL : MPI_INT,
                  null ? MPI_OP_NULL : MPI_SUM, root, c->comm));
}

int main(int argc, char **argv)
{
    MPI_Info none = MPI_INFO_NULL;
    check_begin(&argc, &argv);
    for (int shape = 0; shape < SHAPES; shape++) {
        Inter c = inter_make(shape);
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
        OK(MPI_Comm_set_errhandler(c.comm, MPI_ERRORS_RETURN));
        OK(MPI_Comm_set_errhandler(c.local, MPI_ERRORS_RETURN));
        constructors(&c);
        messages(&c);
        collectives(&c);
        not_significant(&c);
        FAILS(MPI_ERR_INFO, MPI_Comm_set_info(c.comm, none));
        FAILS(MPI_ERR_COMM, MPI_Comm_get_info(MPI_COMM_NULL, &none));
        inter_works(c.comm, &c, "after errors");
        inter_free(&c);
    }
    return check_end();
}
