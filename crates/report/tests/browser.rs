//! The HTML report in a real browser, opened from disk: it filters, sorts and steps, quickly and
//! without a console error.

mod common;
mod poison;
mod webdriver;

use std::path::Path;
use std::time::{Duration, Instant};

use common::jobs;
use leakproof_findings::{Report, Sources};
use leakproof_report::{HtmlOptions, html, write_folder};
use poison::poisoned;
use webdriver::Browser;

fn write(report: &Report, sources: &Sources, folder: &Path) -> String {
    let options = HtmlOptions { title: "jobs".into() };
    write_folder(folder, html(report, sources, &options)).unwrap();
    format!("file://{}", folder.display())
}

fn visible_rows(browser: &Browser) -> u64 {
    let script = "return document.querySelectorAll('.leaks tbody tr:not([hidden])').length";
    browser.run(script).as_u64().unwrap()
}

fn current_step(browser: &Browser) -> String {
    let script =
        "const now = document.querySelector('.an.now'); return now ? now.dataset.step : ''";
    browser.run(script).as_str().unwrap().to_owned()
}

fn in_view(browser: &Browser, selector: &str) -> bool {
    let script = format!(
        "const r = document.querySelector('{selector}').getBoundingClientRect(); \
         return r.top >= 0 && r.bottom <= innerHeight"
    );
    browser.run(&script).as_bool().unwrap()
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn assert_silent(browser: &Browser) {
    assert_eq!(browser.console(), Vec::<String>::new());
}

#[test]
fn the_overview_filters_and_sorts() {
    let folder = tempfile::tempdir().unwrap();
    let (report, sources) = jobs();
    let base = write(&report, &sources, &folder.path().join("my report #1"));
    let browser = Browser::start(1280, 900);
    browser.open(&format!("{}/index.html", base.replace(' ', "%20").replace('#', "%23")));
    assert_eq!(visible_rows(&browser), 5);

    browser.click("[data-facet=kind][data-value=lost]");
    assert_eq!(visible_rows(&browser), 3);
    browser.click("[data-facet=evidence][data-value=assumed]");
    assert_eq!(visible_rows(&browser), 1);
    assert!(browser.url().ends_with("#kind=lost&evidence=assumed"), "{}", browser.url());
    browser.click(".clear");
    assert_eq!(visible_rows(&browser), 5);

    browser.press("/");
    browser.type_into("[name=q]", "rename copy");
    wait_until("the search to apply", || visible_rows(&browser) == 1);
    browser.type_into("[name=q]", "zzz");
    wait_until("nothing to match", || visible_rows(&browser) == 0);
    browser.click(".clear");

    let first = "return document.querySelector('.leaks tbody tr .fn').textContent";
    assert_eq!(browser.run(first), "queue_load");
    browser.click("th[data-sort=fn] button");
    assert_eq!(browser.run(first), "job_free");
    browser.click("[data-file='src/job.c']");
    assert_eq!(visible_rows(&browser), 1);
    assert_silent(&browser);
}

#[test]
fn a_finding_is_stepped_through() {
    let folder = tempfile::tempdir().unwrap();
    let (report, sources) = jobs();
    let base = write(&report, &sources, &folder.path().join("html"));
    let browser = Browser::start(1000, 500);
    browser.open(&format!("{base}/index.html"));
    browser.click(".leaks tbody a");
    wait_until("the page to open", || browser.url().contains(&report.leaks[0].id));
    assert_eq!(current_step(&browser), "");
    for step in 1..=10 {
        browser.press("n");
        assert_eq!(current_step(&browser), step.to_string());
        wait_until("the step to scroll into view", || in_view(&browser, ".an.now"));
    }
    browser.press("n");
    assert_eq!(current_step(&browser), "10");
    browser.press("p");
    assert_eq!(current_step(&browser), "9");
    browser.click(".stepper [data-go='-1']");
    assert_eq!(current_step(&browser), "8");
    browser.run("document.querySelector('svg [data-step=\"5\"]').dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true})); return 0");
    assert_eq!(current_step(&browser), "5");
    assert!(browser.url().ends_with("#step-5"));

    browser.press("]");
    wait_until("the next finding", || browser.url().contains(&report.leaks[1].id));
    browser.press("u");
    wait_until("the overview", || browser.url().ends_with("index.html"));
    assert_silent(&browser);
}

#[test]
fn the_theme_can_be_turned() {
    let folder = tempfile::tempdir().unwrap();
    let (report, sources) = jobs();
    let base = write(&report, &sources, &folder.path().join("html"));
    let browser = Browser::start(800, 600);
    browser.open(&format!("{base}/index.html"));
    let colour = "return getComputedStyle(document.body).backgroundColor";
    let before = browser.run(colour);
    browser.click(".theme");
    assert_ne!(browser.run(colour), before);
    assert_silent(&browser);
}

#[test]
fn a_phone_needs_no_sideways_scrolling() {
    let folder = tempfile::tempdir().unwrap();
    let (report, sources) = jobs();
    let base = write(&report, &sources, &folder.path().join("html"));
    let browser = Browser::start(500, 900);
    let pages = report.leaks.iter().map(|f| format!("leaks/{}.html", f.id));
    for page in pages.chain(["index.html".to_owned()]) {
        browser.open(&format!("{base}/{page}"));
        let script = "return document.documentElement.scrollWidth - innerWidth";
        let excess = browser.run(script).as_i64().unwrap();
        assert!(excess <= 0, "{page} is {excess} pixels too wide");
    }
    assert_silent(&browser);
}

#[test]
fn foreign_markup_does_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (report, sources) = poisoned();
    let base = write(&report, &sources, &folder.path().join("html"));
    let browser = Browser::start(1000, 800);
    for page in ["index.html", "leaks/leak-1.html", "leaks/leak-2.html"] {
        browser.open(&format!("{base}/{page}"));
        assert_eq!(browser.run("return typeof window.hacked"), "undefined", "{page}");
        assert_eq!(browser.run("return document.querySelectorAll('script, img').length"), 1);
    }
    assert_silent(&browser);
}

