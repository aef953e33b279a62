//! What a compiler command line does: which files it compiles, under which flags, what it links.
//!
//! In: the arguments of a gcc- or clang-like driver, response files expanded. Out: a `Command`.
//! Invariant: no argument of an option is ever taken for an input file.

use crate::flags::{Fate, fate};
use crate::unit::{FileClass, SourceKind};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where the driver stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// `-E`, `-M`, `--version`, ...: no code is made.
    NoCode,
    /// `-c` or `-S`.
    Compile,
    /// Everything up to the executable or shared library.
    Link,
}

/// An input file and what the driver takes it for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub path: PathBuf,
    pub class: FileClass,
}

/// A parsed compiler command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub stage: Stage,
    pub inputs: Vec<Input>,
    pub output: Option<PathBuf>,
    /// Flags that change the meaning of the code.
    pub flags: Vec<OsString>,
    /// What the last `-x` says the inputs after it are.
    pub language: Option<FileClass>,
}

/// Programs that run the compiler named by their next argument.
const LAUNCHERS: &[&str] =
    &["ccache", "sccache", "distcc", "icecc", "gomacc", "buildcache", "fastbuild", "time", "nice"];

/// How a compiler was called: what its name says, and the arguments after the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driver<'a> {
    /// The program's name says C++ (`g++`): files named `.c` are C++ and the default is C++.
    pub cxx: bool,
    /// The target of a cross compiler (`arm-linux-gnueabihf` of `arm-linux-gnueabihf-gcc`).
    pub target: Option<String>,
    pub arguments: &'a [OsString],
}

/// Splits off the compiler, looking through launchers and `env A=B`.
pub fn split_driver(command: &[OsString]) -> Driver<'_> {
    let mut rest = command;
    while let Some((first, tail)) = rest.split_first() {
        let name = program_name(first);
        let launcher = LAUNCHERS.contains(&name.as_str()) && !tail.is_empty();
        if launcher || name == "env" || is_assignment(first) {
            rest = tail;
        } else if first.as_bytes().starts_with(b"-") {
            break;
        } else {
            let compiler = CompilerName::parse(&name);
            return Driver {
                cxx: compiler.as_ref().is_some_and(|c| c.cxx),
                target: compiler.and_then(|c| c.target),
                arguments: tail,
            };
        }
    }
    Driver { cxx: false, target: None, arguments: rest }
}

fn program_name(program: &OsStr) -> String {
    Path::new(program).file_name().unwrap_or(program).to_string_lossy().into_owned()
}

fn is_assignment(word: &OsStr) -> bool {
    let bytes = word.as_bytes();
    let Some(eq) = bytes.iter().position(|&b| b == b'=') else { return false };
    eq > 0 && bytes[..eq].iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
}

/// The meaning of a compiler's file name: `x86_64-linux-gnu-g++-12`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilerName {
    pub cxx: bool,
    pub target: Option<String>,
}

impl CompilerName {
    /// `None` when the name is not one of a C or C++ compiler driver.
    pub fn parse(name: &str) -> Option<Self> {
        let stem = strip_version(name);
        let (target, base) = match stem.rfind('-') {
            Some(dash) => (Some(&stem[..dash]), &stem[dash + 1..]),
            None => (None, stem),
        };
        let cxx = match base {
            "cc" | "gcc" | "clang" | "c89" | "c99" | "tcc" | "icc" | "icx" | "pcc" => false,
            "c++" | "g++" | "clang++" | "icpc" | "icpx" | "CC" => true,
            _ => return None,
        };
        // `afl-gcc`, `winegcc` and the like are wrappers, not targets: a target has two dashes.
        let target = target.filter(|t| t.contains('-')).map(str::to_owned);
        Some(Self { cxx, target })
    }
}

/// `gcc-12`, `clang-19`, `gcc-4.8`, `clang++19` without their version. `cc1` and `c99` have none.
fn strip_version(name: &str) -> &str {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match bare.strip_suffix('-') {
        Some(stem) if bare.len() < name.len() => stem,
        _ if ["gcc", "g++", "clang", "clang++"].iter().any(|n| bare.ends_with(n)) => bare,
        _ => name,
    }
}

/// Reads the arguments of a driver (its own name left out).
pub fn parse_command(driver: &Driver<'_>) -> Command {
    let mut parser = Parser {
        command: Command {
            stage: Stage::Link,
            inputs: Vec::new(),
            output: None,
            flags: driver.target.iter().map(|t| OsString::from(format!("--target={t}"))).collect(),
            language: None,
        },
        cxx: driver.cxx,
    };
    let mut arguments = driver.arguments.iter();
    while let Some(argument) = arguments.next() {
        parser.argument(argument, &mut arguments);
    }
    parser.command
}

struct Parser {
    command: Command,
    cxx: bool,
}

