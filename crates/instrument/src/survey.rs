//! Looks at a unit before it is changed: numbers branches and calls, and draws the program map.
//!
//! Invariant: numbers are given in the order of the code, so that the same unit always gets the same.

use crate::llvm::{Block, Module, Value};
use crate::words;
use leakproof_rt::abi::{LOCAL_BITS, MAX_LOCAL};
use leakproof_rt::map::{BlockMap, BranchMap, CallMap, FunctionMap, Position, UnitMap};
use llvm_sys::LLVMOpcode;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// Ids of the instructions that have one.
#[derive(Default)]
pub struct Ids {
    pub branches: HashMap<Value, u32>,
    pub calls: HashMap<Value, u32>,
}

pub struct Survey {
    pub map: UnitMap,
    pub ids: Ids,
    files: HashMap<(String, String), u32>,
    next: u32,
}

impl Survey {
    pub fn of(module: Module, unit: u32) -> Self {
        let map = UnitMap { unit, ..UnitMap::default() };
        let mut survey = Self { map, ids: Ids::default(), files: HashMap::new(), next: 1 };
        for function in module.functions() {
            if !function.is_declaration() && !function.is_available_externally() {
                let drawn = survey.function(function);
                survey.map.functions.push(drawn);
            }
        }
        survey.map.options = words::options(module);
        survey.map.words = words::of_tables(module);
        if survey.map.options.is_empty() {
            // A parser of its own, if any: what users are told is all there is to know.
            survey.map.words.extend(words::of_usage(module));
        }
        if survey.next > MAX_LOCAL {
            survey.map.notes.push("the unit has too many branches; some are not seen".to_owned());
        }
        survey
    }

    /// The next free number; 0 when there are none left, which stands for "not numbered".
    fn number(&mut self) -> u32 {
        if self.next > MAX_LOCAL {
            return 0;
        }
        let id = (self.map.unit + 1) << LOCAL_BITS | self.next;
        self.next += 1;
        id
    }

    fn function(&mut self, function: Value) -> FunctionMap {
        let blocks = function.blocks();
        let index: HashMap<Block, u32> =
            blocks.iter().enumerate().map(|(i, b)| (*b, i as u32)).collect();
        let escapes = |user: &Value| !user.is_call() || user.called_value() != function;
        FunctionMap {
            name: function.name(),
            internal: function.is_internal(),
            address_taken: function.users().iter().any(escapes),
            parameters: function.parameters().len() as u32,
            words: words::of_function(function),
            blocks: blocks.iter().map(|b| self.block(*b, &index)).collect(),
        }
    }

    fn block(&mut self, block: Block, index: &HashMap<Block, u32>) -> BlockMap {
        let mut drawn = BlockMap { name: block.name(), ..BlockMap::default() };
        for instruction in block.instructions() {
            let at = self.position(instruction);
            if at.line != 0
                && drawn.lines.last().is_none_or(|l| (l.file, l.line) != (at.file, at.line))
            {
                drawn.lines.push(at);
            }
            if instruction.is_call() {
                drawn.calls.extend(self.call(instruction, at));
            }
        }
        let Some(end) = block.terminator() else { return drawn };
        let successors = end.successors();
        drawn.successors = successors.iter().filter_map(|s| index.get(s).copied()).collect();
        drawn.returns = matches!(end.opcode(), LLVMOpcode::LLVMRet | LLVMOpcode::LLVMResume);
        drawn.branch = self.branch(end);
        drawn
    }

    fn call(&mut self, call: Value, at: Position) -> Option<CallMap> {
        let callee = call.called_value().as_function().map(Value::name);
        if callee.as_ref().is_some_and(|n| n.starts_with("llvm.")) {
            return None;
        }
        let id = self.number();
        self.ids.calls.insert(call, id);
        Some(CallMap { id, at, callee, arguments: call.argument_count() })
    }

    fn branch(&mut self, end: Value) -> Option<BranchMap> {
        let cases = match end.opcode() {
            LLVMOpcode::LLVMBr if end.is_conditional() => None,
            LLVMOpcode::LLVMSwitch => Some(cases(end)),
            _ => return None,
        };
        let id = self.number();
        self.ids.branches.insert(end, id);
        Some(BranchMap { id, at: self.position(end), cases })
    }

    /// The file of an instruction, when the survey met it.
    pub fn file_number(&self, instruction: Value) -> Option<u32> {
        let (directory, file, _, _) = instruction.location();
        self.files.get(&(directory, file)).copied()
    }

    fn position(&mut self, instruction: Value) -> Position {
        let (directory, file, line, column) = instruction.location();
        if line == 0 {
            return Position::default();
        }
        let key = (directory, file);
        let known = self.files.get(&key).copied();
        let file = known.unwrap_or_else(|| {
            let path = normalised(&Path::new(&key.0).join(&key.1));
            let number = self.map.files.len() as u32;
            self.map.files.push(path.to_string_lossy().into_owned());
            self.files.insert(key, number);
            number
        });
        Position { file, line, column }
    }
}

/// The values that lead to each successor; the default comes first in LLVM's order.
fn cases(switch: Value) -> Vec<Vec<u64>> {
    let count = switch.successors().len() as u32;
    let value = |i: u32| switch.operand(2 * i).as_int().unwrap_or(0);
    (0..count).map(|i| if i == 0 { Vec::new() } else { vec![value(i)] }).collect()
}

/// Without `.` and `..`, by text only.
fn normalised(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}
