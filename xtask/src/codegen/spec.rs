//! The standard as data: reads and cross-checks the tables of `spec/`. The columns are described in
//! `spec/README.md`. A table that contradicts another is an error that names file and line.
use anyhow::{Context, Result, bail, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How a parameter of a kind travels in C.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passed {
    /// `T` when it goes in alone, `T *` when it comes out or is an array.
    Value,
    /// Always `T *`.
    Pointer,
    /// A pointer to the function type that the parameter's `func=` flag names.
    Function,
    /// An array of `T[3]`.
    Triple,
    /// `...`
    Varargs,
}

pub struct Kind {
    pub passed: Passed,
    pub c: String,
    /// The C type in the `_c` twin, where it differs.
    pub c_large: Option<String>,
    /// The type the core function sees: `i32`, `i64`, `count`, `handle::X`, `Buf`, ...
    pub core: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dir {
    In,
    Out,
    InOut,
}

pub struct Param {
    pub name: String,
    pub kind: String,
    pub length: Option<String>,
    pub dir: Dir,
    pub constant: bool,
    pub large_only: bool,
    pub func: Option<String>,
}

pub struct Exception {
    pub clause: String,
    pub reason: String,
}

/// A procedure or a callback type, with both of its twins.
pub struct Procedure {
    pub name: String,
    pub chapter: String,
    pub ret: String,
    pub twin: bool,
    pub params: Vec<Param>,
    pub exception: Option<Exception>,
}

impl Procedure {
    /// The names exported for it: `MPI_X` and, with a twin, `MPI_X_c`.
    pub fn symbols(&self) -> impl Iterator<Item = (String, bool)> + '_ {
        [false, true].into_iter().filter(|large| !large || self.twin).map(|large| (self.symbol(large), large))
    }
    pub fn symbol(&self, large: bool) -> String {
        if large { format!("{}_c", self.name) } else { self.name.clone() }
    }
    /// The parameters of one twin.
    pub fn params_of(&self, large: bool) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(move |p| large || !p.large_only)
    }
    /// The core function's name: `MPI_Comm_split` is `comm_split`.
    pub fn core_name(&self) -> String {
        self.name.trim_start_matches("MPI_").to_lowercase()
    }
    /// Handle to integer and back: the identity on handle values, done in `abi` itself.
    pub fn is_conversion(&self) -> bool {
        self.name.ends_with("_toint") || self.name.ends_with("_fromint")
    }
    /// Whether the core function is told which twin was called.
    pub fn wants_large(&self) -> bool {
        self.twin
            && (matches!(self.chapter.as_str(), "datatype" | "op")
                || self.params.iter().any(|p| p.kind == "POLYFUNCTION"))
    }
}

pub struct Constant {
    pub name: String,
    pub c_type: String,
    pub value: String,
}

pub struct Spec {
    pub kinds: BTreeMap<String, Kind>,
    pub procedures: Vec<Procedure>,
    pub callbacks: Vec<Procedure>,
    pub constants: Vec<Constant>,
}

/// The rows of a table: line number and fields. Lines that start with `#` are comments.
fn rows(path: &Path, columns: usize) -> Result<Vec<(String, Vec<String>)>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let mut out = vec![];
    for (i, line) in text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let place = format!("{}:{}", path.display(), i + 1);
        let mut fields: Vec<String> = line.split('\t').map(str::to_string).collect();
        ensure!(fields.len() <= columns, "{place}: {} fields, at most {columns} are expected", fields.len());
        fields.resize(columns, String::new());
        out.push((place, fields));
    }
    Ok(out)
}

fn param(text: &str) -> Result<Param> {
    let parts: Vec<&str> = text.split(':').collect();
    let [name, kind, dir, flags @ ..] = parts.as_slice() else { bail!("`{text}` is not name:KIND:direction[:flags]") };
    let (kind, length) = match kind.split_once('[') {
        Some((kind, rest)) => (kind, Some(rest.trim_end_matches(']').to_string())),
        None => (*kind, None),
    };
    let dir = match *dir {
        "in" => Dir::In,
        "out" => Dir::Out,
        "inout" => Dir::InOut,
        other => bail!("`{other}` is not a direction"),
    };
    let mut p = Param {
        name: name.to_string(),
        kind: kind.to_string(),
        length,
        dir,
        constant: false,
        large_only: false,
        func: None,
    };
    for flag in flags.iter().flat_map(|f| f.split('+')) {
        match flag.split_once('=') {
            None if flag == "const" => p.constant = true,
            None if flag == "large_only" => p.large_only = true,
            Some(("func", name)) => p.func = Some(name.to_string()),
            _ => bail!("`{flag}` is not a flag"),
        }
    }
    Ok(p)
}

fn params(text: &str) -> Result<Vec<Param>> {
    text.split_whitespace().map(param).collect()
}

impl Spec {
    pub fn load(dir: &Path) -> Result<Spec> {
        let mut spec =
            Spec { kinds: BTreeMap::new(), procedures: vec![], callbacks: vec![], constants: load_constants(dir)? };
        spec.load_kinds(dir)?;
        for (place, f) in rows(&dir.join("procedures.tsv"), 5)? {
            spec.procedures.push(procedure(&f[0], &f[1], &f[2], &f[3], &f[4]).context(place)?);
        }
        for (place, f) in rows(&dir.join("callbacks.tsv"), 4)? {
            spec.callbacks.push(procedure(&f[0], "", &f[1], &f[2], &f[3]).context(place)?);
        }
        for p in spec.procedures.iter().chain(&spec.callbacks) {
            for kind in p.params.iter().map(|q| &q.kind).chain([&p.ret]) {
                ensure!(spec.kinds.contains_key(kind), "{}: kind {kind} is not in kinds.tsv", p.name);
            }
        }
        spec.load_exceptions(&dir.join("exceptions"))?;
        spec.check_symbols(&dir.join("symbols.tsv"))?;
        Ok(spec)
    }

