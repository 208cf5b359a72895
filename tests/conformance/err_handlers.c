/* ranks: 1 2 */
/* MPI-5.0 9.3 Error Handling: handlers live while something refers to them, attach to objects of their kind alone, are inherited by
 * communicators that are made from others, and are told the object and the code; errors without an object go to MPI_COMM_SELF. */
#include "check.h"

static int told, told_code;
static MPI_Comm told_comm;

static void note(MPI_Comm *comm, int *code, ...)
{
    told++;
    told_comm = *comm;
    told_code = *code;
}

/* A handler may call MPI, set another handler and free itself. */
static void careless(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    int n;
    OK(MPI_Comm_size(*comm, &n));
    OK(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN));
    told++;
}

static void note_file(MPI_File *file, int *code, ...)
{
    CHECK(*file == MPI_FILE_NULL, "the handler of MPI_FILE_NULL was told of another file");
    told++;
    told_code = *code;
}

static int send_wrong(MPI_Comm comm)
{
    int v = 0;
    return MPI_Send(&v, 1, MPI_INT, 0, -5, comm);
}

static void lifetime(void)
{
    MPI_Comm dup, second;
    MPI_Errhandler h, got, again;
    OK(MPI_Comm_create_errhandler(note, &h));
    CHECK(h != MPI_ERRHANDLER_NULL, "no handle");
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    OK(MPI_Comm_set_errhandler(dup, h));
    OK(MPI_Comm_get_errhandler(dup, &got));
    CHECK(got == h, "get_errhandler gives another handle");
    OK(MPI_Errhandler_free(&got));
    CHECK(got == MPI_ERRHANDLER_NULL, "free leaves the handle");
    OK(MPI_Errhandler_free(&h));
    told = 0;
    send_wrong(dup);
    CHECK(told == 1 && told_comm == dup, "a handler whose handles are freed was called %d times", told);
    /* A communicator made from this one has it too, and keeps it when the first is gone. */
    OK(MPI_Comm_dup(dup, &second));
    OK(MPI_Comm_free(&dup));
    send_wrong(second);
    CHECK(told == 2 && told_comm == second, "an inherited handler was called %d times", told);
    int class = -1;
    OK(MPI_Error_class(told_code, &class));
    SAME(class, MPI_ERR_TAG, "class of the code that the handler got");
    OK(MPI_Comm_get_errhandler(second, &got));
    OK(MPI_Comm_get_errhandler(second, &again));
    CHECK(got == again, "two handles of one handler differ");
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Errhandler_free(&again));
    OK(MPI_Comm_call_errhandler(second, MPI_ERR_OTHER));
    CHECK(told == 3 && told_code == MPI_ERR_OTHER, "call_errhandler: %d calls, code %d", told, told_code);
    OK(MPI_Comm_create_errhandler(careless, &h));
    OK(MPI_Comm_set_errhandler(second, h));
    OK(MPI_Errhandler_free(&h));
    send_wrong(second);
    SAME(told, 4, "calls of handlers");
    FAILS(MPI_ERR_TAG, send_wrong(second)); /* with the handler that the handler set */
    SAME(told, 4, "calls of handlers");
    OK(MPI_Comm_free(&second));
}

static void predefined(void)
{
    MPI_Errhandler got;
    MPI_Comm dup;
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
    CHECK(got == MPI_ERRORS_ARE_FATAL, "the handler of MPI_COMM_WORLD is not MPI_ERRORS_ARE_FATAL");
    OK(MPI_Errhandler_free(&got));
    CHECK(got == MPI_ERRHANDLER_NULL, "free leaves the handle of a predefined handler");
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    OK(MPI_Comm_set_errhandler(dup, MPI_ERRORS_ABORT));
    OK(MPI_Comm_get_errhandler(dup, &got));
    CHECK(got == MPI_ERRORS_ABORT, "MPI_ERRORS_ABORT was set, and is not there");
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_TAG, send_wrong(dup));
    OK(MPI_Comm_call_errhandler(dup, MPI_ERR_COMM));
    OK(MPI_Comm_free(&dup));
}

/* MPI_COMM_SELF's handler is that of errors without a communicator. */
static void no_object(void)
{
    MPI_Errhandler h;
    MPI_Group group;
    int n;
    OK(MPI_Comm_create_errhandler(note, &h));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, h));
    told = 0;
    MPI_Group_size(MPI_GROUP_NULL, &n);
    CHECK(told == 1 && told_comm == MPI_COMM_SELF, "a null group: %d calls", told);
    MPI_Comm_size(MPI_COMM_NULL, &n);
    SAME(told, 2, "calls after a null communicator");
    MPI_Type_free(&(MPI_Datatype){ MPI_INT });
    SAME(told, 3, "calls after freeing MPI_INT");
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    OK(MPI_Group_free(&group));
    SAME(told, 3, "calls after what is right");
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &n));
    FAILS(MPI_ERR_COMM, MPI_Comm_size(MPI_COMM_NULL, &n));
    /* Kinds do not mix, and null is no handler. */
    MPI_Errhandler of_file;
    OK(MPI_File_create_errhandler(note_file, &of_file));
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_SELF, of_file) != MPI_SUCCESS, "a communicator took the handler of a file");
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRHANDLER_NULL) != MPI_SUCCESS, "a communicator took a null handler");
    MPI_Errhandler null = MPI_ERRHANDLER_NULL;
    CHECK(MPI_Errhandler_free(&null) != MPI_SUCCESS, "a null handler was freed");
    OK(MPI_Errhandler_free(&of_file));
    OK(MPI_Errhandler_free(&h));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

/* 14.7: the handler of MPI_FILE_NULL is the default one of files. */
static void files(void)
{
    MPI_Errhandler h, got;
    OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
    CHECK(got == MPI_ERRORS_RETURN, "the default handler of files is not MPI_ERRORS_RETURN");
    OK(MPI_Errhandler_free(&got));
    OK(MPI_File_create_errhandler(note_file, &h));
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, h));
    OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
    CHECK(got == h, "the default handler of files is not the one that was set");
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Errhandler_free(&h));
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    predefined();
    lifetime();
    no_object();
    files();
    return check_end();
}
