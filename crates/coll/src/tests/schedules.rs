//! Schedules: random sequences of all collectives, many under way at once, advanced in an order of each rank's own, against a sequential
//! model. `OXMPI_TEST_SCHEDULES` is the number of cases (default 120; the long run has 20 000).
use super::reductions::{combined, operate};
use super::vector::Pair;
use super::{Endpoint, Vector, counts, types, world};
use crate::schedule::{Combine, Recorder, Schedule};
use crate::*;
use oxmpi_base::{Error, args::Buf, consts::*};
use oxmpi_pt2pt::{Step, Work};
use std::sync::Arc;

const IN_PLACE: Buf = Buf(MPI_IN_PLACE as *mut _);

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
    fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Barrier,
    Bcast,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
    Reduce,
    Allreduce,
    Scan,
    Exscan,
    ReduceScatterBlock,
    ReduceScatter,
}
use Kind::*;
const KINDS: [Kind; 17] = [
    Barrier,
    Bcast,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
    Reduce,
    Allreduce,
    Scan,
    Exscan,
    ReduceScatterBlock,
    ReduceScatter,
];

/// One collective, drawn alike at all ranks.
#[derive(Clone, Debug)]
struct Call {
    number: usize,
    kind: Kind,
    n: usize,
    count: usize,
    root: usize,
    dt: usize,
    commutative: bool,
    in_place: bool,
    runs: usize,
    /// Elements of each rank, for the forms with counts.
    parts: Vec<usize>,
}

impl Call {
    fn draw(number: usize, n: usize, d: &mut Random) -> Call {
        let count = match d.below(8) {
            0 => 0,
            1 => 1 + d.below(3000),
            _ => 1 + d.below(12),
        };
        Call {
            number,
            kind: KINDS[d.below(KINDS.len())],
            n,
            count,
            root: d.below(n),
            dt: d.below(types().len()),
            commutative: d.chance(2),
            in_place: d.chance(3),
            runs: if d.chance(4) { 1 + d.below(3) } else { 0 },
            parts: (0..n).map(|_| d.below(count + 1)).collect(),
        }
    }
    fn value(&self, run: usize, from: usize, i: usize) -> Pair {
        ((from * 14 + self.number * 62 + run * 6 + 3) as u32, (i * 5 + from * 100 + self.number) as u32)
    }
    fn fold(&self, run: usize, ranks: std::ops::Range<usize>, i: usize) -> Option<Pair> {
        ranks.map(|r| self.value(run, r, i)).reduce(|a, b| combined(a, b, self.commutative))
    }
    /// Where the part of rank `r` begins; the forms that may have gaps have some.
    fn start(&self, r: usize) -> usize {
        let gap = if self.kind == ReduceScatter { 0 } else { 1 };
        self.parts[..r].iter().map(|p| p + gap).sum()
    }
    fn total(&self) -> usize {
        self.start(self.n)
    }
    /// What rank `a` sends to rank `b` in an all-to-all with counts.
    fn between(&self, a: usize, b: usize) -> usize {
        self.parts[(a + b) % self.n]
    }
    fn before(&self, a: usize, b: usize) -> usize {
        (0..b).map(|x| self.between(a, x)).sum()
    }
    fn input_len(&self, me: usize) -> usize {
        let (n, count) = (self.n, self.count);
        match self.kind {
            Barrier | Bcast => 0,
            Gather | Allgather | Reduce | Allreduce | Scan | Exscan => count,
            Scatter | Alltoall | ReduceScatterBlock => n * count,
            Gatherv | Allgatherv => self.parts[me],
            Scatterv | ReduceScatter => self.total(),
            Alltoallv | Alltoallw => self.before(me, n),
        }
    }
    fn output_len(&self, me: usize) -> usize {
        let (n, count) = (self.n, self.count);
        match self.kind {
            Barrier => 0,
            Bcast | Scatter | Reduce | Allreduce | Scan | Exscan | ReduceScatterBlock => count,
            Gather | Allgather | Alltoall => n * count,
            Scatterv | ReduceScatter => self.parts[me],
            Gatherv | Allgatherv => self.total(),
            Alltoallv | Alltoallw => self.before(me, n),
        }
    }
    /// Whether `me` passes MPI_IN_PLACE.
    fn in_place_at(&self, me: usize) -> bool {
        self.in_place
            && match self.kind {
                Allreduce | Scan | Exscan | Allgather | Alltoall | Alltoallv | Alltoallw => true,
                Gather | Reduce | Scatter => me == self.root,
                _ => false,
            }
    }
    /// What the output holds before, element by element.
    fn given(&self, run: usize, me: usize, i: usize) -> Option<Pair> {
        match self.kind {
            Bcast => (me == self.root).then(|| self.value(run, me, i)),
            _ if !self.in_place_at(me) => None,
            Gather | Allgather => (i / self.count == me).then(|| self.value(run, me, i % self.count)),
            Scatter => None,
            _ => Some(self.value(run, me, i)),
        }
    }
    /// What it holds afterwards.
    fn wanted(&self, run: usize, me: usize, i: usize) -> Option<Pair> {
        let (n, count) = (self.n, self.count);
        let part = |r: usize| (self.start(r)..self.start(r) + self.parts[r]).contains(&i);
        let of_parts = || (0..n).find(|r| part(*r)).map(|r| self.value(run, r, i - self.start(r)));
        let here = me == self.root;
        match self.kind {
            Barrier => None,
            Bcast => Some(self.value(run, self.root, i)),
            Gather if !here => None,
            Gather | Allgather => Some(self.value(run, i / count, i % count)),
            Gatherv if !here => None,
            Gatherv | Allgatherv => of_parts(),
            Scatter if self.in_place_at(me) => None,
            Scatter => Some(self.value(run, self.root, me * count + i)),
            Scatterv => Some(self.value(run, self.root, self.start(me) + i)),
            Alltoall => Some(self.value(run, i / count, me * count + i % count)),
            Alltoallv | Alltoallw => {
                let r = (0..n).rfind(|r| self.before(me, *r) <= i && self.between(me, *r) > 0)?;
                Some(self.value(run, r, self.before(r, me) + i - self.before(me, r)))
            }
            Reduce if !here => None,
            Reduce | Allreduce => self.fold(run, 0..n, i),
            Scan => self.fold(run, 0..me + 1, i),
            Exscan if me == 0 => self.given(run, me, i),
            Exscan => self.fold(run, 0..me, i),
            ReduceScatterBlock => self.fold(run, 0..n, me * count + i),
            ReduceScatter => self.fold(run, 0..n, self.start(me) + i),
        }
    }
}

