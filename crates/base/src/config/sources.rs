//! Where the values of control variables come from, and what to say when one is wrong.
//!
//! Later wins: a file, the environment, `mpirun --set`. There is one file: `OXMPI_CONFIG` names it (empty: none), else it is
//! the first that exists of `$XDG_CONFIG_HOME/oxmpi.conf` (`~/.config/oxmpi.conf` without that variable) and
//! `/etc/oxmpi.conf`. Its lines are `NAME = VALUE`; `#` begins a comment at the start of a line or after a blank.
//!
//! Every name that begins with `OXMPI_` in the environment has to be known: a misspelt one would otherwise do
//! nothing, in silence. Names that are no variables but have a meaning elsewhere are in the [`Registry`].
use super::{Source, Value, Variable};
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

pub const PREFIX: &str = "OXMPI_";
/// The environment variable that names the file.
pub const CONFIG: &str = "OXMPI_CONFIG";

/// All that may be set.
#[derive(Clone, Copy)]
pub struct Registry {
    /// The variables of each crate that has some.
    pub groups: &'static [&'static [&'static Variable]],
    /// Environment variables that begin with `OXMPI_` and are none of these; one that ends with `_` stands for all that
    /// begin so.
    pub others: &'static [&'static [&'static str]],
}

/// A value that a source gives to a variable.
#[derive(Clone, Debug)]
pub struct Setting {
    pub variable: &'static Variable,
    pub value: Value,
    pub source: Source,
}

impl Setting {
    /// As an environment variable of a rank.
    pub fn pair(&self) -> (OsString, OsString) {
        (self.variable.environment_name().into(), self.variable.show(&self.value).into())
    }
}

/// Gives the variables their values, in order.
pub fn apply(settings: Vec<Setting>) {
    for s in settings {
        s.variable.set(s.value, s.source);
    }
}

impl Registry {
    pub fn variables(&self) -> impl Iterator<Item = &'static Variable> + use<> {
        self.groups.iter().flat_map(|g| g.iter().copied())
    }

    pub fn find(&self, name: &str) -> Option<&'static Variable> {
        self.variables().find(|v| v.name == name)
    }

