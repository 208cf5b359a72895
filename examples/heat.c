/* The heat equation on a plate, du/dt = a (d2u/dx2 + d2u/dy2), one block of the plate to each rank.
 *
 *   mpicc -O2 heat.c -o heat -lm
 *   mpirun -n 4 ./heat [PICTURE.png [WIDTH HEIGHT STEPS]]
 *
 * Each step every rank sends the cells along its four edges to its neighbours (rows as they lie in memory, columns by a
 * vector type), works on the cells that need none of theirs meanwhile, and then on the edges. Rank 0 collects the blocks
 * and writes the picture. The result does not depend on the number of ranks, not in one bit.
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the plate ---- */

enum { HALO_ROW = 1, HALO_COLUMN = 2, BLOCK = 3 };

typedef struct {
    int x0, y0, w, h; /* where the block lies in the plate, and its size */
} Block;

static int width = 480, height = 320, steps = 4000;

/* The temperature that a cell is held at, or -1 where it is free: a warm rim at the left, a cold one elsewhere, two
 * heated discs and a cooled bar. */
static double held(int x, int y) {
    double px = (x + 0.5) / width, py = (y + 0.5) / height, aspect = (double)width / height;
    double ax = (px - 0.32) * aspect, ay = py - 0.36, bx = (px - 0.70) * aspect, by = py - 0.64;
    if (ax * ax + ay * ay < 0.13 * 0.13) return 1.0;
    if (bx * bx + by * by < 0.09 * 0.09) return 0.8;
    if (px > 0.50 && px < 0.515 && py > 0.15 && py < 0.75) return 0.0;
    if (x == 0) return 0.5 + 0.4 * sin(6.283185307179586 * py);
    if (x == width - 1 || y == 0 || y == height - 1) return 0.0;
    return -1.0;
}

/* The block of the rank in column i of nx and row j of ny. */
static Block block_of(int i, int j, int nx, int ny) {
    Block b;
    b.x0 = (int)((long)width * i / nx);
    b.y0 = (int)((long)height * j / ny);
    b.w = (int)((long)width * (i + 1) / nx) - b.x0;
    b.h = (int)((long)height * (j + 1) / ny) - b.y0;
    return b;
}

/* One step on the cells of columns x to x1 and rows y to y1, counted from 1 inside the halo. Returns the largest change. */
static double update(const double *old, double *new, const unsigned char *fixed, int stride, int x, int x1, int y, int y1) {
    double most = 0.0;
    for (int r = y; r <= y1; r++) {
        for (int c = x; c <= x1; c++) {
            size_t at = (size_t)r * stride + c;
            if (fixed[at]) continue;
            double change = 0.24 * (old[at - 1] + old[at + 1] + old[at - stride] + old[at + stride] - 4.0 * old[at]);
            new[at] = old[at] + change;
            if (fabs(change) > most) most = fabs(change);
        }
    }
    return most;
}

/* ---- the picture: PNG with stored (uncompressed) deflate blocks ---- */

static uint32_t crc_table[256];

static uint32_t crc(uint32_t c, const unsigned char *p, size_t n) {
    if (!crc_table[1])
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t v = i;
            for (int k = 0; k < 8; k++) v = v & 1 ? 0xedb88320u ^ (v >> 1) : v >> 1;
            crc_table[i] = v;
        }
    while (n--) c = crc_table[(c ^ *p++) & 255] ^ (c >> 8);
    return c;
}

static void big_endian(unsigned char *p, uint32_t v) {
    for (int i = 0; i < 4; i++) p[i] = (unsigned char)(v >> (24 - 8 * i));
}

/* data starts with the four letters of the chunk's type. */
static void chunk(FILE *out, const unsigned char *data, size_t n) {
    unsigned char word[4];
    big_endian(word, (uint32_t)(n - 4));
    fwrite(word, 1, 4, out);
    fwrite(data, 1, n, out);
    big_endian(word, crc(0xffffffffu, data, n) ^ 0xffffffffu);
    fwrite(word, 1, 4, out);
}