/// A call under way at one rank.
struct Under {
    call: Call,
    input: Vector,
    output: Vector,
    schedule: Arc<Schedule>,
    run: usize,
}

impl Under {
    fn new(call: Call, ep: &Endpoint) -> Under {
        let (me, n) = (ep.rank(), ep.size());
        let all = types();
        let reduces = matches!(call.kind, Reduce | Allreduce | Scan | Exscan | ReduceScatterBlock | ReduceScatter);
        // Layouts differ between ranks where only the signature has to be common.
        let dt = &all[(call.dt + if reduces { 0 } else { me }) % all.len()];
        let mut input = Vector::blank(dt, call.input_len(me));
        let mut output = Vector::blank(dt, call.output_len(me));
        let x = Recorder::new(ep, call.runs > 0);
        let (k, root) = (call.count, call.root);
        let (r, s) = (output.buf(), if call.in_place_at(me) { IN_PLACE } else { input.buf() });
        let ints = |f: &dyn Fn(usize) -> usize| (0..n).map(|r| f(r) as i32).collect::<Vec<i32>>();
        let (parts, starts) = (ints(&|r| call.parts[r]), ints(&|r| call.start(r)));
        let (to, from) = (ints(&|r| call.between(me, r)), ints(&|r| call.before(me, r)));
        let in_bytes: Vec<i32> = from.iter().map(|d| d * dt.extent as i32).collect();
        let dts = vec![dt; n];
        let (owned, commutative) = (dt.clone(), call.commutative);
        let combine = reduces.then(|| Combine {
            commutative,
            apply: Box::new(move |a, b, n| {
                operate(&owned, commutative, a, b, b, n);
                Ok(())
            }),
        });
        let op = combine.as_ref().map(Combine::for_recording);
        let op = op.as_ref();
        match call.kind {
            Barrier => plan::barrier(&x),
            Bcast => plan::bcast(&x, r, k, dt, root),
            Gather => plan::gather(&x, s, k, dt, r, k, dt, root),
            Gatherv => plan::gatherv(&x, s, call.parts[me], dt, r, &counts(&parts), &counts(&starts), dt, root),
            Scatter if me == root && call.in_place => plan::scatter(&x, input.buf(), k, dt, IN_PLACE, k, dt, root),
            Scatter => plan::scatter(&x, s, k, dt, r, k, dt, root),
            Scatterv => plan::scatterv(&x, s, &counts(&parts), &counts(&starts), dt, r, call.parts[me], dt, root),
            Allgather => plan::allgather(&x, s, k, dt, r, k, dt),
            Allgatherv => plan::allgatherv(&x, s, call.parts[me], dt, r, &counts(&parts), &counts(&starts), dt),
            Alltoall => plan::alltoall(&x, s, k, dt, r, k, dt),
            Alltoallv => {
                let (c, d) = (counts(&to), counts(&from));
                plan::alltoallv(&x, s, &c, &d, dt, r, &c, &d, dt)
            }
            Alltoallw => {
                let (c, d) = (counts(&to), counts(&in_bytes));
                plan::alltoallw(&x, s, &c, &d, &dts, r, &c, &d, &dts)
            }
            Reduce => plan::reduce(&x, s, r, k, dt, op.unwrap(), root),
            Allreduce => plan::allreduce(&x, s, r, k, dt, op.unwrap()),
            Scan => plan::scan(&x, s, r, k, dt, op.unwrap()),
            Exscan => plan::exscan(&x, s, r, k, dt, op.unwrap()),
            ReduceScatterBlock => plan::reduce_scatter_block(&x, s, r, k, dt, op.unwrap()),
            ReduceScatter => plan::reduce_scatter(&x, s, r, &counts(&parts), dt, op.unwrap()),
        }
        .unwrap();
        let schedule = Schedule::new(x.finish("a test", combine));
        Under { call, input, output, schedule, run: 0 }
    }
    fn start(&mut self, me: usize) {
        self.input.clear();
        self.output.clear();
        let (run, call) = (self.run, &self.call);
        (0..call.input_len(me)).for_each(|i| self.input.set(i, call.value(run, me, i)));
        (0..call.output_len(me)).for_each(|i| {
            if let Some(v) = call.given(run, me, i) {
                self.output.set(i, v)
            }
        });
        self.schedule.start();
    }
    /// One more attempt; true when all runs are over.
    fn advance(&mut self, me: usize) -> bool {
        if self.schedule.advance() != Step::Over {
            return false;
        }
        assert!(self.schedule.error().is_none());
        let (run, call) = (self.run, &self.call);
        self.output.expect(&format!("{call:?} at {me}"), call.output_len(me), |i| call.wanted(run, me, i));
        let sent = |i| Some(call.value(run, me, i));
        self.input.expect(&format!("the input of {call:?} at {me}"), call.input_len(me), sent);
        self.run += 1;
        if self.run < self.call.runs {
            self.start(me);
        }
        self.run >= self.call.runs
    }
}

