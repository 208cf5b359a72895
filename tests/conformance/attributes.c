/* ranks: 1 2 */
/* MPI-5.0 7.7 Caching: communicators and datatypes; 9.1.2 attributes of MPI_COMM_WORLD; 11.2.4 callbacks of
 * MPI_COMM_SELF at MPI_Finalize */
#include "check.h"

static int copies, deletes, last_deleted, cookie = 11, self_deleted;
static int order[8], ordered;

static int copy(MPI_Comm old, int key, void *extra, void *in, void *out, int *flag)
{
    (void)key;
    CHECK(old != MPI_COMM_NULL && extra == &cookie, "the copy callback got another extra state");
    copies++;
    *(void **)out = (void *)((intptr_t)in + 1);
    *flag = (intptr_t)in % 2 == 0; /* only even values are copied */
    return MPI_SUCCESS;
}

static int erase(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key;
    CHECK(extra == &cookie, "the delete callback got another extra state");
    deletes++;
    last_deleted = (int)(intptr_t)value;
    return MPI_SUCCESS;
}

static int refuse(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return MPI_ERR_OTHER;
}

static int note_order(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    if (ordered < 8)
        order[ordered++] = (int)(intptr_t)value;
    return MPI_SUCCESS;
}

static int at_finalize(MPI_Comm comm, int key, void *value, void *extra)
{
    int finalized = 1, r;
    (void)key, (void)value, (void)extra;
    MPI_Finalized(&finalized);
    CHECK(!finalized, "the callback of MPI_COMM_SELF came after the end");
    OK(MPI_Comm_rank(comm, &r));
    self_deleted++;
    return MPI_SUCCESS;
}

static void expect(MPI_Comm comm, int key, int want_flag, intptr_t want, const char *what)
{
    int flag = -1;
    void *value = NULL;
    OK(MPI_Comm_get_attr(comm, key, &value, &flag));
    SAME(flag, want_flag, what);
    if (flag)
        SAME((intptr_t)value, want, what);
}

static void communicators(void)
{
    int key, plain, same;
    MPI_Comm comm, dup;
    OK(MPI_Comm_create_keyval(copy, erase, &key, &cookie));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL));
    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &same, NULL));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    expect(comm, key, 0, 0, "an attribute that was not set");
    OK(MPI_Comm_set_attr(comm, key, (void *)40));
    expect(comm, key, 1, 40, "an attribute");
    OK(MPI_Comm_set_attr(comm, key, (void *)42));
    CHECK(deletes == 1 && last_deleted == 40, "replacing calls delete: %d calls, value %d", deletes, last_deleted);
    OK(MPI_Comm_set_attr(comm, plain, (void *)7));
    OK(MPI_Comm_set_attr(comm, same, (void *)9));
    OK(MPI_Comm_dup(comm, &dup));
    SAME(copies, 1, "copy callbacks of dup");
    expect(dup, key, 1, 43, "an attribute that the callback copied");
    expect(dup, plain, 0, 0, "an attribute that is not copied");
    expect(dup, same, 1, 9, "an attribute that is copied as it is");
    expect(comm, key, 1, 42, "the original");
    MPI_Comm third;
    OK(MPI_Comm_dup(dup, &third));
    expect(third, key, 0, 0, "an attribute whose callback said no");
    OK(MPI_Comm_free(&third));
    OK(MPI_Comm_delete_attr(dup, key));
    CHECK(deletes == 2 && last_deleted == 43, "delete_attr: %d calls, value %d", deletes, last_deleted);
    expect(dup, key, 0, 0, "a deleted attribute");
    OK(MPI_Comm_set_attr(dup, key, (void *)44));
    /* The key lives on while attributes use it. */
    int kept = key;
    OK(MPI_Comm_free_keyval(&key));
    CHECK(key == MPI_KEYVAL_INVALID, "free_keyval leaves the key");
    OK(MPI_Comm_free(&dup));
    CHECK(deletes == 3 && last_deleted == 44, "free after free_keyval: %d calls, value %d", deletes, last_deleted);
    expect(comm, kept, 1, 42, "an attribute after free_keyval");
    OK(MPI_Comm_free(&comm));
    CHECK(deletes == 4 && last_deleted == 42, "free: %d calls, value %d", deletes, last_deleted);
    OK(MPI_Comm_free_keyval(&plain));
    OK(MPI_Comm_free_keyval(&same));
}

