//! `cargo xtask suite downgrade`: what one node does when the system refuses something: single copy to some or all ranks, memory, descriptors,
//! processor time, a peer that dies in the middle of a copy. tests/faults/downgrade.c sends and checks the messages.
//!
//! What this system cannot do (no root, no such kernel feature) is skipped with its reason. The cases that need no root are also part
//! of `cargo xtask test`.
use crate::install::program;
use crate::shell::{Ended, output, prefix, root, run, target, watched};
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How one case ended.
pub enum Verdict {
    Passed,
    Skipped(String),
}

/// What has to come out.
enum Want {
    /// Every byte arrives. One line with one of these reasons stands there for each peer that a rank lost single copy with: so many that
    /// name rank 0, rank 1 and so on, and none besides. `met`: a rank that has found another way faster by then may never meet the refusal.
    Bytes { reasons: &'static [&'static str], lines: &'static [usize], met: bool },
    /// Every byte arrives, or the job ends with an error that holds one of these texts.
    BytesOr(&'static [&'static str]),
    /// Rank so-and-so is killed, and the launcher says it.
    Killed(usize),
}

struct Case {
    name: &'static str,
    ranks: usize,
    /// Arguments of the program: how, who, when.
    args: &'static str,
    want: Want,
    /// Only in the suite, not in `cargo xtask test`.
    long: bool,
}

const fn case(name: &'static str, ranks: usize, args: &'static str, want: Want) -> Case {
    Case { name, ranks, args, want, long: false }
}

const fn long(name: &'static str, ranks: usize, args: &'static str, want: Want) -> Case {
    Case { name, ranks, args, want, long: true }
}

const fn bytes(reasons: &'static [&'static str], lines: &'static [usize]) -> Want {
    Want::Bytes { reasons, lines, met: true }
}

/// Refused half-way.
const fn late_bytes(reasons: &'static [&'static str], lines: &'static [usize]) -> Want {
    Want::Bytes { reasons, lines, met: false }
}

const ALL_BYTES: Want = bytes(&[], &[]);

/// What becomes of a pid in another namespace: nobody has it, or another process has.
const ELSEWHERE: &[&str] = &["ESRCH", "EPERM", "EFAULT", "another process"];

const CASES: [Case; 24] = [
    case("nothing refused", 3, "none all before", ALL_BYTES),
    case("EPERM by seccomp in one rank", 3, "eperm 1 before", bytes(&["EPERM"], &[1, 0, 1])),
    case("EPERM by seccomp in all ranks", 3, "eperm all before", bytes(&["EPERM"], &[2, 2, 2])),
    case("ENOSYS by seccomp in one rank", 3, "enosys 0 before", bytes(&["ENOSYS"], &[0, 1, 1])),
    case("ENOSYS by seccomp in all ranks", 2, "enosys all before", bytes(&["ENOSYS"], &[1, 1])),
    case("EPERM by seccomp in one rank, half-way", 3, "eperm 2 middle", late_bytes(&["EPERM"], &[1, 1, 0])),
    case("ENOSYS by seccomp in all ranks, half-way", 3, "enosys all middle", late_bytes(&["ENOSYS"], &[2, 2, 2])),
    case("membarrier refused to one rank", 3, "nomembarrier 1 before", ALL_BYTES),
    case("membarrier refused to all ranks", 3, "nomembarrier all before", ALL_BYTES),
    case("membarrier refused to all ranks, half-way", 3, "nomembarrier all middle", ALL_BYTES),
    case("one rank cannot be traced", 3, "undumpable 1 before", bytes(&["EPERM"], &[0, 2, 0])),
    case("no rank can be traced", 3, "undumpable all before", bytes(&["EPERM"], &[2, 2, 2])),
    long("one rank cannot be traced, half-way", 3, "undumpable 2 middle", late_bytes(&["EPERM"], &[0, 0, 2])),
    long("one rank is another user", 3, "nobody 1 before", bytes(&["EPERM"], &[1, 0, 1])),
    case("one rank in a user namespace", 3, "userns 1 before", bytes(&["EPERM"], &[1, 0, 1])),
    case("all ranks in user namespaces of their own", 3, "userns all before", bytes(&["EPERM"], &[2, 2, 2])),
    case("one rank in a pid namespace", 3, "pidns 2 before", bytes(ELSEWHERE, &[1, 1, 2])),
    case("all ranks in pid namespaces of their own", 3, "pidns all before", bytes(ELSEWHERE, &[2, 2, 2])),
    case("eight descriptors", 4, "nofile 1 before", Want::BytesOr(&["descriptor", "Too many open files"])),
    case(
        "hardly any address space",
        4,
        "as 1 before",
        Want::BytesOr(&[
            "cannot map",
            "Cannot allocate memory",
            "memory allocation of",
            "no memory for the test's own",
        ]),
    ),
    case(
        "hardly any data segment",
        4,
        "data 1 before",
        Want::BytesOr(&[
            "cannot map",
            "Cannot allocate memory",
            "memory allocation of",
            "no memory for the test's own",
        ]),
    ),
    case(
        "no address space for all rings",
        6,
        "tight 1 middle",
        Want::BytesOr(&["cannot map the shared memory of the pair"]),
    ),
    long("the sender of 1 GiB is killed in the middle", 2, "kill 0 middle 1024", Want::Killed(0)),
    long("the receiver of 1 GiB is killed in the middle", 2, "kill 1 middle 1024", Want::Killed(1)),
];