fn case(seed: u64) {
    let mut d = Random(seed);
    d.below(2);
    let n = 1 + d.below(6);
    let number = 1 + d.below(12);
    let calls: Vec<Call> = (0..number).map(|k| Call::draw(k, n, &mut d)).collect();
    world(n, |ep| {
        let me = ep.rank();
        let mut own = Random(seed ^ (me as u64) << 40);
        let mut coming = calls.iter();
        let mut under: Vec<Under> = Vec::new();
        let mut all_begun = false;
        let begun = std::time::Instant::now();
        while !all_begun || !under.is_empty() {
            if own.chance(3) || under.is_empty() {
                match coming.next() {
                    Some(c) => {
                        let mut u = Under::new(c.clone(), ep);
                        u.start(me);
                        under.push(u);
                    }
                    None => all_begun = true,
                }
            }
            if !under.is_empty() {
                let k = own.below(under.len());
                if under[k].advance(me) {
                    under.swap_remove(k);
                } else {
                    std::thread::yield_now();
                }
            }
            assert!(begun.elapsed().as_secs() < 60, "seed {seed}: rank {me} of {n} waits for ever");
        }
    });
}

#[test]
fn random_schedules_do_what_a_sequential_model_does() {
    let cases = std::env::var("OXMPI_TEST_SCHEDULES").ok().and_then(|v| v.parse().ok()).unwrap_or(120);
    (0..cases).for_each(case);
}

