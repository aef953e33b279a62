//! Words that a program is likely to compare its input with: options, and short text constants.
//!
//! In: a unit before it is changed. Out: what the search may start from. Only a help for the search: a
//! word that is missing costs time, one too many costs a run.

use crate::llvm::{Module, Value};
use leakproof_rt::map::OptionMap;
use std::collections::BTreeSet;

/// Longer texts are messages.
const LONGEST: usize = 16;
/// Entries of a table that are looked at.
const MAX_ENTRIES: u32 = 512;

const GETOPT: &[&str] = &["getopt", "getopt_long", "getopt_long_only", "rpl_getopt_long"];

/// Options named in calls of `getopt` and its relatives, or in tables of `argp`.
pub fn options(module: Module) -> Vec<OptionMap> {
    let mut all: BTreeSet<OptionMap> = argp_options(module).into_iter().collect();
    for name in GETOPT {
        let users = module.function(name).map(Value::users).unwrap_or_default();
        for call in users.iter().filter(|u| u.is_call() && u.argument_count() >= 3) {
            let short = call.operand(2).initial().and_then(Value::as_text).unwrap_or_default();
            all.extend(short_options(&short));
            if call.argument_count() >= 4 {
                all.extend(call.operand(3).initial().map(long_options).unwrap_or_default());
            }
        }
    }
    all.into_iter().collect()
}

/// `ab:c::` as options; two colons mean that the value is part of the word, if there is one.
fn short_options(text: &str) -> Vec<OptionMap> {
    let letters: Vec<char> = text.chars().collect();
    let colons = |i: usize| letters[i + 1..].iter().take(2).take_while(|c| **c == ':').count();
    let option = |name: String, takes_value| OptionMap { name, takes_value };
    let named = letters.iter().enumerate().filter(|(_, c)| c.is_ascii_alphanumeric());
    named
        .flat_map(|(i, c)| match colons(i) {
            0 => vec![option(format!("-{c}"), false)],
            1 => vec![option(format!("-{c}"), true)],
            _ => vec![option(format!("-{c}"), false), option(format!("-{c}1"), false)],
        })
        .collect()
}

/// A table of `struct option`, without what is another name of a short one. What may have a value is there twice.
fn long_options(table: Value) -> Vec<OptionMap> {
    const MAY: u64 = 2;
    let rows = (0..MAX_ENTRIES).map_while(|i| table.part(i));
    let options = |row: Value| {
        let name = row.part(0)?.initial()?.as_text()?;
        let value = row.part(1).and_then(Value::as_int).unwrap_or(0);
        let stands_for = row.part(3).and_then(Value::as_int).and_then(letter);
        let ways: &[bool] = match value {
            0 => &[false],
            MAY => &[false, true],
            _ => &[true],
        };
        let option =
            |takes_value: &bool| OptionMap { name: format!("--{name}"), takes_value: *takes_value };
        stands_for.is_none().then(|| ways.iter().map(option).collect::<Vec<_>>())
    };
    rows.filter_map(options).flatten().collect()
}

/// The short option that a key stands for.
fn letter(key: u64) -> Option<char> {
    u8::try_from(key).ok().filter(u8::is_ascii_graphic).map(char::from)
}

/// Flags of a row that is only text, and of one that is another name of the row before.
const ARGP_DOC: u64 = 8;
const ARGP_ALIAS: u64 = 4;

/// Options in tables of `struct argp_option`, which the library turns into those of `getopt` itself.
fn argp_options(module: Module) -> Vec<OptionMap> {
    let tables = module.globals().into_iter().filter_map(Value::initial);
    tables
        .flat_map(|t| (0..MAX_ENTRIES).map_while(move |i| t.part(i)))
        .filter_map(argp_option)
        .collect()
}

/// A row `{ name, key, name of the value, flags, text, group }`.
fn argp_option(row: Value) -> Option<OptionMap> {
    let has_its_shape = (0..6).all(|i| {
        row.part(i)
            .is_some_and(|p| if i % 2 == 0 { p.ty().is_pointer() } else { p.as_int().is_some() })
    });
    if !has_its_shape || row.part(6).is_some() {
        return None;
    }
    let flags = row.part(3)?.as_int()?;
    let key = row.part(1)?.as_int()?;
    if flags & (ARGP_DOC | ARGP_ALIAS) != 0 {
        return None;
    }
    let takes_value = row.part(2)?.initial().is_some();
    let name = match (letter(key), row.part(0)?.initial().and_then(Value::as_text)) {
        (Some(letter), _) => format!("-{letter}"),
        (None, Some(name)) => format!("--{name}"),
        (None, None) => return None,
    };
    Some(OptionMap { name, takes_value })
}

/// Words given to calls in a function.
pub fn of_function(function: Value) -> Vec<String> {
    let mut all = BTreeSet::new();
    for block in function.blocks() {
        for call in block.instructions().into_iter().filter(|i| i.is_call()) {
            let arguments = (0..call.argument_count()).map(|i| call.operand(i));
            all.extend(arguments.filter_map(word));
        }
    }
    all.into_iter().collect()
}

/// Options that texts for the user name.
pub fn of_usage(module: Module) -> Vec<String> {
    let texts = module.globals().into_iter().filter_map(|g| g.initial()?.as_text());
    let all: BTreeSet<String> = texts.flat_map(|t| told_options(&t)).collect();
    all.into_iter().collect()
}

/// Words in constant arrays, and in structs in these.
pub fn of_tables(module: Module) -> Vec<String> {
    let mut all = BTreeSet::new();
    for table in module.globals().into_iter().filter_map(Value::initial) {
        for entry in (0..MAX_ENTRIES).map_while(|i| table.part(i)) {
            all.extend(word(entry));
            all.extend((0..4).map_while(|i| entry.part(i)).filter_map(word));
        }
    }
    all.into_iter().collect()
}

/// Options that a text names, as in `usage: tool [-v] [-o FILE]`.
fn told_options(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let words = text.split(|c: char| !is_part(c));
    let is_option = |w: &&str| {
        let name = w.trim_start_matches('-');
        let starts = name.starts_with(|c: char| c.is_ascii_alphabetic());
        (1..=2).contains(&(w.len() - name.len())) && starts && w.len() <= LONGEST
    };
    words.filter(is_option).map(str::to_owned).collect()
}

fn word(value: Value) -> Option<String> {
    let text = value.initial()?.as_text()?;
    let plain = |c: char| c.is_ascii_graphic() && c != '%';
    let fits = (1..=LONGEST).contains(&text.len()) && text.chars().all(plain);
    fits.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_names_options() {
        let told = told_options("usage: tool [-v] [-o FILE] --all=N|--none, a-b -- - -1 ---x\n");
        assert_eq!(told, ["-v", "-o", "--all", "--none"]);
    }

    #[test]
    fn letters_and_colons() {
        let option = |name: &str, takes_value| OptionMap { name: name.to_owned(), takes_value };
        let found = short_options("+:ab:9c::");
        let plain = ["-9", "-c", "-c1"].map(|name| option(name, false));
        assert_eq!(found[..2], [option("-a", false), option("-b", true)]);
        assert_eq!(found[2..], plain);
    }
}
