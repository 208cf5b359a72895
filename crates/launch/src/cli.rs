//! The command line, in the style that users of Open MPI and MPICH's Hydra know: long options with one dash or two,
//! several programs separated by `:`. A name that does not exist is answered with the nearest one that does.
//!
//! Arguments of the program are never looked at, except for the `:` that ends them.
use crate::map::Policy;
use oxmpi_base::config::sources::distance;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Id {
    Ranks,
    Host,
    Hostfile,
    MapBy,
    BindTo,
    Oversubscribe,
    HardwareThreads,
    Export,
    Env,
    GlobalEnv,
    Set,
    InitialErrhandler,
    Directory,
    Output,
    Tag,
    Label,
    Stdin,
    Timeout,
    Display,
    DisplayMap,
    DoNotLaunch,
    Root,
    Help,
    Version,
}

struct Opt {
    id: Id,
    /// Without dashes; the first is the one that help shows.
    names: &'static [&'static str],
    /// What follows it.
    values: &'static [&'static str],
    help: &'static str,
}

const OPTIONS: &[Opt] = &[
    Opt {
        id: Id::Ranks,
        names: &["n", "np", "c"],
        values: &["N"],
        help: "ranks of the program that follows; without it, one per slot",
    },
    Opt {
        id: Id::Host,
        names: &["host", "H", "hosts"],
        values: &["LIST"],
        help: "hosts and slots: h, h:N or h:* (all its cores), by commas; repeats add",
    },
    Opt {
        id: Id::Hostfile,
        names: &["hostfile", "machinefile", "f"],
        values: &["FILE"],
        help: "lines 'host slots=N max_slots=N'",
    },
    Opt {
        id: Id::MapBy,
        names: &["map-by"],
        values: &["POLICY"],
        help: "slot, node, core or ppr:N:node; then :oversubscribe, :nooversubscribe, :hwtcpus",
    },
    Opt {
        id: Id::BindTo,
        names: &["bind-to"],
        values: &["none"],
        help: "ranks are not bound to processors in this version",
    },
    Opt { id: Id::Oversubscribe, names: &["oversubscribe"], values: &[], help: "allow more ranks than slots" },
    Opt {
        id: Id::HardwareThreads,
        names: &["use-hwthread-cpus"],
        values: &[],
        help: "a slot for every hardware thread instead of every core",
    },
    Opt {
        id: Id::Export,
        names: &["x"],
        values: &["VAR[=VALUE]"],
        help: "set VAR for the program (the whole environment is passed anyway)",
    },
    Opt { id: Id::Env, names: &["env"], values: &["VAR", "VALUE"], help: "the same, Hydra's way" },
    Opt { id: Id::GlobalEnv, names: &["genv"], values: &["VAR", "VALUE"], help: "the same for all programs" },
    Opt {
        id: Id::Set,
        names: &["set"],
        values: &["NAME=VALUE"],
        help: "set a control variable for all ranks ('oxmpi info' lists them)",
    },
    Opt {
        id: Id::InitialErrhandler,
        names: &["initial-errhandler"],
        values: &["NAME"],
        help: "mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return, for the program that follows",
    },
    Opt {
        id: Id::Directory,
        names: &["wdir", "wd"],
        values: &["DIR"],
        help: "working directory of the program that follows",
    },
    Opt {
        id: Id::Output,
        names: &["output"],
        values: &["tag"],
        help: "tag: every line begins with [1,RANK]<stdout>: or [1,RANK]<stderr>:",
    },
    Opt { id: Id::Tag, names: &["tag-output"], values: &[], help: "the same as --output tag" },
    Opt { id: Id::Label, names: &["l", "prepend-rank"], values: &[], help: "every line begins with [RANK]" },
    Opt {
        id: Id::Stdin,
        names: &["stdin"],
        values: &["RANK|none"],
        help: "who reads standard input; 0 without it, all others read /dev/null",
    },
    Opt {
        id: Id::Timeout,
        names: &["timeout"],
        values: &["SECONDS"],
        help: "end the job after that time, with exit code 124",
    },
    Opt { id: Id::Display, names: &["display"], values: &["map"], help: "show where ranks go, then run" },
    Opt { id: Id::DisplayMap, names: &["display-map"], values: &[], help: "the same as --display map" },
    Opt { id: Id::DoNotLaunch, names: &["do-not-launch"], values: &[], help: "stop before starting anything" },
    Opt {
        id: Id::Root,
        names: &["allow-run-as-root"],
        values: &[],
        help: "accepted for old scripts; nothing forbids it",
    },
    Opt { id: Id::Help, names: &["help", "h"], values: &[], help: "this text" },
    Opt { id: Id::Version, names: &["version", "V"], values: &[], help: "the version" },
];

