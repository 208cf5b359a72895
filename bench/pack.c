/* Memory with gaps: packed and unpacked beside a plain loop in C, or sent to and fro. Arguments: local or send, then the bytes
 * of data that a figure moves.
 *
 * local (one rank): MPI_Pack and MPI_Unpack of a pattern, in bytes of data a second, and the same work done by the loop that
 *   one would write by hand, in the same process.
 * send (two ranks): half the time of both ways of a ping-pong of the pattern on both sides. */
#include "common.h"

typedef struct {
    const char *name;
    size_t each, step; /* bytes of data and of memory for one piece */
    MPI_Datatype (*make)(int n);
    void (*pack)(char *to, const char *from, size_t n);
    void (*unpack)(char *to, const char *from, size_t n);
} pattern;

static char *memory, *packed, *other;
static MPI_Aint *places; /* irregular displacements, ascending, in bytes */
static const pattern *now_measured;
static MPI_Datatype type;
static int pieces, room;

/* ---- blocks at a stride ---- */
#define BLOCKS(N, STEP)                                                                                              \
    static MPI_Datatype make_##N##_##STEP(int n) {                                                                   \
        MPI_Datatype t;                                                                                              \
        MPI_Type_create_hvector(n, N / 8, STEP, MPI_DOUBLE, &t);                                                     \
        return t;                                                                                                    \
    }                                                                                                                \
    static void pack_##N##_##STEP(char *to, const char *from, size_t n) {                                            \
        for (size_t i = 0; i < n; i++) memcpy(to + N * i, from + STEP * i, N);                                       \
    }                                                                                                                \
    static void unpack_##N##_##STEP(char *to, const char *from, size_t n) {                                          \
        for (size_t i = 0; i < n; i++) memcpy(to + STEP * i, from + N * i, N);                                       \
    }
BLOCKS(8, 16)
BLOCKS(8, 4160)
BLOCKS(16, 48)
BLOCKS(64, 128)
BLOCKS(64, 4160)
BLOCKS(512, 1024)

/* ---- blocks of one size at listed places ---- */
#define LISTED(N)                                                                                                    \
    static MPI_Datatype make_listed_##N(int n) {                                                                     \
        MPI_Datatype t;                                                                                              \
        MPI_Type_create_hindexed_block(n, N / 8, places, MPI_DOUBLE, &t);                                            \
        return t;                                                                                                    \
    }                                                                                                                \
    static void pack_listed_##N(char *to, const char *from, size_t n) {                                              \
        for (size_t i = 0; i < n; i++) memcpy(to + N * i, from + places[i], N);                                      \
    }                                                                                                                \
    static void unpack_listed_##N(char *to, const char *from, size_t n) {                                            \
        for (size_t i = 0; i < n; i++) memcpy(to + places[i], from + N * i, N);                                      \
    }
LISTED(8)
LISTED(24)
LISTED(64)

/* ---- arrays of structs with holes ---- */
struct particle {
    double d;
    int hole, i;
    char c[3];
};
struct two {
    int i;
    double d;
};

static MPI_Datatype resized(MPI_Datatype t, size_t extent, int n) {
    MPI_Datatype r, all;
    MPI_Type_create_resized(t, 0, (MPI_Aint)extent, &r);
    MPI_Type_contiguous(n, r, &all);
    MPI_Type_free(&t);
    MPI_Type_free(&r);
    return all;
}
static MPI_Datatype make_particle(int n) {
    MPI_Datatype t, parts[] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
    MPI_Aint at[] = {0, 12, 16};
    int lengths[] = {1, 1, 3};
    MPI_Type_create_struct(3, lengths, at, parts, &t);
    return resized(t, sizeof(struct particle), n);
}
static void pack_particle(char *to, const char *from, size_t n) {
    for (size_t i = 0; i < n; i++, to += 15, from += 24) {
        memcpy(to, from, 8);
        memcpy(to + 8, from + 12, 7);
    }
}
static void unpack_particle(char *to, const char *from, size_t n) {
    for (size_t i = 0; i < n; i++, to += 24, from += 15) {
        memcpy(to, from, 8);
        memcpy(to + 12, from + 8, 7);
    }
}
static MPI_Datatype make_two(int n) {
    MPI_Datatype t, parts[] = {MPI_INT, MPI_DOUBLE};
    MPI_Aint at[] = {0, 8};
    int lengths[] = {1, 1};
    MPI_Type_create_struct(2, lengths, at, parts, &t);
    return resized(t, sizeof(struct two), n);
}
static void pack_two(char *to, const char *from, size_t n) {
    for (size_t i = 0; i < n; i++, to += 12, from += 16) {
        memcpy(to, from, 4);
        memcpy(to + 4, from + 8, 8);
    }
}
static void unpack_two(char *to, const char *from, size_t n) {
    for (size_t i = 0; i < n; i++, to += 16, from += 12) {
        memcpy(to, from, 4);
        memcpy(to + 8, from + 4, 8);
    }
}

