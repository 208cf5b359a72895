//! What a node's processors share: packages, memory, caches, cores, as Linux shows them under `/sys/devices/system`.
//!
//! Each kind of resource is a list of groups of processors; groups of one kind do not overlap. What the kernel does not show, or shows
//! inconsistently, is left out: a kind then has no groups, and nobody is inside one. Only processors that are online count.
//! The root (normally `/`) can be any folder, for tests. Known gaps: clusters, books and drawers (levels of few machines), and memory
//! without processors.
use std::path::Path;

/// A kind of resource, from the largest on. In nearly all machines a group of one kind lies inside a group of every larger kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Kind {
    Machine,
    Package,
    Die,
    Numa,
    L3,
    L2,
    L1,
    Core,
    /// A hardware thread: what Linux calls a cpu.
    Thread,
}

impl Kind {
    pub const ALL: [Kind; 9] =
        [Kind::Machine, Kind::Package, Kind::Die, Kind::Numa, Kind::L3, Kind::L2, Kind::L1, Kind::Core, Kind::Thread];

    /// The name by which hwloc knows it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Machine => "Machine",
            Kind::Package => "Package",
            Kind::Die => "Die",
            Kind::Numa => "NUMANode",
            Kind::L3 => "L3Cache",
            Kind::L2 => "L2Cache",
            Kind::L1 => "L1Cache",
            Kind::Core => "Core",
            Kind::Thread => "PU",
        }
    }
}

/// The groups of processors that share a resource, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// In the order of [`Kind::ALL`]; each group ascends, and groups ascend by their first processor.
    groups: [Vec<Vec<usize>>; Kind::ALL.len()],
}

/// Processors a machine may have; numbers above this in a file are not believed.
const MOST: usize = 1 << 16;