/// One program of the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    pub ranks: Option<usize>,
    pub argv: Vec<OsString>,
    pub directory: Option<OsString>,
    /// Variables to set; None: take it from mpirun's own environment.
    pub env: Vec<(OsString, Option<OsString>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    None,
    /// `[1,RANK]<stdout>: `
    Stream,
    /// `[RANK] `
    Rank,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub programs: Vec<Program>,
    pub hosts: Vec<String>,
    pub hostfiles: Vec<OsString>,
    /// `NAME=VALUE` of control variables.
    pub set: Vec<String>,
    pub policy: Policy,
    pub oversubscribe: bool,
    pub hardware_threads: bool,
    pub tag: Tag,
    pub stdin: Option<usize>,
    pub timeout: Option<Duration>,
    pub display_map: bool,
    pub launch: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Run(Options),
    Help,
    Version,
}

/// What is wrong with the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage(pub String);

fn usage<T>(text: impl Into<String>) -> Result<T, Usage> {
    Err(Usage(text.into()))
}

struct Parser {
    options: Options,
    global_env: Vec<(OsString, Option<OsString>)>,
    program: Program,
    help: Option<Command>,
}

/// Parses the arguments after mpirun's own name.
pub fn parse(arguments: &[OsString]) -> Result<Command, Usage> {
    let mut parser = Parser {
        options: Options {
            programs: Vec::new(),
            hosts: Vec::new(),
            hostfiles: Vec::new(),
            set: Vec::new(),
            policy: Policy::Slot,
            oversubscribe: false,
            hardware_threads: false,
            tag: Tag::None,
            stdin: Some(0),
            timeout: None,
            display_map: false,
            launch: true,
        },
        global_env: Vec::new(),
        program: Program::default(),
        help: None,
    };
    let mut rest = arguments;
    loop {
        rest = parser.leading_options(rest)?;
        if let Some(command) = parser.help {
            return Ok(command);
        }
        let end = rest.iter().position(|a| a == ":").unwrap_or(rest.len());
        let (argv, after) = rest.split_at(end);
        if argv.is_empty() {
            return usage(if parser.options.programs.is_empty() && after.is_empty() {
                "no program to run is given: mpirun -n 4 PROGRAM ARGUMENTS"
            } else {
                "there is no program on one side of ':'"
            });
        }
        parser.program.argv = argv.to_vec();
        parser.options.programs.push(std::mem::take(&mut parser.program));
        match after.split_first() {
            Some((_colon, more)) => rest = more,
            None => break,
        }
    }
    let mut options = parser.options;
    if options.programs.len() > 1 && options.programs.iter().any(|p| p.ranks.is_none()) {
        return usage("with several programs, each needs its own -n: mpirun -n 1 A : -n 3 B");
    }
    for p in &mut options.programs {
        p.env.splice(0..0, parser.global_env.iter().cloned());
    }
    Ok(Command::Run(options))
}