/// Cases with surroundings of their own.
type Surrounded = (&'static str, fn(&Path) -> Result<Verdict>);
const SURROUNDED: [Surrounded; 7] = [
    ("all ranks in pid namespaces of their own, at the same addresses", same_addresses),
    ("what yama allows", yama),
    ("/dev/shm of 64 MiB", small_dev_shm),
    ("a file-size limit", file_size),
    ("a memory control group of 96 MiB", memory_group),
    ("half a processor for 4 ranks that work", half_a_processor),
    ("a tenth of a processor for 4 ranks that wait", waiting_on_a_tenth),
];

const LIMIT: Duration = Duration::from_secs(120);

/// Runs the cases; `tell` hears of each how it ended.
pub fn cases(long: bool, mut tell: impl FnMut(&str, Result<Verdict>)) -> Result<()> {
    let dir = target().join("suite/downgrade");
    std::fs::create_dir_all(&dir)?;
    let binary = dir.join("downgrade");
    let source = root().join("tests/faults/downgrade.c");
    let mut compile = Command::new(program(&prefix(), "mpicc"));
    output(compile.args(["-std=gnu11", "-O2", "-g", "-Wall", "-pthread", "-o"]).arg(&binary).arg(source))?;
    for case in CASES.iter().filter(|c| long || !c.long) {
        tell(case.name, plain(&binary, case));
    }
    for (name, check) in SURROUNDED.iter().filter(|_| long) {
        tell(name, check(&binary));
    }
    Ok(())
}

/// `cargo xtask suite downgrade`.
pub fn suite() -> Result<()> {
    let mut failed = Vec::new();
    let (mut passed, mut skipped) = (0, 0);
    cases(true, |name, verdict| match verdict {
        Ok(Verdict::Passed) => {
            passed += 1;
            println!("    ok      {name}");
        }
        Ok(Verdict::Skipped(why)) => {
            skipped += 1;
            println!("    skipped {name}: {why}");
        }
        Err(e) => {
            println!("    FAILED  {name}: {e:#}");
            failed.push(name.to_owned());
        }
    })?;
    println!("{passed} passed, {skipped} skipped, {} failed", failed.len());
    ensure!(failed.is_empty(), "failed: {}", failed.join("; "));
    Ok(())
}

fn job(binary: &Path, ranks: usize, args: &str) -> Vec<String> {
    let mut words = vec![program(&prefix(), "mpirun").display().to_string()];
    words.extend(["--oversubscribe", "-n", &ranks.to_string()].map(str::to_owned));
    words.push(binary.display().to_string());
    words.extend(args.split(' ').map(str::to_owned));
    words
}

/// Runs `words` and, where the program says that this system does not let it, says so too.
fn launch(words: &[String]) -> Result<std::result::Result<Ended, String>> {
    let ended = watched(Command::new(&words[0]).args(&words[1..]).env("OXMPI_INFO", "shm"), LIMIT)?;
    if let Some(at) = ended.text.find("downgrade: cannot ").filter(|_| ended.how.contains("77")) {
        return Ok(Err(ended.text[at..].lines().next().unwrap_or_default().to_owned()));
    }
    Ok(Ok(ended))
}

fn plain(binary: &Path, case: &Case) -> Result<Verdict> {
    judge(launch(&job(binary, case.ranks, case.args))?, &case.want)
}

fn judge(outcome: std::result::Result<Ended, String>, want: &Want) -> Result<Verdict> {
    let ended = match outcome {
        Ok(ended) => ended,
        Err(why) => return Ok(Verdict::Skipped(why)),
    };
    let text = &ended.text;
    let arrived = ended.ok && text.contains("downgrade: every byte arrived");
    match want {
        Want::Bytes { reasons, lines, met } => {
            ensure!(arrived, "{}\n{text}", ended.how);
            says_why(text, reasons, lines, *met)?;
        }
        Want::BytesOr(reasons) => {
            let said = reasons.iter().any(|r| text.contains(r));
            ensure!(arrived || (!ended.ok && said), "{}, without one of {reasons:?}:\n{text}", ended.how);
            ensure!(!ended.how.starts_with("no end"), "{}\n{text}", ended.how);
        }
        Want::Killed(rank) => {
            ensure!(!text.contains("too late"), "the transfer was over before the kill; make it larger\n{text}");
            ensure!(ended.how == "exit status: 137", "{}\n{text}", ended.how);
            let named = format!("rank {rank} ");
            let line = text.lines().find(|l| l.contains("SIGKILL"));
            ensure!(line.is_some_and(|l| l.contains(&named)), "no line says that {named}was killed:\n{text}");
            ensure!(ended.took < Duration::from_secs(60), "it took {:?} to end", ended.took);
        }
    }
    Ok(Verdict::Passed)
}

/// Each peer that lost single copy has its line with the reason, and the others keep it.
fn says_why(text: &str, reasons: &[&str], lines: &[usize], met: bool) -> Result<()> {
    let mut counts = vec![0; lines.len()];
    for line in text.lines().filter(|l| l.contains("single copy by ") && l.contains(" is not used: ")) {
        let peer = line.split("with rank ").nth(1).and_then(|t| t.split(' ').next()?.parse::<usize>().ok());
        match peer.and_then(|p| counts.get_mut(p)) {
            Some(n) if reasons.iter().any(|r| line.contains(r)) => *n += 1,
            _ => bail!("not one of the reasons {reasons:?} for one of the peers {lines:?}: {line}"),
        }
    }
    let right = if met { counts == lines } else { counts.iter().zip(lines).all(|(c, l)| c <= l) };
    ensure!(right, "lines for each peer: {counts:?} instead of {lines:?}:\n{text}");
    Ok(())
}

fn is_root() -> bool {
    output(Command::new("id").arg("-u")).is_ok_and(|u| u.trim() == "0")
}

fn need_root() -> Option<Verdict> {
    (!is_root()).then(|| Verdict::Skipped("this needs root".into()))
}

/// Each rank is process 1 of its namespace, and has the same layout as the others: a rank that reads from process 1 reads itself.
fn same_addresses(binary: &Path) -> Result<Verdict> {
    let mut words = job(binary, 3, "pidns all before");
    if output(Command::new("setarch").args(["-R", "true"])).is_err() {
        return Ok(Verdict::Skipped("setarch cannot switch off the randomisation of addresses".into()));
    }
    words.splice(4..4, ["setarch".to_owned(), "-R".to_owned()]);
    judge(launch(&words)?, &bytes(&["another process"], &[2, 2, 2]))
}

fn yama(binary: &Path) -> Result<Verdict> {
    let file = "/proc/sys/kernel/yama/ptrace_scope";
    let Ok(before) = std::fs::read_to_string(file) else {
        return Ok(Verdict::Skipped(format!("this kernel has no yama ({file})")));
    };
    // As an ordinary user under the scope that is set; root also tries the stricter ones (3 cannot be undone).
    let mut scopes = vec![before.trim().to_owned()];
    if is_root() {
        scopes.extend(["1".to_owned(), "2".to_owned()]);
    }
    for scope in scopes {
        if is_root() {
            std::fs::write(file, &scope)?;
        }
        // `undumpable 99`: no rank is made undumpable, but all give up root's rights.
        let verdict = judge(launch(&job(binary, 3, "undumpable 99 before"))?, &Want::BytesOr(&[]));
        if is_root() {
            std::fs::write(file, before.trim())?;
        }
        verdict.with_context(|| format!("ptrace_scope {scope}"))?;
    }
    Ok(Verdict::Passed)
}

/// `script` in a shell, with `$@` the job.
fn in_shell(wrap: &[&str], script: &str, words: &[String]) -> Result<Ended> {
    let mut all: Vec<&str> = wrap.to_vec();
    all.extend(["sh", "-c", script, "sh"]);
    let mut command = Command::new(all[0]);
    command.args(&all[1..]).args(words).env("OXMPI_INFO", "shm");
    watched(&mut command, LIMIT)
}

fn small_dev_shm(binary: &Path) -> Result<Verdict> {
    if let Some(skip) = need_root() {
        return Ok(skip);
    }
    let script =
        "mount -t tmpfs -o size=64m none /dev/shm || exit 77\n\"$@\" || exit 1\nls -A /dev/shm | sed 's/^/left: /'";
    let ended = in_shell(&["unshare", "-m"], script, &job(binary, 8, "none all before"))?;
    if ended.how.contains("77") {
        return Ok(Verdict::Skipped(format!("cannot mount a tmpfs: {}", ended.text.trim())));
    }
    ensure!(!ended.text.contains("left: "), "something is left in /dev/shm:\n{}", ended.text);
    judge(Ok(ended), &ALL_BYTES)
}

fn file_size(binary: &Path) -> Result<Verdict> {
    // For mpirun, which makes the segment, and all ranks. In units of 512 or 1024 bytes, by shell.
    let ended = in_shell(&[], "ulimit -f 64; exec \"$@\"", &job(binary, 4, "none all before"))?;
    judge(Ok(ended), &Want::BytesOr(&["file-size limit", "ulimit -f"]))
}

/// A control group under the one that we are in, gone with this value.
struct Group {
    dir: PathBuf,
}

impl Group {
    /// With each of `settings`: the name of the file in version 2 and version 1, and what to write there.
    fn new(controller: &str, settings: &[(&str, &str, &str)]) -> std::result::Result<Group, String> {
        let text = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let mount = |kind: &str, option: Option<&str>| {
            text.lines().find_map(|l| {
                let f: Vec<_> = l.split(' ').collect();
                let fits = f.len() > 3 && f[2] == kind && option.is_none_or(|o| f[3].split(',').any(|x| x == o));
                fits.then(|| PathBuf::from(f[1]))
            })
        };
        let v1 = mount("cgroup", Some(controller));
        let Some(top) = v1.clone().or_else(|| mount("cgroup2", None)) else {
            return Err("no control groups are mounted".into());
        };
        if v1.is_none() {
            let _ = std::fs::write(top.join("cgroup.subtree_control"), format!("+{controller}"));
        }
        let dir = top.join(format!("oxmpi-downgrade-{}", std::process::id()));
        std::fs::create_dir(&dir).map_err(|e| format!("cannot make {}: {e}", dir.display()))?;
        let group = Group { dir };
        for (second, first, value) in settings {
            let file = group.dir.join(if v1.is_some() { first } else { second });
            for part in value.split(if v1.is_some() { ' ' } else { '\0' }).take(1) {
                std::fs::write(&file, part).map_err(|e| format!("cannot write {part} to {}: {e}", file.display()))?;
            }
        }
        Ok(group)
    }

    fn run(&self, words: &[String]) -> Result<Ended> {
        let script = format!("echo $$ > '{}/cgroup.procs' || exit 77; exec \"$@\"", self.dir.display());
        in_shell(&[], &script, words)
    }

    /// How often, and for how many seconds, the group was stopped.
    fn throttled(&self) -> (u64, f64) {
        let text = std::fs::read_to_string(self.dir.join("cpu.stat")).unwrap_or_default();
        let number = |key: &str| text.lines().find_map(|l| l.strip_prefix(key)?.trim().parse::<u64>().ok());
        let seconds =
            number("throttled_usec ").map(|n| n as f64 * 1e-6).or(number("throttled_time ").map(|n| n as f64 * 1e-9));
        (number("nr_throttled ").unwrap_or(0), seconds.unwrap_or(0.0))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for _ in 0..100 {
            if std::fs::remove_dir(&self.dir).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn memory_group(binary: &Path) -> Result<Verdict> {
    let limit = (96 << 20).to_string();
    let group = match Group::new("memory", &[("memory.max", "memory.limit_in_bytes", &limit)]) {
        Ok(group) => group,
        Err(why) => return Ok(Verdict::Skipped(why)),
    };
    let ended = group.run(&job(binary, 4, "none all before"))?;
    // Where the kernel kills for memory, that has to be said.
    judge(Ok(ended), &Want::BytesOr(&["SIGKILL"]))
}

/// A group that gets so many thousandths of a processor.
fn part(thousandths: u32) -> std::result::Result<Group, String> {
    Group::new("cpu", &[("cpu.max", "cpu.cfs_quota_us", &format!("{}00 100000", thousandths))])
}

fn half_a_processor(binary: &Path) -> Result<Verdict> {
    let group = match part(500) {
        Ok(group) => group,
        Err(why) => return Ok(Verdict::Skipped(why)),
    };
    let ended = group.run(&job(binary, 4, "none all before"))?;
    judge(Ok(ended), &ALL_BYTES)?;
    let ended = group.run(&job(binary, 4, "work all before"))?;
    println!("            20000 barriers of 4 ranks on half a processor: {:.1} s", ended.took.as_secs_f64());
    judge(Ok(ended), &ALL_BYTES)
}

/// Ranks that wait three seconds use next to nothing, and are not stopped for it, where a spinner is.
fn waiting_on_a_tenth(binary: &Path) -> Result<Verdict> {
    let mut used = Vec::new();
    for how in ["wait", "spin"] {
        let group = match part(100) {
            Ok(group) => group,
            Err(why) => return Ok(Verdict::Skipped(why)),
        };
        let ended = group.run(&job(binary, 4, &format!("{how} all before")))?;
        let seconds = ended.text.split("waited with ").nth(1).and_then(|t| t.split(' ').next()?.parse::<f64>().ok());
        let Some(seconds) = seconds else { bail!("{}\n{}", ended.how, ended.text) };
        let (times, stopped) = group.throttled();
        println!("            {how}: {seconds:.4} s of processor time, stopped {times} times for {stopped:.2} s");
        used.push((seconds, stopped));
        judge(Ok(ended), &ALL_BYTES)?;
    }
    let [(waited, stopped), (spun, spinner_stopped)] = used[..] else { bail!("two runs") };
    if spinner_stopped < 0.1 {
        return Ok(Verdict::Skipped("a spinner never reached the quota either: the machine is busy".to_owned()));
    }
    // A spinner gets 0.3 s by its quota, less on a busy machine; a rank that waits takes about 1 ms.
    ensure!(waited < 0.05 && waited * 5.0 < spun, "waiting took {waited:.4} s of processor time, spinning {spun:.4} s");
    ensure!(stopped * 2.0 < spinner_stopped, "stopped for {stopped:.2} s, a spinner for {spinner_stopped:.2} s");
    Ok(Verdict::Passed)
}

/// `cargo xtask suite handoffs [--count N]`: crates/ring/examples/handoffs.rs.
pub fn handoffs(count: u64) -> Result<()> {
    let mut build = crate::shell::cargo();
    run(build.args(["build", "--quiet", "--release", "--package", "oxmpi-ring", "--example", "handoffs"]))?;
    run(Command::new(target().join("release/examples/handoffs")).arg(count.to_string()))
}
