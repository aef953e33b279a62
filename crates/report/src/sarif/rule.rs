//! Rules: what a kind of leak is, why it matters and what to do about it.

use serde_json::{Value, json};

pub(super) const INFORMATION_URI: &str = "https://github.com/leakproof/leakproof";

/// The reporting descriptor of `lost-memory`, `forgotten-file` and the like.
pub(super) fn rule(id: &str, family: &str, resource: bool) -> Value {
    let lost = id.starts_with("lost-");
    let cwe = if resource { "772" } else { "401" };
    json!({
        "id": id,
        "name": pascal_case(id),
        "shortDescription": { "text": short(lost, family) },
        "fullDescription": { "text": full(lost) },
        "help": { "text": help(lost, resource), "markdown": help_markdown(lost, resource) },
        "helpUri": INFORMATION_URI,
        "defaultConfiguration": { "level": "warning" },
        "properties": {
            "precision": "high",
            "problem.severity": "warning",
            "tags": ["leak", family, "correctness", format!("external/cwe/cwe-{cwe}")],
        },
    })
}

fn pascal_case(id: &str) -> String {
    let capital = |word: &str| {
        let mut chars = word.chars();
        chars.next().map(|c| c.to_ascii_uppercase().to_string() + chars.as_str())
    };
    id.split(|c: char| !c.is_alphanumeric()).filter_map(capital).collect()
}

fn short(lost: bool, family: &str) -> String {
    if lost {
        format!("Last reference to a {family} object is lost")
    } else {
        format!("Object of family {family} is not released before the function returns")
    }
}

fn full(lost: bool) -> &'static str {
    if lost {
        "The last pointer to the object is overwritten, released or goes out of scope on this \
         path, so that nothing can release it any more."
    } else {
        "On this path the function returns while only its own local variables refer to the \
         object, so that nothing can release it any more."
    }
}

fn help(lost: bool, resource: bool) -> String {
    let release = if resource { "Release the object" } else { "Free the object" };
    let place = if lost {
        "before its last reference goes away, or keep a reference to it"
    } else {
        "before the function returns on this path, or hand it to the caller"
    };
    format!(
        "{release} {place}. Follow the code flow: it starts where the object is made, shows the \
         branches taken and ends where it leaks. To silence a finding, write \
         \"// leakproof: ignore REASON\" on its last line or the line above."
    )
}

fn help_markdown(lost: bool, resource: bool) -> String {
    help(lost, resource).replace('"', "`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_pascal_case() {
        assert_eq!(pascal_case("lost-memory"), "LostMemory");
        assert_eq!(pascal_case("forgotten-ssl_ctx"), "ForgottenSslCtx");
        assert_eq!(pascal_case("--"), "");
    }
}
