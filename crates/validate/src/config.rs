//! The configuration of one run in the runtime's words (see `leakproof_rt::abi`).

use crate::input::Input;
use crate::target::Target;
use leakproof_rt::abi::{MAGIC, MAX_ENV, MAX_FILES, VERSION};
use std::path::Path;

/// Limits of one run.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    pub cpu_seconds: u32,
    pub memory_mib: u32,
    pub file_mib: u32,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { cpu_seconds: 2, memory_mib: 4096, file_mib: 64 }
    }
}

#[derive(Default)]
struct Words(Vec<u8>);

impl Words {
    fn word(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u32);
        self.0.extend(bytes);
        // At least one zero, so that texts are terminated.
        let padding = (bytes.len() / 4 + 1) * 4 - bytes.len();
        self.0.extend(std::iter::repeat_n(0, padding));
    }

    fn list(&mut self, words: &[u32]) {
        self.word(words.len() as u32);
        words.iter().for_each(|w| self.word(*w));
    }

    fn text(&mut self, name: &str, bytes: &[u8], capacity: u32) {
        self.bytes(name.as_bytes());
        self.bytes(bytes);
        self.word(capacity);
    }
}

/// The configuration file's content.
pub fn encode(
    input: &Input,
    target: &Target,
    switches: u32,
    limits: RunLimits,
    scratch: &Path,
) -> Vec<u8> {
    let mut w = Words::default();
    let head = [MAGIC, VERSION, switches, limits.cpu_seconds, limits.memory_mib, limits.file_mib];
    head.iter().for_each(|word| w.word(*word));
    w.bytes(scratch.as_os_str().as_encoded_bytes());
    w.word(target.path.len() as u32);
    for element in &target.path {
        let pairs: Vec<u32> = element.edges.iter().flat_map(|(id, to)| [*id, *to]).collect();
        w.list(&pairs);
    }
    w.list(&target.points);
    w.word(target.sites.len() as u32);
    target.sites.iter().for_each(|site| w.list(site));
    w.word(1);
    w.word(input.argc.max(1));
    w.word(1);
    w.text("", input.started_by(), Input::capacity(input.started_by()));
    let given = input.command_line();
    w.word(given.len() as u32);
    given.iter().for_each(|a| w.text("", a, Input::capacity(a)));
    let variables: Vec<_> = input.environment.iter().take(MAX_ENV as usize).collect();
    w.word(variables.len() as u32);
    variables.iter().for_each(|(name, value)| w.text(name, value, Input::capacity(value)));
    let files: Vec<_> = input.files.iter().take(MAX_FILES as usize).collect();
    w.word(files.len() as u32 + 1);
    w.text("", &input.stdin, 0);
    files.iter().for_each(|(name, content)| w.text(name, content, 0));
    w.word(input.faults.len() as u32);
    for fault in &input.faults {
        w.word(fault.number());
        w.word(fault.call);
    }
    w.0
}
