/* ranks: 1 2 3 4 */
/* MPI-5.0 4.2: partitioned communication round a ring: counts of partitions on both sides, sizes, order of
 * MPI_Pready, MPI_Parrived, completion by each form, many rounds */
#include "check.h"

static int next, previous;

static int value(int owner, int round, long i)
{
    return owner * 1000003 + round * 101 + (int)i;
}

/* All partitions in one of several orders. */
static void ready(MPI_Request request, int n, int order)
{
    if (order == 0) {
        for (int i = 0; i < n; i++)
            OK(MPI_Pready(i, request));
    } else if (order == 1) {
        for (int i = n - 1; i >= 0; i--)
            OK(MPI_Pready(i, request));
    } else if (order == 2) {
        int middle = n / 2;
        OK(MPI_Pready_range(middle, n - 1, request));
        if (middle > 0)
            OK(MPI_Pready_range(0, middle - 1, request));
    } else {
        int *list = check_alloc(n * sizeof(int)), k = 0;
        for (int i = 1; i < n; i += 2)
            list[k++] = i;
        OK(MPI_Pready_list(k, list, request));
        k = 0;
        for (int i = 0; i < n; i += 2)
            list[k++] = i;
        OK(MPI_Pready_list(k, list, request));
        OK(MPI_Pready_list(0, NULL, request));
        free(list);
    }
}

static void finish(MPI_Request *send, MPI_Request *receive, MPI_Status *status, int form)
{
    MPI_Request both[2] = { *receive, *send };
    MPI_Status statuses[2];
    int flag = 0, index, count, indices[2];
    switch (form) {
    case 0:
        OK(MPI_Wait(receive, status));
        OK(MPI_Wait(send, MPI_STATUS_IGNORE));
        break;
    case 1:
        while (!flag)
            OK(MPI_Test(receive, &flag, status));
        for (flag = 0; !flag;)
            OK(MPI_Test(send, &flag, MPI_STATUS_IGNORE));
        break;
    case 2:
        OK(MPI_Waitall(2, both, statuses));
        *status = statuses[0];
        break;
    case 3:
        for (int k = 0; k < 2; k++) {
            MPI_Status s;
            OK(MPI_Waitany(2, both, &index, &s));
            if (index == 0)
                *status = s;
        }
        OK(MPI_Waitany(2, both, &index, &statuses[0]));
        SAME(index, MPI_UNDEFINED, "waitany of inactive partitioned requests");
        break;
    default:
        for (int k = 0; k < 2; k += count) {
            OK(MPI_Waitsome(2, both, &count, indices, statuses));
            for (int c = 0; c < count; c++)
                if (indices[c] == 0)
                    *status = statuses[c];
        }
    }
    CHECK(*send != MPI_REQUEST_NULL && *receive != MPI_REQUEST_NULL && both[0] != MPI_REQUEST_NULL,
          "completion freed a partitioned request");
}

static void rounds(int theirs, int ours, long total, int times)
{
    int *out = check_alloc(total * sizeof(int)), *in = check_alloc(total * sizeof(int)), count = -1, flag;
    MPI_Request send, receive;
    MPI_Status status;
    SAME(total % theirs + total % ours, 0, "the test's numbers");
    OK(MPI_Psend_init(out, theirs, total / theirs, MPI_INT, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    OK(MPI_Precv_init(in, ours, total / ours, MPI_INT, previous, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    for (int round = 0; round < times; round++) {
        for (long i = 0; i < total; i++)
            out[i] = value(rank, round, i), in[i] = -1;
        if (round % 2) {
            MPI_Request both[2] = { send, receive };
            OK(MPI_Startall(2, both));
        } else {
            OK(MPI_Start(&receive));
            for (int p = 0; p < ours; p++) {
                OK(MPI_Parrived(receive, p, &flag));
                /* The sender may be a round ahead only after it has started; it has not marked anything before the barrier. */
                CHECK(size == 1 ? !flag : 1, "partition %d arrived before it was sent", p);
            }
            OK(MPI_Start(&send));
        }
        ready(send, theirs, round % 4);
        for (int k = 0; k < ours && round % 3 != 2; k++) {
            int p = round % 3 ? ours - 1 - k : k;
            for (flag = 0; !flag;)
                OK(MPI_Parrived(receive, p, &flag));
            for (long i = p * (total / ours); i < (p + 1) * (total / ours); i++)
                SAME(in[i], value(previous, round, i), "a partition that has arrived");
        }
        finish(&send, &receive, &status, round % 5);
        for (long i = 0; i < total; i++)
            SAME(in[i], value(previous, round, i), "a complete partitioned receive");
        SAME(status.MPI_SOURCE, previous, "source of a partitioned receive");
        SAME(status.MPI_TAG, 5, "tag of a partitioned receive");
        OK(MPI_Get_count(&status, MPI_INT, &count));
        SAME(count, total, "count of a partitioned receive");
        OK(MPI_Parrived(receive, 0, &flag));
        SAME(flag, 1, "MPI_Parrived of an inactive request");
    }
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
    CHECK(send == MPI_REQUEST_NULL && receive == MPI_REQUEST_NULL, "request_free leaves the handle");
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    rounds(1, 1, 64, 8);
    rounds(8, 8, 64, 8);
    rounds(1, 16, 64, 6);
    rounds(16, 1, 64, 6);
    rounds(16, 32, 64, 12);
    rounds(33, 17, 561, 12);
    rounds(17, 33, 561, 12);
    rounds(3, 5, 15 * 700, 12);
    rounds(5, 3, 15 * 7000, 12);
    rounds(4, 4, 4 * 30000, 8);
    rounds(512, 512, 512 * 1024, 5);
    rounds(4096, 512, 512 * 1024, 5);
    rounds(7, 2, 14 * 100000, 4);
    rounds(1000, 10, 1000, 300);
    rounds(5, 5, 0, 8);
    rounds(3, 7, 0, 8);
    return check_end();
}
