//! The examples of the documentation are models that parse, and those that the library ships are
//! shown as they are shipped.

use leakproof_models::Library;

const PAGE: &str = include_str!("../../../docs/models.md");

/// Indented blocks of the page that hold entries.
fn examples() -> Vec<String> {
    let page = PAGE.split("## Grammar").next().unwrap_or_default();
    let mut blocks = vec![String::new()];
    let mut indented = false;
    for line in page.lines() {
        match line.strip_prefix("    ") {
            Some(code) => {
                let block = blocks.last_mut().expect("never empty");
                block.push_str(code);
                block.push('\n');
                indented = true;
            }
            None if line.is_empty() && indented => {}
            None => {
                indented = false;
                blocks.push(String::new());
            }
        }
    }
    let is_model = |b: &String| b.contains(" { ") || b.contains("alias ") || b.contains(" {\n");
    blocks.into_iter().filter(is_model).collect()
}

#[test]
fn every_example_parses() {
    let examples = examples();
    assert!(examples.len() >= 15, "{}", examples.len());
    for text in examples {
        let messages: Vec<String> = match Library::with_user_files(&[("models.md", &text)]) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.iter().map(ToString::to_string).collect(),
        };
        assert!(messages.is_empty(), "{}\nin\n{text}", messages.join("\n"));
    }
}

#[test]
fn shipped_functions_are_shown_as_they_are() {
    let shipped = Library::shipped();
    for text in examples() {
        let Ok(library) = Library::with_user_files(&[("models.md", &text)]) else { continue };
        for model in library.iter().filter(|m| m.file == "models.md") {
            let Some(original) = shipped.get(&model.name) else { continue };
            let families_differ = text.contains("g_list_");
            if !families_differ {
                assert_eq!(model.outcomes, original.outcomes, "{}", model.name);
            }
        }
    }
}
