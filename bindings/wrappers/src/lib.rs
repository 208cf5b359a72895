//! The compiler wrappers: they run the user's compiler with the flags that find `mpi.h` and `libmpi_abi.so`, or print
//! those flags in each of the forms that CMake, Meson, PETSc and rsmpi ask for.
//!
//! Invariants:
//! - A wrapper finds its installation from its own executable (`PREFIX/bin/mpicc`), so the whole tree can be moved.
//! - [`command`] and [`answer`] are pure; only [`main`] looks at the environment and starts a process.
//! - Our include and library directories come before the user's arguments: the `mpi.h` that is compiled against and the
//!   library that is linked are those of the wrapper that was called, even where `-I/some/prefix/include` holds another
//!   MPI's. The library and its RUNPATH come after, where a linker that resolves from left to right needs them.
//!
//! Known gap: there is no Fortran wrapper yet.
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The name that `-l` takes.
const LIBRARY: &str = "mpi_abi";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
}

impl Language {
    fn wrapper(self) -> &'static str {
        match self {
            Language::C => "mpicc",
            Language::Cxx => "mpicxx",
        }
    }
    fn title(self) -> &'static str {
        match self {
            Language::C => "C",
            Language::Cxx => "C++",
        }
    }
    /// Environment variables that name the compiler, the first that is set and not empty wins.
    fn variables(self) -> [&'static str; 2] {
        match self {
            Language::C => ["OXMPI_CC", "MPI_CC"],
            Language::Cxx => ["OXMPI_CXX", "MPI_CXX"],
        }
    }
    /// The option that names the compiler, as in MPICH.
    fn option(self) -> &'static str {
        match self {
            Language::C => "-cc=",
            Language::Cxx => "-cxx=",
        }
    }
    /// Compilers to look for on PATH when nobody named one.
    fn defaults(self) -> [&'static str; 3] {
        match self {
            Language::C => ["cc", "gcc", "clang"],
            Language::Cxx => ["c++", "g++", "clang++"],
        }
    }
}

/// What a wrapper was asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Run the compiler.
    Run,
    /// Print the command that would run.
    Command,
    /// `-compile-info`, `-link-info`: the compiler with the flags of one phase.
    CompileInfo,
    LinkInfo,
    /// `-showme:compile` and its kin: flags alone.
    Compile,
    Link,
    IncDirs,
    LibDirs,
    Libs,
    Version,
    Compiler,
    Help,
}

/// Which question an argument asks, if it is one of the wrapper's own.
fn question(arg: &OsStr) -> Option<Ask> {
    let arg = arg.to_str()?;
    let one = arg.strip_prefix('-')?;
    let word = one.strip_prefix('-').unwrap_or(one);
    if let Some(part) = word.strip_prefix("showme:").or_else(|| word.strip_prefix("show:")) {
        return Some(match part {
            "compile" => Ask::Compile,
            "link" => Ask::Link,
            "incdirs" => Ask::IncDirs,
            "libdirs" => Ask::LibDirs,
            "libs" => Ask::Libs,
            "version" => Ask::Version,
            "command" => Ask::Compiler,
            _ => Ask::Help,
        });
    }
    match word {
        "show" | "showme" => Some(Ask::Command),
        "compile-info" | "compile_info" | "show-compile-info" | "show_compile_info" => Some(Ask::CompileInfo),
        "link-info" | "link_info" | "show-link-info" | "show_link_info" => Some(Ask::LinkInfo),
        _ => None,
    }
}

/// One call of a wrapper, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub struct Call {
    pub ask: Ask,
    /// The compiler that `-cc=` or `-cxx=` named.
    pub compiler: Option<OsString>,
    /// Everything else, as it came.
    pub args: Vec<OsString>,
}

pub fn parse(language: Language, args: impl IntoIterator<Item = OsString>) -> Call {
    let mut call = Call { ask: Ask::Run, compiler: None, args: Vec::new() };
    for arg in args {
        if let Some(ask) = question(&arg) {
            call.ask = ask;
        } else if let Some(name) = arg.as_bytes().strip_prefix(language.option().as_bytes()) {
            call.compiler = Some(OsString::from_vec(name.to_vec()));
        } else {
            call.args.push(arg);
        }
    }
    call
}

/// An installation: `PREFIX/{bin,lib,include}`.
#[derive(Clone, Debug)]
pub struct Tree {
    pub include: PathBuf,
    pub lib: PathBuf,
}