#[test]
fn two_thousand_findings_stay_quick() {
    let folder = tempfile::tempdir().unwrap();
    let (mut report, sources) = jobs();
    let five = std::mem::take(&mut report.leaks);
    for copy in 0..2000 {
        let mut leak = five[copy % 5].clone();
        leak.variable = format!("{}_{copy}", leak.variable);
        leak.leak.file = format!("src/part{}/file{}.c", copy % 7, copy % 90);
        leak.id = format!("{copy:012x}");
        report.leaks.push(leak);
    }
    let start = Instant::now();
    let base = write(&report, &sources, &folder.path().join("html"));
    let written = start.elapsed();
    let browser = Browser::start(1280, 900);
    let start = Instant::now();
    browser.open(&format!("{base}/index.html"));
    assert_eq!(visible_rows(&browser), 2000);
    let opened = start.elapsed();
    // The time the page itself takes for a filter and a sort, layout included.
    let timed = |selector: &str| {
        let script = format!(
            "const t = performance.now(); document.querySelector(`{selector}`).click(); \
             document.body.getBoundingClientRect(); return performance.now() - t"
        );
        browser.run(&script).as_f64().unwrap()
    };
    let filter = timed("[data-facet=kind][data-value=lost]");
    assert_eq!(visible_rows(&browser), 1200);
    let sort = timed("th[data-sort=what] button");
    eprintln!("written {written:?}, opened {opened:?}, filter {filter:.0} ms, sort {sort:.0} ms");
    // Generous: the machine may be busy with other tests; a quadratic slip is far beyond this.
    assert!(written < Duration::from_secs(20) && opened < Duration::from_secs(20));
    assert!(filter < 1500.0 && sort < 1500.0, "filter {filter} ms, sort {sort} ms");
    assert_silent(&browser);
}
