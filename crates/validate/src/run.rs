//! Runs the instrumented program on one input, inside its limits, and reads the trace.
//!
//! Invariant: when `run` returns, the program and all that it started in its process group are gone, and
//! it ran in an empty folder with nothing but the input's files.

use crate::config::{self, RunLimits};
use crate::error::ValidateError;
use crate::input::Input;
use crate::target::Target;
use crate::trace::Trace;
use leakproof_frontend::cancel::{self, Running, Temporary};
use leakproof_rt::abi::{FOLDER_VARIABLE, TRACE_SIZE, USUAL_NAME, switch};
use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// One place to run programs in.
pub struct Runner {
    executable: PathBuf,
    folder: Temporary,
    trace: File,
    limits: RunLimits,
    switches: u32,
}

/// Options of all runs.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    pub limits: RunLimits,
    /// Whether calls may be made to fail.
    pub faults: bool,
    /// Whether expressions are followed; without, runs only track objects.
    pub symbolic: bool,
    pub tracked: bool,
    /// Whether the program uses sockets.
    pub network: bool,
}

impl Default for RunOptions {
    fn default() -> Self {
        let limits = RunLimits::default();
        Self { limits, faults: true, symbolic: true, tracked: true, network: false }
    }
}

/// A new folder in memory, if the system has such, that goes away by itself.
pub fn scratch_folder(purpose: &str) -> Result<Temporary, ValidateError> {
    let shared = Path::new("/dev/shm");
    let base = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
    new_folder(&base, purpose)
}

/// A new folder where a script that the user starts makes its own: file systems differ in what they let a program do, so
/// a witness that shows its leak in memory need not show it there.
pub fn usual_folder(purpose: &str) -> Result<Temporary, ValidateError> {
    new_folder(&std::env::temp_dir(), purpose)
}

fn new_folder(base: &Path, purpose: &str) -> Result<Temporary, ValidateError> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = base.join(format!("leakproof-{purpose}-{}-{number}", std::process::id()));
    Temporary::folder(path.clone()).map_err(|e| ValidateError::io(path, &e))
}

impl Runner {
    pub fn new(executable: &Path, options: RunOptions) -> Result<Self, ValidateError> {
        cancel::adopt_orphans();
        let folder = scratch_folder("run")?;
        // Where the name that programs are given points from the folder that they run in.
        let link = folder.path().join(USUAL_NAME.trim_start_matches("../"));
        std::os::unix::fs::symlink(executable, &link).map_err(|e| ValidateError::io(&link, &e))?;
        let path = folder.path().join("trace");
        let open =
            || File::options().read(true).write(true).create(true).truncate(true).open(&path);
        let trace = open().map_err(|e| ValidateError::io(&path, &e))?;
        let mut switches = switch::ISOLATE;
        for (wanted, bit) in [
            (options.faults, switch::FAULTS),
            (options.symbolic, switch::SYMBOLIC),
            (options.tracked, switch::TRACK),
            (options.network, switch::NETWORK),
        ] {
            switches |= if wanted { bit } else { 0 };
        }
        Ok(Self {
            executable: executable.to_owned(),
            folder,
            trace,
            limits: options.limits,
            switches,
        })
    }

    /// Whether a source file is the user's: ours lie beside the program that is made of them.
    pub fn is_of_user(&self, source: &str) -> bool {
        self.executable.parent().is_none_or(|ours| !Path::new(source).starts_with(ours))
    }

    /// The folder that programs run in.
    pub fn work_folder(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub fn run(&self, input: &Input, target: &Target) -> Result<Trace, ValidateError> {
        let work = self.work_folder();
        self.prepare(input, target, &work)
            .map_err(|e| ValidateError::io(self.folder.path(), &e))?;
        let mut command = self.command(&work)?;
        let start = Instant::now();
        let wall = Duration::from_secs(u64::from(self.limits.cpu_seconds) * 3);
        let status = finish(&mut command, wall).map_err(|e| match e.kind() {
            std::io::ErrorKind::Interrupted => ValidateError::Interrupted,
            _ => ValidateError::DoesNotRun(e.to_string()),
        })?;
        let mut trace =
            Trace::read(&self.trace).map_err(|e| ValidateError::io(self.folder.path(), &e))?;
        if trace.time.is_zero() {
            // A busy machine makes waiting long, but not the run's own work.
            let most = Duration::from_secs(u64::from(self.limits.cpu_seconds));
            trace.time = start.elapsed().min(most);
        }
        trace.signal = status.map_or(Some(0), |s| s.signal());
        Ok(trace)
    }

    /// Fresh files for a run.
    fn prepare(&self, input: &Input, target: &Target, work: &Path) -> std::io::Result<()> {
        if work.exists() {
            std::fs::remove_dir_all(work)?;
        }
        std::fs::create_dir(work)?;
        input.write_entries(work)?;
        std::fs::write(self.folder.path().join("stdin"), &input.stdin)?;
        let config = config::encode(input, target, self.switches, self.limits, work);
        std::fs::write(self.folder.path().join("config"), config)?;
        // Empties it, so that the run finds zeros.
        self.trace.set_len(0)?;
        self.trace.set_len(TRACE_SIZE as u64)
    }

    fn command(&self, work: &Path) -> Result<Command, ValidateError> {
        let stdin = self.folder.path().join("stdin");
        let stdin = File::open(&stdin).map_err(|e| ValidateError::io(&stdin, &e))?;
        let mut command = Command::new(&self.executable);
        command.current_dir(work).env_clear().process_group(0);
        command.env("PATH", "/usr/bin:/bin").env("HOME", work).env("LC_ALL", "C");
        // The usual place for temporary files is out of reach.
        command.env("TMPDIR", work);
        command.env(FOLDER_VARIABLE, self.folder.path());
        command.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(command)
    }
}

/// Wall-clock limits that a run may take when the machine does not let it run.
const PATIENCE: u32 = 10;

/// Whether a process could go on if it were given a processor.
fn is_runnable(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R'))
}

/// Whether a process waits for somebody to connect. Nobody will: it is alone in its network.
fn waits_for_nobody(id: u32) -> bool {
    const ACCEPT: &str = "43 ";
    const ACCEPT4: &str = "288 ";
    let call = std::fs::read_to_string(format!("/proc/{id}/syscall")).unwrap_or_default();
    call.starts_with(ACCEPT) || call.starts_with(ACCEPT4)
}

/// Time after which a run is long, and is looked at for processes that it starts without end.
const LONG: Duration = Duration::from_millis(100);

/// Waits until the program ends, its time is up or it fills the machine (`None`), then ends what is left of it.
pub(crate) fn finish(command: &mut Command, wall: Duration) -> std::io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    let mut running = Running::spawn(command)?;
    let mut pause = Duration::from_micros(50);
    let mut status = running.child().try_wait()?;
    let id = running.child().id();
    // One that wants to run but is not let is not hanging; what it may use is limited otherwise.
    let may_wait = |time: Duration| time < wall || (time < wall * PATIENCE && is_runnable(id));
    let mut next_look = LONG;
    while status.is_none() && may_wait(start.elapsed()) {
        if start.elapsed() > next_look {
            if cancel::is_crowded() || waits_for_nobody(id) {
                break;
            }
            next_look = start.elapsed() + LONG;
        }
        std::thread::sleep(pause);
        pause = (pause * 3 / 2).min(Duration::from_millis(5));
        status = running.child().try_wait()?;
    }
    running.end_group();
    Ok(status)
}
