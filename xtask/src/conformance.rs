//! The C programs of tests/conformance, on our library and on others.
//!
//! `cargo xtask suite conformance [--under mpich|impi] [--jobs N] [NAME...]`: each program on the numbers of ranks that its first line names. Under a
//! peer the very same binaries run on the peer's libmpi_abi.so.1, with the peer's launcher. `tests/conformance/peers.tsv` lists what is
//! known to fail there, with the reason; a listed program that passes fails the suite, so that the list stays true.
use crate::install::{program, shared};
use crate::python::Venv;
use crate::shell::{nothing_left, output, prefix, root, step, take_value, target, watched};
use crate::suite::tail;
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

/// A program that is known to fail waits no longer than that for its end.
const HANGS: Duration = Duration::from_secs(20);

/// A program, and what its first line says.
pub struct Program {
    pub name: String,
    pub ranks: Vec<usize>,
    pub limit: Duration,
}

fn folder() -> PathBuf {
    root().join("tests/conformance")
}

/// The sources, in order.
pub fn sources() -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder())? {
        all.push(entry?.path());
    }
    all.retain(|s| s.extension().is_some_and(|e| e == "c"));
    all.sort();
    Ok(all)
}

/// `/* ranks: 1 2 4 */`, also `timeout: SECONDS` on that line.
pub fn plan(source: &Path) -> Result<Program> {
    let text = std::fs::read_to_string(source)?;
    let line = text.lines().next().unwrap_or_default();
    let after = |key: &str| -> Vec<usize> {
        let rest = line.split(key).nth(1).unwrap_or_default();
        rest.split_whitespace().map_while(|w| w.trim_end_matches(',').parse().ok()).collect()
    };
    let ranks = after("ranks:");
    ensure!(!ranks.is_empty(), "its first line does not say on how many ranks it runs: /* ranks: 1 2 4 */");
    let seconds = after("timeout:").first().copied().unwrap_or(120);
    let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Program { name, ranks, limit: Duration::from_secs(seconds as u64) })
}

/// The program, compiled by our wrapper into `dir`.
pub fn compile(source: &Path, dir: &Path) -> Result<PathBuf> {
    let binary = dir.join(source.file_stem().unwrap_or_default());
    let mut mpicc = Command::new(program(&prefix(), "mpicc"));
    mpicc.args(["-std=gnu11", "-O1", "-g", "-Wall", "-pthread", "-o"]).arg(&binary).arg(source).arg("-lm");
    output(mpicc.arg(format!("-I{}", folder().display())))?;
    Ok(binary)
}

/// Whose library the programs run on.
struct Under {
    /// As peers.tsv calls it; None is us.
    peer: Option<&'static str>,
    launch: PathBuf,
    env: Vec<(&'static str, String)>,
}

impl Under {
    fn named(name: Option<&str>) -> Result<Under> {
        let peer = |peer, package: &str| -> Result<Under> {
            let venv = Venv::named(package)?;
            venv.install(package)?;
            let dir = venv.dir().display().to_string();
            let env = vec![("LD_LIBRARY_PATH", format!("{dir}/lib")), ("I_MPI_ROOT", dir)];
            Ok(Under { peer: Some(peer), launch: venv.program("mpiexec"), env })
        };
        match name {
            None | Some("oxmpi") => Ok(Under { peer: None, launch: program(&prefix(), "mpirun"), env: Vec::new() }),
            Some("mpich") => peer("MPICH", "mpich"),
            Some("impi") => peer("Intel MPI", "impi-rt"),
            Some(other) => bail!("--under {other}: there are oxmpi, mpich and impi"),
        }
    }

    fn run(&self, binary: &Path, ranks: usize, limit: Duration) -> Result<crate::shell::Ended> {
        let mut job = Command::new(&self.launch);
        if self.peer.is_none() {
            job.args(["--oversubscribe", "--timeout", &limit.as_secs().to_string()]);
        }
        job.args(["-n", &ranks.to_string()]).arg(binary).envs(self.env.iter().map(|(n, v)| (n, v)));
        let more = if self.peer.is_none() { Duration::from_secs(10) } else { Duration::ZERO };
        watched(job.current_dir(binary.parent().unwrap_or(Path::new("/"))), limit + more)
    }
}

/// One line of peers.tsv for one number of ranks.
#[derive(Debug, PartialEq, Eq)]
struct Known {
    program: String,
    peer: String,
    ranks: usize,
    /// It fails now and then.
    sometimes: bool,
    line: usize,
}

fn known(text: &str) -> Result<Vec<Known>> {
    let mut all = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, l)| !l.starts_with('#') && !l.is_empty()) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [program, peer, ranks, reason] = fields[..] else {
            bail!("peers.tsv:{}: a line has four columns: program, implementation, ranks, what happens", at + 1)
        };
        ensure!(!reason.trim().is_empty(), "peers.tsv:{}: it gives no reason", at + 1);
        for word in ranks.split_whitespace() {
            let sometimes = word.ends_with('?');
            let ranks = word.trim_end_matches('?').parse();
            let ranks = ranks.with_context(|| format!("peers.tsv:{}: {word} is no number of ranks", at + 1))?;
            all.push(Known { program: program.into(), peer: peer.into(), ranks, sometimes, line: at + 1 });
        }
    }
    Ok(all)
}