/// "0-3,8" as numbers.
fn list(text: &str) -> Option<Vec<usize>> {
    let mut all = Vec::new();
    for part in text.trim().split(',').filter(|p| !p.is_empty()) {
        let (a, b) = part.split_once('-').unwrap_or((part, part));
        let (a, b): (usize, usize) = (a.trim().parse().ok()?, b.trim().parse().ok()?);
        if a > b || b >= MOST {
            return None;
        }
        all.extend(a..=b);
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

fn read_list(path: &Path) -> Option<Vec<usize>> {
    list(&std::fs::read_to_string(path).ok()?)
}

impl Topology {
    /// The machine under `root`. Costs some file reads for each group.
    pub fn read(root: &Path) -> Topology {
        let cpus = root.join("sys/devices/system/cpu");
        let mut t = Topology::default();
        let Some(online) = read_list(&cpus.join("online")).filter(|o| !o.is_empty()) else { return t };
        let of_cpu = |cpu: usize, file: &str| read_list(&cpus.join(format!("cpu{cpu}/{file}")));
        let first_of = |cpu: usize, files: &[&str]| files.iter().find_map(|f| of_cpu(cpu, f));
        let cache = |cpu: usize, level: &str| {
            (0..16).map(|i| cpus.join(format!("cpu{cpu}/cache/index{i}"))).take_while(|d| d.is_dir()).find_map(|d| {
                let read = |f: &str| std::fs::read_to_string(d.join(f)).ok();
                let fits = read("level")?.trim() == level && read("type")?.trim() != "Instruction";
                fits.then(|| read_list(&d.join("shared_cpu_list"))).flatten()
            })
        };
        for kind in Kind::ALL {
            t.groups[kind as usize] = match kind {
                Kind::Machine => vec![online.clone()],
                Kind::Thread => online.iter().map(|c| vec![*c]).collect(),
                Kind::Numa => partition(&online, nodes(root)),
                Kind::Package => {
                    each(&online, |c| first_of(c, &["topology/package_cpus_list", "topology/core_siblings_list"]))
                }
                Kind::Die => each(&online, |c| of_cpu(c, "topology/die_cpus_list")),
                Kind::Core => {
                    each(&online, |c| first_of(c, &["topology/core_cpus_list", "topology/thread_siblings_list"]))
                }
                Kind::L3 => each(&online, |c| cache(c, "3")),
                Kind::L2 => each(&online, |c| cache(c, "2")),
                Kind::L1 => each(&online, |c| cache(c, "1")),
            };
        }
        t
    }

    /// The groups of a kind; empty where the machine has none or does not show them.
    pub fn groups(&self, kind: Kind) -> &[Vec<usize>] {
        &self.groups[kind as usize]
    }

    /// The group of a kind that a processor is in.
    pub fn group_of(&self, kind: Kind, cpu: usize) -> Option<usize> {
        self.groups(kind).iter().position(|g| g.binary_search(&cpu).is_ok())
    }

    /// The group of a kind that holds all of `cpus`: what runs on them is restricted to that one resource.
    pub fn enclosing(&self, kind: Kind, cpus: &[usize]) -> Option<usize> {
        let i = self.group_of(kind, *cpus.first()?)?;
        let g = &self.groups(kind)[i];
        cpus.iter().all(|c| g.binary_search(c).is_ok()).then_some(i)
    }

    /// The kinds that this machine shows.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> + '_ {
        Kind::ALL.into_iter().filter(|k| !self.groups(*k).is_empty())
    }

    /// The smallest resource that two processors have in common: how near they are. None for processors that are not known.
    pub fn nearest_common(&self, a: usize, b: usize) -> Option<Kind> {
        Kind::ALL.into_iter().rev().find(|k| self.group_of(*k, a).is_some_and(|g| self.group_of(*k, b) == Some(g)))
    }
}

/// The groups that `of` names for the processors of `online`, each asked for once.
fn each(online: &[usize], of: impl Fn(usize) -> Option<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut seen = vec![false; online.last().map_or(0, |l| l + 1)];
    for &c in online {
        if seen[c] {
            continue;
        }
        let Some(group) = of(c) else { continue };
        for member in &group {
            if let Some(flag) = seen.get_mut(*member) {
                *flag = true;
            }
        }
        groups.push(group);
    }
    partition(online, groups)
}

/// Groups as they are shown, made clean: online processors only, none in two groups, none empty.
fn partition(online: &[usize], shown: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut taken = vec![false; online.last().map_or(0, |l| l + 1)];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for mut g in shown {
        g.retain(|c| online.binary_search(c).is_ok() && !std::mem::replace(&mut taken[*c], true));
        if !g.is_empty() {
            groups.push(g);
        }
    }
    groups.sort();
    groups
}

/// The processors of each memory node.
fn nodes(root: &Path) -> Vec<Vec<usize>> {
    let dir = root.join("sys/devices/system/node");
    let ids = read_list(&dir.join("online")).unwrap_or_default();
    ids.into_iter().filter_map(|id| read_list(&dir.join(format!("node{id}/cpulist")))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    struct Fixture(PathBuf);

    impl Fixture {
        fn new(name: &str) -> Fixture {
            let root = std::env::temp_dir().join(format!("oxmpi-topology-{}-{name}", crate::pid()));
            let _ = std::fs::remove_dir_all(&root);
            Fixture(root)
        }
        fn put(&self, path: &str, text: &str) {
            let path = self.0.join("sys/devices/system").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, format!("{text}\n")).unwrap();
        }
        fn cache(&self, cpu: usize, index: usize, level: usize, kind: &str, shared: &str) {
            let dir = format!("cpu/cpu{cpu}/cache/index{index}");
            self.put(&format!("{dir}/level"), &level.to_string());
            self.put(&format!("{dir}/type"), kind);
            self.put(&format!("{dir}/shared_cpu_list"), shared);
        }
    }

    impl Drop for Fixture {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    /// Two packages of two cores of two threads; one memory node each; L2 per core, L3 per package.
    fn two_packages() -> Fixture {
        let f = Fixture::new("two");
        f.put("cpu/online", "0-7");
        f.put("node/online", "0-1");
        f.put("node/node0/cpulist", "0-1,4-5");
        f.put("node/node1/cpulist", "2-3,6-7");
        for cpu in 0..8 {
            let core = cpu % 4;
            let package = if core < 2 { "0-1,4-5" } else { "2-3,6-7" };
            let threads = format!("{core},{}", core + 4);
            f.put(&format!("cpu/cpu{cpu}/topology/core_siblings_list"), package);
            f.put(&format!("cpu/cpu{cpu}/topology/thread_siblings_list"), &threads);
            f.cache(cpu, 0, 1, "Data", &threads);
            f.cache(cpu, 1, 1, "Instruction", "0-7");
            f.cache(cpu, 2, 2, "Unified", &threads);
            f.cache(cpu, 3, 3, "Unified", package);
        }
        f
    }

    #[test]
    fn two_packages_with_hardware_threads() {
        let f = two_packages();
        let t = Topology::read(&f.0);
        assert_eq!(t.groups(Kind::Machine), [(0..8).collect::<Vec<_>>()]);
        assert_eq!(t.groups(Kind::Package), [vec![0, 1, 4, 5], vec![2, 3, 6, 7]]);
        assert_eq!(t.groups(Kind::Numa), t.groups(Kind::Package));
        assert_eq!(t.groups(Kind::L3), t.groups(Kind::Package));
        assert_eq!(t.groups(Kind::Core), [vec![0, 4], vec![1, 5], vec![2, 6], vec![3, 7]]);
        assert_eq!((t.groups(Kind::L1), t.groups(Kind::L2)), (t.groups(Kind::Core), t.groups(Kind::Core)));
        assert_eq!(t.groups(Kind::Thread).len(), 8);
        assert!(t.groups(Kind::Die).is_empty());
        assert!(!t.kinds().any(|k| k == Kind::Die));

        assert_eq!(t.enclosing(Kind::Core, &[0, 4]), Some(0));
        assert_eq!(t.enclosing(Kind::Core, &[0, 1]), None);
        assert_eq!(t.enclosing(Kind::Package, &[2, 7]), Some(1));
        assert_eq!((t.enclosing(Kind::Package, &[]), t.enclosing(Kind::Machine, &[8])), (None, None));
        assert_eq!(t.nearest_common(0, 0), Some(Kind::Thread));
        assert_eq!(t.nearest_common(0, 4), Some(Kind::Core));
        assert_eq!(t.nearest_common(0, 1), Some(Kind::L3));
        assert_eq!(t.nearest_common(0, 2), Some(Kind::Machine));
        assert_eq!(t.nearest_common(0, 9), None);
    }

    #[test]
    fn offline_processors_and_contradictions_are_left_out() {
        let f = Fixture::new("odd");
        f.put("cpu/online", "0,2-3");
        f.put("cpu/cpu0/topology/core_cpus_list", "0-1");
        f.put("cpu/cpu2/topology/core_cpus_list", "0,2");
        f.put("cpu/cpu3/topology/core_cpus_list", "3-x");
        let t = Topology::read(&f.0);
        assert_eq!(t.groups(Kind::Machine), [vec![0, 2, 3]]);
        assert_eq!(t.groups(Kind::Core)[0], vec![0]);
        assert_eq!(t.group_of(Kind::Core, 3), None);
        assert!(t.groups(Kind::Numa).is_empty() && t.groups(Kind::L3).is_empty());
    }

    #[test]
    fn nothing_there() {
        let t = Topology::read(Path::new("/nonexistent"));
        assert_eq!((t.kinds().count(), t.enclosing(Kind::Machine, &[0])), (0, None));
        assert_eq!(list("0-1,1, 5\n"), Some(vec![0, 1, 5]));
        assert_eq!((list("3-1"), list("1-99999999999"), list("")), (None, None, Some(vec![])));
    }

    #[test]
    fn this_machine() {
        let t = Topology::read(Path::new("/"));
        for k in t.kinds() {
            let mut all: Vec<usize> = t.groups(k).concat();
            let n = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), n, "groups of {} overlap", k.name());
        }
    }
}
