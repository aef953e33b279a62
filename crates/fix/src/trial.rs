//! One round: all attempts at once, compiled and analysed as if they were applied.
//!
//! In: ops by file. Out: the patched texts, what clang says of them, and what the analysis says of the
//! patched program. Files on disk are not touched.

use crate::files::{self, Files};
use crate::kept::Keepers;
use crate::made::Makers;
use crate::null::Question;
use crate::op::Op;
use crate::out_param::OutParams;
use crate::patched::{Part, Patched};
use crate::precedent::Precedents;
use crate::reach::Reach;
use crate::types::{self, Referred};
use leakproof_detect::{Examination, Options, Store, Watch, examine};
use leakproof_findings::Finding;
use leakproof_frontend::{Overlay, OverlayError, Project, Recompiler, Unit};
use leakproof_ir::{Callee, Function, InstKind, Module, TypeId};
use leakproof_models::Library;
use leakproof_program::Program;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The program that is fixed, and how it is compiled.
pub struct Workshop<'p> {
    recompiler: Recompiler<'p>,
    /// The unit of each module.
    units: Vec<&'p Unit>,
    modules: Vec<Module>,
    /// What analyses of the program and of its patched forms found out.
    store: Store,
    /// Patched units as they were compiled last.
    compiled: BTreeMap<usize, (Texts, Module)>,
    /// What clang says of the units as they are, as far as it was asked.
    warned: BTreeMap<usize, Vec<(String, String)>>,
    /// Patched units of which it says nothing more.
    quiet: BTreeMap<usize, Texts>,
    models: &'p Library,
    options: Options,
}

/// The patched files of a unit, by name.
type Texts = Vec<(String, Vec<u8>)>;

/// An op with the attempt that it belongs to.
pub type Owned = (usize, Op);

/// Everything patched in one round.
pub struct Bench {
    pub files: BTreeMap<String, (Patched, Vec<Owned>)>,
    overlay: Overlay,
    /// The attempts whose releases are judged.
    judged: BTreeSet<usize>,
}

/// What patched texts are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Analysis,
    /// As they would be written to files: clang also looks at the layout.
    Reading,
}

/// New text and the attempts that want it.
struct Stretch {
    owners: Vec<usize>,
    watch: Watch,
    releases: bool,
}

/// What clang refused: the message, and the attempt it is about if that is known.
pub struct Rejected {
    pub message: String,
    /// The patched files of the unit.
    pub files: Vec<String>,
    pub owner: Option<usize>,
}

impl<'p> Workshop<'p> {
    /// `store`: results of earlier analyses of these modules.
    pub fn new(
        project: &'p Project,
        modules: Vec<Module>,
        store: Option<Store>,
        models: &'p Library,
        options: &Options,
    ) -> Result<Self, OverlayError> {
        let units = units_of(project, &modules);
        let recompiler = Recompiler::new(project)?;
        let options = options.clone();
        let store = store.unwrap_or_else(|| Store::empty(modules.len()));
        let (compiled, warned, quiet) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Ok(Self { recompiler, units, modules, store, compiled, warned, quiet, models, options })
    }

    /// The size of the program.
    pub fn instructions(&self) -> usize {
        let bodies = self.modules.iter().flat_map(|m| m.functions.values());
        bodies.filter_map(|f| f.body.as_ref()).map(|b| b.insts.len()).sum()
    }

    /// What is known of the program; after `examine` also what that found out.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The analysis of the program as it is.
    pub fn examine(&mut self) -> Examination {
        let options = Options { pairs: true, ..self.options.clone() };
        self.examine_with(&options)
    }

