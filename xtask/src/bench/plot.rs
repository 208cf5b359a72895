//! The plot: latency and bandwidth by size for each MPI, and for each collective how far oxmpi is ahead of the best peer.
//! Written by hand as SVG, readable without any other file.
use super::plan::COLLECTIVES;
use super::{Session, amount, ranks, report};
use anyhow::Result;
use std::fmt::Write;

const COLOURS: [&str; 4] = ["#c2410c", "#1d4ed8", "#15803d", "#7e22ce"];
/// From the smallest size to the largest: where oxmpi is ahead, where a peer is.
const AHEAD: [&str; 7] = ["#bfdbfe", "#93c5fd", "#60a5fa", "#3b82f6", "#2563eb", "#1d4ed8", "#1e3a8a"];
const BEHIND: [&str; 7] = ["#fed7aa", "#fdba74", "#fb923c", "#f97316", "#ea580c", "#c2410c", "#7c2d12"];
const DASHES: [&str; 4] = ["", "7 3", "2 3", "9 3 2 3"];
const WIDTH: f64 = 1200.0;
const PANEL: (f64, f64) = (500.0, 300.0);
const BARS: f64 = 210.0;

/// Part of the picture, with the corner of its plotting area.
struct Panel {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// An axis that counts in factors.
struct Log {
    low: f64,
    high: f64,
}

impl Log {
    fn at(&self, value: f64) -> f64 {
        ((value / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
    }
    /// Powers of ten within, and twice and five times them where there are few.
    fn ticks(&self) -> Vec<f64> {
        let factors = if self.high / self.low < 200.0 { &[1.0, 2.0, 5.0][..] } else { &[1.0] };
        let powers = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let all = powers.flat_map(|p| factors.iter().map(move |f| f * 10f64.powi(p)));
        all.filter(|v| (self.low..=self.high).contains(v)).collect()
    }
}

pub fn svg(session: &Session) -> Result<String> {
    let mut out = String::new();
    let height = 110.0 + 2.0 * (PANEL.1 + 90.0) + 3.0 * (BARS + 85.0) + 20.0;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222\">"
    )?;
    writeln!(out, "<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>")?;
    words(&mut out, 60.0, 30.0, "start", 18, "MPI on one node")?;
    words(&mut out, 60.0, 50.0, "start", 12, &report::setting(session))?;
    legend(&mut out, session)?;
    let left = |row: f64| Panel { x: 60.0, y: 125.0 + row * (PANEL.1 + 90.0), width: PANEL.0, height: PANEL.1 };
    let right = |row: f64| Panel { x: 660.0, ..left(row) };
    lines(&mut out, session, &left(0.0), "latency", "Latency, the same buffers every time (us; lower is better)")?;
    lines(&mut out, session, &right(0.0), "latency fresh", "Latency, data written before each message (us)")?;
    lines(&mut out, session, &left(1.0), "bandwidth", "Bandwidth, 64 messages at a time (GB/s; higher is better)")?;
    lines(&mut out, session, &right(1.0), "bandwidth, both ways", "Bandwidth, both directions together (GB/s)")?;
    if session.contenders.len() > 1 {
        for (i, n) in [2, 4, 8].into_iter().enumerate() {
            let y = 125.0 + 2.0 * (PANEL.1 + 90.0) + i as f64 * (BARS + 85.0);
            bars(&mut out, session, &Panel { x: 60.0, y, width: 1100.0, height: BARS }, n)?;
        }
    }
    writeln!(out, "</svg>")?;
    Ok(out)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn words(out: &mut String, x: f64, y: f64, anchor: &str, size: u32, text: &str) -> Result<()> {
    let text = escaped(text);
    writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\">{text}</text>")?;
    Ok(())
}

fn stroke(out: &mut String, from: (f64, f64), to: (f64, f64), style: &str) -> Result<()> {
    let ((x1, y1), (x2, y2)) = (from, to);
    writeln!(out, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>")?;
    Ok(())
}

const GRID: &str = "stroke=\"#ddd\"";

fn legend(out: &mut String, session: &Session) -> Result<()> {
    for (c, who) in session.contenders.iter().enumerate() {
        let x = 60.0 + 200.0 * c as f64;
        let style =
            format!("stroke=\"{}\" stroke-width=\"2.5\" stroke-dasharray=\"{}\"", COLOURS[c % 4], DASHES[c % 4]);
        stroke(out, (x, 74.0), (x + 36.0, 74.0), &style)?;
        words(out, x + 44.0, 78.0, "start", 13, &format!("{} {}", who.name, who.version))?;
    }
    Ok(())
}

fn lines(out: &mut String, session: &Session, panel: &Panel, name: &str, title: &str) -> Result<()> {
    words(out, panel.x, panel.y - 12.0, "start", 14, title)?;
    let rows: Vec<_> = session.rows.iter().filter(|r| r.name == name && r.bytes.is_some()).collect();
    let points = |c: usize| -> Vec<(f64, f64)> {
        let mut all: Vec<_> =
            rows.iter().filter_map(|r| Some((r.bytes? as f64, r.median(c)?))).filter(|p| p.1 > 0.0).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    };
    let every: Vec<(f64, f64)> = (0..session.contenders.len()).flat_map(points).collect();
    if every.is_empty() {
        return words(out, panel.x + panel.width / 2.0, panel.y + panel.height / 2.0, "middle", 12, "not measured");
    }
    let fold = |pick: fn(&(f64, f64)) -> f64| {
        every.iter().map(pick).fold((f64::INFINITY, 0.0), |(l, h): (f64, f64), v| (l.min(v), h.max(v)))
    };
    let (low, high) = fold(|p| p.0);
    let sizes = Log { low, high: if high > low { high } else { low * 2.0 } };
    let (low, high) = fold(|p| p.1);
    let values = Log { low: low * 0.8, high: high * 1.25 };
    let at = |p: &(f64, f64)| {
        (panel.x + sizes.at(p.0) * panel.width, panel.y + panel.height - values.at(p.1) * panel.height)
    };
    let bottom = panel.y + panel.height;
    let mut size = sizes.low;
    while size <= sizes.high {
        let x = at(&(size, values.low)).0;
        stroke(out, (x, panel.y), (x, bottom), GRID)?;
        words(out, x, bottom + 17.0, "middle", 11, &amount(size as u64))?;
        size *= 8.0;
    }
    for value in values.ticks() {
        let y = at(&(sizes.low, value)).1;
        stroke(out, (panel.x, y), (panel.x + panel.width, y), GRID)?;
        words(out, panel.x - 6.0, y + 4.0, "end", 11, &format!("{}", (value * 1e6).round() / 1e6))?;
    }
    for c in 0..session.contenders.len() {
        let (colour, dash) = (COLOURS[c % 4], DASHES[c % 4]);
        let path: Vec<String> = points(c).iter().map(at).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        writeln!(
            out,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\" points=\"{}\"/>",
            path.join(" ")
        )?;
        for (x, y) in points(c).iter().map(at) {
            writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{colour}\"/>")?;
        }
    }
    Ok(())
}

/// How many times as fast as the best peer: up from 1 ahead, down from 1 behind.
fn bars(out: &mut String, session: &Session, panel: &Panel, n: usize) -> Result<()> {
    let title = format!("Collectives on {}: time of the best peer over ours (above 1 oxmpi is ahead)", ranks(n));
    words(out, panel.x, panel.y - 12.0, "start", 14, &title)?;
    let scale = Log { low: 0.25, high: 16.0 };
    let height = |value: f64| panel.y + panel.height - scale.at(value) * panel.height;
    for value in [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0] {
        let style = if value == 1.0 { "stroke=\"#222\"" } else { GRID };
        stroke(out, (panel.x, height(value)), (panel.x + panel.width, height(value)), style)?;
        words(out, panel.x - 6.0, height(value) + 4.0, "end", 11, &format!("{value}"))?;
    }
    // What is wanted on cores that are shared: at most 0.7 of the best peer's time.
    if n > 2 {
        let wanted = height(1.0 / 0.7);
        stroke(out, (panel.x, wanted), (panel.x + panel.width, wanted), "stroke=\"#15803d\" stroke-dasharray=\"4 4\"")?;
    }
    let slot = panel.width / COLLECTIVES.len() as f64;
    for (i, name) in COLLECTIVES.iter().enumerate() {
        let x = panel.x + i as f64 * slot;
        words(out, x + slot / 2.0, panel.y + panel.height + 17.0, "middle", 10, name)?;
        let mut rows: Vec<_> = session.rows.iter().filter(|r| r.name == *name && r.ranks == n).collect();
        rows.sort_by_key(|r| r.bytes);
        let width = (slot - 16.0) / rows.len().max(4) as f64;
        for (j, row) in rows.iter().enumerate() {
            let Some(ratio) = row.best_peer().zip(row.median(0)).map(|(best, ours)| best / ours) else { continue };
            let (top, foot) = (height(ratio).min(height(1.0)), height(ratio).max(height(1.0)));
            let shades = if ratio >= 1.0 { AHEAD } else { BEHIND };
            let colour = shades[j * shades.len() / rows.len()];
            let what = format!("{}: {ratio:.2}", super::plan::with_size(name, row.bytes));
            writeln!(
                out,
                "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\"><title>{}</title></rect>",
                x + 8.0 + j as f64 * width,
                (width - 1.0).max(1.0),
                (foot - top).max(0.8),
                escaped(&what)
            )?;
        }
    }
    let sizes = session.rows.iter().filter(|r| r.ranks == n && COLLECTIVES.contains(&r.name.as_str()));
    let mut sizes: Vec<u64> = sizes.filter_map(|r| r.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let sizes: Vec<String> = sizes.into_iter().map(amount).collect();
    let wanted = if n > 2 { "; dashed: what is wanted on shared cores" } else { "" };
    let note = format!("from light to dark: {}; bars beyond 0.25 and 16 are cut{wanted}", sizes.join(", "));
    words(out, panel.x, panel.y + panel.height + 36.0, "start", 11, &note)
}