impl Tree {
    pub fn at(prefix: &Path) -> Tree {
        Tree { include: prefix.join("include"), lib: prefix.join("lib") }
    }

    fn compile_flags(&self) -> Vec<OsString> {
        vec![join("-I", &self.include)]
    }
    fn search_flags(&self) -> Vec<OsString> {
        vec![join("-L", &self.lib)]
    }
    fn link_flags(&self) -> Vec<OsString> {
        let lib = self.lib.as_os_str();
        // The compiler splits the argument of -Wl at commas.
        let rpath = if lib.as_bytes().contains(&b',') {
            vec!["-Xlinker".into(), "-rpath".into(), "-Xlinker".into(), lib.to_owned()]
        } else {
            vec!["-Wl,-rpath".into(), join("-Wl,", &self.lib)]
        };
        let rest = ["-Wl,--enable-new-dtags".into(), format!("-l{LIBRARY}").into()];
        rpath.into_iter().chain(rest).collect()
    }
}

fn join(flag: &str, path: &Path) -> OsString {
    let mut out = OsString::from(flag);
    out.push(path);
    out
}

/// Whether these arguments stop before linking, or link partially (`-r`), where a shared library is an error.
fn stops_early(args: &[OsString]) -> bool {
    const EARLY: [&str; 7] = ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r"];
    args.iter().any(|a| EARLY.iter().any(|e| a == e))
}

/// Whether these arguments name something to compile or link. `mpicc --version` and `mpicc -v` do not, and a compiler
/// that was also given a library would try to link it.
fn has_input(args: &[OsString]) -> bool {
    args.iter().any(|a| a == "-" || !a.as_bytes().starts_with(b"-"))
}

/// The whole command: compiler, then arguments. With no arguments at all it holds the flags of both phases, which is
/// what the readers of `-show` want.
pub fn command(compiler: &[OsString], tree: &Tree, args: &[OsString]) -> Vec<OsString> {
    let links = args.is_empty() || (has_input(args) && !stops_early(args));
    let mut out = compiler.to_vec();
    out.extend(tree.compile_flags());
    if links {
        out.extend(tree.search_flags());
    }
    out.extend_from_slice(args);
    if links {
        out.extend(tree.link_flags());
    }
    out
}

/// The line that answers a question; for [`Ask::Run`] it is the command.
pub fn answer(ask: Ask, language: Language, compiler: &[OsString], tree: &Tree, args: &[OsString]) -> String {
    let link = || [tree.search_flags(), tree.link_flags()].concat();
    match ask {
        Ask::Run | Ask::Command => line(&command(compiler, tree, args)),
        Ask::CompileInfo => line(&[compiler, &tree.compile_flags(), args].concat()),
        Ask::LinkInfo => line(&[compiler, &tree.search_flags(), args, &tree.link_flags()].concat()),
        Ask::Compile => line(&tree.compile_flags()),
        Ask::Link => line(&link()),
        Ask::IncDirs => line(&[tree.include.clone().into_os_string()]),
        Ask::LibDirs => line(&[tree.lib.clone().into_os_string()]),
        Ask::Libs => LIBRARY.to_owned(),
        Ask::Version => {
            format!("{}: oxmpi {} (Language: {})", language.wrapper(), env!("CARGO_PKG_VERSION"), language.title())
        }
        Ask::Compiler => line(compiler),
        Ask::Help => help(language),
    }
}

fn help(language: Language) -> String {
    let (name, option, [ours, general]) = (language.wrapper(), language.option(), language.variables());
    format!(
        "{name}: runs the {} compiler with oxmpi's header and library\n\
         \x20 {name} ARGUMENTS...          compile or link as the compiler would\n\
         \x20 {option}COMPILER, {ours}, {general}   which compiler, the first that is given\n\
         \x20 -show, -showme               print the command instead of running it\n\
         \x20 -showme:compile|link|incdirs|libdirs|libs|version|command\n\
         \x20                              print one part of it\n\
         \x20 -compile-info, -link-info    print the compiler with the flags of one phase",
        language.title()
    )
}