    /// Which functions a function may come to.
    pub fn reach(&self) -> Reach<'_> {
        Reach::new(&self.modules)
    }

    fn examine_with(&mut self, options: &Options) -> Examination {
        let program = Program::link(std::mem::take(&mut self.modules));
        let result = examine(&program, self.models, options, Some(&self.store));
        self.modules = program.into_modules();
        result
    }

    /// The struct that an access path of the leaking function is or points to.
    pub fn type_of(&self, finding: &Finding, holder: &str) -> Option<Referred> {
        self.with_type(finding, holder, types::referred)
    }

    /// How far into the struct that an access path points to a member lies.
    pub fn offset_of(&self, finding: &Finding, owner: &str, member: &str) -> Option<i64> {
        self.with_type(finding, owner, |module, ty| types::offset(module, ty, member))
    }

    /// Asks something about the type of an access path of the leaking function.
    fn with_type<T>(
        &self,
        finding: &Finding,
        path: &str,
        ask: impl Fn(&Module, TypeId) -> Option<T>,
    ) -> Option<T> {
        let here = |m: &&Module| m.files.values().any(|f| *f == finding.leak.file);
        self.modules.iter().filter(here).find_map(|module| {
            let function = module
                .functions
                .values()
                .find(|f| f.source_name == finding.function && f.body.is_some())?;
            let (path, behind) = path.strip_prefix('*').map_or((path, false), |p| (p, true));
            let path = path.replace("->", ".");
            let (root, members) = path.split_once('.').unwrap_or((&path, ""));
            let members: Vec<&str> = members.split('.').filter(|m| !m.is_empty()).collect();
            let body = function.body.as_ref()?;
            let local = body.vars.values().find(|v| v.name == root).map(|v| v.ty);
            let global = || module.globals.values().find(|g| g.source_name == root).map(|g| g.ty);
            let ty = local.or_else(global).flatten()?;
            let ty = types::member(module, ty, &members)?;
            ask(module, if behind { types::pointee(module, ty)? } else { ty })
        })
    }

    /// The lines of the leaking function that have code.
    pub fn lines_of(&self, finding: &Finding) -> BTreeSet<u32> {
        let here = |m: &&Module| m.files.values().any(|f| *f == finding.leak.file);
        let functions = self.modules.iter().filter(here).flat_map(|module| {
            let named = |f: &&Function| f.source_name == finding.function;
            module.functions.values().filter(named).filter_map(|f| f.body.as_ref())
        });
        functions.flat_map(|body| body.insts.values().map(|i| i.loc.line)).collect()
    }

    /// The files that have a function of this name.
    pub fn files_of(&self, function: &str) -> Vec<&str> {
        let defined = self.modules.iter().flat_map(|module| {
            let named = move |f: &&Function| f.source_name == function && f.body.is_some();
            module.functions.values().filter(named).map(|f| module.file_name(f.loc))
        });
        defined.collect()
    }

    /// Where the leaking function calls another one; when it never does, where its file does.
    pub fn calls_around(&self, finding: &Finding, callee: &str) -> Vec<(u32, u32)> {
        let here = |m: &&Module| m.files.values().any(|f| *f == finding.leak.file);
        let all = self.modules.iter().filter(here).flat_map(|module| {
            let own = move |f: &&Function| module.file_name(f.loc) == finding.leak.file;
            let functions = module.functions.values().filter(own);
            functions.flat_map(move |f| {
                let calls = calls_in(module, f, callee);
                calls.into_iter().map(move |at| (f.source_name == finding.function, at))
            })
        });
        let (near, far): (Vec<_>, Vec<_>) = all.partition(|(near, _)| *near);
        let chosen = if near.is_empty() { far } else { near };
        chosen.into_iter().map(|(_, at)| at).collect()
    }

    pub fn keepers(&self) -> Keepers<'_> {
        Keepers { modules: &self.modules, out_params: self.out_params() }
    }

    pub fn makers(&self) -> Makers<'_> {
        Makers { modules: &self.modules }
    }

    pub fn precedents(&self) -> Precedents<'_> {
        Precedents { modules: &self.modules, out_params: self.out_params() }
    }

    fn out_params(&self) -> OutParams<'_> {
        OutParams { modules: &self.modules, models: self.models }
    }

    /// Whether all that is ever called with the address of a local variable leaves null or a new object
    /// in it.
    pub fn is_only_filled(&self, finding: &Finding, holder: &str) -> bool {
        let here = |m: &&Module| m.files.values().any(|f| *f == finding.leak.file);
        self.modules.iter().filter(here).any(|module| {
            let named = |f: &&Function| f.source_name == finding.function && f.body.is_some();
            let function = module.functions.values().find(named);
            function.is_some_and(|f| self.out_params().is_only_filled(module, f, holder))
        })
    }

    pub fn about_null(&self) -> Question<'_> {
        Question { modules: &self.modules, models: self.models }
    }

    /// The type that a function returns, as C spells it.
    pub fn return_type(&self, function: &str) -> Option<String> {
        self.modules.iter().find_map(|module| {
            let found = module.functions.values().find(|f| f.source_name == function)?;
            types::return_type(module, found.signature?)
        })
    }

    /// Applies ops to texts. `None` when they overlap. Texts that are only analysed keep the lines of
    /// what follows an edit, so that what is known of it stays known.
    pub fn patch(&self, files: &Files, ops: &[(String, Owned)], use_of: Use) -> Option<Bench> {
        let mut by_file: BTreeMap<String, Vec<Owned>> = BTreeMap::new();
        for (file, op) in ops {
            by_file.entry(file.clone()).or_default().push(op.clone());
        }
        let mut patched = BTreeMap::new();
        for (file, owned) in by_file {
            let view = files.known(&file)?;
            let plain: Vec<Op> = owned.iter().map(|(_, op)| op.clone()).collect();
            let edits = files::edits(view, &plain);
            let text = match use_of {
                Use::Analysis => Patched::level(&view.text, edits)?,
                Use::Reading => Patched::new(&view.text, edits)?,
            };
            patched.insert(file, (text, owned));
        }
        let contents: Vec<(PathBuf, Vec<u8>)> = patched
            .iter()
            .map(|(file, (text, _))| (self.recompiler.absolute(file), text.text.clone()))
            .collect();
        let overlay = Overlay::new(&contents).ok()?;
        let judged = ops.iter().map(|(_, (owner, _))| *owner).collect();
        Some(Bench { files: patched, overlay, judged })
    }

    /// The modules that a patched file is part of.
    fn changed(&self, bench: &Bench) -> Vec<usize> {
        let uses = |m: &Module| m.files.values().any(|f| bench.files.contains_key(f));
        (0..self.modules.len()).filter(|&i| uses(&self.modules[i])).collect()
    }

    /// Compiles the patched units; what clang refuses, once per unit.
    pub fn compile(&mut self, bench: &Bench) -> Result<(), Vec<Rejected>> {
        let stale: Vec<usize> = self
            .changed(bench)
            .into_iter()
            .filter(|i| self.compiled.get(i).is_none_or(|(t, _)| *t != self.texts(bench, *i)))
            .collect();
        let mut rejected = Vec::new();
        for (&i, module) in stale.iter().zip(self.lower_all(&stale, bench)) {
            match module {
                Ok(module) => {
                    let texts = self.texts(bench, i);
                    self.compiled.insert(i, (texts, module));
                }
                Err(message) => {
                    let files = self.texts(bench, i).into_iter().map(|(file, _)| file).collect();
                    rejected.push(Rejected { files, ..bench.blame(message) });
                }
            }
        }
        if rejected.is_empty() { Ok(()) } else { Err(rejected) }
    }

    fn texts(&self, bench: &Bench, module: usize) -> Texts {
        let here = |file: &String| self.modules[module].files.values().any(|f| f == file);
        let patched = bench.files.iter().filter(|(file, _)| here(file));
        patched.map(|(file, (patched, _))| (file.clone(), patched.text.clone())).collect()
    }

    /// Analyses the patched program, which was compiled.
    pub fn examine_patched(&mut self, bench: &Bench) -> Examination {
        self.examine_watching(bench, bench.watches())
    }

    /// The same without a judgement: who is judged is followed further, and what that finds in others is not
    /// the patch's doing.
    pub fn examine_plainly(&mut self, bench: &Bench) -> Examination {
        self.examine_watching(bench, Vec::new())
    }

    fn examine_watching(&mut self, bench: &Bench, watch: Vec<Watch>) -> Examination {
        let changed = self.changed(bench);
        self.exchange(&changed);
        let options = Options { watch, ..self.options.clone() };
        let result = self.examine_with(&options);
        self.exchange(&changed);
        result
    }

    /// Puts compiled units in the place of the originals, and back.
    fn exchange(&mut self, changed: &[usize]) {
        for i in changed {
            if let Some((_, module)) = self.compiled.get_mut(i) {
                std::mem::swap(module, &mut self.modules[*i]);
            }
        }
    }

    fn lower_all(&self, changed: &[usize], bench: &Bench) -> Vec<Result<Module, String>> {
        let workers = leakproof_frontend::worker_count(self.options.jobs, changed.len());
        let part = changed.len().div_ceil(workers).max(1);
        std::thread::scope(|scope| {
            let threads: Vec<_> = changed
                .chunks(part)
                .map(|chunk| {
                    scope.spawn(move || {
                        let lower = |&i: &usize| match self.units.get(i) {
                            Some(unit) => self.recompiler.lower(unit, &bench.overlay),
                            None => Err("the unit is not known any more".to_owned()),
                        };
                        chunk.iter().map(lower).collect::<Vec<_>>()
                    })
                })
                .collect();
            let crashed = |_| vec![Err("internal error while compiling".to_owned())];
            threads.into_iter().flat_map(|t| t.join().unwrap_or_else(crashed)).collect()
        })
    }

    /// The first message of clang that the patched units have more than the original ones.
    pub fn new_warning(&mut self, bench: &Bench) -> Option<Rejected> {
        for i in self.changed(bench) {
            let texts = self.texts(bench, i);
            if self.quiet.get(&i) == Some(&texts) {
                continue;
            }
            let unit = *self.units.get(i)?;
            let warned = self.warned.entry(i);
            let mut known =
                warned.or_insert_with(|| self.recompiler.diagnostics(unit, None)).clone();
            for (position, message) in self.recompiler.diagnostics(unit, Some(&bench.overlay)) {
                match known.iter().position(|(_, m)| *m == message) {
                    Some(at) => drop(known.swap_remove(at)),
                    None => {
                        let files = texts.into_iter().map(|(file, _)| file);
                        let blamed = bench.blame(format!("{position}{message}"));
                        return Some(Rejected { files: files.collect(), ..blamed });
                    }
                }
            }
            self.quiet.insert(i, texts);
        }
        None
    }
}

