//! How fast patterns are packed and unpacked; not a test: `cargo test --release -p oxmpi-datatype --test pack_speed -- --ignored --nocapture`.
//! Prints GB/s of data for 16 KiB and 1 MiB of it (best of several rounds); bench/pack.c has the same patterns beside other MPIs.
use oxmpi_base::{args::Buf, consts::*, handle};
use oxmpi_datatype::{Cursor, Datatype};
use std::time::Instant;

fn dt(h: handle::Datatype) -> &'static Datatype {
    Datatype::predefined(h).unwrap()
}

fn best(calls: usize, mut call: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..25 {
        let start = Instant::now();
        (0..calls).for_each(|_| call());
        best = best.min(start.elapsed().as_nanos() as f64 / calls as f64);
    }
    best
}

/// Ascending places of blocks of `each` bytes, one in every three.
fn places(n: usize, each: usize) -> Vec<i64> {
    let mut seed = 5u32;
    (0..n)
        .map(|i| {
            seed = seed.wrapping_mul(1103515245).wrapping_add(12345);
            ((3 * i + (seed >> 16) as usize % 3) * each) as i64
        })
        .collect()
}

fn structure(fields: &[(i64, i64, handle::Datatype)], extent: i64, n: usize) -> Datatype {
    let lengths: Vec<i64> = fields.iter().map(|f| f.0).collect();
    let at: Vec<i64> = fields.iter().map(|f| f.1).collect();
    let types: Vec<Datatype> = fields.iter().map(|f| dt(f.2).clone()).collect();
    let t = Datatype::structure(&lengths, &at, &types, false).unwrap();
    Datatype::contiguous(n as i64, &Datatype::resized(&t, 0, extent, false).unwrap(), false).unwrap()
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    let d = dt(MPI_DOUBLE);
    let blocks = |each: usize, step: i64| {
        move |n: usize| Datatype::hvector(n as i64, each as i64 / 8, step, dt(MPI_DOUBLE), false).unwrap()
    };
    let listed = |each: usize| {
        move |n: usize| Datatype::hindexed_block(each as i64 / 8, &places(n, each), dt(MPI_DOUBLE), false).unwrap()
    };
    let cube = |row: i64, column: i64, rows: i64, columns: i64| {
        move |n: usize| {
            let n = n as i64;
            Datatype::subarray(&[n, 64, 64], &[n, rows, columns], &[0, row, column], MPI_ORDER_C, d, false).unwrap()
        }
    };
    type Make = Box<dyn Fn(usize) -> Datatype>;
    let patterns: Vec<(&str, usize, Make)> = vec![
        ("8 of 16", 8, Box::new(blocks(8, 16))),
        ("8 of 4160", 8, Box::new(blocks(8, 4160))),
        ("16 of 48", 16, Box::new(blocks(16, 48))),
        ("32 of 64", 32, Box::new(blocks(32, 64))),
        ("64 of 128", 64, Box::new(blocks(64, 128))),
        ("64 of 4160", 64, Box::new(blocks(64, 4160))),
        ("128 of 256", 128, Box::new(blocks(128, 256))),
        ("200 of 400", 200, Box::new(blocks(200, 400))),
        ("512 of 1024", 512, Box::new(blocks(512, 1024))),
        ("listed 8", 8, Box::new(listed(8))),
        ("listed 24", 24, Box::new(listed(24))),
        ("listed 64", 64, Box::new(listed(64))),
        ("listed 200", 200, Box::new(listed(200))),
        (
            "ragged",
            18,
            Box::new(|n| {
                let lengths: Vec<i64> = places(n, 1).iter().map(|p| 1 + 7 * p % 17).collect();
                let at: Vec<i64> = (0..n as i64).map(|i| i * 40 + i * 11 % 7).collect();
                Datatype::hindexed(&lengths, &at, dt(MPI_SHORT), false).unwrap()
            }),
        ),
        ("struct 4+8", 12, Box::new(|n| structure(&[(1, 0, MPI_INT), (1, 8, MPI_DOUBLE)], 16, n))),
        ("struct 8+7", 15, Box::new(|n| structure(&[(1, 0, MPI_DOUBLE), (1, 12, MPI_INT), (3, 16, MPI_CHAR)], 24, n))),
        (
            "struct 4+8+12+2",
            26,
            Box::new(|n| {
                structure(&[(1, 0, MPI_INT), (1, 8, MPI_DOUBLE), (3, 20, MPI_FLOAT), (1, 36, MPI_SHORT)], 40, n)
            }),
        ),
        (
            "columns",
            512,
            Box::new(|n| {
                Datatype::subarray(&[n as i64, 100], &[n as i64, 64], &[0, 18], MPI_ORDER_C, dt(MPI_DOUBLE), false)
                    .unwrap()
            }),
        ),
        ("rows", 512, Box::new(cube(3, 0, 1, 64))),
        ("points", 512, Box::new(cube(0, 5, 64, 1))),
        ("pairs", 992, Box::new(cube(1, 61, 62, 2))),
    ];
    let only = std::env::var("OXMPI_TEST_PATTERN").unwrap_or_default();
    for bytes in [16 << 10, 1 << 20] {
        for (name, each, make) in &patterns {
            if !name.contains(&only) {
                continue;
            }
            let t = make(bytes / each);
            let mut memory = vec![1u64; (t.true_extent() as usize).div_ceil(8) + 1];
            let mut packed = vec![0u64; t.size().div_ceil(8) + 1];
            let base = Buf(memory.as_mut_ptr().cast());
            let calls = if bytes > 1 << 16 { 4 } else { 100 };
            // SAFETY: the memory covers the type map, which begins at 0 or later.
            let pack = best(calls, || unsafe {
                Cursor::new(&t, base, 1).pack_to(packed.as_mut_ptr().cast(), t.size());
            });
            // SAFETY: as above.
            let unpack = best(calls, || unsafe {
                Cursor::new(&t, base, 1).unpack_from(packed.as_ptr().cast(), t.size());
            });
            let rate = |ns: f64| t.size() as f64 / ns;
            println!("{bytes:8} {name:16} pack {:7.2} unpack {:7.2} GB/s", rate(pack), rate(unpack));
        }
    }
}
