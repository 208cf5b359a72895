//! MPICH's lists of tests: one program a line, how many ranks, then `key=value` words. `runtests` of MPICH defines them.
use anyhow::{Context, Result};

/// How the output and the exit status decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judge {
    /// Exit status 0, ` No Errors`, and nothing else printed.
    NoErrors,
    /// Any exit status but 0 (`resultTest=TestStatus` and `TestErrFatal`).
    Fails,
    /// ` No Errors`, and an exit status that is not 0.
    FailsWithNoErrors,
    /// Exit status 0 (programs that no list names).
    Succeeds,
}

/// One line: one run of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// `coll/bcast`: folder and program.
    pub program: String,
    pub ranks: usize,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    /// Seconds.
    pub limit: u64,
    /// GB that all ranks together need.
    pub memory: f64,
    pub judge: Judge,
}

impl Test {
    /// A program that no list names.
    pub fn unlisted(program: String) -> Test {
        Test { program, ranks: 2, args: Vec::new(), env: Vec::new(), limit: 180, memory: 0.0, judge: Judge::Succeeds }
    }

    /// What tells it from other runs of the program, as people read it.
    pub fn title(&self) -> String {
        let mut title = format!("{} {}", self.program, self.ranks);
        for word in &self.args {
            title += &format!(" {word}");
        }
        for (name, value) in &self.env {
            title += &format!(" {name}={value}");
        }
        title
    }
}

impl Test {
    /// With fewer random datatypes where each has very many elements: dtpools fills and compares element by element, which takes
    /// minutes for each of these tests as they stand in the list.
    pub fn shortened(mut self) -> Test {
        let number = |word: &str, name: &str| word.strip_prefix(name)?.parse::<usize>().ok();
        let elements = self.args.iter().filter_map(|a| number(a, "-count=").or_else(|| number(a, "-sendcnt=")));
        let part = match elements.max() {
            Some(50_000..) => 16,
            Some(500..) => 4,
            _ => return self,
        };
        for word in &mut self.args {
            if let Some(datatypes) = number(word, "-testsize=") {
                *word = format!("-testsize={}", (datatypes / part).max(1));
            }
        }
        self
    }
}

/// The tests in a list that lies in `folder`. Words that are about MPICH itself (`xfail`, `strict`, `mpiversion`, options of its
/// mpiexec) are not ours to honour. A line whose only difference from an earlier one is MPICH's own variables is that test again.
pub fn parse(folder: &str, text: &str) -> Result<Vec<Test>> {
    let mut tests: Vec<Test> = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else { continue };
        let mut test = Test::unlisted(format!("{folder}/{name}"));
        test.judge = Judge::NoErrors;
        for (at, word) in words.enumerate() {
            let wrong = || format!("{folder}'s list of tests: {word} in the line: {line}");
            match word.split_once('=') {
                None if at == 0 => test.ranks = word.parse().with_context(wrong)?,
                Some(("arg", value)) => test.args.push(value.to_owned()),
                Some(("env", value)) => {
                    let (name, value) = value.split_once('=').with_context(wrong)?;
                    if !name.starts_with("MPIR_CVAR_") {
                        test.env.push((name.to_owned(), value.to_owned()));
                    }
                }
                Some(("timeLimit", value)) => test.limit = value.parse().with_context(wrong)?,
                Some(("mem", value)) => test.memory = value.parse().with_context(wrong)?,
                Some(("resultTest", "TestStatus" | "TestErrFatal")) => test.judge = Judge::Fails,
                Some(("resultTest", "TestStatusNoErrors")) => test.judge = Judge::FailsWithNoErrors,
                Some(("resultTest" | "init" | "lock", _)) => {
                    Err(anyhow::anyhow!("not understood")).with_context(wrong)?
                }
                // `test/mpi/pt2pt/sendself` stands in one line by mistake, and MPICH's script passes over it.
                None | Some(_) => {}
            }
        }
        if !tests.contains(&test) {
            tests.push(test);
        }
    }
    Ok(tests)
}

/// The programs that a `Makefile.am` names.
pub fn programs(makefile: &str) -> Vec<String> {
    let joined = makefile.replace("\\\n", " ");
    let lists = joined.lines().filter_map(|l| l.strip_prefix("noinst_PROGRAMS"));
    lists.flat_map(|l| l.trim_start_matches([' ', '=', '+']).split_whitespace().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_ranks_arguments_environment_and_limits() {
        let text = "# comment\n\nbcast 4 arg=-type=MPI_INT:4 arg=-n timeLimit=30 mem=1.5 env=A=b=c xfail=ticket1\n\
                    abort 2 resultTest=TestStatus mpiexecarg=-x strict=false # why\n";
        let tests = parse("coll", text).unwrap();
        assert_eq!(tests.len(), 2);
        assert_eq!(tests[0].title(), "coll/bcast 4 -type=MPI_INT:4 -n A=b=c");
        assert_eq!((tests[0].limit, tests[0].memory, tests[0].judge), (30, 1.5, Judge::NoErrors));
        assert_eq!((tests[1].ranks, tests[1].limit, tests[1].judge), (2, 180, Judge::Fails));
    }

    #[test]
    fn a_test_that_differs_in_variables_of_mpich_only_is_run_once() {
        let tests = parse("pt2pt", "mprobe 2\nmprobe 2 env=MPIR_CVAR_X=1\nmprobe 3\n").unwrap();
        assert_eq!(tests.iter().map(|t| t.ranks).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn tests_of_many_elements_take_fewer_datatypes() {
        let tests =
            parse("coll", "a 2 arg=-count=1 arg=-testsize=32\na 2 arg=-sendcnt=65530 arg=-testsize=32\n").unwrap();
        let args: Vec<_> = tests.into_iter().map(|t| t.shortened().args.join(" ")).collect();
        assert_eq!(args, ["-count=1 -testsize=32", "-sendcnt=65530 -testsize=2"]);
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        assert!(parse("coll", "bcast four").is_err());
        assert!(parse("coll", "bcast 4 resultTest=TestSomethingElse").is_err());
    }

    #[test]
    fn makefiles_name_programs_over_several_lines() {
        assert_eq!(programs("X = 1\nnoinst_PROGRAMS =  \\\n    a \\\n  b_c\n\na_SOURCES = b.c\n"), ["a", "b_c"]);
    }
}