impl Bench {
    /// The same with the releases of these attempts judged only: each costs runs of functions that are known
    /// otherwise.
    pub fn judging(self, attempts: &[usize]) -> Bench {
        Bench { judged: attempts.iter().copied().collect(), ..self }
    }

    /// The stretches that release, in the order of `owners`.
    fn watches(&self) -> Vec<Watch> {
        self.judged().map(|p| p.watch).collect()
    }

    /// The attempt that each watch belongs to; one watch may serve several attempts.
    pub fn owners(&self) -> Vec<Vec<usize>> {
        self.judged().map(|p| p.owners).collect()
    }

    /// The lines of each watch, as problems name them.
    pub fn places(&self) -> Vec<Vec<String>> {
        let lines = |w: &Watch| (w.start.0..=w.end.0).map(|n| format!("{}:{n}", w.file)).collect();
        self.judged().map(|p| lines(&p.watch)).collect()
    }

    fn judged(&self) -> impl Iterator<Item = Stretch> + '_ {
        let wanted = |p: &Stretch| p.owners.iter().any(|o| self.judged.contains(o));
        self.parts().filter(move |p| p.releases && wanted(p))
    }

    fn parts(&self) -> impl Iterator<Item = Stretch> + '_ {
        self.files.iter().flat_map(|(file, (patched, ops))| {
            let observed = ops.iter().enumerate().filter_map(|(n, (_, op))| match op {
                Op::Observe { at, end } if !ops[..n].iter().any(|(_, o)| o == op) => Some(Part {
                    op: n,
                    start: patched.moved(*at),
                    end: patched.moved(*end),
                    releases: true,
                }),
                _ => None,
            });
            let parts = patched.parts().into_iter().chain(observed);
            parts.map(move |Part { op, start, end, releases }| {
                // An op that two attempts share was rendered once.
                let same = ops.iter().filter(|(_, o)| *o == ops[op].1);
                let owners = same.map(|(owner, _)| *owner).collect();
                Stretch { owners, watch: Watch { file: file.clone(), start, end }, releases }
            })
        })
    }

    /// Whom a message of clang is about: whose text is on its line.
    fn blame(&self, message: String) -> Rejected {
        let mut words = message.split(':');
        let file = words.next().unwrap_or_default().to_owned();
        let line: u32 = words.next().and_then(|w| w.trim().parse().ok()).unwrap_or(0);
        let about = self.parts().find(|Stretch { watch, .. }| {
            is_same_file(&file, &watch.file) && (watch.start.0..=watch.end.0).contains(&line)
        });
        let owner = about.and_then(|p| p.owners.first().copied());
        let message = match message.find("error: ").or_else(|| message.find("warning: ")) {
            Some(at) => message[at..].to_owned(),
            None => message,
        };
        Rejected { message, files: Vec::new(), owner }
    }

    /// The finding as it would be in the original.
    pub fn restored(&self, finding: &Finding, files: &Files) -> Finding {
        let mut finding = finding.clone();
        let back = |file: &str, line: &mut u32, column: &mut u32| {
            if let (Some((patched, _)), Some(view)) = (self.files.get(file), files.known(file)) {
                (*line, *column) = patched.original(&view.text, *line, *column);
            }
        };
        for site in finding.alloc_trace.iter_mut().chain([&mut finding.alloc]) {
            back(&site.file.clone(), &mut site.line, &mut site.column);
        }
        let leak = &mut finding.leak;
        back(&leak.file.clone(), &mut leak.line, &mut leak.column);
        for step in &mut finding.path {
            back(&step.file.clone(), &mut step.line, &mut step.column);
        }
        finding
    }

    /// A finding of the patched program with the positions of the original.
    pub fn original(&self, finding: &Finding, files: &Files) -> Key {
        let back =
            |file: &str, line: u32, column: u32| match (self.files.get(file), files.known(file)) {
                (Some((patched, _)), Some(view)) => patched.original(&view.text, line, column),
                _ => (line, column),
            };
        Key::with(finding, back)
    }
}

