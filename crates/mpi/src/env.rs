//! Initialisation, finalisation, abort and inquiries (MPI-5.0 chapters 9 and 11).
use crate::world::{self, Phase, World};
use crate::{attr, comm, config, errhan, group, info, inform, progress, table};
use oxmpi_base::args::{Buf, Out, OutStr};
use oxmpi_base::consts::*;
use oxmpi_base::{Error, Result, bail, handle};
use oxmpi_pt2pt::Engine;
use oxmpi_transport_shm::node::Node;
use oxmpi_transport_shm::segment::Segment;

pub use crate::memory::{alloc_mem, free_mem};

pub fn init(argc: Out<i32>, argv: Buf) -> Result<()> {
    let _ = (argc, argv);
    start(MPI_THREAD_SINGLE)
}

pub fn init_thread(argc: Out<i32>, argv: Buf, required: i32, provided: Out<i32>) -> Result<()> {
    let _ = (argc, argv);
    if !(MPI_THREAD_SINGLE..=MPI_THREAD_MULTIPLE).contains(&required) {
        bail!(MPI_ERR_ARG, "the required thread level is {required}; use one of the MPI_THREAD_ constants");
    }
    // The four levels are all supported; a value in between gets the next level up.
    let levels = [MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE];
    let level = levels.into_iter().find(|l| *l >= required).unwrap_or(MPI_THREAD_MULTIPLE);
    start(level)?;
    provided.set(level)
}

fn start(thread_level: i32) -> Result<()> {
    if world::phase() != Phase::Before || world::any_world().is_some() {
        let when = if world::phase() == Phase::After { "finalized" } else { "initialized" };
        bail!(MPI_ERR_OTHER, "MPI is already {when}; MPI_Init can be called once in a process");
    }
    errhan::set_abort_hook(abort_job);
    config::load()?;
    let job = oxmpi_pmi::connect()?;
    let node = match job.segment {
        Some(fd) => {
            oxmpi_transport_shm::single::allowed()?;
            Some(Node::join(Segment::open(fd, job.size)?, job.rank))
        }
        None => None,
    };
    let threads = thread_level == MPI_THREAD_MULTIPLE || progress::wanted(job.size);
    let engine = Engine::new(job.rank, job.size, node, threads);
    group::set_my_proc(job.rank as u32);
    let w = World {
        engine,
        rank: job.rank,
        size: job.size,
        appnum: job.appnum,
        universe: job.universe_size,
        control: job.control,
        thread_level,
        main_thread: std::thread::current().id(),
    };
    let w = world::install(w)?;
    if let Some(c) = &w.control {
        c.hello(oxmpi_sys::pid()).map_err(launcher_gone)?;
    }
    errhan::set_request_hook(crate::request::comm_of);
    errhan::set_rank_known(true);
    comm::make_predefined()?;
    attr::set_predefined(MPI_TAG_UB, comm::TAG_UB);
    // CLOCK_MONOTONIC is the same for all processes of a node.
    attr::set_predefined(MPI_WTIME_IS_GLOBAL, 1);
    attr::set_predefined(MPI_APPNUM, w.appnum.unwrap_or(MPI_UNDEFINED));
    attr::set_predefined(MPI_UNIVERSE_SIZE, w.universe.and_then(|n| i32::try_from(n).ok()).unwrap_or(MPI_UNDEFINED));
    bind_info(w);
    table::set_concurrent(threads);
    world::set_phase(Phase::Running);
    if progress::wanted(w.size) {
        progress::begin(w)?;
    }
    inform::at_init(w);
    Ok(())
}

fn launcher_gone(e: std::io::Error) -> Error {
    Error::new(MPI_ERR_OTHER, format!("the launcher does not answer on the control socket: {e}"))
}

/// MPI_INFO_ENV (MPI-5.0 11.2.1).
fn bind_info(w: &World) {
    let level = match w.thread_level {
        MPI_THREAD_SINGLE => "MPI_THREAD_SINGLE",
        MPI_THREAD_FUNNELED => "MPI_THREAD_FUNNELED",
        MPI_THREAD_SERIALIZED => "MPI_THREAD_SERIALIZED",
        _ => "MPI_THREAD_MULTIPLE",
    };
    info::bind_env(&[("maxprocs", &w.size.to_string()), ("thread_level", level), ("host", &oxmpi_sys::hostname())]);
}

