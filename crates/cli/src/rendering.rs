//! The form of a result and where it goes, as every subcommand that has one takes it.

use crate::output;
use crate::ui::Ui;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use leakproof_findings::{Report, Sources};
use leakproof_report::{HtmlOptions, SarifOptions, TextOptions};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// Where the HTML report goes if nothing else is said.
const HTML_FOLDER: &str = "leakproof-report";

#[derive(Debug, Args)]
pub struct RenderArgs {
    /// Form of the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write the result to this file (for html: folder) instead of standard output
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Also write the result in another form, as in `--write sarif=leaks.sarif`; may be repeated
    #[arg(long, value_name = "FORMAT=PATH")]
    write: Vec<Extra>,
    /// Show every step of a path
    #[arg(long)]
    full_path: bool,
    #[command(flatten)]
    color: ColorArgs,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct ColorArgs {
    /// Colours in text: `auto` means on a terminal and without NO_COLOR
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Sarif,
    Html,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

/// One more form and its place.
#[derive(Clone, Debug)]
struct Extra {
    format: Format,
    path: PathBuf,
}

impl FromStr for Extra {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (format, path) = text.split_once('=').ok_or("expected FORMAT=PATH")?;
        if path.is_empty() {
            return Err("expected a path after `=`".to_owned());
        }
        Ok(Extra { format: Format::from_str(format, false)?, path: path.into() })
    }
}

impl ColorArgs {
    /// Whether to colour what goes to standard output, or to a file.
    pub fn wanted(self, to_file: bool) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let no_color = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
                !to_file && !no_color && std::io::stdout().is_terminal()
            }
        }
    }
}

/// What renderers need beside the report.
pub struct Scene<'a> {
    pub sources: &'a Sources,
    /// The folder that file names in the report start from.
    pub root: &'a Path,
    pub elapsed: Option<Duration>,
}

impl RenderArgs {
    /// Writes the result in all forms asked for.
    pub fn write(&self, report: &Report, scene: &Scene, ui: &Ui) -> Result<()> {
        self.write_others(report, scene, ui)?;
        self.write_one(self.format, self.output.as_deref(), report, scene, ui)
    }

    /// Writes the result in the forms that are asked for besides the first.
    pub fn write_others(&self, report: &Report, scene: &Scene, ui: &Ui) -> Result<()> {
        for extra in &self.write {
            self.write_one(extra.format, Some(&extra.path), report, scene, ui)?;
        }
        Ok(())
    }

    fn write_one(
        &self,
        format: Format,
        path: Option<&Path>,
        report: &Report,
        scene: &Scene,
        ui: &Ui,
    ) -> Result<()> {
        let text = match format {
            Format::Html => return write_html(path, report, scene, ui),
            Format::Json => leakproof_report::json(report),
            Format::Sarif => leakproof_report::sarif(report, scene.sources, &sarif(scene.root)),
            Format::Text => {
                let options = self.text_options(path.is_some(), scene, ui);
                leakproof_report::text(report, scene.sources, options)
            }
        };
        output::write(path, &text)
    }

    fn text_options(&self, to_file: bool, scene: &Scene, ui: &Ui) -> TextOptions {
        TextOptions {
            color: self.color.wanted(to_file),
            full_path: self.full_path,
            elapsed: scene.elapsed,
            quiet: ui.is_quiet(),
            verbose: ui.is_verbose(),
        }
    }
}

fn sarif(root: &Path) -> SarifOptions {
    SarifOptions { root: Some(root.to_owned()), ..SarifOptions::default() }
}

fn write_html(path: Option<&Path>, report: &Report, scene: &Scene, ui: &Ui) -> Result<()> {
    let folder = path.unwrap_or(Path::new(HTML_FOLDER));
    if folder.as_os_str() == "-" {
        bail!("an HTML report is a folder: give its name with -o");
    }
    let title = scene.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let options = HtmlOptions { title };
    let files = leakproof_report::html(report, scene.sources, &options);
    leakproof_report::write_folder(folder, files)?;
    ui.note(&format!("the report is in {}", folder.join("index.html").display()));
    Ok(())
}

/// Reads an earlier result.
pub fn read_report(path: &Path) -> Result<Report> {
    let name = || path.display().to_string();
    let text = std::fs::read(path).with_context(name)?;
    leakproof_report::read_json(&text).with_context(name)
}