static int write_png(const char *path, const unsigned char *rgb, int w, int h) {
    FILE *out = fopen(path, "wb");
    if (!out) return -1;
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, out);
    unsigned char head[17] = {'I', 'H', 'D', 'R'};
    big_endian(head + 4, (uint32_t)w);
    big_endian(head + 8, (uint32_t)h);
    head[12] = 8; /* bits a sample */
    head[13] = 2; /* red, green, blue */
    chunk(out, head, sizeof head);
    /* One deflate block a row: a byte that says "no filter", then the row. */
    size_t row = 1 + 3 * (size_t)w, n = 0;
    unsigned char *data = malloc(4 + 2 + (size_t)h * (5 + row) + 4);
    uint32_t a = 1, b = 0; /* Adler-32 */
    memcpy(data, "IDAT\x78\x01", 6);
    n = 6;
    for (int y = 0; y < h; y++) {
        unsigned char *p = data + n;
        p[0] = y == h - 1; /* last block? */
        p[1] = (unsigned char)row;
        p[2] = (unsigned char)(row >> 8);
        p[3] = (unsigned char)~p[1];
        p[4] = (unsigned char)~p[2];
        p[5] = 0;
        memcpy(p + 6, rgb + (size_t)y * 3 * w, row - 1);
        for (size_t i = 0; i < row; i++) a = (a + p[5 + i]) % 65521, b = (b + a) % 65521;
        n += 5 + row;
    }
    big_endian(data + n, b << 16 | a);
    chunk(out, data, n + 4);
    chunk(out, (const unsigned char *)"IEND", 4);
    free(data);
    return fclose(out);
}

/* From black over violet, red and orange to pale yellow. */
static void colour(double t, unsigned char *rgb) {
    static const double stops[][3] = {{4, 3, 18}, {66, 12, 102}, {147, 38, 103}, {221, 81, 58}, {252, 165, 10}, {252, 255, 186}};
    double at = (t < 0 ? 0 : t > 1 ? 1 : t) * 5;
    int i = at >= 5 ? 4 : (int)at;
    for (int k = 0; k < 3; k++) rgb[k] = (unsigned char)(stops[i][k] + (at - i) * (stops[i + 1][k] - stops[i][k]) + 0.5);
}

