/* ranks: 2 3 */
/* MPI-5.0 3.4, 3.5: a standard send may be buffered; messages of the middle sizes leave without their receives, whatever has been learned of
 * how they travel best. */
#include "check.h"

static void fill(char *at, int bytes, int seed)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (char)(seed * 31 + i * 7 + (i >> 8));
}

static void compare(const char *at, int bytes, int seed)
{
    for (int i = 0; i < bytes; i++)
        CHECK(at[i] == (char)(seed * 31 + i * 7 + (i >> 8)), "%d bytes, seed %d: byte %d is wrong", bytes, seed, i);
}

/* Not portable, but programs do it: both sides send first. Also after many messages whose receives were waiting, and with many sends before
 * the receives. */
static void send_first(int bytes)
{
    enum { MANY = 40 };
    char *s = malloc(bytes), *r = malloc(bytes);
    MPI_Request q;
    int peer = rank ^ 1;
    if (rank < 2) {
        for (int i = 0; i < 400; i++) {
            fill(s, bytes, i + rank);
            OK(MPI_Irecv(r, bytes, MPI_BYTE, peer, 7, MPI_COMM_WORLD, &q));
            OK(MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, 8, NULL, 0, MPI_BYTE, peer, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            OK(MPI_Send(s, bytes, MPI_BYTE, peer, 7, MPI_COMM_WORLD));
            OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
            compare(r, bytes, i + peer);
        }
        for (int i = 0; i < 40; i++) {
            fill(s, bytes, i + rank);
            OK(MPI_Send(s, bytes, MPI_BYTE, peer, 7, MPI_COMM_WORLD));
            fill(s, bytes, 99);
            OK(MPI_Recv(r, bytes, MPI_BYTE, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            compare(r, bytes, i + peer);
        }
        if (rank == 0) {
            for (int i = 0; i < MANY; i++) {
                fill(s, bytes, i);
                OK(MPI_Send(s, bytes, MPI_BYTE, peer, 7, MPI_COMM_WORLD));
            }
        } else {
            for (int i = 0; i < MANY; i++) {
                OK(MPI_Recv(r, bytes, MPI_BYTE, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                compare(r, bytes, i);
            }
        }
    }
    free(s);
    free(r);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    send_first(5000);
    send_first(16384);
    send_first(32768);
    if (rank == 0)
        printf("ok\n");
    MPI_Finalize();
    return 0;
}
