//! Which algorithms were chosen, for tools (MPI-5.0 15.3.7 and 15.3.8).
//!
//! Counted where a collective goes by messages, which cost thousands of instructions; what goes through shared memory counts its own rounds
//! (`shared::region`), so it pays nothing.
use crate::select::{Allgather, Alltoall, Barrier, Bcast, Reduce, ReduceScatter, Rooted};
use oxmpi_base::measure::{Measure, Numbers};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The collectives that choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    Barrier,
    Bcast,
    Gather,
    Scatter,
    Allgather,
    Allgatherv,
    Alltoall,
    Reduce,
    Allreduce,
    ReduceScatter,
}

/// An algorithm that `select` gives; its place among its like.
pub trait Algorithm: Copy {
    const NAMES: &'static [&'static str];
    fn place(self) -> usize;
}

macro_rules! algorithms {
    ($($kind:ident: $($pattern:pat => $name:literal),+;)*) => { $(
        impl Algorithm for $kind {
            const NAMES: &'static [&'static str] = &[$($name),+];
            fn place(self) -> usize {
                use $kind::*;
                let name = match self { $($pattern => $name),+ };
                Self::NAMES.iter().position(|n| *n == name).unwrap_or(0)
            }
        }
    )* };
}

algorithms! {
    Barrier: Dissemination => "dissemination", Central => "central";
    Bcast: Binomial => "binomial", ScatterAllgather => "scatter_allgather", Chain { .. } => "chain";
    Rooted: Binomial => "binomial", Linear => "linear";
    Allgather: Doubling => "doubling", Bruck => "bruck", Ring => "ring";
    Alltoall: Bruck => "bruck", Window => "window", Pairwise => "pairwise";
    Reduce: Binomial => "binomial", Halving => "halving", Pairwise => "pairwise";
    ReduceScatter: Halving => "halving", ReduceScatterv => "reduce_scatterv", Pairwise => "pairwise";
}

const CALLS: usize = Call::ReduceScatter as usize + 1;
const MOST: usize = 3;

static CHOSEN: [[AtomicU64; MOST]; CALLS] = [const { [const { AtomicU64::new(0) }; MOST] }; CALLS];

/// To be called where `call` has chosen an algorithm for `bytes` among `ranks`.
pub fn chosen<A: Algorithm>(call: Call, algorithm: A, bytes: usize, ranks: usize) -> A {
    let place = algorithm.place();
    CHOSEN[call as usize][place].fetch_add(1, Relaxed);
    if ALGORITHM.wanted() {
        ALGORITHM.happened([call as u64, place as u64, ranks as u64, bytes as u64]);
    }
    algorithm
}

fn number(call: Call, place: usize) -> Option<Numbers> {
    Some(Numbers::One(CHOSEN[call as usize][place].load(Relaxed)))
}

oxmpi_base::event! {
    /// A collective operation that goes by messages has chosen its algorithm: the operation (0 barrier, 1 bcast, 2 gather, 3 scatter,
    /// 4 allgather, 5 allgatherv, 6 alltoall, 7 reduce, 8 allreduce, 9 reduce_scatter), the algorithm in the order of the performance variables
    /// coll_OPERATION_*, the ranks of the communicator, and the bytes that the choice went by.
    static ALGORITHM: Event = Event::new(
        "collective_algorithm",
        &[("operation", Kind::Int), ("algorithm", Kind::Int), ("ranks", Kind::Int), ("bytes", Kind::Long)],
    );
}

/// The event types of this crate.
pub static EVENTS: &[&oxmpi_base::event::Event] = &[&ALGORITHM];

macro_rules! measures {
    ($($id:ident $name:literal = $call:ident $place:literal $what:literal;)*) => {
        $(oxmpi_base::measure! {
            #[doc = $what]
            static $id: Measure = Measure::counter($name, || number(Call::$call, $place));
        })*
        /// The performance variables of this crate.
        pub static MEASURES: &[&Measure] = &[$(&$id),*];
        #[cfg(test)]
        const TABLE: &[(&str, Call, usize)] = &[$(($name, Call::$call, $place)),*];
    };
}