/* ---- */

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *picture = argc > 1 ? argv[1] : "heat.png";
    if (argc == 5) width = atoi(argv[2]), height = atoi(argv[3]), steps = atoi(argv[4]);

    /* The most nearly square grid of ranks, the longer side along the plate's width. */
    int ny = (int)sqrt((double)size);
    while (size % ny) ny--;
    int nx = size / ny, i = rank % nx, j = rank / nx;
    if (width / nx < 2 || height / ny < 2 || width > 20000 || height > 20000 || steps < 1) {
        if (!rank) fprintf(stderr, "heat: %d x %d cells are not for %d x %d ranks\n", width, height, nx, ny);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int left = i > 0 ? rank - 1 : MPI_PROC_NULL, right = i < nx - 1 ? rank + 1 : MPI_PROC_NULL;
    int up = j > 0 ? rank - nx : MPI_PROC_NULL, down = j < ny - 1 ? rank + nx : MPI_PROC_NULL;
    Block me = block_of(i, j, nx, ny);
    if (!rank) printf("heat: %d x %d cells, %d steps, %d x %d ranks\n", width, height, steps, nx, ny);

    int stride = me.w + 2;
    size_t cells = (size_t)stride * (me.h + 2);
    double *old = calloc(cells, sizeof *old), *new = calloc(cells, sizeof *new);
    unsigned char *fixed = calloc(cells, 1);
    for (int r = 1; r <= me.h; r++)
        for (int c = 1; c <= me.w; c++) {
            double t = held(me.x0 + c - 1, me.y0 + r - 1);
            size_t at = (size_t)r * stride + c;
            fixed[at] = t >= 0.0;
            old[at] = new[at] = fixed[at] ? t : 0.1;
        }

    MPI_Datatype column;
    MPI_Type_vector(me.h, 1, stride, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    double start = MPI_Wtime(), largest = 0.0;
    for (int step = 1; step <= steps; step++) {
        MPI_Request req[8];
        double *first = old + stride + 1, *last = old + (size_t)me.h * stride + 1;
        MPI_Irecv(first - stride, me.w, MPI_DOUBLE, up, HALO_ROW, MPI_COMM_WORLD, &req[0]);
        MPI_Irecv(last + stride, me.w, MPI_DOUBLE, down, HALO_ROW, MPI_COMM_WORLD, &req[1]);
        MPI_Irecv(first - 1, 1, column, left, HALO_COLUMN, MPI_COMM_WORLD, &req[2]);
        MPI_Irecv(first + me.w, 1, column, right, HALO_COLUMN, MPI_COMM_WORLD, &req[3]);
        MPI_Isend(first, me.w, MPI_DOUBLE, up, HALO_ROW, MPI_COMM_WORLD, &req[4]);
        MPI_Isend(last, me.w, MPI_DOUBLE, down, HALO_ROW, MPI_COMM_WORLD, &req[5]);
        MPI_Isend(first, 1, column, left, HALO_COLUMN, MPI_COMM_WORLD, &req[6]);
        MPI_Isend(first + me.w - 1, 1, column, right, HALO_COLUMN, MPI_COMM_WORLD, &req[7]);
        double most = update(old, new, fixed, stride, 2, me.w - 1, 2, me.h - 1);
        MPI_Waitall(8, req, MPI_STATUSES_IGNORE);
        most = fmax(most, update(old, new, fixed, stride, 1, me.w, 1, 1));
        most = fmax(most, update(old, new, fixed, stride, 1, me.w, me.h, me.h));
        most = fmax(most, update(old, new, fixed, stride, 1, 1, 2, me.h - 1));
        most = fmax(most, update(old, new, fixed, stride, me.w, me.w, 2, me.h - 1));
        double *swap = old;
        old = new;
        new = swap;
        if (step % (steps >= 10 ? steps / 10 : 1) == 0 || step == steps) {
            MPI_Allreduce(&most, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            if (!rank) {
                int done = 40 * step / steps;
                printf("heat: [%.*s%.*s] step %5d of %d, largest change %.2e\n", done,
                       "########################################", 40 - done,
                       "........................................", step, steps, largest);
                fflush(stdout);
            }
        }
    }
    double took = MPI_Wtime() - start;

    /* Every block goes to rank 0 without its halo, and lands in its place in the plate. */
    MPI_Datatype mine;
    MPI_Type_vector(me.h, me.w, stride, MPI_DOUBLE, &mine);
    MPI_Type_commit(&mine);
    MPI_Request sent;
    MPI_Isend(old + stride + 1, 1, mine, 0, BLOCK, MPI_COMM_WORLD, &sent);
    int failed = 0;
    if (!rank) {
        double *plate = malloc(sizeof *plate * width * height), sum = 0.0;
        for (int r = 0; r < size; r++) {
            Block b = block_of(r % nx, r / nx, nx, ny);
            MPI_Datatype place;
            MPI_Type_vector(b.h, b.w, width, MPI_DOUBLE, &place);
            MPI_Type_commit(&place);
            MPI_Recv(plate + (size_t)b.y0 * width + b.x0, 1, place, r, BLOCK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Type_free(&place);
        }
        unsigned char *rgb = malloc((size_t)3 * width * height);
        for (int at = 0; at < width * height; at++) sum += plate[at], colour(plate[at], rgb + 3 * (size_t)at);
        failed = write_png(picture, rgb, width, height) != 0;
        if (failed) fprintf(stderr, "heat: cannot write %s\n", picture);
        else
            printf("heat: mean temperature %.12f after %.2f s, picture in %s\n", sum / ((double)width * height), took, picture);
        free(rgb);
        free(plate);
    }
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Type_free(&mine);
    MPI_Type_free(&column);
    free(old);
    free(new);
    free(fixed);
    MPI_Finalize();
    return failed;
}
