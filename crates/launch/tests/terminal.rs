//! mpirun at a terminal: input through it, its signals, and a shell's job control. The terminal comes from
//! `script` (util-linux); where that is missing, these tests say so and pass.
mod common;
use common::*;
use std::io::{Read, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

struct Terminal {
    job: Started,
    keys: ChildStdin,
    screen: ChildStdout,
    shown: String,
}

/// `script` is there and is the one with `-e`.
fn available() -> bool {
    let works = Command::new("script").args(["-qec", "exit 7", "/dev/null"]).stdin(Stdio::null()).output();
    let ok = works.is_ok_and(|o| o.status.code() == Some(7));
    if !ok {
        eprintln!("not tested: there is no script(1) that passes exit codes on");
    }
    ok
}

/// Runs `command` in a shell at a terminal of its own; `$M` is mpirun and `$R` the test rank.
fn at_terminal(command: &str) -> Terminal {
    let mut run = mpirun(&[]);
    let mut script = Command::new("script");
    script.args(["-qec", command, "/dev/null"]);
    script.env("OXTEST_MARK", run.mark.split_once('=').unwrap().1).env("TMPDIR", &run.tmp);
    script.env("M", env!("CARGO_BIN_EXE_mpirun")).env("R", RANK).env("SHELL", "/bin/sh").env("PS1", "ready> ");
    script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    run.command = script;
    let mut job = run.start();
    let (keys, screen) = (job.child.stdin.take().unwrap(), job.child.stdout.take().unwrap());
    Terminal { job, keys, screen, shown: String::new() }
}

impl Terminal {
    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }
    /// Reads until `text` has been shown, and forgets what came before it.
    fn sees(&mut self, text: &str) {
        let mut some = [0; 4096];
        while !self.shown.contains(text) {
            let n = self.screen.read(&mut some).unwrap();
            assert!(n > 0, "the terminal closed before {text:?}: {:?}", self.shown);
            self.shown.push_str(&String::from_utf8_lossy(&some[..n]));
        }
        let at = self.shown.find(text).unwrap() + text.len();
        self.shown.drain(..at);
    }
    fn ends(self, code: i32) {
        let Terminal { mut job, keys, screen, shown } = self;
        job.child.stdout = Some(screen);
        let o = job.finish();
        drop(keys);
        assert_eq!(o.code, code, "{shown}{} {}", o.text(), o.err);
    }
}

#[test]
fn lines_and_the_end_of_input() {
    if !available() {
        return;
    }
    let mut t = at_terminal("$M -n 1 sh -c 'echo up; while read x; do echo \"<$x>\"; done; echo end of input'");
    t.sees("up");
    t.press("hello\n");
    t.sees("<hello>");
    t.press("\x04");
    t.sees("end of input");
    t.ends(0);
}

#[test]
fn control_c_ends_the_job() {
    if !available() {
        return;
    }
    let mut t = at_terminal("exec $M -n 2 $R sleep");
    t.sees("ready");
    t.sees("ready");
    t.press("\x03");
    t.sees("SIGINT");
    t.ends(130);
}

#[test]
fn stopped_in_the_background_and_back() {
    if !available() || !std::path::Path::new("/bin/bash").exists() {
        return;
    }
    let mut t = at_terminal("bash --norc --noprofile -i");
    t.sees("ready> ");
    t.press("$M -n 1 sh -c 'echo u\"\"p; read x; echo \"<$x>\"'\n");
    t.sees("up");
    t.press("\x1a");
    t.sees("Stopped");
    t.sees("ready> ");
    // In the background it runs on; the shell, not the rank, gets what is typed.
    t.press("bg; echo still-$((6*7))\n");
    t.sees("still-42");
    t.press("jobs\n");
    t.sees("Running");
    t.press("fg; echo code-$?\n");
    t.press("again\n");
    t.sees("<again>");
    t.sees("code-0");
    t.press("exit 3\n");
    t.ends(3);
}

/// The window is closed: every rank goes.
#[test]
fn a_terminal_that_hangs_up() {
    if !available() {
        return;
    }
    let mut t = at_terminal("exec $M -n 2 $R sleep");
    t.sees("ready");
    kill(t.job.front(), 9);
    t.job.nothing_left();
    let _ = t.job.finish();
}