/* A delete callback that fails: the call fails and the attribute stays. */
static void refusing(void)
{
    int key;
    MPI_Comm comm;
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse, &key, NULL));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)); /* a peer raises the error of comm_free there */
    OK(MPI_Comm_set_attr(comm, key, (void *)1));
    CHECK(MPI_Comm_delete_attr(comm, key) != MPI_SUCCESS, "delete_attr succeeded though its callback failed");
    expect(comm, key, 1, 1, "an attribute whose deletion failed");
    CHECK(MPI_Comm_free(&comm) != MPI_SUCCESS, "comm_free succeeded though a callback failed");
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void datatypes(void)
{
    int key, flag = -1;
    void *value = NULL;
    MPI_Datatype t, d;
    OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL));
    OK(MPI_Type_contiguous(2, MPI_INT, &t));
    OK(MPI_Type_set_attr(t, key, (void *)5));
    OK(MPI_Type_dup(t, &d));
    OK(MPI_Type_get_attr(d, key, &value, &flag));
    CHECK(flag && value == (void *)5, "attribute of a duplicated datatype");
    OK(MPI_Type_delete_attr(d, key));
    OK(MPI_Type_get_attr(d, key, &value, &flag));
    SAME(flag, 0, "deleted attribute of a datatype");
    OK(MPI_Type_set_attr(MPI_INT, key, (void *)6));
    OK(MPI_Type_get_attr(MPI_INT, key, &value, &flag));
    CHECK(flag && value == (void *)6, "attribute of a predefined datatype");
    OK(MPI_Type_delete_attr(MPI_INT, key));
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&d));
    OK(MPI_Type_free_keyval(&key));
}

static void predefined(void)
{
    static const int keys[] = { MPI_TAG_UB, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_HOST };
    int *value, flag = 0;
    for (int k = 0; k < 4; k++) {
        value = NULL;
        OK(MPI_Comm_get_attr(MPI_COMM_WORLD, keys[k], &value, &flag));
        CHECK(flag && value, "predefined attribute %d is not there", keys[k]);
        if (keys[k] == MPI_TAG_UB)
            CHECK(*value >= 32767, "MPI_TAG_UB is %d", *value);
    }
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
    int v = 1, got = 0;
    OK(MPI_Sendrecv(&v, 1, MPI_INT, rank, *value, &got, 1, MPI_INT, rank, *value, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    SAME(got, 1, "message with the largest tag");
    /* Not set without a launcher's say: the answer is a flag. */
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag));
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag));
    CHECK(!flag || *value >= size, "MPI_UNIVERSE_SIZE is %d", *value);
}

int main(int argc, char **argv)
{
    int keys[3], last;
    check_begin(&argc, &argv);
    communicators();
    refusing();
    datatypes();
    predefined();
    /* 11.2.4: attributes of MPI_COMM_SELF are deleted in the reverse order of their setting. */
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &last, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, last, NULL));
    for (int i = 0; i < 3; i++) {
        OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_order, &keys[i], NULL));
        OK(MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], (void *)(intptr_t)(i + 1)));
    }
    OK(MPI_Finalize());
    if (self_deleted != 1 || ordered != 3 || order[0] != 3 || order[1] != 2 || order[2] != 1) {
        fprintf(stderr, "rank %d: at MPI_Finalize %d + %d callbacks, values %d %d %d (expected 3 2 1)\n", rank, self_deleted,
                ordered, order[0], order[1], order[2]);
        return 1;
    }
    if (rank == 0)
        printf("ok\n");
    return 0;
}
