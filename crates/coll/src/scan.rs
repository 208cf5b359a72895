//! MPI_Scan and MPI_Exscan (MPI-5.0 6.11): recursive doubling that keeps rank order.
//!
//! Before the step at distance d a rank knows the reduction over its aligned run of d ranks; partners
//! exchange these, and the upper one also takes it into its result.
use crate::buffer::Data;
use crate::exchange::Exchange;
use crate::link::Datatype;
use crate::reduction::{Reduction, Vectors};
use crate::shared::reductions;
use crate::steps::{Room, Steps};
use crate::team::Team;
use crate::{select, tags};
use oxmpi_base::{Result, args::Buf};

pub fn scan(ep: &Team, sbuf: Buf, rbuf: Buf, count: usize, dt: &Datatype, op: &Reduction) -> Result<()> {
    prefix(ep, Vectors::new(sbuf, rbuf, count, dt, true), op, true)
}

/// The receive buffer of rank 0 is not touched.
pub fn exscan(ep: &Team, sbuf: Buf, rbuf: Buf, count: usize, dt: &Datatype, op: &Reduction) -> Result<()> {
    prefix(ep, Vectors::new(sbuf, rbuf, count, dt, true), op, false)
}

fn prefix(ep: &Team, vectors: Vectors, op: &Reduction, inclusive: bool) -> Result<()> {
    let x = Exchange::new(ep, if inclusive { tags::SCAN } else { tags::EXSCAN });
    if ep.size() == 1 {
        if inclusive {
            vectors.keep_now();
        }
        return Ok(());
    }
    if let Some(r) = ep.region()?
        && select::shared_scan(vectors.input.bytes(), ep.size(), r)
    {
        return reductions::scan(ep, r, vectors, op, inclusive);
    }
    steps(&x, vectors, op, inclusive)?;
    x.finish()
}

/// The scan by messages.
pub fn steps(x: &impl Steps, vectors: Vectors, op: &Reduction, inclusive: bool) -> Result<()> {
    if x.size() == 1 {
        if inclusive {
            vectors.keep(x);
        }
        return Ok(());
    }
    for v in vectors.chunks(select::SCAN_CHUNK) {
        if let Some(out) = v.out {
            doubling(x, v, out, op, inclusive)?;
        }
    }
    Ok(())
}

fn doubling(x: &impl Steps, v: Vectors, out: Data, op: &Reduction, inclusive: bool) -> Result<()> {
    let (me, n) = (x.rank(), x.size());
    let (mut mem_a, mut mem_b) = (x.typed(out, out.count)?, x.typed(out, out.count)?);
    let (mut run, mut theirs) = (Data { buf: mem_a.buf(), ..out }, Data { buf: mem_b.buf(), ..out });
    x.copy(v.input, run);
    if inclusive {
        v.keep(x);
    }
    let mut begun = inclusive;
    let mut distance = 1;
    while distance < n {
        let partner = me ^ distance;
        if partner < n && x.sendrecv(run, partner, theirs, partner) {
            if partner > me {
                x.apply(op, run.buf, theirs.buf, out.count);
                std::mem::swap(&mut run, &mut theirs);
            } else {
                if begun {
                    x.apply(op, theirs.buf, out.buf, out.count);
                } else {
                    x.copy(theirs, out);
                    begun = true;
                }
                x.apply(op, theirs.buf, run.buf, out.count);
            }
        }
        distance *= 2;
    }
    Ok(())
}
