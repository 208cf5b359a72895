//! Where a process runs on its node, as far as its affinity mask says, and how far two processes are from each other.
use oxmpi_sys::affinity;
use std::path::Path;

/// Package, memory node, last-level cache, core: one more than the number of its first processor; 0 where the process may run in several.
pub type Place = [u32; 4];

/// What a message costs between two processes whose innermost common part is a core, a cache, a memory node, a package, the machine:
/// only the order and rough proportions matter.
const COST: [u64; 5] = [1, 2, 4, 6, 10];

/// The calling thread's place, by the topology under `root`.
pub fn here(root: &Path) -> Place {
    let cpus = affinity::allowed_cpus().unwrap_or_default();
    let part = |first: Option<usize>| first.map_or(0, |cpu| cpu as u32 + 1);
    let group = |file: &str| part(affinity::first_of_group(&cpus, file, root));
    let core = match group("topology/core_cpus_list") {
        0 => group("topology/thread_siblings_list"),
        c => c,
    };
    [
        group("topology/package_cpus_list"),
        part(affinity::first_of_memory_node(&cpus, root)),
        group("cache/index3/shared_cpu_list"),
        core,
    ]
}

/// What a message between processes at these places costs.
pub fn distance(a: &Place, b: &Place) -> u64 {
    let common = (0..a.len()).rev().position(|level| a[level] == b[level] && a[level] != 0);
    COST[common.unwrap_or(a.len())]
}

/// Whether some pair of processes is closer than another, so that it matters who gets which rank.
pub fn differ(places: &[Place]) -> bool {
    (0..4).any(|level| {
        let mut groups: Vec<u32> = places.iter().map(|p| p[level]).collect();
        groups.sort_unstable();
        let shared = groups.chunk_by(|a, b| a == b).filter(|g| g[0] != 0).any(|g| g.len() > 1);
        shared && (groups[0] == 0 || groups[0] != groups[groups.len() - 1])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_common_part_counts() {
        let at = |p, n, c, k| [p, n, c, k];
        assert_eq!(distance(&at(1, 1, 1, 1), &at(1, 1, 1, 1)), 1);
        assert_eq!(distance(&at(1, 1, 1, 1), &at(1, 1, 1, 2)), 2);
        assert_eq!(distance(&at(1, 1, 1, 1), &at(1, 1, 3, 3)), 4);
        assert_eq!(distance(&at(1, 1, 1, 1), &at(1, 5, 5, 5)), 6);
        assert_eq!(distance(&at(1, 1, 1, 1), &at(9, 9, 9, 9)), 10);
        assert_eq!(distance(&at(0, 0, 0, 0), &at(0, 0, 0, 0)), 10);
    }

    #[test]
    fn unbound_or_alike_processes_do_not_differ() {
        assert!(!differ(&[]));
        assert!(!differ(&[[0; 4]; 5]));
        assert!(!differ(&[[1, 1, 1, 1], [1, 1, 1, 2], [1, 1, 1, 3]]));
        assert!(!differ(&[[1, 1, 1, 1], [5, 5, 5, 5]]));
        assert!(differ(&[[1, 1, 1, 1], [1, 1, 1, 2], [5, 5, 5, 5]]));
        assert!(differ(&[[1, 1, 1, 1], [1, 1, 1, 2], [0; 4]]));
    }

    #[test]
    fn this_process_has_a_place() {
        let p = here(Path::new("/"));
        assert_eq!(distance(&p, &p), distance(&p, &here(Path::new("/"))));
        assert_eq!(here(Path::new("/nowhere")), [0; 4]);
    }
}
