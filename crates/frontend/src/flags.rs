//! What becomes of each compiler flag: kept, dropped, or read.
//!
//! The tables know the options of gcc and clang that take a separate argument, those that only say
//! where output goes or how to optimise or warn, and those that clang would refuse. A flag that no
//! table knows is kept; when clang then refuses it, `rejected` finds it in clang's message.
//! Invariant: a flag that changes what the code means (macros, include paths, language, ABI) stays.

use crate::command::Stage;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// What to do with an argument of a compiler command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Input,
    Keep,
    /// Keep it and the argument that follows.
    KeepPair,
    Drop,
    DropPair,
    Stage(Stage),
    /// `-o`, with its value when joined to it.
    Output(Option<OsString>),
    /// `-x`, with its value when joined to it.
    Language(Option<OsString>),
    /// The useful flags inside `-Wp,...`.
    Preprocessor(Vec<OsString>),
    /// `-Xclang`.
    ClangInternal,
}

/// Options whose argument follows, and which matter.
const KEEP_PAIR: &[&str] = &[
    "-D",
    "-U",
    "-I",
    "-F",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-include",
    "-imacros",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "--sysroot",
    "-cxx-isystem",
    "-target",
    "-include-pch",
    "-ivfsoverlay",
    "-working-directory",
    "--include-directory",
    "--define-macro",
    "--undefine-macro",
    "-iframework",
    "-isystem-after",
];

/// Options whose argument follows, and which do not matter.
const DROP_PAIR: &[&str] = &[
    "-L",
    "-l",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-Xpreprocessor",
    "-Xlinker",
    "-Xassembler",
    "-Xanalyzer",
    "-mllvm",
    "-T",
    "-u",
    "-z",
    "-e",
    "-aux-info",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-wrapper",
    "-B",
    "--param",
    "-framework",
    "-Tbss",
    "-Tdata",
    "-Ttext",
    "-rpath",
    "-soname",
    "-index-store-path",
    "--serialize-diagnostics",
    "-serialize-diagnostics",
    "-arch",
    "--gcc-toolchain",
    "-current_version",
    "-compatibility_version",
    "-install_name",
    "-exported_symbols_list",
    "-G",
    "-A",
];

/// Beginnings of options that do not change what the code means, or that clang refuses.
const DROP_PREFIX: &[&str] = &[
    // Output, dependency files, optimisation, debug information, warnings, linking.
    "-M",
    "-O",
    "-g",
    "-W",
    "-l",
    "-L",
    "-T",
    "-B",
    "-save-temps",
    "--save-temps",
    "-dump",
    "-d",
    "-print-",
    "--print-",
    "-specs",
    "--specs",
    "--param",
    "-aux-info",
    "-rpath",
    "-static",
    "-shared",
    "-pie",
    "-no-pie",
    "-nopie",
    "-rdynamic",
    "-nostdlib",
    "-nodefaultlibs",
    "-nostartfiles",
    "-pedantic",
    "--pedantic",
    "-symbolic",
    "-fuse-ld",
    "-R",
    "-z",
    // Whole-program and profile modes, instrumentation.
    "-flto",
    "-fno-lto",
    "-ffat-lto",
    "-fno-fat-lto",
    "-fuse-linker-plugin",
    "-fno-use-linker-plugin",
    "-fwhole-program",
    "-fprofile",
    "-fno-profile",
    "-fcoverage",
    "-fno-coverage",
    "-ftest-coverage",
    "--coverage",
    "-coverage",
    "-fauto-profile",
    "-fsanitize",
    "-fno-sanitize",
    "-fxray",
    "-finstrument-functions",
    "-pg",
    "-fsplit-stack",
    "-fcf-protection",
    "-fembed-bitcode",
    "-fthinlto",
    "-fbranch-target",
    "-fpatchable-function-entry",
    // Debug information and file names: they must be those on disk.
    "-fdebug",
    "-fno-debug",
    "-ffile-prefix-map",
    "-fmacro-prefix-map",
    "-fstandalone-debug",
    "-feliminate-unused",
    "-fno-eliminate-unused",
    "-fvar-tracking",
    "-fno-var-tracking",
    "-femit-",
    "-fno-dwarf",
    "-fno-merge-debug",
    "-fsplit-dwarf",
    "-fcoverage-prefix-map",
    "-frecord-",
    "-grecord",
    // Diagnostics, dumps, plugins.
    "-fdiagnostics",
    "-fno-diagnostics",
    "-fcolor-diagnostics",
    "-fno-color-diagnostics",
    "-fansi-escape",
    "-fmessage-length",
    "-fmax-errors",
    "-ferror-limit",
    "-fplugin",
    "-fpass-plugin",
    "-fanalyzer",
    "-fdump",
    "-fstack-usage",
    "-fcallgraph-info",
    "-fopt-info",
    "-fsave-optimization-record",
    "-ftime-",
    "-fcrash-diagnostics",
    "-fno-crash-diagnostics",
    "-fproc-stat-report",
    "-fmem-report",
    "-fpre-ipa",
    "-fpost-ipa",
    "-fno-caret-diagnostics",
    "-fshow-",
    "-fno-show-",
    "-fmacro-backtrace-limit",
    "-ftemplate-backtrace-limit",
    // Threads by pragma: sequential code is what the analysis reads.
    "-fopenmp",
    "-fno-openmp",
    "-fopenacc",
    // Optimisations that only gcc knows.
    "-ftree-",
    "-fno-tree-",
    "-fipa-",
    "-fno-ipa-",
    "-fgcse",
    "-fno-gcse",
    "-fconserve-stack",
    "-fno-conserve-stack",
    "-fira-",
    "-fno-ira-",
    "-fsched",
    "-fno-sched",
    "-fmodulo-sched",
    "-freorder",
    "-fno-reorder",
    "-fcaller-saves",
    "-fno-caller-saves",
    "-fcrossjumping",
    "-fno-crossjumping",
    "-fcse-",
    "-fno-cse-",
    "-fdce",
    "-fno-dce",
    "-fdse",
    "-fno-dse",
    "-fivopts",
    "-fno-ivopts",
    "-floop-",
    "-fno-loop-",
    "-fprefetch-loop",
    "-fpredictive",
    "-frename-registers",
    "-fno-rename-registers",
    "-fsection-anchors",
    "-fno-section-anchors",
    "-fsel-sched",
    "-fthread-jumps",
    "-fno-thread-jumps",
    "-fweb",
    "-fno-web",
    "-fallow-store-data-races",
    "-fno-allow-store-data-races",
    "-flive-patching",
    "-fno-aggressive-loop-optimizations",
    "-faggressive-loop-optimizations",
    "-fearly-inlining",
    "-fno-early-inlining",
    "-finline-limit",
    "-fno-inline-small",
    "-fpartial-inlining",
    "-fno-partial-inlining",
    "-fgraphite",
    "-fhardened",
    "-fzero-call-used-regs",
    "-fstack-clash-protection",
    "-fno-stack-clash-protection",
    "-fstack-protector",
    "-fno-stack-protector",
    "-fharden-",
    "-fno-toplevel-reorder",
    "-ftoplevel-reorder",
    "-mpreferred-stack-boundary",
    "-mincoming-stack-boundary",
    "-mindirect-branch",
    "-mfunction-return",
    "-mskip-rax-setup",
    "-mno-fp-ret-in-387",
    "-mharden-sls",
    "-mrecord-mcount",
    "-mfentry",
    "-mnop-mcount",
    "-maccumulate-outgoing-args",
    "-mno-accumulate-outgoing-args",
    "-malign-data",
    "-mtls-dialect",
    "-mtune-ctrl",
    "-mmemcpy-strategy",
    "-mmemset-strategy",
];

