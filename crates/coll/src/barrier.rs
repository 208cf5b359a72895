//! MPI_Barrier (MPI-5.0 6.3) in empty messages: by dissemination, ceil(log2 n) rounds for any n, or through rank 0 where
//! ranks share cores.
use crate::buffer::nothing;
use crate::exchange::Exchange;
use crate::select::{self, Barrier};
use crate::shared::movement;
use crate::steps::Steps;
use crate::tags;
use crate::team::Team;
use oxmpi_base::Result;

pub fn barrier(ep: &Team) -> Result<()> {
    if let Some(r) = ep.region()? {
        return movement::barrier(ep, r);
    }
    let x = Exchange::new(ep, tags::BARRIER);
    with(&x, select::barrier(ep.size(), ep.shares_cores()));
    x.finish()
}

/// No rank leaves before all have entered.
pub fn with(x: &impl Steps, algorithm: Barrier) {
    let (me, n) = (x.rank(), x.size());
    match algorithm {
        // After round k a rank has heard, directly or not, from the 2^(k+1) - 1 ranks below it.
        Barrier::Dissemination => {
            let mut distance = 1;
            while distance < n {
                x.sendrecv(nothing(), (me + distance) % n, nothing(), (me + n - distance) % n);
                distance *= 2;
            }
        }
        Barrier::Central if me == 0 => {
            (1..n).for_each(|r| {
                x.recv(nothing(), r);
            });
            (1..n).for_each(|r| x.send(nothing(), r));
        }
        Barrier::Central => {
            x.send(nothing(), 0);
            x.recv(nothing(), 0);
        }
    }
}
