//! A small WebDriver client: starts ChromeDriver and speaks its JSON over one HTTP request each.
//!
//! Panics on every failure, as a test helper should. The driver and its browser end with the value.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

/// One browser at a time: several at once starve each other on a small machine.
static TURN: Mutex<()> = Mutex::new(());

impl Browser {
    /// A headless Chromium whose window has the given size.
    pub fn start(width: u32, height: u32) -> Browser {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let (driver, port) = start_driver();
        let profile = tempfile::tempdir().unwrap();
        let mut browser = Browser { driver, port, session: String::new(), profile, _turn: turn };
        let answer = browser.send("POST", "/session", &browser.capabilities(width, height));
        browser.session = answer["sessionId"].as_str().unwrap().to_owned();
        browser
    }

    fn capabilities(&self, width: u32, height: u32) -> Value {
        let profile = self.profile.path().display();
        let arguments = [
            "--headless".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--disable-quic".to_owned(),
            "--no-first-run".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            // A click during a smooth scroll misses its target.
            "--force-prefers-reduced-motion".to_owned(),
            format!("--user-data-dir={profile}"),
            format!("--window-size={width},{height}"),
        ];
        json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": { "args": arguments, "binary": binary("chromium") },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } })
    }

    pub fn open(&self, url: &str) {
        self.post("/url", &json!({ "url": url }));
    }

    pub fn url(&self) -> String {
        self.get("/url").as_str().unwrap().to_owned()
    }

    /// Runs script text that ends in `return VALUE`.
    pub fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    pub fn click(&self, selector: &str) {
        let element = self.find(selector);
        self.post(&format!("/element/{element}/click"), &json!({}));
    }

    pub fn type_into(&self, selector: &str, text: &str) {
        let element = self.find(selector);
        self.post(&format!("/element/{element}/value"), &json!({ "text": text }));
    }

    /// Presses keys on whatever has the focus.
    pub fn press(&self, keys: &str) {
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|key| {
                let key = key.to_string();
                [
                    json!({ "type": "keyDown", "value": key }),
                    json!({ "type": "keyUp", "value": key }),
                ]
            })
            .collect();
        self.post(
            "/actions",
            &json!({ "actions": [{ "type": "key", "id": "k", "actions": actions }] }),
        );
    }

    /// What the page wrote to the console since the last call, errors included.
    pub fn console(&self) -> Vec<String> {
        let entries = self.post("/se/log", &json!({ "type": "browser" }));
        entries.as_array().unwrap().iter().map(|e| e["message"].to_string()).collect()
    }

    fn find(&self, selector: &str) -> String {
        let found = self.post("/element", &json!({ "using": "css selector", "value": selector }));
        let element = found.as_object().and_then(|o| o.values().next()).and_then(Value::as_str);
        element.unwrap_or_else(|| panic!("no element {selector}: {found}")).to_owned()
    }

    fn get(&self, path: &str) -> Value {
        self.send("GET", &format!("/session/{}{path}", self.session), &Value::Null)
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.send("POST", &format!("/session/{}{path}", self.session), body)
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = request(self.port, method, path, &body);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let value = answer["value"].clone();
        assert!(value.get("error").is_none(), "{method} {path}: {value}");
        value
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            request(self.port, "DELETE", &format!("/session/{}", self.session), "");
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn binary(name: &str) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let found = path
        .split(':')
        .map(|dir| format!("{dir}/{name}"))
        .find(|p| std::path::Path::new(p).is_file());
    found.unwrap_or_else(|| {
        panic!("{name} is not installed: ./test.sh installs it (Debian packages chromium and chromium-driver)")
    })
}

/// ChromeDriver on a port it chose itself.
fn start_driver() -> (Child, u16) {
    let mut driver = Command::new(binary("chromedriver"))
        .arg("--port=0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(driver.stdout.take().unwrap());
    let port = started_on(&mut output);
    // Its later output must go somewhere, or it ends on a closed pipe.
    std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
    (driver, port)
}

fn started_on(output: &mut impl BufRead) -> u16 {
    loop {
        let mut line = String::new();
        assert!(output.read_line(&mut line).unwrap() > 0, "chromedriver did not start");
        if let Some((_, port)) = line.split_once("successfully on port ") {
            return port.trim().trim_end_matches('.').parse().unwrap();
        }
    }
}

fn request(port: u16, method: &str, path: &str, body: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut stream = loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => break stream,
            Err(e) => assert!(Instant::now() < deadline, "chromedriver does not answer: {e}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .unwrap();
    read_answer(BufReader::new(stream))
}

fn read_answer(mut reader: BufReader<TcpStream>) -> String {
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    String::from_utf8(body).unwrap()
}
