/* ranks: 1 */
/* MPI-5.0 15.3.3 Convention for Returning Strings: a string that does not fit is cut, and its length is told all the same. */
#include "check.h"

int main(int argc, char **argv)
{
    enum { ROOM = 4096 };
    char name[ROOM], cut[ROOM];
    int n = 0, provided, seen = 0;
    check_begin(&argc, &argv);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_cvar_get_num(&n));
    for (int i = 0; i < n; i++) {
        int whole = ROOM, length;
        OK(MPI_T_cvar_get_info(i, name, &whole, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        SAME(whole, strlen(name) + 1, "length of a name with its end");
        for (int room = 1; room < whole; room++) {
            memset(cut, '?', sizeof cut);
            length = room;
            OK(MPI_T_cvar_get_info(i, cut, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
            CHECK(strlen(cut) == (size_t)room - 1 && strncmp(cut, name, (size_t)room - 1) == 0 && cut[room] == '?',
                  "%s in %d bytes is \"%.*s\"", name, room, room, cut);
            SAME(length, whole, "length of a name that was cut");
            seen++;
        }
        length = 0;
        memset(cut, '?', sizeof cut);
        OK(MPI_T_cvar_get_info(i, cut, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        CHECK(length == whole && cut[0] == '?', "no room: length %d, not %d, and '%c'", length, whole, cut[0]);
        length = ROOM;
        OK(MPI_T_cvar_get_info(i, NULL, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        SAME(length, whole, "length without a buffer");
        OK(MPI_T_cvar_get_info(i, cut, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        CHECK(cut[0] == '?', "without a length something was written");
    }
    OK(MPI_T_finalize());
    if (n > 0)
        CHECK(seen > 0, "no name was cut");
    return check_end();
}
