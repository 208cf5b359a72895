//! What the ABI promises, held against the built library and the header: `check_library`,
//! `check_header` and `check_calls`, for `cargo xtask test`. An error lists everything that is wrong.
use crate::codegen::{Spec, exported_names, root};
use anyhow::{Context, Result, bail, ensure};
use object::elf::{DF_1_NODELETE, DT_FLAGS_1, DT_NEEDED, DT_RPATH, DT_RUNPATH, DT_SONAME};
use object::read::elf::{Dyn, ElfFile64, SectionHeader};
use object::{Endianness, Object, ObjectSymbol, ObjectSymbolTable, RelocationTarget};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const SONAME: &str = "libmpi_abi.so.1";

/// The libraries of libc's family, without their versions.
const LIBC_FAMILY: [&str; 7] =
    ["libc.so", "libm.so", "libpthread.so", "libdl.so", "librt.so", "libgcc_s.so", "ld-linux"];

/// The dynamic section, as far as it is checked.
#[derive(Default)]
struct Dynamic {
    soname: Option<String>,
    needed: Vec<String>,
    search_paths: Vec<String>,
    flags_1: u64,
}

/// The library exports the standard's names and no other, under the name programs look for, needs only
/// libc's family, cannot be unloaded, can be told apart from other builds, and never calls through an
/// exported name.
pub fn check_library(path: &Path) -> Result<()> {
    let data = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let file = ElfFile64::<Endianness>::parse(&*data).with_context(|| path.display().to_string())?;
    let mut wrong = vec![];

    let expected: BTreeSet<String> = exported_names(&Spec::load(&root().join("spec"))?).into_iter().collect();
    let mut found = BTreeSet::new();
    for symbol in file.dynamic_symbols() {
        let name = symbol.name()?.to_string();
        if symbol.is_undefined() {
            if is_mpi(&name) {
                wrong.push(format!("it calls {name} through the dynamic linker; a tool would see the call"));
            }
        } else if symbol.is_global() || symbol.is_weak() {
            found.insert(name);
        }
    }
    wrong.extend(expected.difference(&found).map(|n| format!("{n} is not exported")));
    wrong.extend(found.difference(&expected).map(|n| format!("{n} is exported and not in spec/symbols.tsv")));

    let symbols = file.dynamic_symbol_table().context("no dynamic symbol table")?;
    for (_, relocation) in file.dynamic_relocations().into_iter().flatten() {
        if let RelocationTarget::Symbol(index) = relocation.target() {
            let name = symbols.symbol_by_index(index)?.name()?;
            if is_mpi(name) {
                wrong.push(format!("a relocation names {name}; a tool would see the library's own use"));
            }
        }
    }

    let dynamic = dynamic(&file, &data)?;
    if dynamic.soname.as_deref() != Some(SONAME) {
        wrong.push(format!("the soname is {:?}, not {SONAME}", dynamic.soname));
    }
    let foreign = |n: &&String| !LIBC_FAMILY.iter().any(|f| n.starts_with(f));
    wrong.extend(dynamic.needed.iter().filter(foreign).map(|n| format!("it needs {n}, which is not of libc's family")));
    wrong.extend(dynamic.search_paths.iter().map(|p| format!("it holds the search path {p}")));
    if dynamic.flags_1 & u64::from(DF_1_NODELETE) == 0 {
        wrong.push("it is not linked with -z nodelete".into());
    }
    if file.build_id()?.is_none() {
        wrong.push("it has no build-id".into());
    }
    report(&path.display().to_string(), wrong)
}

fn is_mpi(name: &str) -> bool {
    name.starts_with("MPI_") || name.starts_with("PMPI_")
}

fn dynamic(file: &ElfFile64<Endianness>, data: &[u8]) -> Result<Dynamic> {
    let mut out = Dynamic::default();
    let endian = file.endian();
    let sections = file.elf_section_table();
    for section in sections.iter() {
        let Some((entries, link)) = SectionHeader::dynamic(section, endian, data)? else { continue };
        let strings = sections.strings(endian, data, link)?;
        for entry in entries {
            let Some(tag) = entry.tag32(endian) else { continue };
            let text =
                || -> Result<String> { Ok(String::from_utf8_lossy(entry.string(endian, strings)?).into_owned()) };
            match tag {
                DT_SONAME => out.soname = Some(text()?),
                DT_NEEDED => out.needed.push(text()?),
                DT_RPATH | DT_RUNPATH => out.search_paths.push(text()?),
                DT_FLAGS_1 => out.flags_1 = entry.d_val(endian),
                _ => {}
            }
        }
    }
    ensure!(out.soname.is_some() || !out.needed.is_empty(), "no dynamic section");
    Ok(out)
}

fn report(what: &str, wrong: Vec<String>) -> Result<()> {
    if wrong.is_empty() {
        return Ok(());
    }
    bail!("{what}:\n  {}", wrong.join("\n  "))
}

/// A C or C++ compiler and the standard it is asked for.
const DIALECTS: [(&str, &str, &[&str]); 5] = [
    ("CC", "cc", &["-std=c89"]),
    ("CC", "cc", &["-std=c11"]),
    ("CC", "cc", &["-std=gnu17"]),
    ("CXX", "c++", &["-x", "c++", "-std=c++98"]),
    ("CXX", "c++", &["-x", "c++", "-std=c++17"]),
];