/// What makes a finding the same before and after a patch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub function: String,
    pub alloc: (u32, u32),
    /// The library allocator's call: tells an object from what it holds.
    pub site: (String, u32, u32),
    pub leak: (u32, u32),
    /// The reference, when the object was made elsewhere: the allocation is one of several that
    /// may be there, and which one is named may change.
    given: Option<String>,
    variable: String,
}

impl Key {
    pub fn of(finding: &Finding) -> Key {
        Key::with(finding, |_, line, column| (line, column))
    }

    fn with(finding: &Finding, back: impl Fn(&str, u32, u32) -> (u32, u32)) -> Key {
        let (alloc, leak) = (&finding.alloc, &finding.leak);
        let last = finding.alloc_trace.last().unwrap_or(alloc);
        let (line, column) = back(&last.file, last.line, last.column);
        Key {
            function: finding.function.clone(),
            alloc: back(&alloc.file, alloc.line, alloc.column),
            site: (last.file.clone(), line, column),
            leak: back(&leak.file, leak.line, leak.column),
            variable: finding.variable.clone(),
            given: (alloc.function != finding.function).then(|| finding.variable.clone()),
        }
    }

    /// Whether a finding says nothing that is not known by this one.
    pub fn is_told_by(&self, other: &Key) -> bool {
        let same_place = (&self.function, self.leak) == (&other.function, other.leak);
        let same_given = self.given.is_some() && self.given == other.given;
        // The call that made it may have been rewritten deeper down.
        let same_variable = !self.variable.is_empty()
            && (&self.variable, self.alloc) == (&other.variable, other.alloc);
        self.same_object(other) || (same_place && (same_given || same_variable))
    }

