//! Buffered sends (MPI-5.0 3.6).
//!
//! The attached buffer is an account: a buffered send that cannot leave at once is copied into memory of ours and charged with its size and
//! MPI_BSEND_OVERHEAD; what does not fit is MPI_ERR_BUFFER. The program's buffer itself is never written. MPI_BUFFER_AUTOMATIC is an
//! account without limit. Known gaps: buffers of communicators and sessions.
use oxmpi_base::args::{Buf, OutCount};
use oxmpi_base::consts::*;
use oxmpi_base::{Error, Result, bail};
use oxmpi_pt2pt::{Engine, Lanes, Mode, ReqId, Span};
use oxmpi_transport::wire::Context;
use std::sync::Mutex;

struct Account {
    address: usize,
    size: u64,
    used: u64,
    /// Sends under way, with what they are charged.
    sends: Vec<(ReqId, u64)>,
}

static ATTACHED: Mutex<Option<Account>> = Mutex::new(None);

fn attached() -> std::sync::MutexGuard<'static, Option<Account>> {
    ATTACHED.lock().unwrap_or_else(|e| e.into_inner())
}

pub fn attach(buf: Buf, size: i64) -> Result<()> {
    let size =
        u64::try_from(size).map_err(|_| Error::arg(format!("the buffer size is {size}; it must not be negative")))?;
    let mut a = attached();
    if a.is_some() {
        bail!(MPI_ERR_BUFFER, "a buffer is attached already; detach it first");
    }
    *a = Some(Account { address: buf.addr(), size, used: 0, sends: Vec::new() });
    Ok(())
}

impl Account {
    fn settle(&mut self, e: &Engine) {
        self.sends.retain(|(id, charge)| {
            let done = e.enter(id.lane(), |s| s.finish(*id).is_some());
            if done {
                self.used -= charge;
            }
            !done
        });
    }
    /// The lanes of what is under way.
    fn lanes(&self) -> Lanes {
        self.sends.iter().fold(0, |all, (id, _)| all | 1 << id.lane())
    }
    fn fits(&self, charge: u64) -> bool {
        self.address == MPI_BUFFER_AUTOMATIC || self.used + charge <= self.size
    }
}

/// A send that is complete when this returns.
pub fn send(e: &Engine, ctx: Context, to: u32, tag: i32, mut span: Span) -> Result<()> {
    let mut guard = attached();
    let Some(a) = guard.as_mut() else {
        bail!(MPI_ERR_BUFFER, "a buffered send without an attached buffer; call MPI_Buffer_attach first");
    };
    let charge = span.len() + MPI_BSEND_OVERHEAD as u64;
    if !a.fits(charge) {
        e.poll_among(a.lanes())?;
        a.settle(e);
    }
    if !a.fits(charge) {
        bail!(
            MPI_ERR_BUFFER,
            "the attached buffer of {} bytes has {} bytes in use; a message of {} and MPI_BSEND_OVERHEAD do not fit",
            a.size,
            a.used,
            span.len()
        );
    }
    let copy = span.to_owned().ok_or_else(|| Error::new(MPI_ERR_NO_MEM, "no memory for a buffered message"))?;
    if let Some(id) = e.enter(ctx.lane(), |s| s.send(ctx, to, tag, Span::Owned(copy), Mode::Standard))? {
        a.used += charge;
        a.sends.push((id, charge));
    }
    Ok(())
}

/// Waits until all buffered messages have left.
pub fn flush(e: &Engine) -> Result<()> {
    loop {
        // The lock is not held while this thread waits.
        let last = attached().as_ref().and_then(|a| a.sends.last().map(|s| s.0));
        let Some(id) = last else { return Ok(()) };
        // Another thread may settle it meanwhile: then it is no longer known.
        e.wait(id.lane(), |s| s.over(id).then_some(()))?;
        if let Some(a) = attached().as_mut() {
            a.settle(e);
        }
    }
}

/// The buffered messages that have not left.
pub fn pending(e: &Engine) -> Vec<ReqId> {
    attached().as_mut().map_or_else(Vec::new, |a| {
        a.settle(e);
        a.sends.iter().map(|(id, _)| *id).collect()
    })
}

pub fn detach(e: &Engine, address: Buf, size: OutCount) -> Result<()> {
    let a = loop {
        flush(e)?;
        let mut guard = attached();
        match guard.take() {
            None => bail!(MPI_ERR_BUFFER, "no buffer is attached"),
            Some(a) if a.sends.is_empty() => break a,
            // Another thread has sent since.
            busy => *guard = busy,
        }
    };
    crate::memory::store_pointer(address, a.address)?;
    size.set_checked(a.size as i64, "the buffer's size")
}
