//! `docs/benchmarks/scale.svg`: CPU time against lines of code, both logarithmic, one series a tool.

use super::Measured;
use crate::bench::fit::PowerLaw;
use crate::bench::peers::tool::TOOLS;
use anyhow::Result;
use std::fmt::Write as _;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 520.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 220.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 50.0;

/// The points of one tool.
struct Series {
    title: String,
    colour: &'static str,
    points: Vec<(f64, f64)>,
}

/// One logarithmic axis: from decade `low` to decade `high`, on pixels `from` to `to`.
struct Axis {
    low: i32,
    high: i32,
    from: f64,
    to: f64,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min).max(1e-3).log10().floor() as i32;
        let high = values.fold(f64::NEG_INFINITY, f64::max).max(1e-2).log10().ceil() as i32;
        Self { low, high: high.max(low + 1), from, to }
    }

    fn at(&self, value: f64) -> f64 {
        let part = (value.log10() - f64::from(self.low)) / f64::from(self.high - self.low);
        self.from + part * (self.to - self.from)
    }

    fn decades(&self) -> impl Iterator<Item = f64> {
        (self.low..=self.high).map(|d| 10f64.powi(d))
    }
}

/// The picture; `law` is the line through leakproof's points.
pub fn draw(rows: &[Measured], law: Option<PowerLaw>) -> Result<String> {
    let series = series(rows, law);
    let points = || series.iter().flat_map(|s| s.points.iter().copied());
    let x = Axis::new(points().map(|p| p.0), LEFT, WIDTH - RIGHT);
    let y = Axis::new(points().map(|p| p.1), HEIGHT - BOTTOM, TOP);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    grid(&mut out, &x, &y)?;
    if let Some(law) = law {
        fitted(&mut out, &x, &y, law, points())?;
    }
    // The first one lies on top.
    for (i, series) in series.iter().enumerate().rev() {
        dots(&mut out, &x, &y, series, i)?;
    }
    out.push_str("</svg>\n");
    Ok(out)
}

fn series(rows: &[Measured], law: Option<PowerLaw>) -> Vec<Series> {
    let points = |y: &dyn Fn(&Measured) -> Option<f64>| -> Vec<(f64, f64)> {
        let all = rows.iter().filter_map(|m| Some((m.row.lines as f64, y(m)?)));
        all.filter(|&(x, y)| x > 0.0 && y > 0.0).collect()
    };
    let exponent = law.map_or(String::new(), |l| format!(", exponent {:.2}", l.exponent));
    let mut list = vec![
        Series {
            title: format!("leakproof, cold{exponent}"),
            colour: "#c2185b",
            points: points(&|m| Some(m.row.cold)),
        },
        Series {
            title: "leakproof, warm".into(),
            colour: "#f48fb1",
            points: points(&|m| Some(m.row.warm)),
        },
        Series {
            title: "clang -O0 -c".into(),
            colour: "#424242",
            points: points(&|m| Some(m.row.compile)),
        },
    ];
    let colours = ["#1565c0", "#ef6c00", "#2e7d32", "#6a1b9a"];
    for (i, (tool, colour)) in TOOLS.iter().zip(colours).enumerate() {
        // In the seconds of the day on which leakproof was measured.
        let seconds = |m: &Measured| Some(m.peers.get(i)?.as_ref()?.ratio() * m.row.compile);
        list.push(Series { title: tool.title().into(), colour, points: points(&seconds) });
    }
    list.retain(|s| !s.points.is_empty());
    list
}

fn grid(out: &mut String, x: &Axis, y: &Axis) -> Result<()> {
    let (left, right, top, bottom) = (x.from, x.to, y.to, y.from);
    for value in x.decades() {
        let at = x.at(value);
        writeln!(out, "<path d=\"M{at:.1} {top}V{bottom}\" stroke=\"#ddd\"/>")?;
        let label = bottom + 18.0;
        writeln!(out, "<text x=\"{at:.1}\" y=\"{label}\" text-anchor=\"middle\">{value}</text>")?;
    }
    for value in y.decades() {
        let at = y.at(value);
        writeln!(out, "<path d=\"M{left} {at:.1}H{right}\" stroke=\"#ddd\"/>")?;
        let (label_x, label_y) = (left - 6.0, at + 4.0);
        writeln!(
            out,
            "<text x=\"{label_x}\" y=\"{label_y:.1}\" text-anchor=\"end\">{value}</text>"
        )?;
    }
    let (middle_x, middle_y) = ((left + right) / 2.0, (top + bottom) / 2.0);
    let below = bottom + 40.0;
    writeln!(
        out,
        "<text x=\"{middle_x}\" y=\"{below}\" text-anchor=\"middle\">lines of code</text>"
    )?;
    writeln!(
        out,
        "<text transform=\"translate(18 {middle_y}) rotate(-90)\" text-anchor=\"middle\">CPU seconds</text>"
    )?;
    Ok(())
}

fn fitted(
    out: &mut String,
    x: &Axis,
    y: &Axis,
    law: PowerLaw,
    points: impl Iterator<Item = (f64, f64)> + Clone,
) -> Result<()> {
    let low = points.clone().map(|p| p.0).fold(f64::INFINITY, f64::min);
    let high = points.map(|p| p.0).fold(0.0, f64::max);
    let [x1, x2] = [low, high].map(|v| x.at(v));
    let [y1, y2] = [low, high].map(|v| y.at(law.at(v)));
    writeln!(
        out,
        "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"#c2185b\" stroke-dasharray=\"5 4\"/>"
    )?;
    Ok(())
}

fn dots(out: &mut String, x: &Axis, y: &Axis, series: &Series, index: usize) -> Result<()> {
    let Series { title, colour, points } = series;
    for &(lines, seconds) in points {
        let (cx, cy) = (x.at(lines), y.at(seconds));
        writeln!(out, "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"4\" fill=\"{colour}\"/>")?;
    }
    let (at, key) = (x.to + 16.0, TOP + 20.0 + 20.0 * index as f64);
    writeln!(out, "<circle cx=\"{at}\" cy=\"{:.1}\" r=\"4\" fill=\"{colour}\"/>", key - 4.0)?;
    writeln!(out, "<text x=\"{:.1}\" y=\"{key:.1}\">{title}</text>", at + 10.0)?;
    Ok(())
}