fn line(words: &[OsString]) -> String {
    words.iter().map(|w| quoted(&w.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// Double quotes where a shell needs them, placed after the flag (`-I"/a b"`), the form that CMake's FindMPI reads.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%^~".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let flag = ["-I", "-L", "-Wl,"].into_iter().find(|f| word.starts_with(f)).unwrap_or("");
    let mut out = format!("{flag}\"");
    for c in word[flag.len()..].chars() {
        if "\"\\$`".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

/// `ccache gcc-12 -m64` is three words; quotes keep a path with spaces whole.
fn words(text: &str) -> Vec<OsString> {
    let (mut out, mut word, mut open) = (Vec::new(), None::<String>, None);
    for c in text.chars() {
        match (c, open) {
            (q, Some(o)) if q == o => open = None,
            ('"' | '\'', None) => {
                open = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => out.extend(word.take().map(OsString::from)),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    out.extend(word.map(OsString::from));
    out
}

fn on_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(name).is_file())
}

/// The file `word` would be executed from is `exe`.
fn is_file_of(word: &OsStr, exe: &Path) -> bool {
    let same = |path: &Path| path.canonicalize().is_ok_and(|p| p == exe);
    if word.as_bytes().contains(&b'/') {
        return same(Path::new(word));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|dir| dir.join(word)).find(|p| p.is_file()).is_some_and(|p| same(&p))
}

/// The compiler's words. A value that is itself the path of a file is one word, spaces and all.
///
/// MPI_CC often names the wrapper for whoever builds with it (`MPI_CC=mpicc`): where it is this very
/// executable, it is passed over. What is meant for us alone must not name us; that is an error.
fn compiler(language: Language, named: Option<OsString>, exe: &Path) -> Result<Vec<OsString>, String> {
    let [ours, general] = language.variables();
    let given = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
    let choices =
        [(language.option(), named.filter(|n| !n.is_empty())), (ours, given(ours)), (general, given(general))];
    for (from, name) in choices {
        let Some(name) = name else { continue };
        let split = if Path::new(&name).is_file() { Vec::new() } else { words(&name.to_string_lossy()) };
        let chosen = if split.is_empty() { vec![name] } else { split };
        // Any word, since `ccache mpicc` comes back to us as well.
        let Some(us) = chosen.iter().find(|w| is_file_of(w, exe)) else { return Ok(chosen) };
        if from != general {
            let (word, from) = (us.to_string_lossy(), from.trim_end_matches('='));
            return Err(format!("{from} names {word}, which is this wrapper itself; name a compiler"));
        }
    }
    let defaults = language.defaults();
    Ok(vec![defaults.into_iter().find(|n| on_path(n) && !is_file_of(OsStr::new(n), exe)).unwrap_or(defaults[0]).into()])
}

/// A line on standard error. eprintln! panics where that cannot be written, and the exit code would be lost.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Replaces this process by the compiler, or prints what was asked for.
pub fn main(language: Language) -> ExitCode {
    let name = language.wrapper();
    let exe = match std::env::current_exe().and_then(|exe| exe.canonicalize()) {
        Ok(exe) => exe,
        Err(e) => {
            say(&format!("{name}: cannot find my own executable (is /proc mounted?): {e}"));
            return ExitCode::FAILURE;
        }
    };
    let prefix = exe.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    let tree = Tree::at(prefix);
    let call = parse(language, std::env::args_os().skip(1));
    let compiler = match compiler(language, call.compiler, &exe) {
        Ok(words) => words,
        Err(why) => {
            say(&format!("{name}: {why}"));
            return ExitCode::FAILURE;
        }
    };
    if call.ask != Ask::Run {
        let text = format!("{}\n", answer(call.ask, language, &compiler, &tree, &call.args));
        let mut out = std::io::stdout();
        return match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(e) => {
                say(&format!("{name}: standard output: {e}"));
                ExitCode::FAILURE
            }
        };
    }
    if has_input(&call.args) && !tree.include.join("mpi.h").is_file() {
        say(&format!(
            "{name}: there is no mpi.h in {}; {name} belongs in the bin folder of an installation \
             (cargo xtask install --prefix DIR makes one)",
            tree.include.display()
        ));
        return ExitCode::FAILURE;
    }
    if call.args.is_empty() {
        say(&help(language));
        return ExitCode::FAILURE;
    }
    let full = command(&compiler, &tree, &call.args);
    let error = std::process::Command::new(&full[0]).args(&full[1..]).exec();
    let [ours, general] = language.variables();
    say(&format!(
        "{name}: cannot run the compiler {}: {error}; name another with {}COMPILER, {ours} or {general}",
        full[0].to_string_lossy(),
        language.option()
    ));
    ExitCode::from(127)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn os(list: &[&str]) -> Vec<OsString> {
        list.iter().map(OsString::from).collect()
    }
    fn say(ask: Ask, args: &[&str]) -> String {
        answer(ask, Language::C, &os(&["cc"]), &Tree::at(Path::new("/opt/ox")), &os(args))
    }

    #[test]
    fn every_form_of_every_question() {
        for (arg, ask) in [
            ("-show", Ask::Command),
            ("-showme", Ask::Command),
            ("--showme", Ask::Command),
            ("-showme:compile", Ask::Compile),
            ("--showme:compile", Ask::Compile),
            ("-showme:link", Ask::Link),
            ("--showme:link", Ask::Link),
            ("--showme:incdirs", Ask::IncDirs),
            ("-showme:libdirs", Ask::LibDirs),
            ("-showme:libs", Ask::Libs),
            ("-showme:version", Ask::Version),
            ("-showme:command", Ask::Compiler),
            ("-compile-info", Ask::CompileInfo),
            ("-compile_info", Ask::CompileInfo),
            ("-link-info", Ask::LinkInfo),
            ("-link_info", Ask::LinkInfo),
            ("-show-compile-info", Ask::CompileInfo),
            ("-show-link-info", Ask::LinkInfo),
        ] {
            assert_eq!(question(OsStr::new(arg)), Some(ask), "{arg}");
        }
        for arg in ["-shared", "-c", "show", "--version", "-static", "-showy"] {
            assert_eq!(question(OsStr::new(arg)), None, "{arg}");
        }
    }

    #[test]
    fn show_without_arguments_has_both_phases() {
        assert_eq!(
            say(Ask::Command, &[]),
            "cc -I/opt/ox/include -L/opt/ox/lib -Wl,-rpath -Wl,/opt/ox/lib -Wl,--enable-new-dtags -lmpi_abi"
        );
    }

    #[test]
    fn compiling_alone_adds_nothing_for_the_linker() {
        assert_eq!(say(Ask::Command, &["-c", "a.c"]), "cc -I/opt/ox/include -c a.c");
        assert_eq!(say(Ask::Command, &["--version"]), "cc -I/opt/ox/include --version");
        assert!(
            say(Ask::Command, &["a.o", "-o", "a"])
                .ends_with("a.o -o a -Wl,-rpath -Wl,/opt/ox/lib -Wl,--enable-new-dtags -lmpi_abi")
        );
    }

    #[test]
    fn infos_start_with_the_compiler_and_showme_parts_do_not() {
        assert_eq!(say(Ask::CompileInfo, &[]), "cc -I/opt/ox/include");
        assert_eq!(say(Ask::Compile, &[]), "-I/opt/ox/include");
        assert!(say(Ask::LinkInfo, &[]).starts_with("cc -L/opt/ox/lib "));
        assert!(say(Ask::Link, &[]).starts_with("-L/opt/ox/lib "));
    }

    #[test]
    fn paths_with_spaces_are_quoted_after_the_flag() {
        let tree = Tree::at(Path::new("/my mpi"));
        let shown = answer(Ask::Command, Language::C, &os(&["cc"]), &tree, &[]);
        assert_eq!(
            shown,
            "cc -I\"/my mpi/include\" -L\"/my mpi/lib\" -Wl,-rpath -Wl,\"/my mpi/lib\" -Wl,--enable-new-dtags -lmpi_abi"
        );
        assert_eq!(answer(Ask::IncDirs, Language::C, &[], &tree, &[]), "\"/my mpi/include\"");
    }

    #[test]
    fn shell_characters_are_kept_from_the_shell() {
        assert_eq!(say(Ask::Command, &["-c", "-DX=\"a $b\""]), "cc -I/opt/ox/include -c \"-DX=\\\"a \\$b\\\"\"");
    }

    #[test]
    fn a_comma_in_the_prefix_goes_round_wl() {
        let tree = Tree::at(Path::new("/a,b"));
        assert!(tree.link_flags().starts_with(&os(&["-Xlinker", "-rpath", "-Xlinker", "/a,b/lib"])));
    }

    #[test]
    fn compiler_words() {
        assert_eq!(words("ccache 'my gcc'  -m64"), os(&["ccache", "my gcc", "-m64"]));
        assert_eq!(words(""), os(&[]));
        let call = parse(Language::Cxx, os(&["-cxx=clang++", "-cc=x", "a.cc"]));
        assert_eq!(call, Call { ask: Ask::Run, compiler: Some("clang++".into()), args: os(&["-cc=x", "a.cc"]) });
    }
}