    /// The variable of a name, or a sentence with the nearest.
    pub fn named(&self, name: &str) -> Result<&'static Variable, String> {
        self.find(name).ok_or_else(|| {
            let lower = name.to_ascii_lowercase();
            let bare = lower.strip_prefix("oxmpi_").unwrap_or(&lower);
            let near = nearest(bare, self.variables().map(|v| v.name)).unwrap_or_default();
            format!("'{name}' is not a control variable; the nearest one is {near} (oxmpi info lists all)")
        })
    }

    /// What a configuration file says. `path` is for messages.
    pub fn from_file(&self, path: &Path, text: &[u8]) -> Result<Vec<Setting>, String> {
        let mut settings = Vec::new();
        for (number, line) in text.split(|b| *b == b'\n').enumerate() {
            let source = Source::File { path: path.display().to_string(), line: number + 1 };
            let wrong = |why: String| format!("{}:{}: {why}", path.display(), number + 1);
            let line = std::str::from_utf8(line).map_err(|_| wrong("the line is not UTF-8".into()))?;
            let line = without_comment(line).trim();
            if line.is_empty() {
                continue;
            }
            settings.push(self.assignment(line, source).map_err(wrong)?);
        }
        Ok(settings)
    }

    /// What `--set NAME=VALUE` options say.
    pub fn from_options(&self, options: &[String]) -> Result<Vec<Setting>, String> {
        let one = |o: &String| self.assignment(o, Source::Option).map_err(|why| format!("--set {o}: {why}"));
        options.iter().map(one).collect()
    }

    /// What the environment says; a name with our prefix that nothing reads is an error.
    pub fn from_environment<'a>(
        &self,
        variables: impl Iterator<Item = (&'a OsStr, &'a OsStr)>,
    ) -> Result<Vec<Setting>, String> {
        let mut settings = Vec::new();
        for (name, value) in variables {
            if !name.as_bytes().starts_with(PREFIX.as_bytes()) {
                continue;
            }
            let name = name.to_string_lossy();
            let short = &name[PREFIX.len()..];
            let Some(variable) = self.variables().find(|v| is_upper_of(short, v.name)) else {
                if self.is_other(&name) {
                    continue;
                }
                let known = self.variables().map(|v| v.name).chain(["config"]);
                let near = nearest(&short.to_ascii_lowercase(), known).unwrap_or_default();
                let near = format!("{PREFIX}{}", near.to_ascii_uppercase());
                return Err(format!(
                    "{name} in the environment: nothing in oxmpi has that name; the nearest one is {near} \
                     (oxmpi info lists all)"
                ));
            };
            let value = value.to_str().ok_or_else(|| format!("{name}={value:?} in the environment: not UTF-8"))?;
            let value = self
                .value(variable, value)
                .map_err(|why| format!("{name}={value} in the environment: the value {why}"))?;
            settings.push(Setting { variable, value, source: Source::Environment });
        }
        Ok(settings)
    }

    fn is_other(&self, name: &str) -> bool {
        let fits = |o: &&str| *o == name || o.ends_with('_') && name.starts_with(o);
        self.others.iter().flat_map(|g| g.iter()).any(fits)
    }

    fn assignment(&self, text: &str, source: Source) -> Result<Setting, String> {
        let (name, value) = text.split_once('=').ok_or_else(|| format!("'{text}' is not of the form NAME=VALUE"))?;
        let variable = self.named(name.trim())?;
        let value = value.trim();
        let value =
            self.value(variable, value).map_err(|why| format!("{} = {value}: the value {why}", variable.name))?;
        Ok(Setting { variable, value, source })
    }

    fn value(&self, variable: &'static Variable, text: &str) -> Result<Value, String> {
        variable.parse(text).map_err(|why| if text.is_empty() { format!("is empty; it {why}") } else { why })
    }
}

fn is_upper_of(upper: &str, name: &str) -> bool {
    upper.len() == name.len() && upper.bytes().zip(name.bytes()).all(|(u, n)| u == n.to_ascii_uppercase())
}

fn without_comment(line: &str) -> &str {
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        if c == '#' && before.is_whitespace() {
            return &line[..at];
        }
        before = c;
    }
    line
}

/// The one configuration file and its contents. `get` looks a variable up in the environment.
pub fn config_file(get: impl Fn(&str) -> Option<OsString>) -> Result<Option<(PathBuf, Vec<u8>)>, String> {
    if let Some(named) = get(CONFIG) {
        if named.is_empty() {
            return Ok(None);
        }
        return match std::fs::read(&named) {
            Ok(text) => Ok(Some((named.into(), text))),
            Err(e) => Err(format!("{CONFIG}={}: {e}; {CONFIG}= (empty) reads no file", named.to_string_lossy())),
        };
    }
    for path in candidates(get) {
        match std::fs::read(&path) {
            Ok(text) => return Ok(Some((path, text))),
            // Another user's home is no reason not to run.
            Err(e)
                if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied) => {
            }
            Err(e) => return Err(format!("{}: {e}; {CONFIG}= (empty) reads no file", path.display())),
        }
    }
    Ok(None)
}

/// Where the file is looked for while `OXMPI_CONFIG` names none.
pub fn candidates(get: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let absolute = |name: &str| get(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let home = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|h| h.join(".config")));
    home.map(|h| h.join("oxmpi.conf")).into_iter().chain([PathBuf::from("/etc/oxmpi.conf")]).collect()
}

/// The known word that is nearest to `word`: one that contains it, else the one with the fewest changes of letters.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known.min_by_key(|k| {
        let inside = word.len() > 2 && k.contains(word);
        (!inside, distance(word, k))
    })
}

