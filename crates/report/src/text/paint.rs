//! Terminal colours, or none.

/// Wraps text in colour codes when colours are on. Text is escaped before it comes here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    on: bool,
}

impl Paint {
    pub fn new(on: bool) -> Self {
        Paint { on }
    }

    fn code(self, code: &str, text: &str) -> String {
        if self.on && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    pub fn bold(self, text: &str) -> String {
        self.code("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.code("2", text)
    }

    pub fn red(self, text: &str) -> String {
        self.code("1;31", text)
    }

    pub fn green(self, text: &str) -> String {
        self.code("1;32", text)
    }

    pub fn yellow(self, text: &str) -> String {
        self.code("1;33", text)
    }

    /// Line numbers, rules and arrows.
    pub fn frame(self, text: &str) -> String {
        self.code("1;34", text)
    }

    pub fn cyan(self, text: &str) -> String {
        self.code("36", text)
    }
}
