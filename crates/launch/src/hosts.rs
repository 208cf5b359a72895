//! Hosts and their slots: `--host`, hostfiles, and this machine's cores.
//!
//! Every number keeps its source, for the refusal that may have to explain it. Hostfiles are parsed in
//! Open MPI's grammar and MPICH's `host:N`. Names are checked against a strict grammar before anything else
//! looks at them: a name never begins with `-`.
//!
//! Known gaps: only this machine is accepted; `^host`, `+n0`, `+e`, rankfile lines and resource managers are
//! recognised and refused.
use crate::map::Host;
use oxmpi_sys::{affinity, cgroup};
use std::path::Path;

/// Why the hosts are not usable, and the exit code for it.
#[derive(Debug, PartialEq, Eq)]
pub struct Trouble {
    pub code: u8,
    pub text: String,
}

fn trouble<T>(code: u8, text: String) -> Result<T, Trouble> {
    Err(Trouble { code, text })
}

/// One mention of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub slots: Slots,
    pub cap: Option<usize>,
    pub source: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slots {
    Count(usize),
    /// A mention without a number.
    Unsaid,
    /// `h:*`
    All,
}

/// How many processes this machine should run when nobody says it.
pub fn own_slots(hardware_threads: bool, root: &Path) -> (usize, String) {
    let cpus = affinity::allowed_cpus().unwrap_or_else(|_| vec![0]);
    let (count, unit) = match hardware_threads {
        true => (cpus.len(), "hardware thread"),
        false => (affinity::cores(&cpus, root), "core"),
    };
    let s = if count == 1 { "" } else { "s" };
    let by_mask = format!("{count} {unit}{s} in the affinity mask");
    match cgroup::cpu_quota(root) {
        Some(q) if (q.cpus as usize) < count => {
            let slots = (q.cpus as usize).max(1);
            (slots, format!("control group quota of {:.2} processors in {} ({by_mask})", q.cpus, q.file.display()))
        }
        _ => (count, by_mask),
    }
}

/// The hosts of a job: `--host` arguments, hostfiles, or this machine.
pub fn resolve(
    host_arguments: &[String],
    hostfiles: &[(String, String)],
    hardware_threads: bool,
    this: &str,
) -> Result<Vec<Host>, Trouble> {
    let own = own_slots(hardware_threads, Path::new("/"));
    let mut arguments = Vec::new();
    for list in host_arguments {
        arguments.extend(parse_argument(list)?);
    }
    let mut lines = Vec::new();
    for (name, text) in hostfiles {
        lines.extend(parse_hostfile(text, name)?);
    }
    let local = |e: &Entry| match is_this_machine(&e.name, this) {
        true => Ok(()),
        false => trouble(
            crate::exit::UNAVAILABLE,
            format!(
                "host {} ({}) is not this machine ({this}): several hosts arrive with a later version of oxmpi. \
                 Use --host localhost:N, or leave the hosts out.",
                e.name, e.source
            ),
        ),
    };
    arguments.iter().chain(&lines).try_for_each(local)?;
    // The checks above leave one host, under whatever names.
    let from_file = merge(&lines, &own, this)?;
    let from_arguments = merge(&arguments, &own, this)?;
    Ok(vec![match (from_file, from_arguments) {
        (None, None) => Host { name: this.into(), slots: own.0, cap: None, source: own.1 },
        (Some(host), None) | (None, Some(host)) => host,
        // --host filters the hostfile: it can lower what the file gives, not raise it.
        (Some(file), Some(argument)) if argument.slots < file.slots => Host {
            source: format!("{} (of {} in {})", argument.source, file.slots, file.source),
            cap: file.cap,
            ..argument
        },
        (Some(file), Some(_)) => file,
    }])
}

/// All mentions of one host together: counts add, mentions without a number count one each, and a single
/// one of those in a hostfile means the machine's cores.
fn merge(entries: &[Entry], own: &(usize, String), this: &str) -> Result<Option<Host>, Trouble> {
    let Some(first) = entries.first() else { return Ok(None) };
    let from_file = !first.source.starts_with("--host");
    let cap = entries.iter().filter_map(|e| e.cap).min();
    let mut sources: Vec<String> = entries.iter().map(|e| e.source.clone()).collect();
    sources.dedup();
    let mut slots = 0usize;
    for e in entries {
        slots = slots.saturating_add(match e.slots {
            Slots::Count(n) => n,
            Slots::All => own.0,
            Slots::Unsaid if from_file && entries.len() == 1 => e.cap.unwrap_or(own.0),
            Slots::Unsaid => 1,
        });
    }
    let takes_own = entries.iter().any(|e| e.slots == Slots::All)
        || (from_file && entries.len() == 1 && first.slots == Slots::Unsaid && first.cap.is_none());
    let mut source = sources.join(", ");
    if takes_own {
        source = format!("{source}: {}", own.1);
    }
    if let Some(cap) = cap.filter(|c| *c < slots) {
        return trouble(crate::exit::HOSTFILE, format!("{source}: max_slots={cap} is below the {slots} slots"));
    }
    Ok(Some(Host { name: this.into(), slots, cap, source }))
}

