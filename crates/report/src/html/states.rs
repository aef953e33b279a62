//! The picture of an object's states along its path, as inline SVG.
//!
//! In: the steps of a path. Out: a line that rises when the object comes into being, is stored or
//! dropped, and falls into red where it leaks; one numbered dot per step, linked to it. Below the
//! line, brackets name the functions that the path runs through. Colours come from the style sheet.

use std::fmt::Write;

use leakproof_findings::{Event, Finding};

use crate::describe;
use crate::escape::html;
use crate::steps::Step;

const STEP_X: usize = 46;
const LEFT: usize = 96;
const TOP: usize = 22;
const ROW: usize = 34;
/// Of a longer path only both ends are drawn.
const MAX_DRAWN: usize = 120;

/// The state an object is in; each has a row of the picture, in this order from the top.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Stored,
    Allocated,
    Leaked,
    Absent,
}

impl State {
    fn after(self, event: Event) -> State {
        match event {
            Event::Alloc | Event::Drop => State::Allocated,
            Event::Store => State::Stored,
            Event::Leak => State::Leaked,
            Event::Branch | Event::Call => self,
        }
    }

    fn css(self) -> &'static str {
        match self {
            State::Stored | State::Allocated => "alive",
            State::Leaked => "leaked",
            State::Absent => "absent",
        }
    }

    fn label(self, finding: &Finding) -> &'static str {
        match self {
            State::Stored => "stored",
            State::Allocated => "allocated",
            State::Leaked => finding.kind.name(),
            State::Absent => "not yet made",
        }
    }
}

struct Dot<'a> {
    step: &'a Step,
    state: State,
    x: usize,
    y: usize,
}

pub(super) fn picture(steps: &[Step], finding: &Finding) -> String {
    let drawn = both_ends(steps);
    let states = states(&drawn);
    let rows = rows(&states);
    let dots = place(&drawn, &states, &rows);
    let width = LEFT + drawn.len() * STEP_X;
    let bottom = TOP + rows.len() * ROW;
    let height = bottom + 24;
    let mut svg = format!(
        "<svg class=\"states\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-label=\"States of the object along the path\">\n"
    );
    write_rows(&mut svg, width, &rows, finding);
    write_line(&mut svg, &dots);
    for dot in &dots {
        write_dot(&mut svg, dot, finding);
    }
    write_functions(&mut svg, &dots, bottom);
    svg.push_str("</svg>\n");
    svg
}

fn both_ends(steps: &[Step]) -> Vec<&Step> {
    let tail = steps.len().saturating_sub(MAX_DRAWN / 2);
    let kept = |index: usize| steps.len() <= MAX_DRAWN || index < MAX_DRAWN / 2 || index >= tail;
    steps.iter().enumerate().filter(|(i, _)| kept(*i)).map(|(_, s)| s).collect()
}

fn states(steps: &[&Step]) -> Vec<State> {
    let next = |state: &mut State, step: &&Step| {
        *state = state.after(step.step.event);
        Some(*state)
    };
    steps.iter().scan(State::Absent, next).collect()
}

/// The states that occur, in the order of their rows.
fn rows(states: &[State]) -> Vec<State> {
    let mut rows = states.to_vec();
    rows.sort_unstable();
    rows.dedup();
    rows
}

fn place<'a>(steps: &[&'a Step], states: &[State], rows: &[State]) -> Vec<Dot<'a>> {
    let dot = |(index, (step, state)): (usize, (&&'a Step, &State))| Dot {
        step,
        state: *state,
        x: LEFT + index * STEP_X + STEP_X / 2,
        y: TOP + rows.iter().position(|row| row == state).unwrap_or(0) * ROW,
    };
    steps.iter().zip(states).enumerate().map(dot).collect()
}

fn write_rows(svg: &mut String, width: usize, rows: &[State], finding: &Finding) {
    for (row, state) in rows.iter().enumerate() {
        let (y, name) = (TOP + row * ROW, state.label(finding));
        let _ = writeln!(
            svg,
            "<text class=\"row\" x=\"0\" y=\"{}\">{name}</text>\
             <line class=\"rule\" x1=\"{LEFT}\" y1=\"{y}\" x2=\"{width}\" y2=\"{y}\"/>",
            y + 4
        );
    }
}

/// One segment per step, each in the colour of the state it leads to.
fn write_line(svg: &mut String, dots: &[Dot]) {
    for pair in dots.windows(2) {
        let (a, b) = (&pair[0], &pair[1]);
        let middle = usize::midpoint(a.x, b.x);
        let state = if b.state == State::Leaked { b.state } else { a.state }.css();
        let gap = if b.step.number > a.step.number + 1 { " gap" } else { "" };
        let _ = writeln!(
            svg,
            "<path class=\"track {state}{gap}\" \
             d=\"M{ax} {ay} C{middle} {ay} {middle} {by} {bx} {by}\"/>",
            ax = a.x,
            ay = a.y,
            bx = b.x,
            by = b.y
        );
    }
}

fn write_dot(svg: &mut String, dot: &Dot, finding: &Finding) {
    let (x, y, number) = (dot.x, dot.y, dot.step.number);
    let event = dot.step.step.event.name();
    let note = html(&describe::note(&dot.step.step, finding));
    let _ = writeln!(
        svg,
        "<a href=\"#step-{number}\" data-step=\"{number}\"><title>{number}. {note}</title>\
         <circle class=\"dot {event}\" cx=\"{x}\" cy=\"{y}\" r=\"12\"/>\
         <text class=\"num\" x=\"{x}\" y=\"{}\">{number}</text></a>",
        y + 4
    );
}

/// Brackets under runs of steps in one function.
fn write_functions(svg: &mut String, dots: &[Dot], bottom: usize) {
    for run in dots.chunk_by(|a, b| a.step.step.function == b.step.step.function) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
        let (from, to) = (first.x - 14, last.x + 14);
        let room = (to - from + 18) / 7;
        let name = shorten(&first.step.step.function, room);
        let _ = writeln!(
            svg,
            "<path class=\"bracket\" d=\"M{from} {bottom} v6 H{to} v-6\"/>\
             <text class=\"fn\" x=\"{}\" y=\"{}\"><title>{}</title>{}</text>",
            usize::midpoint(from, to),
            bottom + 19,
            html(&first.step.step.function),
            html(&name)
        );
    }
}

fn shorten(name: &str, room: usize) -> String {
    if name.chars().count() <= room {
        return name.to_owned();
    }
    let kept: String = name.chars().take(room.saturating_sub(1)).collect();
    format!("{kept}…")
}