measures! {
    BARRIER_0 "coll_barrier_dissemination" = Barrier 0 "Barriers in messages that double their distance.";
    BARRIER_1 "coll_barrier_central" = Barrier 1 "Barriers in messages through rank 0.";
    BCAST_0 "coll_bcast_binomial" = Bcast 0 "MPI_Bcast: whole messages down a binomial tree.";
    BCAST_1 "coll_bcast_scatter_allgather" = Bcast 1 "MPI_Bcast: parts to all, which then go around a ring.";
    BCAST_2 "coll_bcast_chain" = Bcast 2 "MPI_Bcast: segments through a chain.";
    GATHER_0 "coll_gather_binomial" = Gather 0 "MPI_Gather: blocks up a binomial tree of messages.";
    GATHER_1 "coll_gather_linear" = Gather 1 "MPI_Gather: a message from each rank to the root.";
    SCATTER_0 "coll_scatter_binomial" = Scatter 0 "MPI_Scatter: blocks down a binomial tree of messages.";
    SCATTER_1 "coll_scatter_linear" = Scatter 1 "MPI_Scatter: a message from the root to each rank.";
    ALLGATHER_0 "coll_allgather_doubling" = Allgather 0 "MPI_Allgather: exchanges of doubling size.";
    ALLGATHER_1 "coll_allgather_bruck" = Allgather 1 "MPI_Allgather: Bruck's exchanges through a rotated copy.";
    ALLGATHER_2 "coll_allgather_ring" = Allgather 2 "MPI_Allgather: one block at a time around a ring.";
    ALLGATHERV_1 "coll_allgatherv_bruck" = Allgatherv 1 "MPI_Allgatherv: Bruck's exchanges through a rotated copy.";
    ALLGATHERV_2 "coll_allgatherv_ring" = Allgatherv 2 "MPI_Allgatherv: one block at a time around a ring.";
    ALLTOALL_0 "coll_alltoall_bruck" = Alltoall 0 "MPI_Alltoall: messages of many blocks by Bruck's scheme.";
    ALLTOALL_1 "coll_alltoall_window" = Alltoall 1 "MPI_Alltoall: all messages at once, a window at a time.";
    ALLTOALL_2 "coll_alltoall_pairwise" = Alltoall 2 "MPI_Alltoall: one partner at a time.";
    REDUCE_0 "coll_reduce_binomial" = Reduce 0 "MPI_Reduce: whole vectors up a binomial tree of messages.";
    REDUCE_1 "coll_reduce_halving" = Reduce 1 "MPI_Reduce: recursive halving, then a gather.";
    REDUCE_2 "coll_reduce_pairwise" = Reduce 2 "MPI_Reduce: each rank reduces a part that all send to it.";
    ALLREDUCE_0 "coll_allreduce_doubling" = Allreduce 0 "MPI_Allreduce: exchanges of whole vectors at doubling distances.";
    ALLREDUCE_1 "coll_allreduce_halving" = Allreduce 1 "MPI_Allreduce: recursive halving, then doubling.";
    ALLREDUCE_2 "coll_allreduce_pairwise" = Allreduce 2 "MPI_Allreduce: each rank reduces a part, and the parts go around a ring.";
    REDUCE_SCATTER_0 "coll_reduce_scatter_halving" = ReduceScatter 0 "MPI_Reduce_scatter: recursive halving.";
    REDUCE_SCATTER_1 "coll_reduce_scatter_scatterv" = ReduceScatter 1 "MPI_Reduce_scatter: a reduction to rank 0, then a scatter.";
    REDUCE_SCATTER_2 "coll_reduce_scatter_pairwise" = ReduceScatter 2 "MPI_Reduce_scatter: each block straight to its owner.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_has_a_place_and_a_variable() {
        fn all<A: Algorithm>(call: Call, used: usize) {
            let of = TABLE.iter().filter(|(_, c, _)| *c == call);
            assert_eq!(of.clone().count(), used, "{call:?}");
            assert!(of.clone().all(|(_, _, place)| *place < A::NAMES.len()));
        }
        all::<Barrier>(Call::Barrier, 2);
        all::<Bcast>(Call::Bcast, 3);
        all::<Rooted>(Call::Gather, 2);
        all::<Rooted>(Call::Scatter, 2);
        all::<Allgather>(Call::Allgather, 3);
        all::<Allgather>(Call::Allgatherv, 2);
        all::<Alltoall>(Call::Alltoall, 3);
        all::<Reduce>(Call::Reduce, 3);
        all::<Reduce>(Call::Allreduce, 3);
        all::<ReduceScatter>(Call::ReduceScatter, 3);
        assert_eq!([Bcast::Chain { segment: 9 }.place(), Bcast::Binomial.place()], [2, 0]);
        let before = CHOSEN[Call::Bcast as usize][2].load(Relaxed);
        chosen(Call::Bcast, Bcast::Chain { segment: 1 }, 5, 2);
        assert!(CHOSEN[Call::Bcast as usize][2].load(Relaxed) > before);
    }
}
