"""The Mandelbrot set with mpi4py, without numpy.

    mpirun -n 4 python mandelbrot.py [PICTURE.png [WIDTH HEIGHT]]

Rows cost very different amounts of work, so rank 0 hands them out one by one, whoever is ready next, and works on rows
itself when it is alone. Results come back as Python objects, the picture's checksum is agreed on with a broadcast, and
the time each rank was busy is reduced.
"""

import struct
import sys
import zlib

from mpi4py import MPI

ROW, STOP = 1, 2
LIMIT = 300

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
path = sys.argv[1] if len(sys.argv) > 1 else "mandelbrot.png"
width, height = map(int, sys.argv[2:4]) if len(sys.argv) > 3 else (420, 280)


def colour(n):
    """From night blue over copper to white, slower and slower; what never escapes is black."""
    if n == LIMIT:
        return b"\0\0\0"
    t = min(1.0, n / 70) ** 0.5
    stops = ((0.02, 0.03, 0.16), (0.10, 0.22, 0.50), (0.75, 0.40, 0.20), (1.0, 0.97, 0.85))
    at = min(int(t * 3), 2)
    part = t * 3 - at
    return bytes(int(255 * (low + (high - low) * part)) for low, high in zip(stops[at], stops[at + 1]))


COLOURS = [colour(n) for n in range(LIMIT + 1)]


def row(y):
    """The pixels of one row, three bytes each."""
    out = bytearray()
    b = (y + 0.5) / height * 2.4 - 1.2
    for x in range(width):
        a = (x + 0.5) / width * 3.6 - 2.5
        c = z = complex(a, b)
        n = 0
        while n < LIMIT and z.real * z.real + z.imag * z.imag < 4.0:
            z = z * z + c
            n += 1
        out += COLOURS[n]
    return bytes(out)


def png(rows):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + r for r in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def hand_out():
    """Rank 0: a row to whoever asks, until every row is back."""
    rows, todo, working = [None] * height, iter(range(height)), size - 1
    status, reported = MPI.Status(), 0
    while working:
        done = world.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        if done is not None:
            y, pixels = done
            rows[y] = pixels
            reported += 1
            if reported * 10 // height > (reported - 1) * 10 // height:
                print(f"mandelbrot: {reported} of {height} rows", flush=True)
        y = next(todo, None)
        world.send(y, dest=status.Get_source(), tag=STOP if y is None else ROW)
        working -= y is None
    return rows


def work():
    """The other ranks: ask, compute, return."""
    done, busy, count = None, 0.0, 0
    while True:
        y = world.sendrecv(done, dest=0, source=0)
        if y is None:
            return busy, count
        start = MPI.Wtime()
        done = (y, row(y))
        busy += MPI.Wtime() - start
        count += 1


if rank == 0:
    print(f"mandelbrot: {width} x {height} pixels on {size} ranks of {MPI.Get_library_version().split(chr(10))[0]}", flush=True)
rows, mine = None, (0.0, 0)
if size == 1:
    rows = [row(y) for y in range(height)]
elif rank == 0:
    rows = hand_out()
else:
    mine = work()

everyone = world.gather(mine, root=0)
checksum = world.bcast(zlib.crc32(b"".join(rows)) if rank == 0 else None, root=0)
agreed = world.allreduce(checksum, op=MPI.MAX) == checksum
most = world.allreduce(mine[0], op=MPI.MAX)
if rank == 0:
    with open(path, "wb") as out:
        out.write(png(rows))
    shares = ", ".join(f"{count}" for _, count in everyone[1:]) or f"{height}"
    print(f"mandelbrot: rows per worker {shares}; the busiest worked {most:.2f} s")
    print(f"mandelbrot: checksum {checksum:08x}, picture in {path}")
sys.exit(0 if agreed else 1)
