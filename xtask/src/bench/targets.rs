//! What oxmpi wants to reach on one node beside its peers, judged by the medians of a session.
//!
//! Ratios are written as the targets are: ours over the best peer's, whatever the figure is; so times shall be small and
//! rates large.
use super::plan::{COLLECTIVES, with_size};
use super::{Row, Session, ranks};

pub struct Verdict {
    pub what: String,
    pub wanted: String,
    pub measured: String,
    /// None where a figure is missing.
    pub reached: Option<bool>,
}

/// A limit that a ratio or a figure must keep.
#[derive(Clone, Copy)]
enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

impl Limit {
    fn holds(self, value: f64) -> bool {
        match self {
            Limit::AtMost(most) => value <= most,
            Limit::AtLeast(least) => value >= least,
        }
    }
    fn worse(self, a: f64, b: f64) -> bool {
        match self {
            Limit::AtMost(_) => a > b,
            Limit::AtLeast(_) => a < b,
        }
    }
    fn show(self) -> String {
        match self {
            Limit::AtMost(most) => format!("at most {most}"),
            Limit::AtLeast(least) => format!("at least {least}"),
        }
    }
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

pub fn verdicts(session: &Session) -> Vec<Verdict> {
    use Limit::{AtLeast, AtMost};
    let mut all = vec![];
    let two = |name, range: std::ops::RangeInclusive<u64>| -> Vec<&Row> {
        let inside = |r: &&Row| r.name == name && r.ranks == 2 && r.bytes.is_some_and(|b| range.contains(&b));
        session.rows.iter().filter(inside).collect()
    };
    let at =
        |name, sizes: &[u64]| -> Vec<&Row> { sizes.iter().filter_map(|s| session.row(name, Some(*s), 2)).collect() };
    let mut peer = |what: &str, rows: Vec<&Row>, limit| all.push(beside_the_best(what, &rows, limit));
    peer("latency 8 B", at("latency", &[8]), AtMost(0.7));
    peer("latency 1 KiB to 16 KiB", two("latency", KIB..=16 * KIB), AtMost(0.7));
    peer("latency 64 KiB to 4 MiB", two("latency", 64 * KIB..=4 * MIB), AtMost(0.65));
    peer("latency fresh 64 KiB to 4 MiB", two("latency fresh", 64 * KIB..=4 * MIB), AtMost(0.65));
    let large = [64 * KIB, MIB, 4 * MIB];
    peer("bandwidth 64 KiB, 1 MiB, 4 MiB", at("bandwidth", &large), AtLeast(1.3));
    peer("message rate 8 B", at("message rate", &[8]), AtLeast(2.0));
    peer("bandwidth both ways 64 KiB, 1 MiB, 4 MiB", at("bandwidth, both ways", &large), AtLeast(1.2));
    let gaps = |prefix: &str| -> Vec<&Row> {
        let of = |r: &&Row| r.group == "pack" && r.name.starts_with(prefix) && !r.name.contains("plain loop");
        session.rows.iter().filter(of).collect()
    };
    peer("pack", gaps("pack "), AtLeast(1.0));
    peer("unpack", gaps("unpack "), AtLeast(1.0));
    peer("memory with gaps sent to and fro", gaps("send "), AtMost(1.0));
    for (n, most) in [(2, 1.0), (4, 0.7), (8, 0.7)] {
        let rows = |r: &&Row| r.ranks == n && COLLECTIVES.contains(&r.name.as_str());
        let rows: Vec<&Row> = session.rows.iter().filter(rows).collect();
        peer(&format!("collectives, {}", ranks(n)), rows, AtMost(most));
    }
    for (n, most) in [(64, 0.35), (2, 0.5)] {
        let row = session.row("start and end a job", None, n).into_iter().collect();
        peer(&format!("start and end a job, {}", ranks(n)), row, AtMost(most));
    }
    let raw = super::median(&session.raw);
    let ours = session.row("latency", Some(8), 2).and_then(|r| r.median(0));
    let ratio = ours.zip(raw).map(|(ours, raw)| ours / raw);
    all.insert(
        1,
        Verdict {
            what: "latency 8 B beside the raw hand-over of a cache line".into(),
            wanted: AtMost(1.4).show(),
            measured: ratio.map_or("-".into(), |r| format!("{r:.2}")),
            reached: ratio.map(|r| AtMost(1.4).holds(r)),
        },
    );
    for (name, n, most) in [("private dirty memory of a rank", 32, 1.5), ("memory touched by a rank", 256, 1.1)] {
        let ours = session.row(name, None, n).and_then(|r| r.median(0));
        all.push(Verdict {
            what: format!("{name}, {}", ranks(n)),
            wanted: format!("{} MB", AtMost(most).show()),
            measured: ours.map_or("-".into(), |v| format!("{v:.2} MB")),
            reached: ours.map(|v| AtMost(most).holds(v)),
        });
    }
    all
}

/// All rows must keep the limit; the worst is shown.
fn beside_the_best(what: &str, rows: &[&Row], limit: Limit) -> Verdict {
    let ratios: Vec<(f64, &Row)> =
        rows.iter().filter_map(|row| Some((row.median(0)? / row.best_peer()?, *row))).collect();
    let kept = ratios.iter().filter(|r| limit.holds(r.0)).count();
    let worst = ratios.iter().copied().reduce(|a, b| if limit.worse(b.0, a.0) { b } else { a });
    let measured = match (worst, ratios.len()) {
        (None, _) => "-".into(),
        (Some((value, _)), 1) => format!("{value:.2}"),
        (Some((value, row)), n) => {
            format!("{kept} of {n}; the worst is {value:.2} at {}", with_size(&row.name, row.bytes))
        }
    };
    // A row without our figure, or without any peer's, leaves the question open, unless another has answered it.
    let reached = match (kept == ratios.len(), ratios.len() == rows.len() && !rows.is_empty()) {
        (false, _) => Some(false),
        (true, true) => Some(true),
        (true, false) => None,
    };
    Verdict { what: what.to_owned(), wanted: format!("{} of the best peer", limit.show()), measured, reached }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(unit: &str, ours: f64, peers: [f64; 2]) -> Row {
        let values = vec![vec![ours], vec![peers[0]], vec![peers[1]]];
        Row { group: "latency", run: 0, name: "x".into(), bytes: Some(8), ranks: 2, unit: unit.into(), values }
    }

    #[test]
    fn every_row_counts() {
        let (good, bad) = (row("us", 1.0, [2.0, 3.0]), row("us", 1.5, [2.0, 9.0]));
        let judge = |rows: &[&Row]| beside_the_best("x", rows, Limit::AtMost(0.7)).reached;
        assert_eq!(judge(&[&good]), Some(true));
        assert_eq!(judge(&[&good, &bad]), Some(false));
        assert_eq!(judge(&[]), None);
        let mut lost = row("us", 1.0, [2.0, 3.0]);
        lost.values[0].clear();
        assert_eq!(judge(&[&good, &lost]), None);
        assert_eq!(judge(&[&bad, &lost]), Some(false));
    }

    #[test]
    fn the_best_rate_is_the_largest() {
        let r = row("GB/s", 4.0, [2.0, 3.0]);
        assert_eq!(r.best_peer(), Some(3.0));
        assert_eq!(beside_the_best("x", &[&r], Limit::AtLeast(1.3)).reached, Some(true));
        assert_eq!(beside_the_best("x", &[&r], Limit::AtLeast(1.5)).reached, Some(false));
        assert_eq!(row("us", 4.0, [2.0, 3.0]).best_peer(), Some(2.0));
    }
}
