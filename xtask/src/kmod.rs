//! `cargo xtask suite kmod --module PATH.ko [--timeout S]`: XPMEM or KNEM for real, in a virtual machine.
//!
//! The module says in itself which of the two it is and for which kernel of Debian it was built. That kernel is started by QEMU (software
//! emulation, two processors) with an initramfs of the library, the launcher, the tests and the module, and nothing else: `tests/kmod/init.c`
//! is its first process, and has the system refuse cross memory attach, so that messages have the module to themselves. The tests write `passed` and `failed` to the serial console, which is all that comes back. What is missing on the
//! host (QEMU, the kernel) comes from Debian's packages; the kernel is unpacked under `target/kmod` and not installed.
//!
//! Known gaps: x86_64 alone; kernels of other distributions only where /boot has them.
use crate::install::{program, shared};
use crate::shell::{
    cargo, has, note, nothing_left, output, prefix, root, run, show, step, take_value, target, watched,
};
use anyhow::{Context, Result, bail, ensure};
use object::{Object, ObjectSection};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const PACKAGES: &str = "qemu-system-x86 (the emulator), gcc and libc6-dev (for the tests in C)";

/// What the kernel says when it has been hurt, and mpirun of a rank that was.
const COMPLAINTS: [&str; 8] = [
    "BUG:",
    "Oops",
    "general protection fault",
    "Kernel panic",
    "WARNING: CPU",
    "soft lockup",
    "(SIGBUS)",
    "(SIGSEGV)",
];