/// MPI-5.0 11.2.2: the attributes of MPI_COMM_SELF go first; then everything that was sent is let out; a barrier keeps every process here until all
/// have received what they wait for.
pub fn finalize() -> Result<()> {
    let w = world::world()?;
    comm::get(MPI_COMM_SELF)?.attrs.delete_all(MPI_COMM_SELF)?;
    comm::get(MPI_COMM_WORLD)?.attrs.delete_all(MPI_COMM_WORLD)?;
    crate::buffer::flush(&w.engine)?;
    oxmpi_coll::barrier(&comm::get(MPI_COMM_WORLD)?.endpoint)?;
    w.engine.drain()?;
    progress::end(w);
    inform::at_finalize(w);
    if let Some(c) = &w.control {
        c.finalized().map_err(launcher_gone)?;
    }
    world::set_phase(Phase::After);
    table::set_concurrent(true);
    Ok(())
}

pub fn initialized(flag: Out<i32>) -> Result<()> {
    flag.set((world::phase() != Phase::Before) as i32)
}

pub fn finalized(flag: Out<i32>) -> Result<()> {
    flag.set((world::phase() == Phase::After) as i32)
}

pub fn query_thread(provided: Out<i32>) -> Result<()> {
    provided.set(world::world()?.thread_level)
}

pub fn is_thread_main(flag: Out<i32>) -> Result<()> {
    flag.set((world::world()?.main_thread == std::thread::current().id()) as i32)
}

pub fn abort(comm: handle::Comm, errorcode: i32) -> Result<()> {
    // Whatever the communicator, the whole job ends: MPI-5.0 9.5 allows that.
    let _ = comm;
    end_job(errorcode, "")
}

/// Ends the job after a fatal error, whose message has been printed.
fn abort_job(code: i32, _whole_job: bool) -> ! {
    end_job(code, "a fatal MPI error")
}

/// What the program has printed is let out first. The launcher prints `text`, and ends every process; without a launcher
/// this process is the job.
fn end_job(code: i32, text: &str) -> ! {
    oxmpi_sys::process::flush_stdio();
    match world::any_world().and_then(|w| w.control.as_ref()) {
        // The launcher also notices the exit below if this message does not get through.
        Some(c) => drop(c.abort(code, text)),
        None if text.is_empty() => {
            eprintln!("oxmpi: pid {} on {} called MPI_Abort with code {code}", oxmpi_sys::pid(), oxmpi_sys::hostname())
        }
        None => {}
    }
    oxmpi_sys::process::exit_now(exit_status(code))
}

/// 0 would look like success, and so would a multiple of 256.
fn exit_status(code: i32) -> i32 {
    if code & 0xff == 0 { 1 } else { code & 0xff }
}

pub fn get_version(version: Out<i32>, subversion: Out<i32>) -> Result<()> {
    version.set(MPI_VERSION)?;
    subversion.set(MPI_SUBVERSION)
}

pub fn get_library_version(version: OutStr, resultlen: Out<i32>) -> Result<()> {
    let text = format!(
        "oxmpi {} (MPI-{MPI_VERSION}.{MPI_SUBVERSION}, standard ABI {MPI_ABI_VERSION}.{MPI_ABI_SUBVERSION}, {}-linux)",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH
    );
    resultlen.set(version.write(text.as_bytes(), MPI_MAX_LIBRARY_VERSION_STRING as usize)? as i32)
}

pub fn get_processor_name(name: OutStr, resultlen: Out<i32>) -> Result<()> {
    resultlen.set(name.write(oxmpi_sys::hostname().as_bytes(), MPI_MAX_PROCESSOR_NAME as usize)? as i32)
}

/// MPI-5.0 15.2.3: for profiling tools; the library itself ignores it.
pub fn pcontrol(_level: i32) -> Result<()> {
    Ok(())
}

pub fn wtime() -> f64 {
    oxmpi_sys::clock::seconds()
}

pub fn wtick() -> f64 {
    oxmpi_sys::clock::resolution()
}

#[cfg(test)]
mod tests {
    use super::exit_status;

    #[test]
    fn abort_never_looks_like_success() {
        assert_eq!([0, 256, 3, -1, 512].map(exit_status), [1, 1, 3, 255, 1]);
    }
}
