//! MPI_Comm_split_type (MPI-5.0 7.4.2): by memory, by hardware, by process set.
//!
//! A process is in an instance of a resource when its affinity mask, at the time of the call, lies inside it: one that may run anywhere is in the
//! machine and in nothing smaller. Whoever is in no instance of the kind asked for gets MPI_COMM_NULL, and so does whoever asks for a
//! kind that is not known. Resources have the names that hwloc gives them, as "hwloc://Package"; the names alone and a few that
//! other implementations use are understood too.
//!
//! Unguided, the kind is the largest by which the processes differ, so that each part is smaller than the whole; its name is put into the info
//! object that was given.
//!
//! Known gaps: one node, so all share memory.
use super::{get, info, split, table, tell_all};
use crate::session;
use oxmpi_base::args::Out;
use oxmpi_base::consts::*;
use oxmpi_base::{Result, bail, handle};
use oxmpi_sys::affinity::allowed_cpus;
use oxmpi_sys::topology::{Kind, Topology};
use std::path::Path;
use std::sync::OnceLock;

const KEY: &str = "mpi_hw_resource_type";
pub(crate) const SHARED: &str = "mpi_shared_memory";
const SCHEME: &str = "hwloc://";

/// The node that this process runs on, read once. Tests name another root.
pub(crate) fn machine() -> &'static Topology {
    static MACHINE: OnceLock<Topology> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let root = std::env::var_os("OXMPI_TEST_SYSFS_ROOT").unwrap_or_else(|| "/".into());
        Topology::read(Path::new(&root))
    })
}

/// The name of a kind of resource, as programs get it.
pub(crate) fn resource_name(kind: Kind) -> String {
    format!("{SCHEME}{}", kind.name())
}

/// The kind of resource of a name.
pub(crate) fn resource(name: &str) -> Option<Kind> {
    if let Some(exact) = name.strip_prefix(SCHEME) {
        return Kind::ALL.into_iter().find(|k| k.name() == exact);
    }
    let name = name.to_ascii_lowercase();
    Some(match name.as_str() {
        "machine" | "node" | "host" => Kind::Machine,
        "package" | "socket" => Kind::Package,
        "die" => Kind::Die,
        "numanode" | "numa" => Kind::Numa,
        "l3cache" | "l3" => Kind::L3,
        "l2cache" | "l2" => Kind::L2,
        "l1cache" | "l1" => Kind::L1,
        "core" => Kind::Core,
        "pu" | "hwthread" => Kind::Thread,
        _ => return None,
    })
}

/// The instance of a kind that this process is restricted to, by its lowest processor.
pub(crate) fn restricted_to(kind: Kind) -> Option<usize> {
    let cpus = allowed_cpus().ok()?;
    let t = machine();
    t.enclosing(kind, &cpus).map(|i| t.groups(kind)[i][0])
}

/// A color that differs between kinds, so that processes that asked for different ones do not meet.
fn color(kind: Kind, instance: usize) -> i32 {
    ((kind as i32 + 1) << 20) + instance as i32
}

/// The sets at one place of the list have one name, or differ; they do not overlap, so their first processes tell them apart.
fn color_of_set(place: usize, first: u32) -> i32 {
    (1 << 28) + ((place as i32) << 24) + first as i32
}

/// The largest kind by which the processes differ: `said` has, for each process and kind, the instance or a negative number.
fn distinguishing<'a>(said: impl Iterator<Item = &'a [i64; Kind::ALL.len()]> + Clone) -> Option<Kind> {
    Kind::ALL.into_iter().find(|k| {
        let mut of_kind = said.clone().map(|s| s[*k as usize]);
        let first = of_kind.clone().next();
        of_kind.clone().any(|i| i >= 0) && of_kind.any(|i| Some(i) != first)
    })
}

pub fn comm_split_type(
    comm: handle::Comm,
    split_type: i32,
    key: i32,
    info: handle::Info,
    newcomm: Out<handle::Comm>,
) -> Result<()> {
    let parent = get(comm)?;
    let hints = info::optional(info)?;
    let hint = |key: &str| hints.as_ref().and_then(|i| i.get_str(key));
    let by_hardware = || match hint(KEY).as_deref() {
        Some(SHARED) => Some(0),
        Some(name) => resource(name).and_then(|k| Some(color(k, restricted_to(k)?))),
        None => None,
    };
    let mut cut_by = None;
    let color = match split_type {
        // One node: all ranks share memory.
        MPI_COMM_TYPE_SHARED => Some(0),
        MPI_COMM_TYPE_HW_GUIDED => by_hardware(),
        MPI_COMM_TYPE_RESOURCE_GUIDED => match hint("mpi_pset_name").as_deref() {
            None => by_hardware(),
            Some(name) => session::find_pset(name)?.map(|(i, g)| color_of_set(i, g.proc_of(0))),
        },
        MPI_COMM_TYPE_HW_UNGUIDED => {
            let mine = Kind::ALL.map(|k| restricted_to(k).map_or(-1, |i| i as i64));
            let (ours, theirs) = tell_all(&parent, mine)?;
            let kind = distinguishing(ours.iter().chain(&theirs));
            cut_by = kind.filter(|k| mine[*k as usize] >= 0);
            cut_by.map(|k| color(k, mine[k as usize] as usize))
        }
        MPI_UNDEFINED => None,
        other => bail!(MPI_ERR_ARG, "split_type {other} is not one of the MPI_COMM_TYPE_ constants"),
    };
    split(&parent, color.unwrap_or(MPI_UNDEFINED), key, newcomm)?;
    // An info object that cannot be written to is this process's error; the others have their communicators.
    match (cut_by, &hints) {
        (Some(k), Some(i)) => i.set(KEY.as_bytes(), resource_name(k).as_bytes()),
        _ => Ok(()),
    }
    .inspect_err(|_| drop(newcomm.get().and_then(|h| table().remove(h))))
    .or_else(|e| newcomm.set(MPI_COMM_NULL).and(Err(e)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_resources() {
        for k in Kind::ALL {
            assert_eq!(resource(&resource_name(k)), Some(k));
            assert_eq!(resource(k.name()), Some(k));
        }
        assert_eq!((resource("socket"), resource("HWThread")), (Some(Kind::Package), Some(Kind::Thread)));
        assert_eq!((resource("hwloc://socket"), resource(""), resource("hwloc://")), (None, None, None));
    }

    #[test]
    fn the_largest_difference_counts() {
        let at = |package: i64, core: i64| {
            let mut s = [-1; Kind::ALL.len()];
            s[Kind::Machine as usize] = 0;
            s[Kind::Package as usize] = package;
            s[Kind::Core as usize] = core;
            s
        };
        let by = |all: &[[i64; Kind::ALL.len()]]| distinguishing(all.iter());
        assert_eq!(by(&[at(0, 0), at(1, 4)]), Some(Kind::Package));
        assert_eq!(by(&[at(0, 0), at(0, 1)]), Some(Kind::Core));
        assert_eq!(by(&[at(0, -1), at(0, 1)]), Some(Kind::Core));
        assert_eq!((by(&[at(0, -1), at(0, -1)]), by(&[at(0, 3)]), by(&[])), (None, None, None));
    }
}
