//! How loading tells what it does; the command line shows it.

/// One unit is done.
#[derive(Clone, Copy, Debug)]
pub struct UnitDone<'a> {
    pub name: &'a str,
    pub from_cache: bool,
    /// Why there is nothing of it, if so.
    pub skipped: Option<&'a str>,
}

/// Called from worker threads.
pub trait Progress: Sync {
    fn start(&self, _units: usize) {}
    fn unit_done(&self, _done: UnitDone<'_>) {}
    fn finish(&self) {}
}

/// Says nothing.
pub struct Silent;

impl Progress for Silent {}