/* ---- parts of arrays of doubles: 64 of 100 columns, and the sides of a box of 64 planes of 64 rows ---- */
static MPI_Datatype make_columns(int n) {
    MPI_Datatype t;
    int sizes[] = {n, 100}, part[] = {n, 64}, from[] = {0, 18};
    MPI_Type_create_subarray(2, sizes, part, from, MPI_ORDER_C, MPI_DOUBLE, &t);
    return t;
}
static void pack_columns(char *to, const char *from, size_t n) {
    for (size_t i = 0; i < n; i++) memcpy(to + 512 * i, from + 800 * i + 144, 512);
}
static void unpack_columns(char *to, const char *from, size_t n) {
    for (size_t i = 0; i < n; i++) memcpy(to + 800 * i + 144, from + 512 * i, 512);
}
static MPI_Datatype make_side(int n, int row, int column, int rows, int columns) {
    MPI_Datatype t;
    int sizes[] = {n, 64, 64}, part[] = {n, rows, columns}, from[] = {0, row, column};
    MPI_Type_create_subarray(3, sizes, part, from, MPI_ORDER_C, MPI_DOUBLE, &t);
    return t;
}
static MPI_Datatype make_rows(int n) { return make_side(n, 3, 0, 1, 64); }
static void pack_rows(char *to, const char *from, size_t n) {
    for (size_t i = 0; i < n; i++) memcpy(to + 512 * i, from + 32768 * i + 1536, 512);
}
static void unpack_rows(char *to, const char *from, size_t n) {
    for (size_t i = 0; i < n; i++) memcpy(to + 32768 * i + 1536, from + 512 * i, 512);
}
static MPI_Datatype make_points(int n) { return make_side(n, 0, 5, 64, 1); }
static void pack_points(char *to, const char *from, size_t n) {
    for (size_t i = 0; i < n * 64; i++) memcpy(to + 8 * i, from + 512 * i + 40, 8);
}
static void unpack_points(char *to, const char *from, size_t n) {
    for (size_t i = 0; i < n * 64; i++) memcpy(to + 512 * i + 40, from + 8 * i, 8);
}
/* A side two points thick, without its edges. */
static MPI_Datatype make_halo(int n) { return make_side(n, 1, 61, 62, 2); }
static void pack_halo(char *to, const char *from, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < 62; j++) memcpy(to + 16 * (62 * i + j), from + 32768 * i + 512 * (j + 1) + 488, 16);
}
static void unpack_halo(char *to, const char *from, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < 62; j++) memcpy(to + 32768 * i + 512 * (j + 1) + 488, from + 16 * (62 * i + j), 16);
}

#define FORMS(x) make_##x, pack_##x, unpack_##x
static const pattern patterns[] = {
    {"8 B of 16", 8, 16, FORMS(8_16)},
    {"8 B of 4160", 8, 4160, FORMS(8_4160)},
    {"16 B of 48", 16, 48, FORMS(16_48)},
    {"64 B of 128", 64, 128, FORMS(64_128)},
    {"64 B of 4160", 64, 4160, FORMS(64_4160)},
    {"512 B of 1024", 512, 1024, FORMS(512_1024)},
    {"listed 8 B", 8, 24, FORMS(listed_8)},
    {"listed 24 B", 24, 72, FORMS(listed_24)},
    {"listed 64 B", 64, 192, FORMS(listed_64)},
    {"struct of 2", 12, 16, FORMS(two)},
    {"struct of 3", 15, 24, FORMS(particle)},
    {"64 of 100 columns", 512, 800, FORMS(columns)},
    {"side of rows", 512, 32768, FORMS(rows)},
    {"side of points", 512, 32768, FORMS(points)},
    {"side of pairs", 992, 32768, FORMS(halo)},
};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

