//! Processors and cores that this process may use.
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// The processors in this thread's affinity mask.
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    const BITS: usize = libc::c_ulong::BITS as usize;
    let mut words = 16;
    loop {
        let mut mask = vec![0 as libc::c_ulong; words];
        // SAFETY: `mask` is writable for the length given; 0 means the calling thread.
        let r = unsafe { libc::sched_getaffinity(0, size_of_val(mask.as_slice()), mask.as_mut_ptr().cast()) };
        if r == 0 {
            let set = |cpu: &usize| mask.get(cpu / BITS).is_some_and(|w| w >> (cpu % BITS) & 1 == 1);
            return Ok((0..words * BITS).filter(set).collect());
        }
        let e = io::Error::last_os_error();
        // EINVAL: the kernel's mask is longer than ours.
        if e.raw_os_error() != Some(libc::EINVAL) || words > 1 << 12 {
            return Err(e);
        }
        words *= 2;
    }
}

/// The processor that this thread runs on right now. No system call where glibc or the vDSO knows.
#[inline]
pub fn current_cpu() -> u32 {
    // SAFETY: sched_getcpu has no preconditions; it fails on no kernel that we run on, and then says -1.
    unsafe { libc::sched_getcpu() as u32 }
}

/// How many cores `cpus` belong to, after the topology under `root` (normally `/`). A processor whose
/// siblings are not known counts as a core.
pub fn cores(cpus: &[usize], root: &Path) -> usize {
    let siblings = |cpu: usize| {
        let dir = root.join(format!("sys/devices/system/cpu/cpu{cpu}/topology"));
        ["core_cpus_list", "thread_siblings_list"].iter().find_map(|f| std::fs::read_to_string(dir.join(f)).ok())
    };
    let distinct: BTreeSet<String> =
        cpus.iter().map(|c| siblings(*c).map_or_else(|| c.to_string(), |s| s.trim().to_owned())).collect();
    distinct.len()
}

/// The lowest processor of the group of `cpus[0]` that `file` of its sysfs folder lists (`topology/package_cpus_list`), if the group
/// holds all of `cpus`.
pub fn first_of_group(cpus: &[usize], file: &str, root: &Path) -> Option<usize> {
    let path = root.join(format!("sys/devices/system/cpu/cpu{}/{file}", cpus.first()?));
    let text = std::fs::read_to_string(path).ok()?;
    let ranges: Vec<(usize, usize)> = text
        .trim()
        .split(',')
        .map(|r| {
            let (a, b) = r.split_once('-').unwrap_or((r, r));
            Some((a.parse().ok()?, b.parse().ok()?))
        })
        .collect::<Option<_>>()?;
    let inside = |c: &usize| ranges.iter().any(|(a, b)| (a..=b).contains(&c));
    cpus.iter().all(inside).then(|| ranges.iter().map(|r| r.0).min()).flatten()
}

/// As [`first_of_group`] for the memory node of `cpus[0]`.
pub fn first_of_memory_node(cpus: &[usize], root: &Path) -> Option<usize> {
    let dir = root.join(format!("sys/devices/system/cpu/cpu{}", cpus.first()?));
    let node = std::fs::read_dir(dir).ok()?.flatten().find_map(|e| {
        let name = e.file_name().into_string().ok()?;
        name.strip_prefix("node")?.parse::<u32>().ok().map(|_| name)
    })?;
    first_of_group(cpus, &format!("{node}/cpulist"), root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_processor_is_allowed() {
        let cpus = allowed_cpus().unwrap();
        assert!(!cpus.is_empty());
        assert!((1..=cpus.len()).contains(&cores(&cpus, Path::new("/"))));
    }

    #[test]
    fn hardware_threads_of_one_core_count_once() {
        let root = std::env::temp_dir().join(format!("oxmpi-affinity-{}", crate::pid()));
        for (cpu, list) in [(0, "0,2\n"), (1, "1,3\n"), (2, "0,2\n"), (3, "1,3\n")] {
            let dir = root.join(format!("sys/devices/system/cpu/cpu{cpu}/topology"));
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join("thread_siblings_list"), list).unwrap();
        }
        assert_eq!(cores(&[0, 1, 2, 3], &root), 2);
        assert_eq!(cores(&[0, 2], &root), 1);
        assert_eq!(cores(&[0, 7], &root), 2);
        let group = |cpus: &[usize]| first_of_group(cpus, "topology/thread_siblings_list", &root);
        assert_eq!((group(&[2, 0]), group(&[1, 0]), group(&[9]), group(&[])), (Some(0), None, None, None));
        for (cpu, node, list) in [(0, 0, "0-1\n"), (1, 0, "0-1\n"), (2, 1, "2-3\n")] {
            let dir = root.join(format!("sys/devices/system/cpu/cpu{cpu}/node{node}"));
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join("cpulist"), list).unwrap();
        }
        let node = |cpus: &[usize]| first_of_memory_node(cpus, &root);
        assert_eq!((node(&[1, 0]), node(&[2]), node(&[2, 1]), node(&[3])), (Some(0), Some(2), None, None));
        std::fs::remove_dir_all(&root).unwrap();
    }
}
