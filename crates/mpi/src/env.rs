//! Initialisation, finalisation, abort and inquiries (MPI-5.0 chapters 9 and 11).
use crate::info::Info;
use crate::world::{self, Phase, World};
use crate::{attr, comm, errhan, info};
use oxmpi_base::args::{Buf, Out, OutStr};
use oxmpi_base::consts::*;
use oxmpi_base::{Error, Result, bail, handle};

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
    // Null is refused before anything starts.
    provided.set(MPI_THREAD_SINGLE)?;
    // The four levels are all supported; a value in between gets the next level up.
    let levels = [MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE];
    let level = levels.into_iter().find(|l| *l >= required).unwrap_or(MPI_THREAD_MULTIPLE);
    start(level)?;
    provided.set(level)
}

fn start(thread_level: i32) -> Result<()> {
    let w = world::begin_world(thread_level)?;
    comm::make_predefined()?;
    // CLOCK_MONOTONIC is the same for all processes of a node.
    attr::set_predefined(MPI_WTIME_IS_GLOBAL, 1);
    attr::set_predefined(MPI_APPNUM, w.appnum.unwrap_or(MPI_UNDEFINED));
    attr::set_predefined(MPI_UNIVERSE_SIZE, w.universe.and_then(|n| i32::try_from(n).ok()).unwrap_or(MPI_UNDEFINED));
    info::bind_env(&[("maxprocs", &w.size.to_string()), ("mpi_initial_errhandler", errhan::initial_name())]);
    world::set_phase(Phase::Running);
    Ok(())
}

/// MPI-5.0 11.2.4: the attributes of MPI_COMM_SELF go first, while everything still works, also for the callbacks; then everything that was
/// sent is let out; a barrier keeps every process here until all have received what they wait for. Sessions go on.
pub fn finalize() -> Result<()> {
    world::attend();
    let w = world::world()?;
    if world::phase() != Phase::Running {
        let when = if world::phase() == Phase::After { "after MPI_Finalize" } else { "before MPI_Init" };
        bail!(
            MPI_ERR_OTHER,
            "MPI_Finalize was called {when}; it ends what MPI_Init began, MPI_Session_finalize a session"
        );
    }
    comm::get(MPI_COMM_SELF)?.attrs.delete_all(MPI_COMM_SELF)?;
    comm::get(MPI_COMM_WORLD)?.attrs.delete_all(MPI_COMM_WORLD)?;
    crate::buffer::empty_all(&w.engine)?;
    match oxmpi_coll::barrier(&comm::get(MPI_COMM_WORLD)?.endpoint) {
        // Some were aborted, and nobody waits for them.
        Err(e) if e.class == MPI_ERR_PROC_ABORTED => {}
        other => other?,
    }
    world::set_phase(Phase::After);
    let done = world::end(world::WORLD_MODEL);
    [MPI_COMM_WORLD, MPI_COMM_SELF].into_iter().for_each(|h| drop(comm::table().unbind(h)));
    done
}

pub fn initialized(flag: Out<i32>) -> Result<()> {
    flag.set((world::phase() != Phase::Before) as i32)
}

pub fn finalized(flag: Out<i32>) -> Result<()> {
    flag.set((world::phase() == Phase::After) as i32)
}

pub fn query_thread(provided: Out<i32>) -> Result<()> {
    provided.set(level()?)
}

pub fn is_thread_main(flag: Out<i32>) -> Result<()> {
    world::world()?;
    flag.set(world::is_main_thread() as i32)
}

fn level() -> Result<i32> {
    world::world()?;
    world::thread_level().ok_or_else(|| Error::new(MPI_ERR_OTHER, "the last session was finalized meanwhile"))
}

pub fn abort(comm: handle::Comm, errorcode: i32) -> Result<()> {
    // Whatever the communicator, the whole job ends: MPI-5.0 9.5 allows that.
    let _ = comm;
    end_job(errorcode, "")
}

/// Ends the job after a fatal error, whose message has been printed.
pub(crate) fn abort_job(code: i32, procs: Option<&[u32]>) -> ! {
    match (procs, world::any_world()) {
        (Some(procs), Some(w)) if procs.len() < w.size && w.control.is_some() => end_some(w, code, procs),
        _ => end_job(code, "a fatal MPI error"),
    }
}

/// Ends these processes; the others go on, and whatever they do that needs one of these fails with MPI_ERR_PROC_ABORTED.
fn end_some(w: &World, code: i32, procs: &[u32]) -> ! {
    oxmpi_sys::process::flush_stdio();
    // The launcher marks them in the shared memory and ends them.
    let told = w.control.as_ref().is_some_and(|c| c.abort_ranks(code, procs).is_ok());
    if !told {
        end_job(code, "a fatal MPI error");
    }
    oxmpi_sys::process::exit_now(exit_status(code))
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

/// MPI-5.0 9.1.3: the kinds of resource that MPI_Comm_split_type knows, and for each whether this process, by where it may run, is
/// restricted to a single one.
pub fn get_hw_resource_info(hw_info: Out<handle::Info>) -> Result<()> {
    use comm::split_type::{SHARED, machine, resource_name, restricted_to};
    hw_info.set(MPI_INFO_NULL)?;
    let found = Info::new();
    // All that shares memory is the node, and a process is on one.
    found.set(SHARED.as_bytes(), b"true")?;
    for kind in machine().kinds() {
        let alone = if restricted_to(kind).is_some() { "true" } else { "false" };
        found.set(resource_name(kind).as_bytes(), alone.as_bytes())?;
    }
    hw_info.set(info::insert(found)?)
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
