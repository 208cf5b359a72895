//! What is run: which program of bench/, on how many ranks, with which arguments.
use super::{amount, ranks};
use anyhow::{Result, ensure};
use std::time::Duration;

/// One run of one program.
pub struct Run {
    pub group: &'static str,
    pub program: &'static str,
    pub ranks: usize,
    pub args: Vec<String>,
    /// Who has not ended then has failed.
    pub limit: Duration,
}

impl Run {
    pub fn title(&self) -> String {
        match self.args.first() {
            Some(first) if self.program != "threads" => {
                let first = first.split(':').next().unwrap_or(first);
                format!("{} {first}, {}", self.program, ranks(self.ranks))
            }
            _ => format!("{}, {}", self.program, ranks(self.ranks)),
        }
    }
}

pub struct Plan {
    pub runs: Vec<Run>,
    pub quick: bool,
}

/// The parts of the report, in its order.
pub const GROUPS: [(&str, &str); 10] = [
    ("raw", "The machine"),
    ("latency", "Latency"),
    ("bandwidth", "Bandwidth and message rate"),
    ("match", "Matching"),
    ("pack", "Memory with gaps"),
    ("collective", "Collectives"),
    ("wait", "Waiting"),
    ("threads", "Threads"),
    ("job", "Starting a job"),
    ("memory", "Memory"),
];

pub const COLLECTIVES: [&str; 10] = [
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
    "reduce_scatter",
    "reduce_scatter_block",
];
const SIZES: [u64; 7] = [8, 256, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];

impl Plan {
    pub fn new(quick: bool, only: Option<&str>) -> Result<Plan> {
        let mut plan = Plan { runs: vec![], quick };
        plan.fill();
        if let Some(only) = only {
            let names: Vec<_> = GROUPS.iter().map(|g| g.0).collect();
            ensure!(names.contains(&only), "no measurement is called {only}; there are: {}", names.join(" "));
            plan.runs.retain(|r| r.group == only);
        }
        Ok(plan)
    }

    /// How long a figure may take, for BENCH_MS.
    pub fn milliseconds(&self) -> &'static str {
        if self.quick { "50" } else { "100" }
    }

    fn add(&mut self, program: &'static str, ranks: usize, seconds: u64, args: impl IntoIterator<Item = String>) {
        let group = match program {
            "empty" => "job",
            other => other,
        };
        let args = args.into_iter().collect();
        self.runs.push(Run { group, program, ranks, args, limit: Duration::from_secs(seconds) });
    }

    fn fill(&mut self) {
        let quick = self.quick;
        let named = |name: &str, sizes: &[u64]| -> Vec<String> {
            std::iter::once(name.to_owned()).chain(sizes.iter().map(u64::to_string)).collect()
        };
        self.add("raw", 2, 20, []);
        let powers: Vec<u64> = (3..=22).map(|p| 1 << p).collect();
        let few = [8, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 1 << 20, 4 << 20];
        let sizes = if quick { &few[..] } else { &powers };
        self.add("latency", 2, 60, named("static", sizes));
        self.add("latency", 2, 60, named("fresh", sizes));
        let streams = [8, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];
        let few = [8, 64 << 10, 1 << 20, 4 << 20];
        let sizes = if quick { &few[..] } else { &streams };
        self.add("bandwidth", 2, 60, named("one", sizes));
        self.add("bandwidth", 2, 60, named("both", sizes));
        self.add("bandwidth", 2, 60, named("fresh", &sizes[sizes.len() / 3..]));
        let depths = if quick { &[10, 1000][..] } else { &[10, 100, 1000, 10000] };
        self.add("match", 2, 60, named("posted", depths));
        self.add("match", 2, 60, named("unexpected", depths));
        self.add("match", 2, 60, named("late", &[8, 4 << 10, 64 << 10, 1 << 20]));
        let sizes = if quick { &[256 << 10][..] } else { &[16 << 10, 256 << 10, 4 << 20] };
        self.add("pack", 1, 60, named("local", sizes));
        self.add("pack", 2, 60, named("send", sizes));
        for ranks in [2, 4, 8] {
            if quick {
                let some = SIZES.iter().step_by(3).copied().collect::<Vec<_>>();
                let some = if ranks > 4 { &[8][..] } else { &some };
                self.add("collective", ranks, 60, calls(&["barrier", "bcast", "allreduce", "alltoall"], some));
            } else {
                // In parts, so that one that hangs does not take all figures along.
                for part in [&COLLECTIVES[..4], &COLLECTIVES[4..7], &COLLECTIVES[7..]] {
                    self.add("collective", ranks, 120, calls(part, &SIZES));
                }
            }
        }
        self.add("wait", 2, 20, []);
        if !quick {
            self.add("wait", 8, 20, []);
        }
        self.add("threads", 2, 60, ["1", "2"].map(String::from));
        for ranks in if quick { &[2, 64][..] } else { &[1, 2, 8, 32, 64] } {
            self.add("empty", *ranks, 60, []);
        }
        self.add("memory", 32, 60, []);
        if !quick {
            self.add("memory", 256, 60, []);
        }
    }
}

fn calls(names: &[&str], sizes: &[u64]) -> Vec<String> {
    let of = |name: &&str| match *name {
        "barrier" => vec!["barrier".to_owned()],
        name => sizes.iter().map(|s| format!("{name}:{s}")).collect(),
    };
    names.iter().flat_map(of).collect()
}

/// A figure's name with its size.
pub fn with_size(name: &str, bytes: Option<u64>) -> String {
    bytes.map_or_else(|| name.to_owned(), |b| format!("{name} {}", amount(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_has_a_group() {
        for quick in [false, true] {
            for run in Plan::new(quick, None).unwrap().runs {
                assert!(GROUPS.iter().any(|g| g.0 == run.group), "{}", run.group);
            }
        }
        assert!(Plan::new(false, Some("nothing")).is_err());
        assert!(Plan::new(true, Some("job")).unwrap().runs.iter().all(|r| r.program == "empty"));
    }
}
