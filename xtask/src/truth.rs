//! `cargo xtask fixtures --truth`: are the fixtures themselves right?
//!
//! Every `_bad` and `_ok` function with parameters that can be made up (numbers, strings, files) is
//! run over many inputs and with failing allocations under LeakSanitizer. A `_bad` one has to leak
//! at least once, an `_ok` one never. In: the cases. Out: the functions that do otherwise; cases with
//! a `main`, or with undefined symbols, are not run.

use super::suite::discover::Case;
use anyhow::{Result, ensure};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const NUMBERS: &[&str] = &["-1", "0", "1", "2", "3", "7", "100"];
const SIZES: &[&str] = &["0", "1", "2", "4", "16", "100"];
const STRINGS: &[&str] = &[
    "",
    "a",
    "abc",
    "key=value",
    "a,b,c",
    "k:v",
    "x:12:z\\nline2\\n",
    "123",
    "!x y",
    "-q",
    "#c\\n\\nabc def ghi\\n",
    "/dev/null",
    "/",
    "a line that is longer than all the small buffers, and long enough to need more than one \
     growth step of the buffers that grow in steps of two from eight bytes on",
];
const FILES: &[&str] = &[
    "",
    "one line\\n",
    "first\\nsecond line\\n\\n#c\\nkey=value\\nlast",
    "x=1\\ny=2\\nquit\\nz=3\\n",
];

/// A parameter type the driver can make up values for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Size,
    String,
    MutableString,
    File,
}

struct Function {
    result: String,
    name: String,
    params: Vec<(String, Kind)>,
}

/// What running the fixtures showed.
#[derive(Default)]
pub struct Truth {
    pub functions: usize,
    /// One line per function that contradicts its name.
    pub wrong: Vec<String>,
    /// Programs of which nothing could be run.
    pub not_run: Vec<String>,
}

pub fn check(root: &Path, cases: &[Case], scratch: &Path) -> Result<Truth> {
    std::fs::create_dir_all(scratch)?;
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/truth");
    let mut truth = Truth::default();
    for (i, case) in cases.iter().enumerate() {
        let binary = scratch.join(format!("case{i}"));
        let functions = functions(root, case)?;
        if functions.is_empty() || !build(root, &here, case, &functions, &binary)? {
            truth.not_run.push(case.name.clone());
            continue;
        }
        truth.functions += functions.len();
        for (n, function) in functions.iter().enumerate() {
            let leaks = run(&binary, n)?;
            if leaks != function.name.ends_with("_bad") {
                let what = if leaks { "leaks" } else { "does not leak" };
                truth.wrong.push(format!("{}: {} {what}", case.name, function.name));
            }
        }
    }
    Ok(truth)
}

/// The functions of a case that can be driven; none if it has a `main`.
fn functions(root: &Path, case: &Case) -> Result<Vec<Function>> {
    let mut all = Vec::new();
    for source in &case.sources {
        let text = std::fs::read_to_string(root.join(source))?;
        if text.lines().any(|l| l.starts_with("int main(")) {
            return Ok(Vec::new());
        }
        all.extend(text.lines().filter_map(function));
    }
    Ok(all)
}

fn function(line: &str) -> Option<Function> {
    let header = line.strip_suffix(" {")?;
    if header.starts_with([' ', '#', '/']) || header.starts_with("static ") {
        return None;
    }
    let (before, rest) = header.split_once('(')?;
    let at = before.rfind([' ', '*'])? + 1;
    let (result, name) = before.split_at(at);
    let name = name.to_owned();
    if !name.ends_with("_bad") && !name.ends_with("_ok") {
        return None;
    }
    let list = rest.strip_suffix(')')?;
    let params: Option<Vec<_>> = match list {
        "" | "void" => Some(Vec::new()),
        _ => list.split(',').map(|p| Some((p.trim().to_owned(), kind(p.trim())?))).collect(),
    };
    let result = result.trim().to_owned();
    // A struct by value cannot be declared without its definition.
    let by_value = result.starts_with("struct") && !result.ends_with('*');
    Some(Function { result, name, params: params? }).filter(|_| !by_value)
}

fn kind(param: &str) -> Option<Kind> {
    let at = param.rfind([' ', '*'])? + 1;
    match param[..at].trim() {
        "int" | "long" => Some(Kind::Number),
        "size_t" | "unsigned" => Some(Kind::Size),
        "const char *" => Some(Kind::String),
        "char *" => Some(Kind::MutableString),
        "FILE *" => Some(Kind::File),
        _ => None,
    }
}

fn is_cxx(case: &Case) -> bool {
    case.sources.iter().any(|s| s.ends_with(".cpp"))
}

