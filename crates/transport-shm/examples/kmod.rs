//! What XPMEM and KNEM do, tried for real: `kmod xpmem` or `kmod knem` on a system that has the module (`cargo xtask suite kmod`
//! starts one). Prints `passed NAME` or `failed NAME: WHY` a test; exit status 0 if all passed.
//!
//! The peer is this program again, told over a pipe what to do with its memory.
use oxmpi_sys::cma::{EFAULT, Run, Way};
use oxmpi_sys::xpmem as device;
use oxmpi_transport_shm::attach::{Knem, PeerMemory, WINDOW, WINDOWS, Xpmem};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Bytes of the owner's buffer.
const LEN: usize = 3 << 20;

type Test = Result<(), String>;
type Named = (&'static str, fn() -> Test);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let tests: &[Named] = match arguments.first().map(String::as_str) {
        Some("owner") => return owner(&arguments[1..]),
        Some("toucher") => return toucher(&arguments[1..]),
        Some("xpmem") => &[
            ("data goes both ways", xpmem_both_ways),
            ("runs of any size and place", xpmem_runs),
            ("an attachment shows what is mapped now, after munmap and mmap", xpmem_remapped),
            ("what is unmapped is EFAULT, and comes back", xpmem_unmapped),
            ("discarded memory is discarded", xpmem_discarded),
            ("fork of the owner separates nothing from us", xpmem_forked),
            ("a bare touch of what is unmapped is SIGBUS", xpmem_bare_touch),
            ("threads that block SIGBUS are as safe", xpmem_blocked),
            ("more windows than are kept", xpmem_windows),
            ("death of the owner in the middle of a copy", xpmem_death),
        ],
        Some("knem") => &[
            ("data goes both ways", knem_both_ways),
            ("runs of any size and place", knem_runs),
            ("a region keeps old pages, a new one has the new", knem_remapped),
            ("what is not exposed is refused", knem_refused),
            ("bad memory of ours is EFAULT", knem_bad_memory),
            ("death of the owner in the middle of a copy", knem_death),
        ],
        _ => {
            eprintln!("usage: kmod xpmem|knem");
            std::process::exit(2);
        }
    };
    let mut failed = 0;
    for (name, test) in tests {
        match test() {
            Ok(()) => println!("passed {name}"),
            Err(why) => {
                println!("failed {name}: {why}");
                failed += 1;
            }
        }
    }
    std::process::exit((failed > 0) as i32);
}