    /// The same object, wherever it leaks.
    pub fn same_object(&self, other: &Key) -> bool {
        (&self.function, self.alloc, &self.site) == (&other.function, other.alloc, &other.site)
    }
}

/// Whether two names may be those of one file: clang names files as its command does, which may have been run in
/// another folder.
fn is_same_file(a: &str, b: &str) -> bool {
    let (a, b) = (Path::new(a), Path::new(b));
    a.ends_with(b) || b.ends_with(a)
}

/// Lines and columns of the calls of one function in another.
fn calls_in(module: &Module, function: &Function, callee: &str) -> Vec<(u32, u32)> {
    let Some(body) = &function.body else { return Vec::new() };
    let is_call = |kind: &InstKind| match kind {
        InstKind::Call { callee: Callee::Direct(f), .. } => {
            module.functions[*f].source_name == callee
        }
        _ => false,
    };
    let calls = body.insts.values().filter(|i| is_call(&i.kind));
    calls.map(|i| (i.loc.line, i.loc.column)).collect()
}

/// The unit of each module: modules are in the order of units, without those that were skipped.
fn units_of<'p>(project: &'p Project, modules: &[Module]) -> Vec<&'p Unit> {
    let mut units = project.units.iter();
    let found = modules.iter().filter_map(|m| units.find(|u| project.name(u) == m.name));
    found.collect()
}