/// Options dropped only when they stand exactly so.
const DROP_EXACT: &[&str] = &[
    "-pipe",
    "-v",
    "-p",
    "-r",
    "-s",
    "-n",
    "-N",
    "-w",
    "-Q",
    "-H",
    "-C",
    "-CC",
    "-P",
    "-pass-exit-codes",
    "-no-canonical-prefixes",
    "-canonical-prefixes",
    "-Qunused-arguments",
    "-no-integrated-cpp",
    "-fno-working-directory",
    "-fworking-directory",
    "-no-integrated-as",
    "-fno-integrated-as",
    "-integrated-as",
    "-fintegrated-as",
    "-###",
    "--",
    "-emit-llvm",
    "-fsyntax-only",
];

const NO_CODE: &[&str] = &[
    "-E",
    "-M",
    "-MM",
    "--version",
    "-version",
    "--help",
    "-fsyntax-only",
    "-###",
    "-dumpversion",
    "-dumpmachine",
    "-dumpspecs",
    "-dumpfullversion",
    "-V",
    "--preprocess",
    "-qversion",
];

/// Decides on one argument.
pub fn fate(argument: &OsStr) -> Fate {
    let bytes = argument.as_bytes();
    if !bytes.starts_with(b"-") || bytes == b"-" {
        return Fate::Input;
    }
    let text = argument.to_str();
    let is = |table: &[&str]| text.is_some_and(|t| table.contains(&t));
    let begins = |table: &[&str]| table.iter().any(|p| bytes.starts_with(p.as_bytes()));
    if is(NO_CODE) || begins(&["--print-", "-print-", "--help"]) {
        return Fate::Stage(Stage::NoCode);
    }
    match bytes {
        b"-c" | b"-S" | b"--compile" | b"--assemble" => return Fate::Stage(Stage::Compile),
        b"-Xclang" => return Fate::ClangInternal,
        b"-o" | b"--output" => return Fate::Output(None),
        b"-x" | b"--language" => return Fate::Language(None),
        [b'-', b'x', language @ ..] => return Fate::Language(Some(os(language))),
        _ => {}
    }
    if let Some(inner) = bytes.strip_prefix(b"-Wp,") {
        return Fate::Preprocessor(preprocessor_flags(inner));
    }
    if is(KEEP_PAIR) {
        return Fate::KeepPair;
    }
    if is(DROP_PAIR) {
        return Fate::DropPair;
    }
    if let Some(output) = joined_output(bytes) {
        return Fate::Output(Some(output));
    }
    if is(DROP_EXACT) || begins(DROP_PREFIX) { Fate::Drop } else { Fate::Keep }
}