fn pattern(seed: u64, at: usize) -> u8 {
    ((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(at as u64).wrapping_mul(0xff51_afd7_ed55_8ccd) >> 56)
        as u8
}

fn is_pattern(seed: u64, from: usize, bytes: &[u8]) -> Test {
    match bytes.iter().enumerate().find(|(i, b)| **b != pattern(seed, from + i)) {
        None => Ok(()),
        Some((i, b)) => Err(format!("byte {} is {b}, not {}", from + i, pattern(seed, from + i))),
    }
}

fn is_errno(r: std::io::Result<()>, errno: i32) -> Test {
    match r {
        Ok(()) => Err("it succeeded".into()),
        Err(e) if e.raw_os_error() == Some(errno) => Ok(()),
        Err(e) => Err(e.to_string()),
    }
}

fn text(e: impl std::fmt::Display) -> String {
    e.to_string()
}

fn run(bytes: &mut [u8]) -> [Run; 1] {
    [Run::new(bytes.as_mut_ptr(), bytes.len())]
}

// ---- the other process ----

/// Memory of the owner at an address of its own choice.
fn map_at(at: *mut u8, len: usize) -> *mut u8 {
    let fixed = if at.is_null() { 0 } else { libc::MAP_FIXED };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | fixed;
    // SAFETY: fresh memory, or in the place of memory that this program mapped for this.
    let p = unsafe { libc::mmap(at.cast(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    assert!(p != libc::MAP_FAILED, "mmap: {}", std::io::Error::last_os_error());
    p.cast()
}

/// Answers each line of its input with one line.
fn owner(arguments: &[String]) {
    let xpmem = (arguments[0] == "xpmem").then(|| Xpmem::open().expect("the device"));
    let knem = (arguments[0] == "knem").then(|| Knem::open().expect("the device"));
    let at = map_at(std::ptr::null_mut(), LEN);
    let fill = |seed: u64| {
        for i in 0..LEN {
            // SAFETY: the buffer that is mapped.
            unsafe { at.add(i).write(pattern(seed, i)) };
        }
    };
    let mut exposures = Vec::new();
    let mut spread = Vec::new();
    let mut child = 0;
    println!("{} {}", xpmem.as_ref().map_or(0, Xpmem::segid), at as usize);
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let (what, number) = line.split_once(' ').unwrap_or((&line, "0"));
        let number: usize = number.parse().expect("a number");
        let mut answer = "done".to_string();
        // SAFETY: all of this is done to the buffer, to memory mapped here for it, or to a child that only waits.
        unsafe {
            match what {
                "fill" => fill(number as u64),
                "check" => {
                    if let Err(why) = is_pattern(number as u64, 0, std::slice::from_raw_parts(at, LEN)) {
                        answer = why;
                    }
                }
                "unmap" => assert_eq!(libc::munmap(at.cast(), LEN), 0),
                "map" => {
                    map_at(at, LEN);
                }
                "discard" => assert_eq!(libc::madvise(at.cast(), LEN, libc::MADV_DONTNEED), 0),
                "fork" => {
                    child = libc::fork();
                    if child == 0 {
                        libc::pause();
                        libc::_exit(0);
                    }
                }
                "reap" => {
                    libc::kill(child, libc::SIGKILL);
                    libc::waitpid(child, std::ptr::null_mut(), 0);
                }
                "spread" => {
                    // A page in every second window.
                    let hint = (0x1000_0000_0000 + 2 * WINDOW * number as u64) as *mut u8;
                    let page = map_at(hint, 4096);
                    page.write(number as u8);
                    spread.push(page);
                    answer = (page as usize).to_string();
                }
                "offer" | "accept" => {
                    // In two runs, the first of which is `number` bytes.
                    let runs = [Run::new(at, number), Run::new(at.add(number), LEN - number)];
                    let knem = knem.as_ref().unwrap();
                    let made = if what == "offer" { knem.offer(&runs) } else { knem.accept(&runs) };
                    let made = made.expect("a region");
                    answer = made.cookie().to_string();
                    exposures.push(made);
                }
                "withdraw" => exposures.clear(),
                other => panic!("the owner does not know {other}"),
            }
        }
        println!("{answer}");
    }
}

/// Attaches to the page of the owner that is named, touches it, and when told to touches it again with no guard at all.
fn toucher(arguments: &[String]) {
    let [segment, at] = [0, 1].map(|i: usize| arguments[i].parse::<u64>().expect("a number"));
    let permit = device::Device::open().and_then(|d| d.permit(segment as i64)).expect("a permit");
    let attachment = permit.attach(at, 4096).expect("an attachment");
    // SAFETY: attached; that this can be SIGBUS is what is tried.
    let touch = || unsafe { attachment.at().read_volatile() };
    println!("{}", touch());
    std::io::stdin().read_line(&mut String::new()).expect("a line");
    println!("{}", touch());
}

struct Peer {
    process: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    segid: u64,
    at: u64,
}

impl Peer {
    fn start(module: &str) -> Result<Peer, String> {
        let mut process = Command::new(std::env::current_exe().map_err(text)?)
            .args(["owner", module])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(text)?;
        let from = BufReader::new(process.stdout.take().unwrap());
        let mut peer = Peer { to: process.stdin.take(), process, from, segid: 0, at: 0 };
        let first = peer.line()?;
        let mut numbers = first.split(' ').map(|n| n.parse::<u64>().unwrap_or(0));
        (peer.segid, peer.at) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        Ok(peer)
    }
    fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.from.read_line(&mut line) {
            Ok(n) if n > 0 => Ok(line.trim_end().to_string()),
            _ => Err("the owner has ended".into()),
        }
    }
    /// Tells the owner to do something; its answer.
    fn ask(&mut self, what: impl std::fmt::Display) -> Result<String, String> {
        writeln!(self.to.as_mut().unwrap(), "{what}").map_err(text)?;
        self.line()
    }
    fn tell(&mut self, what: impl std::fmt::Display) -> Test {
        match self.ask(&what)? {
            answer if answer == "done" => Ok(()),
            answer => Err(format!("{what}: {answer}")),
        }
    }
    fn number(&mut self, what: impl std::fmt::Display) -> Result<u64, String> {
        self.ask(what)?.parse().map_err(text)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.to = None;
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

// ---- XPMEM ----

fn xpmem() -> Result<&'static Xpmem, String> {
    // Once a process, as a second device's close would end the first.
    static ONE: std::sync::OnceLock<Result<Xpmem, String>> = std::sync::OnceLock::new();
    ONE.get_or_init(Xpmem::open).as_ref().map_err(Clone::clone)
}

fn attached() -> Result<(Peer, PeerMemory), String> {
    let peer = Peer::start("xpmem")?;
    let memory = xpmem()?.peer(peer.segid).map_err(text)?;
    Ok((peer, memory))
}

fn pull(memory: &mut PeerMemory, from: u64, into: &mut [u8]) -> std::io::Result<()> {
    // SAFETY: the run is `into`.
    unsafe { memory.copy(Way::Pull, from, &run(into)) }
}

fn pulled(memory: &mut PeerMemory, peer: &Peer, seed: u64) -> Test {
    let mut got = vec![0; LEN];
    pull(memory, peer.at, &mut got).map_err(text)?;
    is_pattern(seed, 0, &got)
}

fn pushed(memory: &mut PeerMemory, peer: &mut Peer, seed: u64) -> Test {
    let mut bytes: Vec<u8> = (0..LEN).map(|i| pattern(seed, i)).collect();
    // SAFETY: the run is `bytes`.
    unsafe { memory.copy(Way::Push, peer.at, &run(&mut bytes)) }.map_err(text)?;
    peer.tell(format!("check {seed}"))
}

fn xpmem_both_ways() -> Test {
    let (mut peer, mut memory) = attached()?;
    if cfg!(target_arch = "x86_64") && !oxmpi_sys::fault::Copier::now().is_direct() {
        return Err("the kernel copies, although nothing keeps us from it".into());
    }
    for seed in 0..3 {
        peer.tell(format!("fill {seed}"))?;
        pulled(&mut memory, &peer, seed)?;
        pushed(&mut memory, &mut peer, seed + 100)?;
    }
    Ok(())
}

/// Runs of 0 to 300 bytes with gaps.
fn scattered(bytes: &mut [u8]) -> (Vec<Run>, Vec<(usize, usize)>) {
    let mut places = Vec::new();
    let mut at = 5;
    for k in 0.. {
        let len = k * 37 % 301;
        if at + len > bytes.len() {
            break;
        }
        places.push((at, len));
        at += len + k % 3;
    }
    (places.iter().map(|(at, len)| Run::new(bytes[*at..].as_mut_ptr(), *len)).collect(), places)
}

fn is_scattered(seed: u64, from: usize, bytes: &[u8], places: &[(usize, usize)]) -> Test {
    let mut at = from;
    for (place, len) in places {
        is_pattern(seed, at, &bytes[*place..place + len])?;
        at += len;
    }
    Ok(())
}

fn xpmem_runs() -> Test {
    let (mut peer, mut memory) = attached()?;
    peer.tell("fill 7")?;
    let mut bytes = vec![0; LEN / 2];
    let (runs, places) = scattered(&mut bytes);
    // SAFETY: the runs lie in `bytes`.
    unsafe { memory.copy(Way::Pull, peer.at + 4099, &runs) }.map_err(text)?;
    is_scattered(7, 4099, &bytes, &places)?;
    for (at, len) in [(0, 1), (4095, 2), (LEN - 1, 1), (8191, 4097)] {
        let mut got = vec![0; len];
        pull(&mut memory, peer.at + at as u64, &mut got).map_err(text)?;
        is_pattern(7, at, &got)?;
    }
    Ok(())
}

fn xpmem_remapped() -> Test {
    let (mut peer, mut memory) = attached()?;
    for seed in 0..5 {
        for step in ["unmap", "map", &format!("fill {seed}")] {
            peer.tell(step)?;
        }
        pulled(&mut memory, &peer, seed)?;
        peer.tell("unmap")?;
        peer.tell("map")?;
        pushed(&mut memory, &mut peer, seed + 50)?;
    }
    match memory.windows() {
        1 | 2 => Ok(()),
        n => Err(format!("{n} windows: the attachment was not kept")),
    }
}

fn xpmem_unmapped() -> Test {
    let (mut peer, mut memory) = attached()?;
    peer.tell("fill 1")?;
    pulled(&mut memory, &peer, 1)?;
    peer.tell("unmap")?;
    let mut got = vec![0; LEN];
    is_errno(pull(&mut memory, peer.at, &mut got), EFAULT)?;
    is_errno(pull(&mut memory, 0, &mut got[..8]), EFAULT)?;
    is_errno(pull(&mut memory, u64::MAX - 8, &mut got[..8]), EFAULT)?;
    peer.tell("map")?;
    peer.tell("fill 2")?;
    pulled(&mut memory, &peer, 2)
}

fn xpmem_discarded() -> Test {
    let (mut peer, mut memory) = attached()?;
    peer.tell("fill 1")?;
    pulled(&mut memory, &peer, 1)?;
    peer.tell("discard")?;
    let mut got = vec![1; LEN];
    pull(&mut memory, peer.at, &mut got).map_err(text)?;
    if got.iter().any(|b| *b != 0) { Err("old bytes".into()) } else { Ok(()) }
}

fn xpmem_forked() -> Test {
    let (mut peer, mut memory) = attached()?;
    peer.tell("fill 1")?;
    pulled(&mut memory, &peer, 1)?;
    peer.tell("fork")?;
    peer.tell("fill 2")?;
    pulled(&mut memory, &peer, 2)?;
    pushed(&mut memory, &mut peer, 3)?;
    peer.tell("reap")?;
    pulled(&mut memory, &peer, 3)
}

fn xpmem_bare_touch() -> Test {
    let mut peer = Peer::start("xpmem")?;
    peer.tell("fill 4")?;
    let mut toucher = Command::new(std::env::current_exe().map_err(text)?)
        .args(["toucher", &peer.segid.to_string(), &peer.at.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(text)?;
    let mut line = String::new();
    BufReader::new(toucher.stdout.take().unwrap()).read_line(&mut line).map_err(text)?;
    if line.trim() != pattern(4, 0).to_string() {
        return Err(format!("the first touch saw {line:?}"));
    }
    peer.tell("unmap")?;
    writeln!(toucher.stdin.take().unwrap()).map_err(text)?;
    match toucher.wait().map_err(text)? {
        status if status.signal() == Some(libc::SIGBUS) => Ok(()),
        status => Err(format!("it ended with {status}")),
    }
}

fn xpmem_blocked() -> Test {
    let (mut peer, mut memory) = attached()?;
    peer.tell("fill 1")?;
    let before = oxmpi_sys::signal::block(&oxmpi_sys::signal::SigSet::all()).map_err(text)?;
    let tried = (|| {
        pulled(&mut memory, &peer, 1)?;
        pushed(&mut memory, &mut peer, 2)?;
        peer.tell("unmap")?;
        is_errno(pull(&mut memory, peer.at, &mut [0; 9]), EFAULT)
    })();
    oxmpi_sys::signal::set_mask(&before).map_err(text)?;
    tried
}

fn xpmem_windows() -> Test {
    let (mut peer, mut memory) = attached()?;
    let pages = (0..WINDOWS + 6).map(|k| peer.number(format!("spread {k}"))).collect::<Result<Vec<_>, _>>()?;
    for _ in 0..2 {
        for (k, at) in pages.iter().enumerate() {
            let mut got = [0; 1];
            pull(&mut memory, *at, &mut got).map_err(text)?;
            if got[0] != k as u8 {
                return Err(format!("page {k} holds {}", got[0]));
            }
        }
    }
    match memory.windows() {
        WINDOWS => Ok(()),
        n => Err(format!("{n} windows are kept")),
    }
}

/// Kills the peer while `copy` goes on and on; how it ends.
fn killed_during(peer: Peer, mut copy: impl FnMut() -> std::io::Result<()>) -> Result<std::io::Error, String> {
    let pid = peer.process.id() as i32;
    let killer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        // SAFETY: a child of ours that has not been waited for.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    });
    let start = Instant::now();
    let mut copies = 0;
    let end = loop {
        match copy() {
            Ok(()) if start.elapsed() > Duration::from_secs(30) => {
                break Err("copies go on after the death".to_string());
            }
            Ok(()) => copies += 1,
            Err(e) => break Ok(e),
        }
    };
    killer.join().map_err(|_| "the killer died")?;
    if copies == 0 { Err("no copy before the death".into()) } else { end }
}

fn xpmem_death() -> Test {
    let (mut peer, mut memory) = attached()?;
    peer.tell("fill 1")?;
    let (segid, at) = (peer.segid, peer.at);
    let mut got = vec![0; LEN];
    let e = killed_during(peer, || pull(&mut memory, at, &mut got))?;
    is_errno(Err(e), EFAULT)?;
    is_errno(pull(&mut memory, at, &mut got), EFAULT)
        .or_else(|_| is_errno(pull(&mut memory, at, &mut got), libc::ENOENT))?;
    match xpmem()?.peer(segid) {
        Ok(_) => Err("the dead can be attached to".into()),
        Err(_) => xpmem_both_ways(),
    }
}

// ---- KNEM ----

fn knem() -> Result<&'static Knem, String> {
    static ONE: std::sync::OnceLock<Result<Knem, String>> = std::sync::OnceLock::new();
    ONE.get_or_init(Knem::open).as_ref().map_err(Clone::clone)
}

fn knem_pull(cookie: u64, offset: u64, into: &mut [u8]) -> Result<std::io::Result<()>, String> {
    // SAFETY: the run is `into`.
    Ok(unsafe { knem()?.copy(Way::Pull, cookie, offset, &run(into)) })
}

fn knem_both_ways() -> Test {
    let mut peer = Peer::start("knem")?;
    for seed in 0..3 {
        peer.tell(format!("fill {seed}"))?;
        let cookie = peer.number("offer 12345")?;
        let mut bytes = vec![0; LEN];
        knem_pull(cookie, 0, &mut bytes)?.map_err(text)?;
        is_pattern(seed, 0, &bytes)?;
        let cookie = peer.number("accept 4097")?;
        for (i, b) in bytes.iter_mut().enumerate() {
            *b = pattern(seed + 100, i);
        }
        let (front, back) = bytes.split_at_mut(LEN / 3);
        // SAFETY: the runs are both parts of `bytes`.
        unsafe {
            knem()?.copy(Way::Push, cookie, (LEN / 3) as u64, &run(back)).map_err(text)?;
            knem()?.copy(Way::Push, cookie, 0, &run(front)).map_err(text)?;
        }
        peer.tell(format!("check {}", seed + 100))?;
        peer.tell("withdraw")?;
    }
    Ok(())
}

fn knem_runs() -> Test {
    let mut peer = Peer::start("knem")?;
    peer.tell("fill 7")?;
    let cookie = peer.number("offer 5000")?;
    let mut bytes = vec![0; LEN / 2];
    let (runs, places) = scattered(&mut bytes);
    // SAFETY: the runs lie in `bytes`.
    unsafe { knem()?.copy(Way::Pull, cookie, 4099, &runs) }.map_err(text)?;
    is_scattered(7, 4099, &bytes, &places)
}

fn knem_remapped() -> Test {
    let mut peer = Peer::start("knem")?;
    peer.tell("fill 1")?;
    let old = peer.number("offer 1")?;
    for step in ["unmap", "map", "fill 2"] {
        peer.tell(step)?;
    }
    let mut bytes = vec![0; LEN];
    knem_pull(old, 0, &mut bytes)?.map_err(text)?;
    is_pattern(1, 0, &bytes).map_err(|e| format!("the kept region: {e}"))?;
    let new = peer.number("offer 1")?;
    knem_pull(new, 0, &mut bytes)?.map_err(text)?;
    is_pattern(2, 0, &bytes).map_err(|e| format!("the new region: {e}"))
}

fn knem_refused() -> Test {
    let mut peer = Peer::start("knem")?;
    let cookie = peer.number("offer 1")?;
    let mut bytes = [0; 64];
    // SAFETY: the run is `bytes`.
    is_errno(unsafe { knem()?.copy(Way::Push, cookie, 0, &run(&mut bytes)) }, libc::EACCES)?;
    knem_pull(cookie, 0, &mut bytes)?.map_err(text)?;
    peer.tell("withdraw")?;
    is_errno(knem_pull(cookie, 0, &mut bytes)?, libc::EINVAL)
}

fn knem_bad_memory() -> Test {
    let mut peer = Peer::start("knem")?;
    let cookie = peer.number("offer 1")?;
    // SAFETY: nothing is at address 8, which the kernel finds out; offering nothing but a bad address is refused as well.
    unsafe {
        is_errno(knem()?.copy(Way::Pull, cookie, 0, &[Run::new(8 as *mut u8, 16)]), EFAULT)?;
        is_errno(knem()?.accept(&[Run::new(8 as *mut u8, 16)]).map(drop), EFAULT)
    }
}

fn knem_death() -> Test {
    let mut peer = Peer::start("knem")?;
    peer.tell("fill 1")?;
    let cookie = peer.number("offer 1")?;
    let mut bytes = vec![0; LEN];
    let end = killed_during(peer, || knem_pull(cookie, 0, &mut bytes).map_err(std::io::Error::other)?)?;
    is_errno(Err(end), libc::EINVAL)?;
    // What was copied before is whole: the pages outlived their owner as long as a copy needed them.
    is_pattern(1, 0, &bytes)?;
    knem_both_ways()
}
