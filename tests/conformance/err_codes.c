/* ranks: 1 2 */
/* MPI-5.0 9.4, 9.5 Error Codes and Classes: every class has a string; the program's own classes, codes and strings, before MPI_Init and after
 * MPI_Finalize too; MPI_LASTUSEDCODE. */
#include "check.h"

static char text[MPI_MAX_ERROR_STRING];

static int class_of(int code)
{
    int class = -1;
    OK(MPI_Error_class(code, &class));
    return class;
}

static void string_is(int code, const char *want)
{
    int length = -1;
    memset(text, '?', sizeof text);
    OK(MPI_Error_string(code, text, &length));
    CHECK(strcmp(text, want) == 0 && length == (int)strlen(want), "code %d is \"%s\" of %d, not \"%s\"", code, text, length, want);
}

static int last_used(void)
{
    int *value = NULL, flag = 0;
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
    CHECK(flag && value, "MPI_LASTUSEDCODE is not there");
    return *value;
}

static const int classes[] = {
    MPI_SUCCESS, MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_TAG, MPI_ERR_COMM, MPI_ERR_RANK, MPI_ERR_REQUEST, MPI_ERR_ROOT,
    MPI_ERR_GROUP, MPI_ERR_OP, MPI_ERR_TOPOLOGY, MPI_ERR_DIMS, MPI_ERR_ARG, MPI_ERR_UNKNOWN, MPI_ERR_TRUNCATE, MPI_ERR_OTHER,
    MPI_ERR_INTERN, MPI_ERR_IN_STATUS, MPI_ERR_PENDING, MPI_ERR_ACCESS, MPI_ERR_AMODE, MPI_ERR_ASSERT, MPI_ERR_BAD_FILE, MPI_ERR_BASE,
    MPI_ERR_CONVERSION, MPI_ERR_DISP, MPI_ERR_DUP_DATAREP, MPI_ERR_FILE_EXISTS, MPI_ERR_FILE_IN_USE, MPI_ERR_FILE, MPI_ERR_INFO_KEY,
    MPI_ERR_INFO_NOKEY, MPI_ERR_INFO_VALUE, MPI_ERR_INFO, MPI_ERR_IO, MPI_ERR_KEYVAL, MPI_ERR_LOCKTYPE, MPI_ERR_NAME, MPI_ERR_NO_MEM,
    MPI_ERR_NOT_SAME, MPI_ERR_NO_SPACE, MPI_ERR_NO_SUCH_FILE, MPI_ERR_PORT, MPI_ERR_PROC_ABORTED, MPI_ERR_QUOTA, MPI_ERR_READ_ONLY,
    MPI_ERR_RMA_ATTACH, MPI_ERR_RMA_CONFLICT, MPI_ERR_RMA_FLAVOR, MPI_ERR_RMA_RANGE, MPI_ERR_RMA_SHARED, MPI_ERR_RMA_SYNC,
    MPI_ERR_SERVICE, MPI_ERR_SESSION, MPI_ERR_SIZE, MPI_ERR_SPAWN, MPI_ERR_UNSUPPORTED_DATAREP, MPI_ERR_UNSUPPORTED_OPERATION,
    MPI_ERR_VALUE_TOO_LARGE, MPI_ERR_WIN, MPI_ERR_ERRHANDLER, MPI_ERR_ABI,
};

static void predefined(void)
{
    int length;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        SAME(class_of(classes[i]), classes[i], "class of a class");
        CHECK(classes[i] >= 0 && classes[i] <= MPI_ERR_LASTCODE, "class %d is not up to MPI_ERR_LASTCODE", classes[i]);
        OK(MPI_Error_string(classes[i], text, &length));
        CHECK(length > 0 && length == (int)strlen(text), "string of class %d: \"%s\", length %d", classes[i], text, length);
    }
}

static void own(void)
{
    int class, code, other, third;
    OK(MPI_Add_error_class(&class));
    CHECK(class > MPI_ERR_LASTCODE, "a class of the program's is %d, not above MPI_ERR_LASTCODE", class);
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Add_error_code(MPI_ERR_TRUNCATE, &other));
    CHECK(class != code && code != other, "numbers are given twice");
    SAME(class_of(class), class, "class of an own class");
    SAME(class_of(code), class, "class of an own code");
    SAME(class_of(other), MPI_ERR_TRUNCATE, "class of an own code of a predefined class");
    string_is(code, "");
    OK(MPI_Add_error_string(code, "the cat is on the keyboard"));
    string_is(code, "the cat is on the keyboard");
    OK(MPI_Add_error_string(code, "it has left"));
    string_is(code, "it has left");
    OK(MPI_Add_error_string(class, "about cats"));
    string_is(class, "about cats");
    OK(MPI_Remove_error_string(code));
    string_is(code, "");
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_code(other));
    OK(MPI_Add_error_code(class, &third));
    OK(MPI_Remove_error_code(third));
    OK(MPI_Remove_error_string(class));
    OK(MPI_Remove_error_class(class));
}

static void refused(void)
{
    int code, class;
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    int before = last_used();
    CHECK(before >= MPI_ERR_LASTCODE, "MPI_LASTUSEDCODE is %d at first", before);
    OK(MPI_Add_error_class(&class));
    CHECK(last_used() >= class, "MPI_LASTUSEDCODE is %d after class %d", last_used(), class);
    OK(MPI_Add_error_code(class, &code));
    CHECK(last_used() >= code, "MPI_LASTUSEDCODE is %d after code %d", last_used(), code);
    CHECK(MPI_Remove_error_class(class) != MPI_SUCCESS, "a class with a code was removed");
    CHECK(MPI_Add_error_string(MPI_ERR_TAG, "x") != MPI_SUCCESS, "a predefined class took a string");
    CHECK(MPI_Remove_error_class(MPI_ERR_TAG) != MPI_SUCCESS, "a predefined class was removed");
    OK(MPI_Add_error_string(code, "x"));
    CHECK(MPI_Remove_error_code(code) != MPI_SUCCESS, "a code with a string was removed");
    OK(MPI_Remove_error_string(code));
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_class(class));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
    predefined();
    own();
    check_begin(&argc, &argv);
    predefined();
    own();
    refused();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        printf("ok\n");
    OK(MPI_Finalize());
    own();
    predefined();
    return 0;
}
