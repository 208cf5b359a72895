//! MPI_Barrier (MPI-5.0 6.3): dissemination, ceil(log2 n) rounds of empty messages for any n.
use crate::buffer::nothing;
use crate::exchange::Exchange;
use crate::link::Endpoint;
use crate::tags;
use oxmpi_base::Result;

/// No rank leaves before all have entered: after round k a rank has heard, directly or not, from the
/// 2^(k+1) - 1 ranks below it.
pub fn barrier(ep: &Endpoint) -> Result<()> {
    let x = Exchange::new(ep, tags::BARRIER);
    let (me, n) = (x.rank(), x.size());
    let mut distance = 1;
    while distance < n {
        x.sendrecv(nothing(), (me + distance) % n, nothing(), (me + n - distance) % n);
        distance *= 2;
    }
    x.finish()
}
