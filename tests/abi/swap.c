/* ranks: 2 4
 * A little of everything whose representation the standard ABI fixes: handles, statuses, constants, callbacks, attribute
 * values. `cargo xtask suite abi-swap` builds it against two MPIs and runs both binaries on both libraries.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size, errors;

#define CHECK(what)                                                       \
    do {                                                                  \
        if (!(what)) {                                                    \
            errors++;                                                     \
            printf("rank %d: line %d: not so: %s\n", rank, __LINE__, #what); \
        }                                                                 \
    } while (0)

/* Keeps the left argument where it is not zero: not commutative. */
static void first(void *in, void *inout, int *n, MPI_Datatype *type) {
    CHECK(*type == MPI_INT);
    for (int i = 0; i < *n; i++)
        if (((int *)in)[i]) ((int *)inout)[i] = ((int *)in)[i];
}

static int copied;
static int copy(MPI_Comm comm, int keyval, void *extra, void *value, void *out, int *flag) {
    (void)comm, (void)keyval;
    copied += *(int *)extra;
    *(void **)out = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int raised;
static void note(MPI_Comm *comm, int *code, ...) {
    int class;
    (void)comm;
    MPI_Error_class(*code, &class);
    raised = class;
}

int main(int argc, char **argv) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, flag, version, subversion;

    MPI_Get_library_version(text, &length); /* allowed before MPI_Init */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!rank) printf("library: %.*s\n", (int)strcspn(text, "\n"), text);
    MPI_Get_version(&version, &subversion);
    CHECK(version >= 4);
    CHECK(size >= 2);

    /* Statuses: fields, counts, wildcards, and MPI_PROC_NULL. */
    MPI_Status status;
    double pair[4] = {1.0, 2.0, 3.0, 4.0}, got[4] = {0};
    if (rank == 0) MPI_Send(pair, 3, MPI_DOUBLE, 1, 77, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Recv(got, 4, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &length);
        CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 77 && length == 3 && got[2] == 3.0);
        MPI_Get_count(&status, MPI_INT, &length);
        CHECK(length == 6);
    }
    MPI_Recv(got, 1, MPI_DOUBLE, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);

    /* Requests. */
    MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status both[2];
    int next = (rank + 1) % size, previous = (rank + size - 1) % size, mine = 1000 + rank, theirs = 0;
    MPI_Irecv(&theirs, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(&mine, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, both);
    CHECK(theirs == 1000 + previous && both[0].MPI_SOURCE == previous);
    CHECK(request[0] == MPI_REQUEST_NULL && request[1] == MPI_REQUEST_NULL);

    /* Reductions: predefined, in place, and the user's own. */
    int sum = rank + 1;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size + 1) / 2);
    struct { double value; int at; } low = {10.0 - rank, rank}, lowest;
    MPI_Allreduce(&low, &lowest, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    CHECK(lowest.at == size - 1 && lowest.value == 10.0 - (size - 1));
    MPI_Op op;
    int one = rank ? rank : 0, result = -1;
    MPI_Op_create(first, 0, &op);
    MPI_Allreduce(&one, &result, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(result == 1);
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);

    /* Datatypes. */
    MPI_Datatype struct_type, types[2] = {MPI_INT, MPI_DOUBLE};
    struct { int i; double d; } item = {rank, 0.5 * rank}, items[2];
    int blocks[2] = {1, 1}, bytes;
    MPI_Aint at[2] = {0, 8}, lower, extent;
    MPI_Type_create_struct(2, blocks, at, types, &struct_type);
    MPI_Type_commit(&struct_type);
    MPI_Type_size(struct_type, &bytes);
    MPI_Type_get_extent(struct_type, &lower, &extent);
    CHECK(bytes == 12 && lower == 0 && extent == 16);
    MPI_Comm two;
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, -rank, &two);
    CHECK((two == MPI_COMM_NULL) == (rank >= 2));
    if (two != MPI_COMM_NULL) {
        MPI_Allgather(&item, 1, struct_type, items, 1, struct_type, two);
        CHECK(items[0].i == 1 && items[1].i == 0 && items[0].d == 0.5);
    }
    MPI_Type_free(&struct_type);
    MPI_Type_size(MPI_INT64_T, &bytes);
    CHECK(bytes == 8);

    /* Groups. */
    MPI_Group world;
    int ranks[1] = {0}, translated[1] = {-9};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (two != MPI_COMM_NULL) {
        MPI_Group small;
        MPI_Comm_group(two, &small);
        MPI_Group_translate_ranks(small, 1, ranks, world, translated);
        CHECK(translated[0] == 1);
        MPI_Group_free(&small);
        MPI_Comm_compare(two, MPI_COMM_WORLD, &flag);
        CHECK(flag == (size == 2 ? MPI_SIMILAR : MPI_UNEQUAL));
        MPI_Comm_free(&two);
    }
    MPI_Group_free(&world);

    /* Attributes. */
    int *bound, keyval, extra = 7;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
    CHECK(flag && *bound >= 32767);
    MPI_Comm copy_of_world;
    void *value;
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, &extra);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &extra);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy_of_world);
    MPI_Comm_get_attr(copy_of_world, keyval, &value, &flag);
    CHECK(flag && value == &extra && copied == 7);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
    MPI_Comm_free_keyval(&keyval);
    CHECK(keyval == MPI_KEYVAL_INVALID);

    /* Errors. */
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(copy_of_world, handler);
    MPI_Errhandler_free(&handler);
    MPI_Send(&one, 1, MPI_INT, size, 0, copy_of_world);
    CHECK(raised == MPI_ERR_RANK);
    MPI_Comm_set_errhandler(copy_of_world, MPI_ERRORS_RETURN);
    int code = MPI_Send(&one, -1, MPI_INT, 0, 0, copy_of_world), class;
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_COUNT);
    MPI_Comm_free(&copy_of_world);

    /* Info. */
    MPI_Info info;
    char found[16];
    int room = sizeof found;
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Info_get_string(info, "key", &room, found, &flag);
    CHECK(flag && !strcmp(found, "value") && room == 6);
    MPI_Info_free(&info);
    CHECK(info == MPI_INFO_NULL);

    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!rank && !errors) printf("swap: ok\n");
    MPI_Finalize();
    return errors != 0;
}