/// What one run was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ran {
    Passed,
    /// Exit status 77.
    DoesNotApply,
    Failed,
}

/// What is wrong with that; None where nothing is.
fn complaint(ran: Ran, known: Option<&Known>) -> Option<String> {
    match (ran, known) {
        (Ran::Failed, None) => Some("it fails".into()),
        (Ran::Passed | Ran::DoesNotApply, Some(k)) if !k.sometimes => {
            Some(format!("it does not fail, though peers.tsv:{} says so; the line is stale", k.line))
        }
        _ => None,
    }
}

pub fn run_command(mut args: Vec<String>) -> Result<()> {
    let name = take_value(&mut args, "--under")?;
    let jobs = take_value(&mut args, "--jobs")?.map_or(Ok(1), |n| n.parse::<usize>())?.max(1);
    let wanted: Vec<String> = args.extract_if(.., |a| !a.starts_with('-')).collect();
    nothing_left(&args)?;
    shared()?;
    let under = Under::named(name.as_deref())?;
    let whose = under.peer.unwrap_or("oxmpi");
    step(format!("The conformance programs on {whose}"));
    let list = folder().join("peers.tsv");
    let all = known(&std::fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?)?;
    let dir = target().join("suite/conformance");
    std::fs::create_dir_all(&dir)?;
    let mut runs = Vec::new();
    for source in sources()? {
        let p = plan(&source).with_context(|| source.display().to_string())?;
        if wanted.is_empty() || wanted.contains(&p.name) {
            let binary = compile(&source, &dir)?;
            runs.extend(p.ranks.iter().map(|n| (p.name.clone(), binary.clone(), *n, p.limit)));
        }
    }
    ensure!(!runs.is_empty(), "no program of tests/conformance has one of the names {wanted:?}");
    let known_of = |name: &str, ranks: usize| {
        let of_peer = |k: &&Known| under.peer.is_some_and(|p| k.peer.starts_with(p));
        all.iter().filter(of_peer).find(|k| k.program == name && k.ranks == ranks)
    };
    let wrong = Mutex::new(Vec::new());
    let next = Mutex::new(runs.iter());
    std::thread::scope(|scope| {
        let work = || {
            while let Some((name, binary, ranks, limit)) = { next.lock().expect("no panic").next() } {
                let listed = known_of(name, *ranks);
                let limit = if listed.is_some() { HANGS.min(*limit) } else { *limit };
                let (ran, text) = match under.run(binary, *ranks, limit) {
                    Ok(e) if e.how == "exit status: 77" => (Ran::DoesNotApply, e.text),
                    Ok(e) if e.ok => (Ran::Passed, e.text),
                    Ok(e) => (Ran::Failed, format!("{}\n{}", e.how, e.text)),
                    Err(e) => (Ran::Failed, format!("{e:#}")),
                };
                let title = format!("{name} on {ranks} ranks");
                match complaint(ran, listed) {
                    None if ran == Ran::Failed => println!("    known   {title}"),
                    None if ran == Ran::DoesNotApply => println!("    skipped {title}: {}", tail(&text, 1)),
                    None => println!("    ok      {title}"),
                    Some(why) => {
                        println!("    FAILED  {title}: {why}\n{}", tail(&text, 12));
                        wrong.lock().expect("no panic").push(format!("{title}: {why}"));
                    }
                }
            }
        };
        for _ in 0..jobs {
            scope.spawn(work);
        }
    });
    let mut wrong = wrong.into_inner().expect("no panic");
    // A line for a program or a number of ranks that is no more.
    if wanted.is_empty() {
        for k in all.iter().filter(|k| under.peer.is_some_and(|p| k.peer.starts_with(p))) {
            if !runs.iter().any(|(name, _, ranks, _)| *name == k.program && *ranks == k.ranks) {
                wrong.push(format!("peers.tsv:{}: {} does not run on {} ranks", k.line, k.program, k.ranks));
            }
        }
    }
    println!("{} runs on {whose}, {} wrong", runs.len(), wrong.len());
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_stale_ones_found() {
        let all = known("# x\ny\tMPICH 5\t2 4?\twhy\n").unwrap();
        assert_eq!((all.len(), all[1].ranks, all[1].sometimes, all[0].line), (2, 4, true, 2));
        assert!(known("y\tMPICH\t2\n").is_err() && known("y\tMPICH\tx\twhy\n").is_err());
        assert!(complaint(Ran::Failed, None).is_some() && complaint(Ran::Passed, None).is_none());
        assert!(complaint(Ran::Passed, Some(&all[0])).unwrap().contains("stale"));
        assert!(complaint(Ran::Passed, Some(&all[1])).is_none() && complaint(Ran::Failed, Some(&all[0])).is_none());
    }

    #[test]
    fn every_line_of_the_list_makes_sense() {
        assert!(!known(&std::fs::read_to_string(folder().join("peers.tsv")).unwrap()).unwrap().is_empty());
    }
}