/// Insertions, deletions and replacements between two words.
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Choice, Integer, Size, Text};

    static EAGER: Size = Size::new("p2p_eager_limit", 100, 0..=1000);
    static TRIES: Integer = Integer::new("wait_tries", 20, 0..=1000);
    static COPY: Choice = Choice::new("shm_copy", 0, &["auto", "cma", "none"]);
    static NOTE: Text = Text::new("note", "");
    static ALL: &[&Variable] = &[EAGER.variable(), TRIES.variable(), COPY.variable(), NOTE.variable()];
    const ALL_OF_THEM: Registry = Registry { groups: &[ALL], others: &[&["OXMPI_RANK", "OXMPI_XTASK_"], &[CONFIG]] };

    fn shown(settings: &[Setting]) -> Vec<(&str, String, String)> {
        let show = |s: &Setting| (s.variable.name, s.variable.show(&s.value), s.source.of(s.variable));
        settings.iter().map(show).collect()
    }
    fn environment(pairs: &[(&str, &str)]) -> Result<Vec<Setting>, String> {
        ALL_OF_THEM.from_environment(pairs.iter().map(|(n, v)| (OsStr::new(*n), OsStr::new(*v))))
    }

    #[test]
    fn a_file() {
        let text = "# all of it\n\n p2p_eager_limit=1k # no\nwait_tries = 7\r\n  # x\nnote = a#b  c # d\nwait_tries=8";
        let e = ALL_OF_THEM.from_file(Path::new("/x/f"), text.as_bytes()).unwrap_err();
        assert!(e.starts_with("/x/f:3: p2p_eager_limit = 1k: the value is out of range"), "{e}");
        let text = text.replace("1k", "512");
        let got = ALL_OF_THEM.from_file(Path::new("/x/f"), text.as_bytes()).unwrap();
        let at = |line| format!("/x/f:{line}");
        let want = [
            ("p2p_eager_limit", "512".to_owned(), at(3)),
            ("wait_tries", "7".into(), at(4)),
            ("note", "a#b  c".into(), at(6)),
            ("wait_tries", "8".into(), at(7)),
        ];
        assert_eq!(shown(&got), want);
    }

    #[test]
    fn mistakes_name_their_place_and_the_nearest_name() {
        let file = |text: &[u8]| ALL_OF_THEM.from_file(Path::new("f"), text).unwrap_err();
        assert!(
            file(b"\neager_limit = 3")
                .starts_with("f:2: 'eager_limit' is not a control variable; the nearest one is p2p_eager_limit")
        );
        assert!(file(b"wait_trys=3").contains("the nearest one is wait_tries"));
        assert!(file(b"shm_copy = cna").contains("the nearest is cma"));
        assert!(file(b"wait_tries").starts_with("f:1: 'wait_tries' is not of the form"));
        assert!(file(b"wait_tries =").contains("the value is empty"));
        assert!(file(b"a\xff = 1").contains("not UTF-8"));
        let options = |o: &str| ALL_OF_THEM.from_options(&[o.to_owned()]).unwrap_err();
        assert!(
            options("wait_tries=x").starts_with("--set wait_tries=x: wait_tries = x: the value is not a whole number")
        );
        assert!(options("OXMPI_P2P_EAGER_LIMIT=1").contains("nearest one is p2p_eager_limit"));
        assert!(options("shmcopy=cma").contains("nearest one is shm_copy"));
        let e = environment(&[("HOME", "/"), ("OXMPI_WAIT_TRIE", "1")]).unwrap_err();
        assert!(
            e.contains("OXMPI_WAIT_TRIE in the environment") && e.contains("nearest one is OXMPI_WAIT_TRIES"),
            "{e}"
        );
        let e = environment(&[("OXMPI_wait_tries", "1")]).unwrap_err();
        assert!(e.contains("nearest one is OXMPI_WAIT_TRIES"), "{e}");
        let e = environment(&[("OXMPI_EAGER", "1")]).unwrap_err();
        assert!(e.contains("nearest one is OXMPI_P2P_EAGER_LIMIT "), "{e}");
        let e = environment(&[("OXMPI_CONFG", "x")]).unwrap_err();
        assert!(e.contains("nearest one is OXMPI_CONFIG"), "{e}");
        let e = environment(&[("OXMPI_WAIT_TRIES", "-1")]).unwrap_err();
        assert!(e.contains("OXMPI_WAIT_TRIES=-1 in the environment: the value is out of range: at least 0"), "{e}");
    }

    #[test]
    fn names_with_a_meaning_elsewhere_are_let_through() {
        let got = environment(&[
            ("OXMPI_RANK", "x"),
            ("OXMPI_XTASK_ANY", ""),
            ("OXMPI_CONFIG", "f"),
            ("OXMPI_NOTE", "n"),
            ("XOXMPI_Y", ""),
        ]);
        assert_eq!(shown(&got.unwrap()), [("note", "n".into(), "OXMPI_NOTE".into())]);
        assert!(environment(&[("OXMPI_RANKS", "x")]).is_err());
        assert!(environment(&[("OXMPI_", "x")]).is_err());
    }

    #[test]
    fn later_sources_win() {
        control_test_reset();
        let mut all = ALL_OF_THEM.from_file(Path::new("f"), b"wait_tries=1\np2p_eager_limit=1\nshm_copy=cma").unwrap();
        all.extend(environment(&[("OXMPI_WAIT_TRIES", "2"), ("OXMPI_P2P_EAGER_LIMIT", "2")]).unwrap());
        all.extend(ALL_OF_THEM.from_options(&["p2p_eager_limit=3".into(), "p2p_eager_limit = 4".into()]).unwrap());
        apply(all);
        assert_eq!((EAGER.get(), TRIES.get(), COPY.get()), (4, 2, 1));
        let sources: Vec<String> = ALL.iter().map(|v| v.source().of(v)).collect();
        assert_eq!(sources, ["--set", "OXMPI_WAIT_TRIES", "f:3", "default"]);
        control_test_reset();
    }

    fn control_test_reset() {
        for v in ALL {
            v.set(v.default(), Source::Default);
        }
    }

    #[test]
    fn the_file_is_the_first_that_exists() {
        let dir = std::env::temp_dir().join(format!("oxmpi-config-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("home/.config")).unwrap();
        std::fs::create_dir_all(dir.join("xdg")).unwrap();
        let (home, xdg) = (dir.join("home"), dir.join("xdg"));
        let find = |extra: &[(&str, &str)]| {
            let own = [("HOME", home.to_str().unwrap()), ("XDG_CONFIG_HOME", xdg.to_str().unwrap())];
            let all: Vec<_> = own.iter().chain(extra).copied().collect();
            config_file(|name| all.iter().rev().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v)))
        };
        let etc = std::fs::read("/etc/oxmpi.conf").ok().map(|t| (PathBuf::from("/etc/oxmpi.conf"), t));
        assert_eq!(find(&[]).unwrap(), etc);
        std::fs::write(home.join(".config/oxmpi.conf"), "a").unwrap();
        assert_eq!(find(&[]).unwrap(), etc, "XDG_CONFIG_HOME stands in place of ~/.config");
        let found = find(&[("XDG_CONFIG_HOME", "")]).unwrap().unwrap();
        assert_eq!(found, (home.join(".config/oxmpi.conf"), b"a".to_vec()));
        std::fs::write(xdg.join("oxmpi.conf"), "b").unwrap();
        assert_eq!(find(&[]).unwrap().unwrap().1, b"b");
        assert_eq!(find(&[(CONFIG, "")]).unwrap(), None);
        let missing = dir.join("missing");
        let e = find(&[(CONFIG, missing.to_str().unwrap())]).unwrap_err();
        assert!(e.contains("missing: No such file"), "{e}");
        assert_eq!(find(&[("HOME", "relative"), ("XDG_CONFIG_HOME", "too")]).unwrap(), etc);
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn distances() {
        assert_eq!((distance("", "abc"), distance("abc", "abc"), distance("abcd", "acd")), (3, 0, 1));
        assert_eq!(nearest("colour", ["color", "valour"].into_iter()), Some("color"));
        assert_eq!(nearest("limit", ["timid", "eager_limit"].into_iter()), Some("eager_limit"));
    }
}