pub fn is_this_machine(name: &str, this: &str) -> bool {
    let short = |s: &str| s.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let loopback = name.parse::<std::net::IpAddr>().is_ok_and(|a| a.is_loopback());
    let same =
        name.eq_ignore_ascii_case(this) || (short(name) == short(this) && (!name.contains('.') || !this.contains('.')));
    loopback || name.eq_ignore_ascii_case("localhost") || (name.parse::<std::net::IpAddr>().is_err() && same)
}

fn check_name(name: &str, at: &str) -> Result<(), Trouble> {
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | ':' | '%');
    if name.is_empty() || name.starts_with('-') || !name.chars().all(letter) || name.len() > 255 {
        return trouble(crate::exit::HOSTFILE, format!("{at}: {name:?} is not a host name"));
    }
    Ok(())
}

fn count(value: &str, what: &str, at: &str) -> Result<usize, Trouble> {
    match oxmpi_pmi::env::decimal::<usize>(value) {
        Some(n) if n <= 1 << 20 => Ok(n),
        _ => trouble(crate::exit::HOSTFILE, format!("{at}: {what}={value}: not a number of slots (0 to 1048576)")),
    }
}

/// The value of one `--host`: `h`, `h:N`, `h:*`, separated by commas; IPv6 addresses as `[::1]:N` or `::1`.
pub fn parse_argument(list: &str) -> Result<Vec<Entry>, Trouble> {
    let at = format!("--host {list}");
    list.split(',')
        .map(|item| {
            later(item, &at)?;
            let (name, number) = split_number(item);
            check_name(name, &at)?;
            let slots = match number {
                None => Slots::Unsaid,
                Some("*") => Slots::All,
                Some(n) => Slots::Count(count(n, name, &at)?),
            };
            Ok(Entry { name: name.into(), slots, cap: None, source: at.clone() })
        })
        .collect()
}

/// What the grammar has and this version has not.
fn later(item: &str, at: &str) -> Result<(), Trouble> {
    let what = match item.as_bytes() {
        [b'^', ..] => "excluding a host",
        [b'+', ..] => "relative host names",
        _ => return Ok(()),
    };
    trouble(crate::exit::UNAVAILABLE, format!("{at}: {what} ({item}) arrives with several hosts, in a later version"))
}

/// `name`, `name:N`, `[v6]:N`, `[v6]` or a bare IPv6 address.
fn split_number(item: &str) -> (&str, Option<&str>) {
    if let Some((name, rest)) = item.strip_prefix('[').and_then(|r| r.split_once(']')) {
        return (name, rest.strip_prefix(':'));
    }
    match item.split_once(':') {
        Some((name, rest)) if !rest.contains(':') => (name, Some(rest)),
        _ => (item, None),
    }
}

/// A hostfile: one host a line, `slots=N`, `max_slots=N`, comments `#`, `//` and `/* */`.
pub fn parse_hostfile(text: &str, file: &str) -> Result<Vec<Entry>, Trouble> {
    let text = without_comments(text, file)?;
    let mut entries: Vec<Entry> = Vec::new();
    let mut explicit: Vec<String> = Vec::new();
    for (number, line) in text.lines().enumerate().map(|(i, l)| (i + 1, l)) {
        let at = format!("{file} line {number}");
        // "slots = 2" is "slots=2".
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ").replace(" =", "=").replace("= ", "=");
        let mut words = line.split(' ').filter(|w| !w.is_empty());
        let Some(first) = words.next() else { continue };
        later(first, &at)?;
        if first == "rank" {
            return trouble(crate::exit::UNAVAILABLE, format!("{at}: rankfiles arrive in a later version ({line})"));
        }
        let (name, mut said) = host_word(first, &at)?;
        let mut cap = None;
        for word in words {
            let Some((key, value)) = word.split_once('=') else {
                return trouble(crate::exit::HOSTFILE, format!("{at}: {word:?} is not understood in {line:?}"));
            };
            match key {
                "slots" | "cpu" | "count" => said = Some(count(value, key, &at)?),
                "max_slots" | "max-slots" | "slots_max" | "cpu_max" | "count_max" => {
                    cap = Some(count(value, key, &at)?);
                }
                // For reaching a remote host; this machine needs neither.
                "username" | "port" => {}
                _ => return trouble(crate::exit::HOSTFILE, format!("{at}: {key:?} is not a key ({line:?})")),
            }
        }
        if said.is_some() && explicit.iter().any(|n| n == name) {
            return trouble(crate::exit::HOSTFILE, format!("{at}: {name} has its slots said twice"));
        }
        if said.is_some() {
            explicit.push(name.to_owned());
        }
        let slots = match (said, cap) {
            (Some(n), Some(c)) if c < n => {
                return trouble(crate::exit::HOSTFILE, format!("{at}: max_slots={c} is below slots={n}"));
            }
            (Some(n), _) => Slots::Count(n),
            (None, Some(c)) => Slots::Count(c),
            (None, None) => Slots::Unsaid,
        };
        entries.push(Entry { name: name.into(), slots, cap, source: at });
    }
    if entries.is_empty() {
        return trouble(crate::exit::HOSTFILE, format!("{file} names no host"));
    }
    Ok(entries)
}

