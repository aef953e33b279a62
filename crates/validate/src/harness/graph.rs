//! Who calls whom, by name, over all modules: enough to find the function that a harness should call.

use leakproof_ir::{Callee, FileId, FuncId, Function, InstKind, Module};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

/// A position in `CallGraph::functions`.
pub type Node = usize;

pub struct CallGraph<'m> {
    modules: &'m [Module],
    root: &'m Path,
    functions: Vec<(usize, FuncId)>,
    callers: Vec<BTreeSet<Node>>,
}

impl<'m> CallGraph<'m> {
    pub fn new(modules: &'m [Module], root: &'m Path) -> Self {
        let mut functions = Vec::new();
        let mut external: BTreeMap<&str, Node> = BTreeMap::new();
        let mut own: BTreeMap<(usize, FuncId), Node> = BTreeMap::new();
        for (m, module) in modules.iter().enumerate() {
            for (id, function) in module.functions.iter().filter(|(_, f)| f.is_definition()) {
                own.insert((m, id), functions.len());
                external.entry(&function.name).or_insert(functions.len());
                functions.push((m, id));
            }
        }
        let mut graph =
            Self { modules, root, callers: vec![BTreeSet::new(); functions.len()], functions };
        for caller in 0..graph.functions.len() {
            let (m, _) = graph.functions[caller];
            for callee in graph.callees(caller) {
                let name = modules[m].functions[callee].name.as_str();
                let target = own.get(&(m, callee)).or_else(|| external.get(name));
                if let Some(&target) = target {
                    graph.callers[target].insert(caller);
                }
            }
        }
        graph
    }

    fn function(&self, node: Node) -> &'m Function {
        let (m, id) = self.functions[node];
        &self.modules[m].functions[id]
    }

    pub fn name(&self, node: Node) -> &'m str {
        &self.function(node).name
    }

    /// Module and id of a function.
    pub fn place(&self, node: Node) -> (usize, FuncId) {
        self.functions[node]
    }

    fn callees(&self, node: Node) -> Vec<FuncId> {
        let Some(body) = &self.function(node).body else { return Vec::new() };
        let direct = |kind: &InstKind| match kind {
            InstKind::Call { callee: Callee::Direct(id), .. } => Some(*id),
            _ => None,
        };
        body.insts.values().filter_map(|i| direct(&i.kind)).collect()
    }

    /// The function with code on this line of this file.
    pub fn function_at(&self, file: &Path, line: u32) -> Option<Node> {
        (0..self.functions.len()).find(|node| {
            let (m, _) = self.functions[*node];
            let module = &self.modules[m];
            let here = |loc: leakproof_ir::Loc| {
                loc.line == line && loc.file().is_some_and(|f| self.path(module, f) == file)
            };
            self.function(*node).body.as_ref().is_some_and(|b| {
                b.insts.values().any(|i| here(i.loc)) || b.blocks.values().any(|x| here(x.term_loc))
            })
        })
    }

    /// What may be meant by a line without code: the nearest of the file, or else a file of a like name.
    pub fn hint(&self, file: &Path, line: u32) -> String {
        let lines = self.lines_of(file).into_iter();
        if let Some(nearest) = lines.min_by_key(|l| l.abs_diff(line)) {
            return format!("; the nearest is line {nearest}");
        }
        let all = self.modules.iter().flat_map(|m| m.files.values());
        let files: BTreeSet<PathBuf> =
            all.map(|f| crate::warning::absolute(self.root, Path::new(f))).collect();
        let own = files.iter().filter_map(|f| f.strip_prefix(self.root).ok());
        let wanted = file.strip_prefix(self.root).unwrap_or(file).to_string_lossy();
        let like = |f: &&Path| strsim::damerau_levenshtein(&f.to_string_lossy(), &wanted);
        own.min_by_key(like).map(|f| format!("; is {} meant?", f.display())).unwrap_or_default()
    }

    /// The lines of a file that have code.
    fn lines_of(&self, file: &Path) -> BTreeSet<u32> {
        let numbers = |m: &Module| m.files.ids().find(|f| self.path(m, *f) == file);
        let numbers: Vec<Option<FileId>> = self.modules.iter().map(numbers).collect();
        let mut lines = BTreeSet::new();
        for node in 0..self.functions.len() {
            let (m, _) = self.functions[node];
            if let (Some(number), Some(body)) = (numbers[m], &self.function(node).body) {
                let places = body.insts.values().map(|i| i.loc);
                let places = places.chain(body.blocks.values().map(|b| b.term_loc));
                let here = places.filter(|l| l.line > 0 && l.file() == Some(number));
                lines.extend(here.map(|l| l.line));
            }
        }
        lines
    }

    fn path(&self, module: &Module, file: FileId) -> PathBuf {
        crate::warning::absolute(self.root, Path::new(&module.files[file]))
    }

    /// The nearest function, going from callees to callers, that reaches all of `goals`.
    pub fn nearest_with(&self, goals: &[Node]) -> Option<Node> {
        let above: Vec<BTreeMap<Node, u32>> = goals.iter().map(|g| self.callers_of(*g)).collect();
        let (first, rest) = above.split_first()?;
        let total = |node: &Node| -> Option<u32> {
            rest.iter().try_fold(first[node], |sum, m| Some(sum + m.get(node)?))
        };
        let reach = first.keys().filter_map(|n| Some((total(n)?, *n)));
        reach.min().map(|(_, node)| node)
    }

    /// Everything from which a function can be reached, with the number of calls it takes.
    fn callers_of(&self, start: Node) -> BTreeMap<Node, u32> {
        let mut depth = BTreeMap::from([(start, 0)]);
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            let next = depth[&node] + 1;
            for &caller in &self.callers[node] {
                if let std::collections::btree_map::Entry::Vacant(free) = depth.entry(caller) {
                    free.insert(next);
                    queue.push_back(caller);
                }
            }
        }
        depth
    }
}