/// The header compiles without a warning in every dialect, strict and not; every prototype has the types
/// of spec/symbols.tsv under both names; every constant has its type and value.
pub fn check_header() -> Result<()> {
    let root = root();
    let spec = Spec::load(&root.join("spec"))?;
    let work = work_dir()?;
    let (prototypes, constants) = (work.join("prototypes.c"), work.join("constants.c"));
    std::fs::write(&prototypes, prototypes_unit(&std::fs::read_to_string(root.join("spec/symbols.tsv"))?))?;
    std::fs::write(&constants, constants_unit(&spec))?;
    let client = root.join("tests/abi/client.c");
    let object = work.join("unit.o");
    for dialect in &DIALECTS {
        compile(dialect, &[&client], &["-c"], &object)?;
        compile(dialect, &[&prototypes], &["-c", "-DMPI_ABI_STRICT"], &object)?;
        let program = work.join("constants");
        compile(dialect, &[&constants], &["-DMPI_ABI_STRICT"], &program)?;
        let out = Command::new(&program).output().with_context(|| program.display().to_string())?;
        ensure!(out.status.success(), "include/mpi.h, {:?}: {}", dialect.2, String::from_utf8_lossy(&out.stdout));
    }
    Ok(())
}

/// A program linked against the library calls it: conversions, and what may be called
/// before MPI_Init, through both names, with a wrapper of its own in between as a tool would have.
pub fn check_calls(library: &Path) -> Result<()> {
    let work = work_dir()?;
    let (program, unit) = (work.join("calls"), root().join("tests/abi/calls.c"));
    // The name the loader looks for, whatever the built file is called.
    std::fs::copy(library, work.join(SONAME)).with_context(|| format!("reading {}", library.display()))?;
    let rpath = format!("-Wl,-rpath,{}", work.display());
    compile(&DIALECTS[1], &[&unit, &work.join(SONAME)], &[&rpath], &program)?;
    let out = Command::new(&program).output().with_context(|| program.display().to_string())?;
    let told = [out.stdout, out.stderr].concat();
    ensure!(out.status.success(), "tests/abi/calls.c: {}\n{}", out.status, String::from_utf8_lossy(&told));
    Ok(())
}

fn work_dir() -> Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let dir = target.join("abi-check");
    std::fs::create_dir_all(&dir)?;
    Ok(dir)
}

fn compile(dialect: &(&str, &str, &[&str]), units: &[&PathBuf], extra: &[&str], to: &Path) -> Result<()> {
    let (variable, fallback, standard) = dialect;
    let compiler = std::env::var(variable).unwrap_or_else(|_| fallback.to_string());
    let mut command = Command::new(&compiler);
    command.args(*standard).args(["-pedantic", "-Wall", "-Wextra", "-Werror", "-I"]).arg(root().join("include"));
    // Libraries after the sources that need them.
    command.args(units).args(extra).arg("-o").arg(to);
    let out = command.output().with_context(|| format!("running {compiler}"))?;
    ensure!(out.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&out.stderr));
    Ok(())
}

/// One function pointer per symbol and name, with the types that spec/symbols.tsv gives.
fn prototypes_unit(symbols: &str) -> String {
    let mut out = String::from("#include <mpi.h>\n");
    for (i, line) in symbols.lines().filter(|l| !l.starts_with('#')).enumerate() {
        let mut fields = line.split('\t');
        let (name, ret) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        let args = match fields.next().unwrap_or_default() {
            "" => "void".to_string(),
            // An array of int[3] decays to this; the table knows only stars.
            args => args.replace("int**", "int (*)[3]"),
        };
        for (prefix, letter) in [("", 'm'), ("P", 'p')] {
            let pointer = format!("{letter}{i}");
            writeln!(out, "{ret} (*const {pointer}_)({args}) = {prefix}{name};").unwrap();
            // C++ would otherwise drop, and C warn about, constants that nothing uses.
            writeln!(
                out,
                "extern {ret} (*const *{pointer})({args});\n{ret} (*const *{pointer})({args}) = &{pointer}_;"
            )
            .unwrap();
        }
    }
    out
}

/// A program that compares every constant with its row.
fn constants_unit(spec: &Spec) -> String {
    let mut out = String::from("#include <mpi.h>\n#include <stdio.h>\nstatic int wrong = 0;\n");
    out.push_str("static void bad(const char *name) { printf(\"%s\\n\", name); wrong = 1; }\n");
    let resolve = |name: &str| spec.constants.iter().find(|c| c.name == name);
    let mut body = String::new();
    for (i, c) in spec.constants.iter().enumerate() {
        let Some(of) = (if c.c_type == "alias" { resolve(&c.value) } else { Some(c) }) else { continue };
        let (t, value) = (&of.c_type, &of.value);
        if t == "int" {
            writeln!(out, "#if {} != {value}\n#error {}\n#endif", c.name, c.name).unwrap();
            writeln!(out, "typedef char fits{i}[{} == {value} ? 1 : -1];\nextern fits{i} fits{i}_;", c.name).unwrap();
        }
        writeln!(body, "    {{ {t} x = {}; if ((intptr_t)x != (intptr_t)({value})) bad(\"{}\"); }}", c.name, c.name)
            .unwrap();
    }
    for (t, size) in [("MPI_Status", 32), ("MPI_Aint", 8), ("MPI_Count", 8), ("MPI_Offset", 8), ("MPI_Comm", 8)] {
        writeln!(body, "    if (sizeof({t}) != {size}) bad(\"sizeof({t})\");").unwrap();
    }
    write!(out, "int main(void)\n{{\n{body}    return wrong;\n}}\n").unwrap();
    out
}

#[cfg(test)]
mod tests {
    /// Needs a C and a C++ compiler.
    #[test]
    fn header_in_every_dialect() {
        super::check_header().unwrap();
    }
}