impl Parser {
    /// Takes options from the front and returns what is left, beginning with the program.
    fn leading_options<'a>(&mut self, mut rest: &'a [OsString]) -> Result<&'a [OsString], Usage> {
        while let Some((first, mut after)) = rest.split_first() {
            if first == "--" {
                return Ok(after);
            }
            let Some(body) = first.as_bytes().strip_prefix(b"-").filter(|b| !b.is_empty()) else { break };
            let body = body.strip_prefix(b"-").unwrap_or(body);
            let (name, attached) = match body.iter().position(|b| *b == b'=') {
                Some(at) => (&body[..at], Some(OsString::from_vec(body[at + 1..].to_vec()))),
                None => (body, None),
            };
            let name = String::from_utf8_lossy(name).into_owned();
            let Some(option) = find(&name) else { return usage(unknown(first, &name)) };
            let mut values: Vec<OsString> = Vec::new();
            if let Some(value) = attached {
                if option.values.len() != 1 {
                    return usage(format!("{} takes no '=': it is {}", shown(option), synopsis(option)));
                }
                values.push(value);
            } else {
                if after.len() < option.values.len() {
                    return usage(format!("{} lacks its value: {}", shown(option), synopsis(option)));
                }
                let (mine, others) = after.split_at(option.values.len());
                values.extend(mine.iter().cloned());
                after = others;
            }
            self.apply(option, values)?;
            rest = after;
            if self.help.is_some() {
                break;
            }
        }
        Ok(rest)
    }

    fn apply(&mut self, option: &Opt, values: Vec<OsString>) -> Result<(), Usage> {
        let mut values = values.into_iter();
        let mut value = || values.next().unwrap_or_default();
        let o = &mut self.options;
        match option.id {
            Id::Ranks => {
                let n = text(option, value())?;
                match oxmpi_pmi::env::decimal::<usize>(&n) {
                    Some(n) if (1..=i32::MAX as usize).contains(&n) => self.program.ranks = Some(n),
                    _ => return usage(format!("-n {n}: not a number of ranks (1 or more)")),
                }
            }
            Id::Host => o.hosts.push(text(option, value())?),
            Id::Hostfile => o.hostfiles.push(value()),
            Id::MapBy => self.map_by(&text(option, value())?)?,
            Id::BindTo => match text(option, value())?.as_str() {
                "none" => {}
                other => {
                    return usage(format!(
                        "--bind-to {other}: binding arrives in a later version; until then ranks are not bound (none)"
                    ));
                }
            },
            Id::Oversubscribe => o.oversubscribe = true,
            Id::HardwareThreads => o.hardware_threads = true,
            Id::Export => {
                let v = value();
                let entry = match v.as_bytes().iter().position(|b| *b == b'=') {
                    Some(0) => return usage("-x needs a name before '='"),
                    Some(at) => {
                        let (name, value) = v.as_bytes().split_at(at);
                        (OsStr::from_bytes(name).to_owned(), Some(OsStr::from_bytes(&value[1..]).to_owned()))
                    }
                    None => (v, None),
                };
                self.program.env.push(entry);
            }
            Id::Env => self.program.env.push((name(value())?, Some(value()))),
            Id::GlobalEnv => self.global_env.push((name(value())?, Some(value()))),
            Id::InitialErrhandler => {
                let name = text(option, value())?;
                if !["mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"].contains(&name.as_str()) {
                    return usage(format!(
                        "--initial-errhandler {name}: mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return"
                    ));
                }
                self.program.env.push(("OXMPI_INITIAL_ERRHANDLER".into(), Some(name.into())));
            }
            Id::Set => o.set.push(text(option, value())?),
            Id::Directory => self.program.directory = Some(value()),
            Id::Output => match text(option, value())?.as_str() {
                "tag" => o.tag = Tag::Stream,
                other => return usage(format!("--output {other}: this version knows 'tag'")),
            },
            Id::Tag => o.tag = Tag::Stream,
            Id::Label => o.tag = Tag::Rank,
            Id::Stdin => {
                let who = text(option, value())?;
                o.stdin = match (who.as_str(), oxmpi_pmi::env::decimal(&who)) {
                    ("none", _) => None,
                    (_, Some(rank)) => Some(rank),
                    _ => return usage(format!("--stdin {who}: a rank or 'none'")),
                };
            }
            Id::Timeout => {
                let v = text(option, value())?;
                match v.parse::<f64>().ok().map(Duration::try_from_secs_f64) {
                    Some(Ok(t)) if !t.is_zero() => o.timeout = Some(t),
                    _ => return usage(format!("--timeout {v}: not a number of seconds")),
                }
            }
            Id::Display => match text(option, value())?.as_str() {
                "map" => o.display_map = true,
                other => return usage(format!("--display {other}: this version knows 'map'")),
            },
            Id::DisplayMap => o.display_map = true,
            Id::DoNotLaunch => o.launch = false,
            Id::Root => {}
            Id::Help => self.help = Some(Command::Help),
            Id::Version => self.help = Some(Command::Version),
        }
        Ok(())
    }

    fn map_by(&mut self, value: &str) -> Result<(), Usage> {
        const LATER: [&str; 11] = [
            "hwthread", "l1cache", "l2cache", "l3cache", "numa", "package", "socket", "board", "seq", "rankfile",
            "dist",
        ];
        let mut words = value.split(':');
        let o = &mut self.options;
        match words.next().unwrap_or_default() {
            // ":oversubscribe" changes the modifier only.
            "" => {}
            // One host, no binding: a core is a slot.
            "slot" | "core" => o.policy = Policy::Slot,
            "node" => o.policy = Policy::Node,
            "ppr" => match (words.next().and_then(oxmpi_pmi::env::decimal), words.next()) {
                (Some(n), Some("node")) if n > 0 => o.policy = Policy::PerNode(n),
                (Some(_), Some(object)) if object != "node" => {
                    return usage(format!("--map-by {value}: this version maps ppr:N:node, not per {object}"));
                }
                _ => return usage(format!("--map-by {value}: ppr needs a number and an object, as in ppr:2:node")),
            },
            later if LATER.contains(&later) || later.starts_with("pe-list=") => {
                return usage(format!(
                    "--map-by {later} arrives in a later version; slot, node, core and ppr:N:node work"
                ));
            }
            other => {
                let known = ["slot", "node", "core", "ppr"].into_iter();
                return usage(format!("--map-by {other}: no such policy{}", did_you_mean(other, known, "")));
            }
        }
        for word in words {
            match word.to_ascii_lowercase().as_str() {
                "oversubscribe" => o.oversubscribe = true,
                "nooversubscribe" => o.oversubscribe = false,
                "hwtcpus" => o.hardware_threads = true,
                other => {
                    let known = ["oversubscribe", "nooversubscribe", "hwtcpus"].into_iter();
                    return usage(format!(
                        "--map-by {value}: the modifier {other} is not known{}",
                        did_you_mean(other, known, "")
                    ));
                }
            }
        }
        Ok(())
    }
}

