//! The processor quota that control groups put on this process, versions 1 and 2.
//!
//! A group's own limit and those of all groups above it hold; the smallest counts. Every path is taken
//! under a root that tests can set.
use std::path::{Path, PathBuf};

/// A limit on processor time.
#[derive(Debug, Clone, PartialEq)]
pub struct Quota {
    /// Processors' worth of time.
    pub cpus: f64,
    /// The file that says so.
    pub file: PathBuf,
}

/// The tightest quota on this process, or None where nothing limits it. `root` is normally `/`.
pub fn cpu_quota(root: &Path) -> Option<Quota> {
    quotas(root).into_iter().min_by(|a, b| a.cpus.total_cmp(&b.cpus))
}

/// What the quotas on this process do to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// Processors' worth of time, by the tightest quota.
    pub cpus: f64,
    /// How often the groups with a quota have been stopped so far, all together.
    pub throttled: u64,
}

/// As [`cpu_quota`], with how often it has struck.
pub fn cpu_limit(root: &Path) -> Option<Limit> {
    let quotas = quotas(root);
    let cpus = quotas.iter().map(|q| q.cpus).min_by(f64::total_cmp)?;
    let count = |q: &Quota| {
        let below = q.file.strip_prefix("/").unwrap_or(&q.file);
        let text = std::fs::read_to_string(root.join(below).with_file_name("cpu.stat")).ok()?;
        text.lines().find_map(|l| l.strip_prefix("nr_throttled ")?.trim().parse::<u64>().ok())
    };
    Some(Limit { cpus, throttled: quotas.iter().filter_map(count).sum() })
}

/// All quotas that hold for this process; the files are named as they are under `/`.
fn quotas(root: &Path) -> Vec<Quota> {
    let mut found: Vec<Quota> = Vec::new();
    let read = |file: &str| std::fs::read_to_string(root.join(file));
    let (Ok(groups), Ok(mounts)) = (read("proc/self/cgroup"), read("proc/self/mountinfo")) else { return found };
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(id), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let v2 = id == "0" && controllers.is_empty();
        if !v2 && !controllers.split(',').any(|c| c == "cpu") {
            continue;
        }
        for (mount_root, mount_point) in mounts.lines().filter_map(|l| mounted(l, v2)) {
            let top = root.join(mount_point.trim_start_matches('/'));
            // In a container the mount shows a subtree, whose root is a part of the path.
            let below = Path::new(path).strip_prefix(mount_root).unwrap_or(Path::new(""));
            let mut dir = top.join(below);
            loop {
                found.extend(if v2 { limit_v2(&dir) } else { limit_v1(&dir) });
                if dir == top || !dir.pop() {
                    break;
                }
            }
        }
    }
    for quota in &mut found {
        if let Ok(below) = quota.file.strip_prefix(root) {
            quota.file = Path::new("/").join(below);
        }
    }
    found
}

/// (root of the mount, mount point) of a mountinfo line when it is the hierarchy that is looked for.
fn mounted(line: &str, v2: bool) -> Option<(&str, &str)> {
    let (before, after) = line.split_once(" - ")?;
    let mut right = after.split(' ');
    let kind = right.next()?;
    let options = right.nth(1)?;
    let wanted = if v2 { kind == "cgroup2" } else { kind == "cgroup" && options.split(',').any(|o| o == "cpu") };
    let mut left = before.split(' ');
    let mount_root = left.nth(3)?;
    wanted.then_some((mount_root, left.next()?))
}

fn limit_v2(dir: &Path) -> Option<Quota> {
    let file = dir.join("cpu.max");
    let text = std::fs::read_to_string(&file).ok()?;
    let mut words = text.split_ascii_whitespace();
    quota(words.next()?.parse().ok()?, words.next()?.parse().ok()?, file)
}

fn limit_v1(dir: &Path) -> Option<Quota> {
    let number = |name: &str| std::fs::read_to_string(dir.join(name)).ok()?.trim().parse::<i64>().ok();
    quota(number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?, dir.join("cpu.cfs_quota_us"))
}

fn quota(limit: i64, period: i64, file: PathBuf) -> Option<Quota> {
    (limit > 0 && period > 0).then(|| Quota { cpus: limit as f64 / period as f64, file })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("oxmpi-cgroup-{name}-{}", crate::pid()));
        for (file, text) in files {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn version_2_takes_the_tightest_of_all_levels() {
        let root = fixture(
            "v2",
            &[
                ("proc/self/cgroup", "0::/a/b\n"),
                ("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
                ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
                ("sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
                ("sys/fs/cgroup/a/cpu.stat", "usage_usec 17\nnr_periods 5\nnr_throttled 3\nthrottled_usec 9\n"),
                ("sys/fs/cgroup/cpu.max", "300000 100000\n"),
                ("sys/fs/cgroup/cpu.stat", "nr_periods 5\nnr_throttled 1\n"),
            ],
        );
        assert_eq!(cpu_limit(&root), Some(Limit { cpus: 1.5, throttled: 4 }));
        let q = cpu_quota(&root).unwrap();
        assert_eq!((q.cpus, q.file.to_str().unwrap()), (1.5, "/sys/fs/cgroup/a/cpu.max"));
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn version_1_inside_a_container() {
        let root = fixture(
            "v1",
            &[
                ("proc/self/cgroup", "4:cpuset:/x\n3:cpu,cpuacct:/docker/77\n"),
                ("proc/self/mountinfo", "31 20 0:27 /docker/77 /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"),
                ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n"),
                ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
            ],
        );
        assert_eq!(cpu_quota(&root).unwrap().cpus, 4.0);
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn no_limit_is_none() {
        let root = fixture(
            "none",
            &[
                ("proc/self/cgroup", "3:cpu:/\n"),
                ("proc/self/mountinfo", "31 20 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"),
                ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
                ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
            ],
        );
        assert_eq!((cpu_quota(&root), cpu_limit(&root)), (None, None));
        std::fs::remove_dir_all(&root).unwrap();
    }
}
