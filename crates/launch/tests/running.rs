//! What a job that goes well looks like: places, arguments, environment, input and output, refusals.
mod common;
use common::*;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

fn lines(o: &Outcome) -> Vec<String> {
    let mut lines: Vec<String> = o.text().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn every_rank_knows_its_place() {
    let o = mpirun(&["--host", "localhost:4", "-n", "3", "@", "describe"]).outcome();
    assert_eq!((o.code, o.err.as_str()), (0, ""));
    let want: Vec<String> = (0..3)
        .map(|r| format!("rank {r} of 3 local {r} of 3 app Some(0) universe Some(4) segment true control true"))
        .collect();
    assert_eq!(lines(&o), want);
}

#[test]
fn several_programs_make_one_job() {
    let o = mpirun(&["--oversubscribe", "-n", "1", "@", "describe", ":", "-n", "2", "@", "describe"]).outcome();
    let apps: Vec<_> = lines(&o).iter().map(|l| l.split("app ").nth(1).unwrap()[..7].to_owned()).collect();
    assert_eq!(apps, ["Some(0)", "Some(1)", "Some(1)"]);
}

#[test]
fn without_a_number_there_is_a_rank_per_slot() {
    assert_eq!(lines(&mpirun(&["-host", "localhost:5", "echo", "x"]).outcome()), ["x"; 5]);
    assert_eq!(lines(&mpirun(&["--map-by", "ppr:3:node:oversubscribe", "echo", "x"]).outcome()), ["x"; 3]);
}

#[test]
fn arguments_and_environment_arrive_unharmed() {
    let odd: [&[u8]; 8] = [b"", b" a  b ", b"\"q' $HOME `x`", b"new\nline", b"\xff\xfe", b":x", b"*", b"-n"];
    let mut run = mpirun(&["-n", "1", "-x", "OXTEST_VALUE", "@", "show"]);
    run.command.args(odd.map(OsStr::from_bytes)).env("OXTEST_VALUE", OsStr::from_bytes(b"v \xff\n=\""));
    let o = run.outcome();
    let mut want = odd.join(&0);
    want.extend_from_slice(b"\0v \xff\n=\"");
    assert_eq!(o.out, want);
}

#[test]
fn variables_from_the_command_line() {
    let o =
        mpirun(&["-n", "1", "-x", "A=1=2", "-env", "B", "", "sh", "-c", "echo $A-${B-unset}-$OXMPI_RANK"]).outcome();
    assert_eq!(o.text(), "1=2--0\n");
}

#[test]
fn only_known_descriptors_are_inherited() {
    let mut run = mpirun(&["-n", "1", "@", "descriptors"]);
    // Two that our own caller forgot, one of them numbered like what a rank gets.
    let mut bash = std::process::Command::new("bash");
    bash.arg("-c").arg("exec 7</dev/null 62</dev/null; exec \"$0\" \"$@\"");
    bash.arg(run.command.get_program()).args(run.command.get_args());
    bash.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    run.command = bash;
    assert_eq!(run.outcome().text(), "0 1 2 62 63\n");
}

#[test]
fn the_working_directory() {
    assert_eq!(mpirun(&["-n", "1", "-wdir", "/", "pwd"]).outcome().text(), "/\n");
    let o = mpirun(&["-n", "1", "--wdir", "/nonexistent", "pwd"]).outcome();
    assert_eq!(o.code, 71);
    assert!(o.err.contains("/nonexistent: No such file"), "{}", o.err);
}

#[test]
fn what_cannot_be_run_says_so() {
    for (program, code, part) in [
        ("no-such-program-at-all", 127, "was not found in PATH ("),
        ("./no-such-program", 127, "was not found (working directory"),
        ("/etc/passwd", 126, "cannot be executed: Permission denied"),
        ("/", 126, "cannot be executed"),
        ("", 127, "empty"),
    ] {
        let o = mpirun(&["-n", "2", program]).outcome();
        assert_eq!(o.code, code, "{program}: {}", o.err);
        assert!(o.err.contains(part), "{program}: {}", o.err);
        assert_eq!(o.err.lines().count(), 1, "{}", o.err);
    }
    let dir = std::env::temp_dir().join(format!("oxlaunch-interp-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let make = |name: &str, text: &str| {
        use std::os::unix::fs::PermissionsExt;
        let path = dir.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let o = mpirun(&["-n", "1", &make("bad", "#!/no/interpreter\n")]).outcome();
    assert_eq!(o.code, 126);
    assert!(o.err.contains("interpreter"), "{}", o.err);
    let o = mpirun(&["-n", "1", &make("bare", "echo \"$1\" ran\n"), "it"]).outcome();
    assert_eq!((o.code, o.text().as_str()), (0, "it ran\n"), "{}", o.err);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn refusals_have_their_codes_and_reasons() {
    let cases: [(&[&str], i32, &str); 14] = [
        (&["--host", "localhost:2", "-n", "3", "true"], 65, "There are not enough slots available: 3 ranks"),
        (&["--host", "localhost:2", "-n", "3", "true"], 65, "--host localhost:2"),
        (&["--host", "localhost:2", "-n", "3", "true"], 65, "--oversubscribe"),
        (&["--oversubscribe", "-n", "4097", "true"], 65, "at most 4096"),
        (&["--oversubscribe", "-n", "2000000000", "true"], 65, "at most 4096"),
        (&["--host", "localhost:1000000", "true"], 65, "at most 4096"),
        (&["--host", "somewhere-else", "true"], 69, "several hosts arrive with a later version"),
        (&["--host", "-oProxyCommand=x", "true"], 66, "not a host name"),
        (&["--hostfile", "/no/such/file", "true"], 66, "/no/such/file"),
        (&["--hostfle", "x", "true"], 2, "did you mean --hostfile?"),
        (&["-n"], 2, "lacks its value"),
        (&[], 2, "no program"),
        (&["--stdin", "2", "-n", "1", "true"], 2, "--stdin 2"),
        (&["--map-by", "numa", "true"], 2, "later version"),
    ];
    for (args, code, part) in cases {
        let o = mpirun(args).outcome();
        assert_eq!(o.code, code, "{args:?}: {}", o.err);
        assert!(o.err.contains(part), "{args:?}: {}", o.err);
    }
}

#[test]
fn a_hostfile_gives_slots_and_caps() {
    let file = std::env::temp_dir().join(format!("oxlaunch-hosts-{}", std::process::id()));
    std::fs::write(&file, "localhost slots=2 max_slots=3\n").unwrap();
    let name = file.to_str().unwrap();
    assert_eq!(lines(&mpirun(&["--hostfile", name, "echo", "x"]).outcome()).len(), 2);
    assert_eq!(lines(&mpirun(&["--hostfile", name, "--oversubscribe", "-n", "3", "echo", "x"]).outcome()).len(), 3);
    let o = mpirun(&["--hostfile", name, "--oversubscribe", "-n", "4", "echo", "x"]).outcome();
    assert_eq!(o.code, 65);
    assert!(o.err.contains("raise max_slots") && o.err.contains(&format!("{name} line 1")), "{}", o.err);
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn the_map_is_shown() {
    let o = mpirun(&["--display", "map", "--do-not-launch", "--host", "localhost:2", "-n", "2", "true"]).outcome();
    assert!(o.text().contains("2 ranks on 1 host(s)") && o.text().contains("    rank 1: "), "{}", o.text());
    assert!(o.text().contains("2 slots (--host localhost:2)"), "{}", o.text());
}

#[test]
fn help_and_version() {
    let o = mpirun(&["--help"]).outcome();
    assert!(o.code == 0 && o.text().contains("--oversubscribe") && o.text().contains("Exit code:"));
    let o = mpirun(&["--version"]).outcome();
    assert!(o.text().starts_with("mpirun (oxmpi) "));
}

#[test]
fn exit_codes() {
    for (args, code) in [
        (&["-n", "2", "true"][..], 0),
        (&["--oversubscribe", "-n", "4", "sh", "-c", "exit 7"], 7),
        (&["--oversubscribe", "-n", "3", "sh", "-c", "test $OXMPI_RANK != 1 || exit 9"], 9),
        (&["-n", "1", "sh", "-c", "kill -TERM $$"], 143),
        (&["-n", "1", "sh", "-c", "kill -SEGV $$"], 139),
        (&["-n", "1", "@", "good", "0"], 0),
        (&["-n", "2", "@", "good", "5"], 5),
        (&["-n", "1", "false", ":", "-n", "1", "sleep", "1000"], 1),
    ] {
        let o = mpirun(args).outcome();
        assert_eq!(o.code, code, "{args:?}: {}", o.err);
    }
}

#[test]
fn standard_input_goes_to_rank_0() {
    let mut run = mpirun(&["--oversubscribe", "-n", "3", "sh", "-c", "wc -c | tr -d ' '"]);
    run.command.stdin(Stdio::piped());
    let mut job = run.start();
    let mut stdin = job.child.stdin.take().unwrap();
    let feeder = std::thread::spawn(move || stdin.write_all(&vec![b'x'; 10 << 20]).unwrap());
    let o = job.finish();
    feeder.join().unwrap();
    assert_eq!(lines(&o), ["0", "0", "10485760"]);
}

#[test]
fn standard_input_to_another_rank_or_to_none() {
    for (who, want) in [("1", ["0:", "1:hello"]), ("none", ["0:", "1:"])] {
        let mut run = mpirun(&["-n", "2", "--stdin", who, "sh", "-c", "echo $OXMPI_RANK:$(cat)"]);
        run.command.stdin(Stdio::piped());
        let mut job = run.start();
        // With "none" nobody may be left to read it.
        let _ = job.child.stdin.take().unwrap().write_all(b"hello");
        assert_eq!(lines(&job.finish()), want);
    }
}

/// Who feeds a rank that stops reading must see it, as in a pipeline.
#[test]
fn a_closed_input_reaches_its_writer() {
    let mut run = mpirun(&["-n", "1", "sh", "-c", "exec <&-; echo closed; exec sleep 1000"]);
    run.command.stdin(Stdio::piped());
    let mut job = run.start();
    let mut stdin = job.child.stdin.take().unwrap();
    let mut line = [0; 7];
    job.child.stdout.as_mut().unwrap().read_exact(&mut line).unwrap();
    let e = eventually("EPIPE", || stdin.write_all(&[0; 65536]).err());
    assert_eq!(e.kind(), std::io::ErrorKind::BrokenPipe);
    kill(job.front(), 15);
    assert_eq!(job.finish().code, 143);
}

#[test]
fn closed_standard_descriptors() {
    let mut run = mpirun(&["-n", "2", "sh", "-c", "cat; echo x"]);
    let mut sh = std::process::Command::new("bash");
    sh.arg("-c").arg("exec \"$0\" \"$@\" <&- 2>&-").arg(run.command.get_program()).args(run.command.get_args());
    sh.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    run.command = sh;
    assert_eq!(lines(&run.outcome()), ["x", "x"]);
}

/// 4 ranks write long lines in odd pieces; every line must come out whole, and all of them in order.
#[test]
fn output_is_never_mixed_or_lost() {
    let script = r#"
        i=0; line=$(printf "%0500d" $OXMPI_RANK)
        while [ $i -lt 400 ]; do printf "$OXMPI_RANK $i "; printf "$line"; echo " end"; i=$((i+1)); done"#;
    let o = mpirun(&["--oversubscribe", "-n", "4", "sh", "-c", script]).outcome();
    let mut next = [0; 4];
    for line in o.text().lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [rank, i, body, "end"] = words[..] else { panic!("{line}") };
        let r: usize = rank.parse().unwrap();
        assert_eq!(i.parse::<usize>().unwrap(), next[r]);
        assert_eq!((body.len(), body.parse::<usize>().unwrap()), (500, r));
        next[r] += 1;
    }
    assert_eq!(next, [400; 4]);
}

#[test]
fn binary_output_passes_unchanged() {
    let script = "head -c 3000000 /dev/zero | tr '\\0' '\\377'; printf end";
    let o = mpirun(&["-n", "1", "sh", "-c", script]).outcome();
    assert_eq!(o.out.len(), 3_000_003);
    assert!(o.out.starts_with(&[255; 100]) && o.out.ends_with(b"end"));
    // One endless line of several ranks: pieces may not mix either.
    let script = "head -c 300000 /dev/zero | tr '\\0' $OXMPI_RANK";
    let o = mpirun(&["-n", "2", "sh", "-c", script]).outcome();
    let text = o.text();
    assert_eq!(text.len(), 600_000);
    let changes = text.as_bytes().windows(2).filter(|w| w[0] != w[1]).count();
    assert_eq!(changes, 1);
}

#[test]
fn tags() {
    let script = "echo out; echo err >&2";
    let o = mpirun(&["-n", "1", "--output", "tag", "sh", "-c", script]).outcome();
    assert_eq!((o.text().as_str(), o.err.as_str()), ("[1,0]<stdout>: out\n", "[1,0]<stderr>: err\n"));
    assert_eq!(lines(&mpirun(&["-n", "2", "-l", "echo", "x"]).outcome()), ["[0] x", "[1] x"]);
}

#[test]
fn a_prompt_is_shown_while_its_rank_waits() {
    let mut job = mpirun(&["-n", "2", "sh", "-c", "test $OXMPI_RANK = 1 || printf 'name? '; exec sleep 1000"]).start();
    let mut got = [0; 6];
    job.child.stdout.as_mut().unwrap().read_exact(&mut got).unwrap();
    assert_eq!(&got, b"name? ");
    kill(job.front(), 2);
    assert_eq!(job.finish().code, 130);
}

#[test]
fn a_reader_that_leaves_ends_the_job() {
    let mut job = mpirun(&["-n", "2", "yes"]).start();
    let mut some = [0; 100];
    job.child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let o = job.finish();
    assert_eq!(o.code, 141);
    assert!(o.err.contains("SIGPIPE"), "{}", o.err);
}

/// A reader that does not read stops the ranks, costs no memory, and does not keep the job from being killed.
#[test]
fn a_reader_that_does_not_read() {
    let job = mpirun(&["-n", "2", "yes"]).start();
    let ranks = job.ranks(2, "yes");
    eventually("ranks blocked in write", || {
        let blocked = |p: &i32| {
            std::fs::read_to_string(format!("/proc/{p}/wchan")).is_ok_and(|w| w.contains("pipe"))
                || state(*p) == Some('S')
        };
        ranks.iter().all(blocked).then_some(())
    });
    let status = std::fs::read_to_string(format!("/proc/{}/status", job.warden())).unwrap();
    let rss = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap().trim();
    assert!(rss.split(' ').next().unwrap().parse::<u64>().unwrap() < 50_000, "{rss}");
    kill(job.front(), 9);
    job.nothing_left();
    job.finish();
}

/// Not even a signal waits for such a reader for long.
#[test]
fn a_signal_does_not_wait_for_a_reader() {
    let mut job = mpirun(&["-n", "2", "yes"]).start();
    job.ranks(2, "yes");
    kill(job.front(), 15);
    let status = eventually("the end", || job.child.try_wait().unwrap());
    assert_eq!(status.code(), Some(143));
    job.finish();
}

/// Nor does a time limit, whether the ranks still run or not.
#[test]
fn a_timeout_does_not_wait_for_a_reader() {
    for (program, part) in
        [("yes", "did not end within 0.3 s"), ("head -c 65000 /dev/zero", "was not read within 0.3 s")]
    {
        let mut job =
            mpirun(&["--timeout", "0.3", "--oversubscribe", "-n", "4", "sh", "-c", &format!("exec {program}")]).start();
        let status = eventually("the end", || job.child.try_wait().unwrap());
        assert_eq!(status.code(), Some(124));
        let o = job.finish();
        assert!(o.err.contains(part), "{}", o.err);
    }
}

/// What was written before the end is delivered in full to a reader that comes late.
#[test]
fn a_late_reader_gets_everything() {
    let job = mpirun(&["--oversubscribe", "-n", "4", "sh", "-c", "head -c 60000 /dev/zero | tr '\\0' x; echo"]).start();
    eventually("ranks gone", || marked(&job.mark).iter().all(|p| command_of(*p) == "mpirun").then_some(()));
    let o = job.finish();
    assert_eq!((o.code, o.out.len()), (0, 4 * 60001));
}

#[test]
fn output_that_cannot_be_written_is_not_success() {
    let mut run = mpirun(&["-n", "1", "echo", "x"]);
    run.command.stdout(std::fs::File::options().write(true).open("/dev/full").unwrap());
    let o = run.outcome();
    assert_eq!(o.code, 71);
    assert!(o.err.contains("No space left"), "{}", o.err);
}

/// Nor does an exit code depend on whether the words for it can be written.
#[test]
fn exit_codes_survive_a_full_disk() {
    for (args, code) in
        [(&["no-such-program-at-all"][..], 127), (&["-n", "1", "/etc/passwd"], 126), (&["-x", "NO_SUCH", "true"], 0)]
    {
        let mut run = mpirun(args);
        run.command.stderr(std::fs::File::options().write(true).open("/dev/full").unwrap());
        assert_eq!(run.outcome().code, code, "{args:?}");
    }
}

#[test]
fn nested_jobs_and_children_of_ranks() {
    // A rank's child is a singleton, not a second rank.
    let o = mpirun(&["-n", "2", "@", "parent"]).outcome();
    assert_eq!(o.code, 0, "{}", o.err);
    let want = "rank 0 of 1 local 0 of 1 app None universe None segment false control false";
    assert_eq!(lines(&o), [want, want]);
    // A wrapper passes the descriptors on without knowing them.
    let o = mpirun(&["-n", "1", "sh", "-c", "\"$0\" describe; exit $?", RANK]).outcome();
    assert!(o.text().starts_with("rank 0 of 1 local 0 of 1 app Some(0)"), "{} {}", o.text(), o.err);
    // One that drops them is told so.
    let o = mpirun(&["-n", "2", "@", "forgetful"]).outcome();
    assert_eq!(o.code, 99, "{} {}", o.text(), o.err);
    assert!(o.err.contains("did not pass on descriptors 62 and 63"), "{}", o.err);
    // An mpirun inside a rank makes a job of its own.
    let o = mpirun(&["-n", "1", env!("CARGO_BIN_EXE_mpirun"), "-n", "2", "@", "describe"]).outcome();
    assert_eq!((o.code, lines(&o).len()), (0, 2), "{}", o.err);
    assert!(lines(&o)[1].starts_with("rank 1 of 2 local 1 of 2 app Some(0)"), "{:?}", lines(&o));
}

#[test]
fn foreign_launchers_do_not_make_singletons() {
    let alone = |vars: &[(&str, &str)]| {
        let mut c = std::process::Command::new(RANK);
        c.arg("describe").envs(vars.iter().copied());
        let o = c.output().unwrap();
        (o.status.code().unwrap(), String::from_utf8_lossy(&o.stderr).into_owned())
    };
    assert_eq!(alone(&[]).0, 0);
    let (code, err) = alone(&[("PMI_SIZE", "2"), ("PMI_RANK", "1")]);
    assert!(code == 99 && err.contains("start the program with oxmpi's mpirun"), "{err}");
    let (code, err) = alone(&[("OXMPI_RANK", "0")]);
    assert!(code == 99 && err.contains("OXMPI_SIZE is not set"), "{err}");
}

#[test]
fn many_ranks_start_and_end_again_and_again() {
    let rounds: usize = std::env::var("OXMPI_XTASK_FAULT_ROUNDS").ok().and_then(|v| v.parse().ok()).unwrap_or(3);
    let mut worst = Duration::ZERO;
    for _ in 0..rounds {
        let started = Instant::now();
        let o = mpirun(&["--oversubscribe", "-n", "64", "true"]).outcome();
        assert_eq!((o.code, o.err.as_str()), (0, ""));
        worst = worst.max(started.elapsed());
    }
    println!("64 ranks of true: at most {worst:?}");
}