fn text(option: &Opt, value: OsString) -> Result<String, Usage> {
    value.into_string().or_else(|v| usage(format!("{}: {v:?} is not text", shown(option))))
}

/// A variable's name.
fn name(value: OsString) -> Result<OsString, Usage> {
    match value.is_empty() || value.as_bytes().contains(&b'=') {
        true => usage(format!("{value:?} is not the name of a variable")),
        false => Ok(value),
    }
}

fn find(name: &str) -> Option<&'static Opt> {
    OPTIONS.iter().find(|o| o.names.contains(&name))
}

fn dashed(name: &str) -> String {
    format!("{}{name}", if name.len() == 1 { "-" } else { "--" })
}

fn shown(option: &Opt) -> String {
    dashed(option.names.first().unwrap_or(&""))
}

fn synopsis(option: &Opt) -> String {
    let mut s = shown(option);
    for v in option.values {
        s.push(' ');
        s.push_str(v);
    }
    s
}

fn unknown(given: &OsStr, name: &str) -> String {
    let foreign = match name {
        "mca" | "pmixmca" | "prtemca" | "omca" => " (it sets parameters of Open MPI, which this is not)",
        "launcher" | "bootstrap" | "iface" => " (it is Hydra's; on one host nothing needs it)",
        _ => "",
    };
    let names = OPTIONS.iter().flat_map(|o| o.names.iter().copied());
    let near = if foreign.is_empty() { did_you_mean(name, names, "-") } else { String::new() };
    format!("{} is not an option{foreign}{near}; mpirun --help lists them", given.to_string_lossy())
}

fn did_you_mean(name: &str, known: impl Iterator<Item = &'static str>, dash: &str) -> String {
    let nearest = known.map(|k| (distance(name, k), k)).min();
    match nearest {
        Some((d, k)) if d * 2 <= k.len().min(name.len()) => {
            let k = if dash.is_empty() { k.to_owned() } else { dashed(k) };
            format!("; did you mean {k}?")
        }
        _ => String::new(),
    }
}