/// Compiles fixture and driver; false if they do not link (undefined symbols on purpose).
fn build(
    root: &Path,
    here: &Path,
    case: &Case,
    functions: &[Function],
    binary: &Path,
) -> Result<bool> {
    let (clang, extension) = if is_cxx(case) { ("clang++-19", "cpp") } else { ("clang-19", "c") };
    let driver = binary.with_extension(extension);
    std::fs::write(&driver, driver_text(functions))?;
    let flags = ["-g", "-O0", "-fsanitize=address", "-w"];
    let mut objects = Vec::new();
    for (i, source) in case.sources.iter().enumerate() {
        let object = binary.with_extension(format!("{i}.o"));
        let compiled = Command::new(clang)
            .args(flags)
            .arg("-include")
            .arg(here.join("inject.h"))
            .arg("-c")
            .arg(root.join(source))
            .arg("-o")
            .arg(&object)
            .status()?;
        ensure!(compiled.success(), "{source} does not compile");
        objects.push(object);
    }
    let linked = Command::new(clang)
        .args(flags)
        .arg("-I")
        .arg(here)
        .arg(&driver)
        .args(&objects)
        .args(["-lpthread", "-o"])
        .arg(binary)
        .output()?;
    Ok(linked.status.success())
}

fn driver_text(functions: &[Function]) -> String {
    let mut out = String::from("#include \"drive.h\"\n");
    for f in functions {
        let params: Vec<&str> = f.params.iter().map(|(p, _)| p.as_str()).collect();
        // Tags of structs that only the fixture knows do not matter to the linker.
        let result = if f.result.contains("struct") { "void *" } else { &f.result };
        let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
        let _ = writeln!(out, "{result} {}({params});", f.name);
        write_runner(&mut out, f);
    }
    out.push_str("static const struct drive_case cases[] = {\n");
    for f in functions {
        let inputs: usize = f.params.iter().map(|(_, k)| values(*k).len()).product();
        let _ = writeln!(out, "    {{run_{}, {inputs}}},", f.name);
    }
    out.push_str("};\nint main(int argc, char **argv) {\n");
    out.push_str("    return argc < 3 ? 2 : drive(&cases[atoi(argv[1])], atol(argv[2]));\n}\n");
    out
}

fn values(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Number => NUMBERS,
        Kind::Size => SIZES,
        Kind::String | Kind::MutableString => STRINGS,
        Kind::File => FILES,
    }
}

fn write_runner(out: &mut String, f: &Function) {
    let _ = writeln!(out, "static void run_{}(long i) {{", f.name);
    let mut arguments = Vec::new();
    for (n, (_, kind)) in f.params.iter().enumerate() {
        let values = values(*kind);
        let text = matches!(kind, Kind::String | Kind::MutableString | Kind::File);
        let list: Vec<String> = values
            .iter()
            .map(|v| if text { format!("\"{v}\"") } else { (*v).to_owned() })
            .collect();
        let ty = if text { "const char *const" } else { "const long" };
        let _ = writeln!(out, "    static {ty} v{n}[] = {{{}}};", list.join(", "));
        let pick = format!("v{n}[i{n}]");
        let _ = writeln!(out, "    long i{n} = i % {0}; i /= {0};", values.len());
        arguments.push(match kind {
            Kind::MutableString => format!("drive_copy({pick})"),
            Kind::File => format!("drive_file({pick})"),
            _ => pick,
        });
    }
    let call = format!("{}({})", f.name, arguments.join(", "));
    let line = if f.result.ends_with('*') { format!("drive_keep({call})") } else { call };
    let _ = writeln!(out, "    (void)i;\n    {line};\n}}");
}

/// Runs one function over all inputs, going on behind every call of `exit`.
fn run(binary: &PathBuf, function: usize) -> Result<bool> {
    let mut start = 0;
    loop {
        let output = Command::new(binary)
            .args([function.to_string(), start.to_string()])
            .env("ASAN_OPTIONS", "detect_leaks=1:allocator_may_return_null=1:handle_abort=0")
            .env("LSAN_OPTIONS", "exitcode=0")
            .output()?;
        let errors = String::from_utf8_lossy(&output.stderr);
        let step = errors.lines().rev().find_map(|l| l.strip_prefix("STEP ")?.parse::<u64>().ok());
        match (output.status.code(), step) {
            (Some(0), _) => return Ok(false),
            (Some(42), _) => return Ok(true),
            (Some(43), Some(step)) => start = step + 1,
            _ => anyhow::bail!("{} {function}: {}\n{errors}", binary.display(), output.status),
        }
    }
}