impl Parser {
    fn argument(&mut self, argument: &OsString, rest: &mut std::slice::Iter<'_, OsString>) {
        match fate(argument) {
            Fate::Input => self.input(argument),
            Fate::Keep => self.command.flags.push(argument.clone()),
            Fate::KeepPair => {
                self.command.flags.push(argument.clone());
                self.command.flags.extend(rest.next().cloned());
            }
            Fate::Drop => {}
            Fate::DropPair => {
                rest.next();
            }
            Fate::Stage(stage) => self.stage(stage),
            Fate::Output(joined) => {
                self.command.output = joined.or_else(|| rest.next().cloned()).map(PathBuf::from);
            }
            Fate::Language(joined) => {
                let language = joined.or_else(|| rest.next().cloned()).unwrap_or_default();
                self.command.language = FileClass::of_language(&language);
            }
            Fate::Preprocessor(flags) => self.command.flags.extend(flags),
            Fate::ClangInternal => self.clang_internal(rest),
        }
    }

    /// `-Xclang WORD`: kept, unless it loads a plugin, whose effects belong to the build.
    fn clang_internal(&mut self, rest: &mut std::slice::Iter<'_, OsString>) {
        let Some(word) = rest.next() else { return };
        let plugin = [&b"-load"[..], b"-plugin", b"-add-plugin", b"-fplugin", b"-mllvm"];
        if plugin.iter().any(|p| word.as_bytes().starts_with(p)) {
            let value = rest.as_slice();
            if value.len() >= 2 && value[0] == "-Xclang" && !value[1].as_bytes().starts_with(b"-") {
                rest.nth(1);
            }
        } else {
            self.command.flags.extend(["-Xclang".into(), word.clone()]);
        }
    }

    fn stage(&mut self, stage: Stage) {
        if self.command.stage != Stage::NoCode {
            self.command.stage = stage;
        }
    }

    fn input(&mut self, argument: &OsString) {
        let path = PathBuf::from(argument);
        let class = self.command.language.unwrap_or_else(|| match FileClass::of(&path) {
            FileClass::Source(SourceKind::C) if self.cxx => FileClass::Source(SourceKind::Cxx),
            class => class,
        });
        self.command.inputs.push(Input { path, class });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Command {
        let words = crate::arguments::split_command(line.as_bytes()).unwrap();
        parse_command(&split_driver(&words))
    }

    fn flags(command: &Command) -> Vec<&str> {
        command.flags.iter().map(|f| f.to_str().unwrap()).collect()
    }

    #[test]
    fn keeps_meaning_and_drops_the_rest() {
        let c = parse(
            "/usr/bin/cc -DA=1 -D B -I inc -isystem /s -include cfg.h -std=gnu99 -O2 -g3 -Wall \
             -Werror -MD -MF x.d -MT x.o -pipe -flto -fPIC -Wp,-D_X=1,-MD,y.d -march=native \
             -fdebug-prefix-map=/a=/b -c -o out/a.o src/a.c",
        );
        assert_eq!(c.stage, Stage::Compile);
        assert_eq!(c.output.as_deref(), Some(Path::new("out/a.o")));
        assert_eq!(c.inputs.len(), 1);
        assert_eq!(c.inputs[0].path, Path::new("src/a.c"));
        assert_eq!(
            flags(&c),
            [
                "-DA=1",
                "-D",
                "B",
                "-I",
                "inc",
                "-isystem",
                "/s",
                "-include",
                "cfg.h",
                "-std=gnu99",
                "-fPIC",
                "-D_X=1",
                "-march=native"
            ]
        );
    }

    #[test]
    fn compile_and_link_at_once() {
        let c = parse("gcc -o prog a.c b.c util.o -L. -lm -Wl,-z,now -Xlinker --foo -T script.ld");
        assert_eq!(c.stage, Stage::Link);
        let names: Vec<_> = c.inputs.iter().map(|i| i.path.to_str().unwrap()).collect();
        assert_eq!(names, ["a.c", "b.c", "util.o"]);
        assert_eq!(c.inputs[2].class, FileClass::LinkInput);
    }

    #[test]
    fn drivers_and_launchers() {
        let words = |s: &str| crate::arguments::split_command(s.as_bytes()).unwrap();
        let w = words("ccache arm-linux-gnueabihf-g++-12 -c a.c");
        let d = split_driver(&w);
        assert!(d.cxx);
        assert_eq!(d.target.as_deref(), Some("arm-linux-gnueabihf"));
        assert_eq!(d.arguments.len(), 2);
        assert_eq!(parse_command(&d).inputs[0].class, FileClass::Source(SourceKind::Cxx));
        let w = words("env A=1 clang-19 -c a.c");
        assert_eq!(split_driver(&w).arguments, ["-c", "a.c"]);
        for name in ["cc", "gcc-4.8", "clang++-19", "c99", "c89", "x86_64-linux-gnu-gcc"] {
            assert!(CompilerName::parse(name).is_some(), "{name}");
        }
        for name in ["cc1", "collect2", "ld", "make", "cc1plus", "as", "gcc-ar"] {
            assert!(CompilerName::parse(name).is_none(), "{name}");
        }
    }

    #[test]
    fn language_and_stage() {
        let c = parse("gcc -x c -c weird.txt -x none b.S");
        assert_eq!(c.inputs[0].class, FileClass::Source(SourceKind::C));
        assert_eq!(c.inputs[1].class, FileClass::Assembler);
        assert_eq!(parse("gcc -M -c a.c").stage, Stage::NoCode);
        assert_eq!(parse("gcc --version").stage, Stage::NoCode);
        assert_eq!(parse("clang -Xclang -load -Xclang p.so -c a.c").flags.len(), 0);
    }
}