pub fn help() -> String {
    let mut out = String::from(
        "Usage: mpirun [OPTIONS] PROGRAM [ARGUMENTS] [: [OPTIONS] PROGRAM [ARGUMENTS]]...\n\
         Starts ranks of a program (or of several) that talk MPI to each other. mpiexec is the same.\n\nOptions:\n",
    );
    for o in OPTIONS {
        let names = o.names.iter().map(|n| dashed(n)).collect::<Vec<_>>().join(", ");
        let left = [names.as_str()].into_iter().chain(o.values.iter().copied()).collect::<Vec<_>>().join(" ");
        out.push_str(&match left.len() {
            0..=30 => format!("  {left:<30} {}\n", o.help),
            _ => format!("  {left}\n  {:<30} {}\n", "", o.help),
        });
    }
    out.push_str(
        "\nLong options take one dash or two, and their value after a space or '='.\n\n\
         Exit code: that of the first rank that fails, 128+S when it is killed by signal S, MPI_Abort's (0 becomes 1),\n  \
         1 when a rank leaves without MPI_Finalize; 128+S when mpirun itself gets signal S; 124 after --timeout;\n  \
         2 wrong usage, 65 ranks do not fit the slots, 66 bad hostfile or host, 69 not in this version,\n  \
         70 and 71 trouble inside mpirun or with the system, 126 program not executable, 127 program not found.\n",
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Options {
        match parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>()) {
            Ok(Command::Run(o)) => o,
            other => panic!("{line}: {other:?}"),
        }
    }
    fn error(line: &str) -> String {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        parse(&words).expect_err(line).0
    }

    #[test]
    fn both_dialects() {
        for line in ["-n 4 a", "-np 4 a", "--np 4 a", "--n=4 a", "-c 4 a", "-np=4 a"] {
            assert_eq!(options(line).programs[0].ranks, Some(4), "{line}");
        }
        let o = options("--map-by slot:oversubscribe -H localhost:3 -host x -wdir /tmp --timeout 1.5 prog -n 9 --help");
        assert!(o.oversubscribe);
        assert_eq!(o.hosts, ["localhost:3", "x"]);
        assert_eq!(o.timeout, Some(Duration::from_millis(1500)));
        assert_eq!(o.programs[0].argv, ["prog", "-n", "9", "--help"]);
        assert_eq!(o.programs[0].directory.as_deref(), Some(OsStr::new("/tmp")));
        assert_eq!(options("--map-by ppr:2:node:OVERSUBSCRIBE a").policy, Policy::PerNode(2));
        assert_eq!(options("--set a=1 --set=b=c=d a").set, ["a=1", "b=c=d"]);
        assert_eq!(options("-- -odd").programs[0].argv, ["-odd"]);
    }

    #[test]
    fn several_programs_and_their_variables() {
        let o = options("-genv G 1 -n 1 -x A=b=c a x : -n 2 -env B  b : -np 3 -x C c");
        let ranks: Vec<_> = o.programs.iter().map(|p| p.ranks.unwrap()).collect();
        assert_eq!(ranks, [1, 2, 3]);
        let g = (OsString::from("G"), Some(OsString::from("1")));
        assert_eq!(o.programs[0].env, [g.clone(), ("A".into(), Some("b=c".into()))]);
        assert_eq!(o.programs[1].env, [g.clone(), ("B".into(), Some("".into()))]);
        assert_eq!(o.programs[2].env, [g, ("C".into(), None)]);
    }

    #[test]
    fn mistakes_are_answered_with_the_way_out() {
        assert!(error("--overssubscribe a").contains("did you mean --oversubscribe?"));
        assert!(error("--hostfle f a").contains("did you mean --hostfile?"));
        assert!(error("--map-by slto a").contains("did you mean slot?"));
        assert!(error("--map-by slot:oversubscrib a").contains("did you mean oversubscribe?"));
        assert!(error("--mca btl tcp a").contains("Open MPI"));
        assert!(error("-n x a").contains("not a number of ranks"));
        assert!(error("-n 0 a").contains("not a number of ranks"));
        assert!(error("-n").contains("lacks its value"));
        assert!(error("-n 2").contains("no program"));
        assert!(error("").contains("no program"));
        assert!(error("-n 1 a :").contains("':'"));
        assert!(error("-n 1 a : b").contains("its own -n"));
        assert!(error("--bind-to core a").contains("later version"));
        assert!(error("--map-by numa a").contains("later version"));
        assert!(error("--timeout -1 a").contains("seconds"));
        assert!(error("--oversubscribe=1 a").contains("no '='"));
    }

    #[test]
    fn help_needs_no_program() {
        assert_eq!(parse(&["--help".into()]), Ok(Command::Help));
        assert_eq!(parse(&["-n".into(), "2".into(), "--version".into()]), Ok(Command::Version));
        for o in OPTIONS {
            assert!(help().contains(&shown(o)));
        }
    }

    #[test]
    fn bytes_that_are_not_text_reach_the_program() {
        let odd = OsString::from_vec(vec![b'a', 0xff]);
        let Ok(Command::Run(o)) = parse(&["p".into(), odd.clone(), "".into()]) else { panic!() };
        assert_eq!(o.programs[0].argv, [OsString::from("p"), odd, OsString::new()]);
    }
}