    fn load_kinds(&mut self, dir: &Path) -> Result<()> {
        for (place, f) in rows(&dir.join("kinds.tsv"), 5)? {
            let passed = match f[1].as_str() {
                "value" => Passed::Value,
                "pointer" => Passed::Pointer,
                "function" => Passed::Function,
                "triple" => Passed::Triple,
                "varargs" => Passed::Varargs,
                other => bail!("{place}: `{other}` is not a way to pass an argument"),
            };
            let c_large = (f[3] != "-").then(|| f[3].clone());
            let kind = Kind { passed, c: f[2].clone(), c_large, core: f[4].clone() };
            ensure!(self.kinds.insert(f[0].clone(), kind).is_none(), "{place}: {} stands twice", f[0]);
        }
        Ok(())
    }

    /// `exceptions/CHAPTER.tsv` marks procedures of that chapter as not implemented.
    fn load_exceptions(&mut self, dir: &Path) -> Result<()> {
        let mut files: Vec<_> = std::fs::read_dir(dir)?.collect::<std::io::Result<_>>()?;
        files.sort_by_key(|f| f.file_name());
        for file in files {
            let path = file.path();
            if path.extension().is_none_or(|e| e != "tsv") {
                continue;
            }
            let chapter = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            for (place, f) in rows(&path, 3)? {
                let Some(p) = self.procedures.iter_mut().find(|p| p.name == f[0]) else {
                    bail!("{place}: {} is not in procedures.tsv (a `_c` twin is excepted with its procedure)", f[0])
                };
                ensure!(p.chapter == chapter, "{place}: {} belongs in exceptions/{}.tsv", f[0], p.chapter);
                ensure!(p.exception.is_none(), "{place}: {} stands twice", f[0]);
                ensure!(!f[1].is_empty() && !f[2].is_empty(), "{place}: clause and reason must be given");
                p.exception = Some(Exception { clause: f[1].clone(), reason: f[2].clone() });
            }
        }
        Ok(())
    }

    /// `symbols.tsv` is the expectation the prototypes are held against, name by name.
    fn check_symbols(&self, path: &Path) -> Result<()> {
        let mut expected = BTreeMap::new();
        for (place, f) in rows(path, 3)? {
            expected.insert(f[0].clone(), (place, f[1].clone(), f[2].clone()));
        }
        let mut seen = BTreeSet::new();
        for p in &self.procedures {
            for (symbol, large) in p.symbols() {
                ensure!(seen.insert(symbol.clone()), "procedures.tsv: {symbol} stands twice");
                let Some((place, ret, args)) = expected.get(&symbol) else {
                    bail!("procedures.tsv: {symbol} is not in symbols.tsv")
                };
                let types: Vec<String> = p.params_of(large).map(|q| self.c_type(q, large)).collect();
                let (types, own_ret) = (types.join(", "), &self.kinds[&p.ret].c);
                ensure!(
                    types == *args && own_ret == ret,
                    "{place}: {symbol} is {ret} ({args}), procedures.tsv says {own_ret} ({types})"
                );
            }
        }
        if let Some(missing) = expected.keys().find(|s| !seen.contains(*s)) {
            bail!("symbols.tsv: {missing} has no row in procedures.tsv");
        }
        Ok(())
    }

    /// The C type of a parameter, as symbols.tsv spells it.
    pub fn c_type(&self, p: &Param, large: bool) -> String {
        let kind = &self.kinds[&p.kind];
        let base = if large { kind.c_large.as_ref().unwrap_or(&kind.c) } else { &kind.c };
        let constant = if p.constant { "const " } else { "" };
        match kind.passed {
            Passed::Value if p.dir == Dir::In && p.length.is_none() => format!("{constant}{base}"),
            Passed::Value | Passed::Pointer => format!("{constant}{base}*"),
            Passed::Function => {
                let twin = if large && p.kind.starts_with("POLY") { "_c" } else { "" };
                format!("{}{twin}*", p.func.as_deref().unwrap_or("void"))
            }
            Passed::Triple => format!("{base}**"),
            Passed::Varargs => "...".into(),
        }
    }

    pub fn chapters(&self) -> BTreeSet<&str> {
        self.procedures.iter().map(|p| p.chapter.as_str()).collect()
    }
    pub fn chapter<'a>(&'a self, chapter: &'a str) -> impl Iterator<Item = &'a Procedure> {
        self.procedures.iter().filter(move |p| p.chapter == chapter)
    }
}

fn procedure(name: &str, chapter: &str, ret: &str, twin: &str, args: &str) -> Result<Procedure> {
    let twin = match twin {
        "c" => true,
        "-" => false,
        other => bail!("{name}: the twin column is `{other}`, not `c` or `-`"),
    };
    let params = params(args).with_context(|| name.to_string())?;
    Ok(Procedure { name: name.into(), chapter: chapter.into(), ret: ret.into(), twin, params, exception: None })
}

fn load_constants(dir: &Path) -> Result<Vec<Constant>> {
    let rows = rows(&dir.join("constants.tsv"), 3)?;
    Ok(rows
        .into_iter()
        .map(|(_, f)| Constant { name: f[0].clone(), c_type: f[1].clone(), value: f[2].clone() })
        .collect())
}