/// As the blocking form: who has too little room hears of it, the others get what they wait for, and nobody hangs.
#[test]
fn a_failed_message_ends_the_run_with_its_error() {
    world(6, |ep| {
        let (me, dt) = (ep.rank(), &types()[2]);
        let count = if me == 3 { 2 } else { 4 };
        let mut v = Vector::filled(dt, count, |i| (me as u32, i as u32));
        let x = Recorder::new(ep, false);
        plan::bcast(&x, v.buf(), count, dt, 0).unwrap();
        let s = Schedule::new(x.finish("a test", None));
        s.start();
        while s.advance() != Step::Over {
            std::thread::yield_now();
        }
        assert_eq!(s.error().map(|e| e.class), (me == 3).then_some(MPI_ERR_TRUNCATE));
        barrier(ep).unwrap();
    });
}

#[test]
fn after_an_error_the_operation_is_not_applied_any_more() {
    world(4, |ep| {
        let (me, dt) = (ep.rank(), &types()[0]);
        let applied = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counter = applied.clone();
        let combine = Combine {
            commutative: true,
            apply: Box::new(move |_, _, _| {
                counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if me == 2 { Err(Error::new(MPI_ERR_OP, "no")) } else { Ok(()) }
            }),
        };
        let (mut a, mut b) = (Vector::filled(dt, 3, |_| (1, 1)), Vector::blank(dt, 3));
        let x = Recorder::new(ep, false);
        plan::allreduce(&x, a.buf(), b.buf(), 3, dt, &combine.for_recording()).unwrap();
        let s = Schedule::new(x.finish("a test", Some(combine)));
        s.start();
        while s.advance() != Step::Over {
            std::thread::yield_now();
        }
        assert_eq!(s.error().map(|e| e.class), (me == 2).then_some(MPI_ERR_OP));
        assert_eq!(applied.load(std::sync::atomic::Ordering::Relaxed), if me == 2 { 1 } else { 2 });
        barrier(ep).unwrap();
    });
}

/// Threads that find a schedule at once: one advances it, and what the others saw is not lost.
#[test]
fn several_threads_advance_one_schedule() {
    world(3, |ep| {
        let me = ep.rank();
        for round in 0..40 {
            let call = Call {
                number: round,
                kind: [Allreduce, Bcast, Allgather][round % 3],
                n: 3,
                count: 20,
                root: 0,
                dt: 0,
                commutative: false,
                in_place: false,
                runs: 0,
                parts: vec![0; 3],
            };
            let mut u = Under::new(call, ep);
            u.start(me);
            let schedule = &u.schedule;
            std::thread::scope(|s| {
                for _ in 0..3 {
                    s.spawn(move || {
                        while schedule.advance() != Step::Over {
                            std::thread::yield_now();
                        }
                    });
                }
            });
            assert!(u.advance(me));
        }
    });
}

/// A blocking collective in between does not take a schedule's messages, nor the other way round.
#[test]
fn blocking_collectives_between_start_and_end() {
    world(4, |ep| {
        let (me, dt) = (ep.rank(), &types()[0]);
        let call = |kind, number| Call {
            number,
            kind,
            n: 4,
            count: 6,
            root: 1,
            dt: 0,
            commutative: true,
            in_place: false,
            runs: 0,
            parts: vec![2; 4],
        };
        let mut under: Vec<Under> = KINDS.iter().enumerate().map(|(k, kind)| Under::new(call(*kind, k), ep)).collect();
        under.iter_mut().for_each(|u| u.start(me));
        let mut v = Vector::filled(dt, 5, |i| (1, (me * 10 + i) as u32));
        bcast(ep, v.buf(), 5, dt, 2).unwrap();
        v.expect("bcast", 5, |i| Some((1, 20 + i as u32)));
        let mut all = Vector::blank(dt, 20);
        allgather(ep, v.buf(), 5, dt, all.buf(), 5, dt).unwrap();
        all.expect("allgather", 20, |i| Some((1, 20 + i as u32 % 5)));
        while !under.is_empty() {
            under.retain_mut(|u| !u.advance(me));
            std::thread::yield_now();
        }
    });
}
