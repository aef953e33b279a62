//! Where a variable got its value: for warnings of tools that do not say where the object comes from.
//!
//! In: the text of a C file, a variable and the line of the leak. Out: the nearest line above, within the
//! same function, that assigns a call's result to the variable. Whether that is an allocation is for
//! the program to show.

/// The line of the last `variable = call(...)` above `leak`.
pub fn assigned_at(text: &str, variable: &str, leak: u32) -> Option<u32> {
    let lines: Vec<&str> = text.lines().take(leak as usize).collect();
    for (number, line) in lines.iter().enumerate().rev() {
        if assigns(line, variable) {
            return Some(number as u32 + 1);
        }
        // A closing brace at the margin ends the function before.
        if line.starts_with('}') && number + 1 < leak as usize {
            return None;
        }
    }
    None
}

fn assigns(line: &str, variable: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(variable).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let rest = line[at + variable.len()..].trim_start();
        let Some(value) = rest.strip_prefix('=') else { return false };
        // `a->p` is no assignment of `p`, `p == f()` none at all.
        !before.is_some_and(|c| is_word(c) || c == '.' || c == '>')
            && !value.starts_with('=')
            && value.contains('(')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "void f(void)\n{\n    char *p = malloc(1);\n}\nvoid g(s *o)\n{\n    char *q, *p;\n    p = get(3);\n    o->q = get(4);\n    if (p == x())\n        return;\n}\n";

    #[test]
    fn the_nearest_assignment_of_the_same_function() {
        assert_eq!(assigned_at(TEXT, "p", 11), Some(8));
        assert_eq!(assigned_at(TEXT, "p", 4), Some(3));
        assert_eq!(assigned_at(TEXT, "o->q", 12), Some(9));
        assert_eq!(assigned_at(TEXT, "q", 11), None);
        assert_eq!(assigned_at(TEXT, "p", 7), None);
        assert_eq!(assigned_at(TEXT, "p", 12), Some(8));
        assert_eq!(assigned_at(TEXT, "p", 900), None);
    }
}