/// Whether the argument after this flag belongs to it.
pub fn takes_argument(flag: &OsStr) -> bool {
    matches!(
        fate(flag),
        Fate::KeepPair
            | Fate::DropPair
            | Fate::Output(None)
            | Fate::Language(None)
            | Fate::ClangInternal
    )
}

/// `-ofile`, but not `-objc...`.
fn joined_output(bytes: &[u8]) -> Option<OsString> {
    let value = bytes.strip_prefix(b"--output=").or_else(|| bytes.strip_prefix(b"-o"))?;
    (!value.starts_with(b"bjc")).then(|| os(value))
}

fn os(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

/// Macro and include flags of `-Wp,-DA,-Iinc,-MD,file`.
fn preprocessor_flags(inner: &[u8]) -> Vec<OsString> {
    let mut out = Vec::new();
    for part in inner.split(|&b| b == b',') {
        let joined = part.len() > 2 && [&b"-D"[..], b"-U", b"-I"].contains(&&part[..2]);
        if joined {
            out.push(os(part));
        }
    }
    out
}

/// The flags that clang's messages name as refused: unknown arguments, unsupported options and bad
/// values. Messages about the source itself (with a position) name none.
pub fn rejected(flags: &[OsString], messages: &str) -> Vec<OsString> {
    let mut out: Vec<OsString> = Vec::new();
    for line in messages.lines().filter(|l| is_driver_error(l)) {
        for token in quoted_tokens(line) {
            out.extend(
                flags
                    .iter()
                    .filter(|f| names(token, f) && !out.contains(f))
                    .cloned()
                    .collect::<Vec<_>>(),
            );
        }
    }
    out
}

fn is_driver_error(line: &str) -> bool {
    let Some(at) = line.find("error: ") else { return false };
    // `clang: error:` and `error:` come from the driver; `a.c:3:1: error:` from the source.
    let origin = line[..at].trim_end_matches("fatal ").trim_end_matches([':', ' ']);
    !origin
        .rsplit(':')
        .next()
        .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

fn quoted_tokens(line: &str) -> impl Iterator<Item = &str> {
    line.split('\'').skip(1).step_by(2).filter(|t| !t.is_empty())
}

/// Whether the quoted `token` of a message means `flag`: the flag itself, its `-name=` part, or
/// its value (`unknown target CPU 'foo'` for `-march=foo`).
fn names(token: &str, flag: &OsStr) -> bool {
    let flag = flag.as_bytes();
    let token = token.as_bytes();
    let value = || flag.strip_suffix(token).is_some_and(|head| head.ends_with(b"="));
    flag.starts_with(b"-")
        && (flag == token || (token.ends_with(b"=") && flag.starts_with(token)) || value())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn os_all(flags: &[&str]) -> Vec<OsString> {
        flags.iter().map(OsString::from).collect()
    }

    #[test]
    fn refused_flags_are_found_in_messages() {
        let flags = os_all(&["-fplan9", "-march=foo", "-DX='-fplan9'", "-mabi=z", "-std=c99"]);
        let messages = "clang: error: unknown argument: '-fplan9'\n\
                        error: unknown target CPU 'foo'\nnote: valid target CPU values are: a, b\n\
                        clang: error: unsupported argument 'z' to option '-mabi='\n\
                        a.c:1:1: fatal error: use of undeclared identifier '-std=c99'\n";
        assert_eq!(rejected(&flags, messages), os_all(&["-fplan9", "-march=foo", "-mabi=z"]));
    }

    #[test]
    fn source_errors_reject_nothing() {
        let flags = os_all(&["-DA=foo"]);
        assert!(rejected(&flags, "x.c:3:4: error: use of 'foo'\n").is_empty());
    }

    #[test]
    fn separate_and_joined_forms() {
        assert_eq!(fate(OsStr::new("-DA")), Fate::Keep);
        assert_eq!(fate(OsStr::new("-D")), Fate::KeepPair);
        assert_eq!(fate(OsStr::new("-ofoo.o")), Fate::Output(Some("foo.o".into())));
        assert_eq!(fate(OsStr::new("-xc++")), Fate::Language(Some("c++".into())));
        assert_eq!(fate(OsStr::new("-")), Fate::Input);
        assert_eq!(fate(OsStr::new("-MMD")), Fate::Drop);
        assert_eq!(fate(OsStr::new("-MM")), Fate::Stage(Stage::NoCode));
        assert_eq!(fate(OsStr::new("-nostdinc")), Fate::Keep);
        assert_eq!(fate(OsStr::new("-m32")), Fate::Keep);
        assert_eq!(fate(OsStr::new("-pthread")), Fate::Keep);
    }
}