fn host_word<'a>(word: &'a str, at: &str) -> Result<(&'a str, Option<usize>), Trouble> {
    let word = word.split_once('@').map_or(word, |(_user, host)| host);
    let (name, number) = split_number(word);
    check_name(name, at)?;
    Ok((name, number.map(|n| count(n, name, at)).transpose()?))
}

/// Comments become spaces; lines keep their numbers.
fn without_comments(text: &str, file: &str) -> Result<String, Trouble> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '#' || rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |i| &rest[i..]);
        } else if rest.starts_with("/*") {
            let Some(end) = rest.find("*/") else {
                return trouble(crate::exit::HOSTFILE, format!("{file}: a comment /* is not closed"));
            };
            out.push(' ');
            out.extend(rest[..end].chars().filter(|c| *c == '\n'));
            rest = &rest[end + 2..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, slots: Slots, cap: Option<usize>, line: usize) -> Entry {
        Entry { name: name.into(), slots, cap, source: format!("f line {line}") }
    }

    #[test]
    fn the_hostfile_grammar() {
        let text = "# nodes\nnode0 slots=2 max_slots=20 // first\n/* two\nlines */ me@node1 cpu = 4\n\n[::1]:3\n10.0.0.1 \
                    count_max=5\nnode2:6\nnode3 username=me port=22\n";
        assert_eq!(
            parse_hostfile(text, "f").unwrap(),
            [
                entry("node0", Slots::Count(2), Some(20), 2),
                entry("node1", Slots::Count(4), None, 4),
                entry("::1", Slots::Count(3), None, 6),
                entry("10.0.0.1", Slots::Count(5), Some(5), 7),
                entry("node2", Slots::Count(6), None, 8),
                entry("node3", Slots::Unsaid, None, 9),
            ]
        );
    }

    #[test]
    fn mistakes_name_file_and_line() {
        for (text, part) in [
            ("a\nb slots=x", "f line 2"),
            ("a slots=3 max_slots=2", "max_slots=2 is below slots=3"),
            ("a slots=1\na slots=2", "twice"),
            ("a sluts=1", "\"sluts\" is not a key"),
            ("a what", "\"what\" is not understood"),
            ("-oProxyCommand=x", "not a host name"),
            ("a;b", "not a host name"),
            ("# nothing", "names no host"),
            ("/* open", "not closed"),
            ("a slots=99999999999", "not a number of slots"),
        ] {
            let e = parse_hostfile(text, "f").unwrap_err();
            assert_eq!(e.code, crate::exit::HOSTFILE, "{text}");
            assert!(e.text.contains(part) && e.text.contains('f'), "{text}: {}", e.text);
        }
        assert_eq!(parse_hostfile("^a", "f").unwrap_err().code, crate::exit::UNAVAILABLE);
        assert_eq!(parse_hostfile("rank 0=a slot=1", "f").unwrap_err().code, crate::exit::UNAVAILABLE);
    }

    fn one(arguments: &[&str], file: Option<&str>) -> Result<Host, Trouble> {
        let arguments: Vec<String> = arguments.iter().map(|s| s.to_string()).collect();
        let files: Vec<_> = file.iter().map(|t| ("f".to_owned(), t.to_string())).collect();
        Ok(resolve(&arguments, &files, true, "box.example")?.remove(0))
    }

    #[test]
    fn host_arguments_add_up() {
        assert_eq!(one(&["localhost"], None).unwrap().slots, 1);
        assert_eq!(one(&["localhost,127.0.0.1"], None).unwrap().slots, 2);
        assert_eq!(one(&["localhost:3", "box:4"], None).unwrap().slots, 7);
        assert_eq!(one(&["[::1]:5,::1"], None).unwrap().slots, 6);
        assert_eq!(one(&["box.example:*"], None).unwrap().slots, own_slots(true, Path::new("/")).0);
        assert_eq!(one(&["node7"], None).unwrap_err().code, crate::exit::UNAVAILABLE);
        assert!(one(&["box.elsewhere"], None).is_err());
        assert!(one(&["a b"], None).is_err());
        assert!(one(&["localhost:x"], None).is_err());
    }

    #[test]
    fn host_arguments_filter_a_hostfile() {
        assert_eq!(one(&[], Some("localhost slots=4")).unwrap().slots, 4);
        assert_eq!(one(&["localhost:2"], Some("localhost slots=4")).unwrap().slots, 2);
        assert_eq!(one(&["localhost:9"], Some("localhost slots=4")).unwrap().slots, 4);
        assert_eq!(one(&[], Some("localhost\nlocalhost")).unwrap().slots, 2);
        assert_eq!(one(&[], Some("localhost max_slots=3")).unwrap().slots, 3);
    }
}
