//! Renders a report file as an HTML folder: `render REPORT.json SOURCE_ROOT OUT [COPIES]`.
//!
//! With COPIES, the findings are repeated that many times under new names, to see how a large
//! report behaves.

use std::path::Path;
use std::process::ExitCode;

use leakproof_findings::{Report, Sources, finish};
use leakproof_report::{HtmlOptions, html, read_json, write_folder};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let [report, root, out, copies @ ..] = arguments else {
        return Err("usage: render REPORT.json SOURCE_ROOT OUT [COPIES]".into());
    };
    let mut report = read_json(&std::fs::read(report)?)?;
    if let [copies] = copies {
        multiply(&mut report, copies.parse()?);
    }
    let sources = Sources::new(root);
    finish(&mut report, &sources);
    let options = HtmlOptions { title: "jobs".to_owned() };
    write_folder(Path::new(out), html(&report, &sources, &options))?;
    Ok(())
}

fn multiply(report: &mut Report, copies: usize) {
    let originals = std::mem::take(&mut report.leaks);
    for copy in 0..copies {
        for leak in &originals {
            let mut leak = leak.clone();
            leak.variable = format!("{}_{copy}", leak.variable);
            report.leaks.push(leak);
        }
    }
}