pub fn run_command(mut args: Vec<String>) -> Result<()> {
    let module = take_value(&mut args, "--module")?
        .context("kmod needs --module PATH.ko: xpmem.ko or knem.ko, built for one of Debian's kernels for amd64")?;
    let timeout = match take_value(&mut args, "--timeout")? {
        Some(s) => s.parse().with_context(|| format!("--timeout {s}: not a number of seconds"))?,
        None => 300,
    };
    nothing_left(&args)?;
    ensure!(cfg!(target_arch = "x86_64"), "suite kmod knows x86_64 alone; this is another processor");

    let bytes = std::fs::read(&module).with_context(|| format!("cannot read {module}"))?;
    let about = Module::of(&bytes).with_context(|| format!("{module} is not a module for this suite"))?;
    let home = target().join("kmod");
    std::fs::create_dir_all(&home).with_context(|| format!("cannot make {}", home.display()))?;

    step(format!("{} for Linux {}", about.name, about.release));
    emulator()?;
    let kernel = kernel(&home, &about.release)?;
    note(format!("kernel: {}", kernel.display()));

    shared()?;
    step("Building what runs in the guest");
    let image = initramfs(&home, &about, &bytes)?;
    note(format!("{} ({} KiB)", image.display(), std::fs::metadata(&image)?.len() >> 10));

    step(format!("Starting the guest (at most {timeout} s)"));
    let mut guest = Command::new("qemu-system-x86_64");
    guest
        .args(["-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "1024", "-no-reboot"])
        .args(["-nodefaults", "-display", "none", "-serial", "stdio", "-append"])
        .arg("console=ttyS0 rdinit=/init quiet loglevel=4 panic=-1 mitigations=off")
        .arg("-kernel")
        .arg(&kernel)
        .arg("-initrd")
        .arg(&image);
    let ended = watched(&mut guest, Duration::from_secs(timeout))?;
    let log = home.join(format!("{}.log", about.name));
    std::fs::write(&log, &ended.text).with_context(|| format!("cannot write {}", log.display()))?;

    let verdict = Verdict::of(&ended.text, about.name);
    for line in &verdict.lines {
        println!("{line}");
    }
    note(format!("{:.0} s; the console is in {}", ended.took.as_secs_f64(), log.display()));
    println!("\n{} passed, {} failed", verdict.passed, verdict.failed);
    if !verdict.whole {
        bail!("the guest did not come to an end ({}); see {}", ended.how, log.display());
    }
    ensure!(verdict.failed == 0, "{} tests of {} failed", verdict.failed, about.name);
    ensure!(verdict.passed > 0, "no test ran; see {}", log.display());
    Ok(())
}

/// What a module says about itself.
#[derive(Debug, PartialEq, Eq)]
struct Module {
    name: &'static str,
    /// Of the kernel it was built for, as `uname -r` says it.
    release: String,
}

impl Module {
    fn of(bytes: &[u8]) -> Result<Module> {
        let file = object::File::parse(bytes)?;
        let section = file.section_by_name(".modinfo").context("it has no section .modinfo")?;
        Module::described(section.data()?)
    }

    /// From the section's `key=value` strings.
    fn described(section: &[u8]) -> Result<Module> {
        let values: BTreeMap<String, String> = section
            .split(|b| *b == 0)
            .filter_map(|line| String::from_utf8_lossy(line).split_once('=').map(|(k, v)| (k.into(), v.into())))
            .collect();
        let value = |key: &str| values.get(key).with_context(|| format!("its section .modinfo says no {key}"));
        let name = match value("name")?.as_str() {
            "xpmem" => "xpmem",
            "knem" => "knem",
            other => bail!("it is {other}, neither xpmem nor knem"),
        };
        let release = value("vermagic")?.split(' ').next().unwrap_or_default().to_string();
        ensure!(!release.is_empty() && !release.contains('/'), "its vermagic names no kernel");
        Ok(Module { name, release })
    }
}

fn emulator() -> Result<()> {
    if has("qemu-system-x86_64") {
        return Ok(());
    }
    note("qemu-system-x86_64 is not here");
    let installed = apt(&["install", "-y", "--no-install-recommends", "qemu-system-x86"], Path::new("/"));
    ensure!(
        installed && has("qemu-system-x86_64"),
        "apt-get could not install it (as root?); this suite needs {PACKAGES}"
    );
    note("installed qemu-system-x86");
    Ok(())
}

/// Whether `apt-get` did it, if need be with fresh lists of packages.
fn apt(args: &[&str], folder: &Path) -> bool {
    let get = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command.arg("-q").args(args).current_dir(folder).env("DEBIAN_FRONTEND", "noninteractive");
        note(format!("$ {}", show(&command)));
        command.output().is_ok_and(|o| o.status.success())
    };
    get(args) || (get(&["update"]) && get(args))
}

/// The image of the kernel `release`.
fn kernel(home: &Path, release: &str) -> Result<PathBuf> {
    let name = format!("boot/vmlinuz-{release}");
    let package = format!("linux-image-{release}");
    let unpacked = home.join(&package);
    for place in [PathBuf::from("/"), unpacked.clone()] {
        if place.join(&name).is_file() {
            return Ok(place.join(&name));
        }
    }
    let why = || {
        format!(
            "there is no /{name}, and {package} could not be had from Debian's packages (an older kernel than the newest: build the module again)"
        )
    };
    let deb = home.join("deb");
    let _ = std::fs::remove_dir_all(&deb);
    std::fs::create_dir_all(&deb)?;
    ensure!(apt(&["download", &package], &deb), "{}", why());
    let file = std::fs::read_dir(&deb)?.next().with_context(why)??.path();
    run(Command::new("dpkg-deb").arg("-x").arg(&file).arg(&unpacked))?;
    std::fs::remove_dir_all(&deb)?;
    ensure!(unpacked.join(&name).is_file(), "{} holds no {name}", file.display());
    Ok(unpacked.join(&name))
}

/// The guest's file system, with everything built that goes into it.
fn initramfs(home: &Path, module: &Module, bytes: &[u8]) -> Result<PathBuf> {
    run(cargo().args(["build", "--release", "--package", "oxmpi-transport-shm", "--example", "kmod"]))?;
    let from = root().join("tests/kmod");
    let (init, messages) = (home.join("init"), home.join("messages"));
    let flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"];
    run(Command::new("cc").args(flags).arg("-static").arg(from.join("init.c")).arg("-o").arg(&init))
        .with_context(|| format!("this suite needs {PACKAGES}"))?;
    run(Command::new(program(&prefix(), "mpicc")).args(flags).arg(from.join("messages.c")).arg("-o").arg(&messages))?;

    let mut image = Archive::default();
    image.device("dev/console", 5, 1);
    image.directory("tmp");
    image.file("init", 0o755, &std::fs::read(&init)?);
    image.file("module.ko", 0o644, bytes);
    let mpirun = program(&prefix(), "mpirun");
    let kmod = target().join("release/examples/kmod");
    for program in [&kmod, &messages, &mpirun] {
        image.program(program)?;
    }
    let [kmod, messages, mpirun] = [&kmod, &messages, &mpirun].map(|p| p.display().to_string());
    let mut commands = format!("120\t0\t{} by itself\t{kmod}\t{0}\n", module.name);
    for (what, expected) in [("both", "0"), ("remap", "0"), ("death", "!0")] {
        commands += &format!("60\t{expected}\tmessages: {what}\t{mpirun}\t-n\t2\t{messages}\t{what}\n");
    }
    image.file("commands", 0o644, commands.as_bytes());
    let path = home.join(format!("{}.cpio", module.name));
    std::fs::write(&path, image.finish()).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// A cpio archive of the format `newc`, which the kernel unpacks at its start.
#[derive(Default)]
struct Archive {
    bytes: Vec<u8>,
    entries: u32,
    known: std::collections::BTreeSet<String>,
}

impl Archive {
    fn entry(&mut self, name: &str, mode: u32, device: (u32, u32), data: &[u8]) {
        self.entries += 1;
        let links = 1;
        let fields =
            [self.entries, mode, 0, 0, links, 0, data.len() as u32, 0, 0, device.0, device.1, name.len() as u32 + 1, 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(data);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    /// A directory, with those above it, once.
    fn directory(&mut self, name: &str) {
        if name.is_empty() || !self.known.insert(name.into()) {
            return;
        }
        self.directory(parent(name));
        self.entry(name, 0o040755, (0, 0), &[]);
    }

    fn file(&mut self, name: &str, mode: u32, data: &[u8]) {
        if self.known.insert(name.into()) {
            self.directory(parent(name));
            self.entry(name, 0o100000 | mode, (0, 0), data);
        }
    }

    fn device(&mut self, name: &str, major: u32, minor: u32) {
        self.directory(parent(name));
        self.entry(name, 0o020600, (major, minor), &[]);
    }

    /// A program at the place where it is here, with the libraries that it is linked with.
    fn program(&mut self, path: &Path) -> Result<()> {
        let mut files = vec![path.to_owned()];
        // Lines are `name => path (address)` or, for the loader, `path (address)`.
        for line in output(Command::new("ldd").arg(path))?.lines() {
            ensure!(!line.contains("not found"), "{}: {}", path.display(), line.trim());
            files.extend(line.split_whitespace().find(|w| w.starts_with('/')).map(PathBuf::from));
        }
        for file in files {
            let data = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let mode = std::fs::metadata(&file)?.permissions().mode() & 0o777;
            self.file(file.to_string_lossy().trim_start_matches('/'), mode, &data);
        }
        Ok(())
    }

    fn finish(mut self) -> Vec<u8> {
        self.entries = 0;
        self.entry("TRAILER!!!", 0, (0, 0), &[]);
        self.bytes
    }
}

fn parent(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// What the console says.
#[derive(Default, Debug, PartialEq, Eq)]
struct Verdict {
    /// For people: the results and the complaints.
    lines: Vec<String>,
    passed: usize,
    failed: usize,
    /// The guest has said that it ends.
    whole: bool,
}

impl Verdict {
    fn of(console: &str, module: &str) -> Verdict {
        let mut verdict = Verdict::default();
        // From the ranks' own tables (`OXMPI_INFO=shm`).
        let (refused, way) = ("cma refused", format!("{module} by "));
        let used = console.lines().any(|l| l.contains("from 1 MiB: ") && l.contains(&way));
        let tables = [
            (console.contains(refused), "cross memory attach was refused by the system".to_string()),
            (used, format!("messages of 1 MiB went by {module}")),
        ];
        for line in console.lines().map(str::trim_end) {
            let complains = COMPLAINTS.iter().any(|c| line.contains(c));
            if line.starts_with("passed ") {
                verdict.passed += 1;
            } else if line.starts_with("failed ") || complains {
                verdict.failed += 1;
            } else if line == "kmod: end" {
                verdict.whole = true;
                continue;
            } else {
                continue;
            }
            let who = if complains { "failed (a complaint): " } else { "" };
            verdict.lines.push(format!("{who}{line}"));
        }
        for (holds, what) in tables {
            verdict.passed += holds as usize;
            verdict.failed += !holds as usize;
            verdict.lines.push(format!("{} {what}", if holds { "passed" } else { "failed" }));
        }
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_says_what_it_is() {
        let good = b"license=GPL\0name=xpmem\0\0vermagic=6.1.0-56-amd64 SMP preempt mod_unload modversions \0";
        assert_eq!(Module::described(good).unwrap(), Module { name: "xpmem", release: "6.1.0-56-amd64".into() });
        for bad in [
            &b"name=ext4\0vermagic=6.1 SMP\0"[..],
            b"name=knem\0",
            b"vermagic=6.1 SMP\0",
            b"name=knem\0vermagic= SMP\0",
            b"",
        ] {
            assert!(Module::described(bad).is_err(), "{:?}", String::from_utf8_lossy(bad));
        }
        assert!(Module::of(b"not an ELF file").is_err());
    }

    #[test]
    fn the_console_is_judged() {
        const TABLE: &str =
            "  with 1: cma refused (EPERM), knem works\n  near, from 1 MiB: pipeline 9.0 (us; knem by one side 9.1)\n";
        let count = |text: &str| {
            let v = Verdict::of(&format!("{text}{TABLE}"), "knem");
            (v.passed, v.failed, v.whole)
        };
        assert_eq!(count("kmod: knem\r\npassed a\r\npassed b: c\r\nkmod: end\r\n"), (4, 0, true));
        assert_eq!(count("passed a\nthe line failed is not one\n"), (3, 0, false), "hung");
        assert_eq!(
            count("passed a\n[    3.1] BUG: unable to handle page fault\nfailed b: why\nkmod: end\n"),
            (3, 2, true)
        );
        assert_eq!(Verdict::of(TABLE, "xpmem").failed, 1, "messages did not go by it");
        assert_eq!(Verdict::of("passed a\nkmod: end\n", "knem").failed, 2, "no tables");
    }

    #[test]
    fn an_archive_is_what_cpio_writes() {
        let mut archive = Archive::default();
        archive.file("a/b/c", 0o644, b"12345");
        archive.file("a/b/c", 0o644, b"only once");
        let bytes = archive.finish();
        assert_eq!(bytes.len() % 4, 0);
        let text = String::from_utf8_lossy(&bytes);
        let names: Vec<&str> = text.split("070701").skip(1).map(|e| e[104..].split('\0').next().unwrap()).collect();
        assert_eq!(names, ["a", "a/b", "a/b/c", "TRAILER!!!"]);
        assert!(text.contains("12345") && !text.contains("only once"));
    }
}
