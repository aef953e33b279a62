//! `leakproof callgraph`: whom every call may call, as text or for Graphviz.
//!
//! Output is in the order of units, functions and calls in the source.

use crate::commands::functions::ChosenFunctions;
use crate::commands::models::ModelFiles;
use crate::inputs::InputArgs;
use crate::output;
use crate::ui::Ui;
use anyhow::Result;
use clap::{Args, ValueEnum};
use leakproof_ir::{Callee, FileId, InstId, InstKind, Loc};
use leakproof_program::{Andersen, CallGraph, FuncRef, Program, Target, Targets};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct CallGraphArgs {
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    models: ModelFiles,
    #[command(flatten)]
    functions: ChosenFunctions,
    /// Only calls through pointers, and calls of library functions that call back
    #[arg(long)]
    indirect: bool,
    /// Form of the graph
    #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
    format: GraphFormat,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum GraphFormat {
    Text,
    Dot,
}

pub fn run(args: &CallGraphArgs, ui: &Ui) -> Result<ExitCode> {
    let models = args.models.load()?;
    let input = args.inputs.load(ui)?;
    ui.skipped(&input.loaded.skipped);
    let program = Program::link(input.loaded.modules);
    program.notes().iter().for_each(|note| ui.note(note));
    let points_to = Andersen::solve(&program, &models);
    let graph = CallGraph::build(&program, &points_to, &models);
    let mut homonyms: BTreeMap<&str, usize> = BTreeMap::new();
    for f in program.definitions() {
        *homonyms.entry(program.display_name(f)).or_default() += 1;
    }
    let indirect = args.indirect;
    let view = View { program: &program, graph: &graph, homonyms, indirect };
    let functions = args.functions.of(&program)?;
    let text = match args.format {
        GraphFormat::Text => view.text(&functions),
        GraphFormat::Dot => view.dot(&functions),
    };
    output::write(args.output.as_deref(), &text)?;
    Ok(ExitCode::SUCCESS)
}

/// How a call finds its target.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Direct,
    Pointer,
    /// Through a pointer whose targets are guessed from the signature.
    Guess,
    /// A library function calls it.
    Callback,
}

struct Call<'g> {
    loc: Loc,
    way: Way,
    targets: &'g Targets,
    callbacks: Vec<Target>,
}

struct View<'a> {
    program: &'a Program,
    graph: &'a CallGraph,
    /// How many functions have a name.
    homonyms: BTreeMap<&'a str, usize>,
    indirect: bool,
}

impl<'a> View<'a> {
    fn calls(&self, f: FuncRef) -> Vec<Call<'a>> {
        let Some(body) = &self.program.function(f).body else { return Vec::new() };
        let call = |(inst, targets): (InstId, &'a Targets)| {
            let InstKind::Call { callee, args, .. } = &body.insts[inst].kind else { return None };
            let way = match callee {
                Callee::Direct(_) => Way::Direct,
                Callee::Asm => return None,
                Callee::Indirect(_) if targets.fallback => Way::Guess,
                Callee::Indirect(_) => Way::Pointer,
            };
            let callbacks = (0..args.len())
                .flat_map(|n| self.graph.callback_targets(f, inst, n).iter().copied())
                .collect();
            Some(Call { loc: body.insts[inst].loc, way, targets, callbacks })
        };
        let calls = self.graph.calls_of(f).filter_map(call);
        calls
            .filter(|c| !self.indirect || c.way != Way::Direct || !c.callbacks.is_empty())
            .collect()
    }

    fn text(&self, functions: &[FuncRef]) -> String {
        let mut out = String::new();
        for &f in functions {
            let calls = self.calls(f);
            if self.indirect && calls.is_empty() {
                continue;
            }
            let _ = writeln!(out, "{} {}", self.name(Target::Defined(f)), self.place(f));
            for call in calls {
                self.write_call(&mut out, &call);
            }
        }
        out
    }

    fn write_call(&self, out: &mut String, call: &Call) {
        let names =
            |list: &[Target]| list.iter().map(|t| self.name(*t)).collect::<Vec<_>>().join(", ");
        let mut targets = names(&call.targets.list);
        if !call.targets.complete {
            targets.push_str(if targets.is_empty() { "unknown" } else { ", or unknown" });
        }
        let how = match call.way {
            Way::Direct => "",
            Way::Guess => "through a pointer, by signature only: ",
            _ => "through a pointer: ",
        };
        let _ = write!(out, "  {}:{}: {how}{targets}", call.loc.line, call.loc.column);
        if !call.callbacks.is_empty() {
            let _ = write!(out, ", which calls {}", names(&call.callbacks));
        }
        out.push('\n');
    }

    fn dot(&self, functions: &[FuncRef]) -> String {
        let mut edges: BTreeSet<(FuncRef, Target, Way)> = BTreeSet::new();
        for &f in functions {
            for call in self.calls(f) {
                edges.extend(call.targets.list.iter().map(|t| (f, *t, call.way)));
                edges.extend(call.callbacks.iter().map(|t| (f, *t, Way::Callback)));
            }
        }
        let mut nodes: BTreeSet<Target> = functions.iter().map(|f| Target::Defined(*f)).collect();
        nodes.extend(edges.iter().map(|e| e.1));
        let mut out = String::from("digraph calls {\n  rankdir=LR;\n  node [shape=box];\n");
        for node in nodes {
            let label = quoted(&self.name(node));
            let style = if node.defined().is_some() { "" } else { ", style=dashed" };
            let _ = writeln!(out, "  {} [label={label}{style}];", id(node));
        }
        for (from, to, way) in edges {
            let style = match way {
                Way::Direct => "",
                Way::Pointer => " [style=bold]",
                Way::Guess => " [style=dotted]",
                Way::Callback => " [style=dashed]",
            };
            let _ = writeln!(out, "  {} -> {}{style};", id(Target::Defined(from)), id(to));
        }
        out.push_str("}\n");
        out
    }

    /// The function's name; one that several functions have is told apart by its unit.
    fn name(&self, target: Target) -> String {
        let name = self.program.display_name(target.func());
        match target {
            Target::Defined(f) if self.homonyms.get(name).is_some_and(|n| *n > 1) => {
                format!("{name}@{}", self.program.module(f.module).name)
            }
            _ => name.to_owned(),
        }
    }

    /// Where the function stands.
    fn place(&self, f: FuncRef) -> String {
        let loc = self.program.function(f).loc;
        let module = self.program.module(f.module);
        let file = module.files.get(FileId(loc.file)).filter(|_| loc.is_known());
        file.map(|file| format!("{file}:{}", loc.line)).unwrap_or_else(|| module.name.clone())
    }
}

/// A name for a node that is the same in every run.
fn id(target: Target) -> String {
    let FuncRef { module, func } = target.func();
    format!("f{module}_{}", func.0)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
