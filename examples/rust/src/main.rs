//! A token goes round the ring of ranks and every rank adds itself, with rsmpi.
//!
//! `PATH=PREFIX/bin:$PATH cargo build && mpirun -n 4 target/debug/ring`
use mpi::collective::SystemOperation;
use mpi::traits::*;

fn main() {
    let universe = mpi::initialize().expect("MPI was initialised before");
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let next = world.process_at_rank((rank + 1) % size);
    let previous = world.process_at_rank((rank + size - 1) % size);

    let mut token = vec![0];
    if rank == 0 {
        next.send(&token[..]);
        (token, _) = previous.receive_vec::<i32>();
    } else {
        (token, _) = previous.receive_vec::<i32>();
        token.push(rank);
        next.send(&token[..]);
    }

    let mut sum = 0;
    world.all_reduce_into(&rank, &mut sum, SystemOperation::sum());
    assert_eq!(sum, size * (size - 1) / 2);
    if rank == 0 {
        assert_eq!(token, (0..size).collect::<Vec<_>>());
        println!("ring: the token passed {token:?}, the sum of all ranks is {sum}");
        println!("ring: {}", mpi::environment::library_version().unwrap().lines().next().unwrap_or(""));
    }
}