static void mpi_pack(int bytes) {
    int at = 0;
    MPI_Pack(memory, 1, type, packed, room, &at, MPI_COMM_WORLD);
    if (at != bytes) wrong("MPI_Pack", bytes);
}
static void mpi_unpack(int bytes) {
    int at = 0;
    MPI_Unpack(packed, room, &at, memory, 1, type, MPI_COMM_WORLD);
    if (at != bytes) wrong("MPI_Unpack", bytes);
}
static void loop_pack(int bytes) {
    (void)bytes;
    now_measured->pack(packed, memory, (size_t)pieces);
}
static void loop_unpack(int bytes) {
    (void)bytes;
    now_measured->unpack(memory, packed, (size_t)pieces);
}

static void ping_pong(int bytes) {
    (void)bytes;
    if (rank == 0) {
        MPI_Send(memory, 1, type, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(memory, 1, type, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(memory, 1, type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(memory, 1, type, 0, 1, MPI_COMM_WORLD);
    }
}

static void fill(char *p, size_t n, unsigned seed) {
    for (size_t i = 0; i < n; i++) p[i] = (char)((seed += 0x9e3779b9u) >> 24);
}

static void local(const pattern *p, int asked, int bytes, size_t span) {
    char name[80];
    fill(memory, span, 1);
    p->pack(other, memory, (size_t)pieces);
    mpi_pack(bytes);
    if (memcmp(other, packed, (size_t)bytes)) wrong(p->name, bytes);
    /* Unpacked into the holes' own garbage, and packed by hand again. */
    fill(packed, (size_t)bytes, 7);
    mpi_unpack(bytes);
    p->pack(other, memory, (size_t)pieces);
    if (memcmp(other, packed, (size_t)bytes)) wrong(p->name, bytes);
    static const struct {
        const char *what;
        void (*once)(int);
    } ways[] = {{"pack", mpi_pack}, {"pack by a plain loop,", loop_pack}, {"unpack", mpi_unpack}, {"unpack by a plain loop,", loop_unpack}};
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s %s", ways[i].what, p->name);
        result(name, asked, bytes / measure(ways[i].once, bytes) / 1000, "GB/s");
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int send = argc > 1 && !strcmp(argv[1], "send");
    for (int k = 2; k < argc; k++) {
        int asked = atoi(argv[k]);
        for (int i = 0; i < PATTERNS; i++) {
            const pattern *p = now_measured = &patterns[i];
            pieces = asked / (int)p->each;
            /* More memory than a node's cache has by far says nothing new. */
            size_t span = p->step * (size_t)pieces;
            if (pieces == 0 || span > (size_t)1 << 30) continue;
            room = pieces * (int)p->each;
            memory = buffer(span), packed = buffer((size_t)room), other = buffer((size_t)room);
            places = malloc((size_t)pieces * sizeof *places);
            unsigned seed = 5;
            for (int j = 0; j < pieces; j++) {
                seed = seed * 1103515245 + 12345;
                places[j] = (MPI_Aint)(p->step * (size_t)j + (seed >> 16) % (p->step / p->each) * p->each);
            }
            type = p->make(pieces);
            MPI_Type_commit(&type);
            if (send) {
                char name[80];
                snprintf(name, sizeof name, "send %s", p->name);
                result(name, asked, measure(ping_pong, room) / 2, "us");
            } else {
                local(p, asked, room, span);
            }
            MPI_Type_free(&type);
            free(places);
            free(memory);
            free(packed);
            free(other);
        }
    }
    MPI_Finalize();
    return 0;
}
