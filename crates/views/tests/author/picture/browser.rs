//! A headless Chromium with chromedriver, controlled by the `WebDriver` protocol.
//!
//! A killed driver would leave its browser running, so a guard ends the session first, even if a test
//! panics.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser, or returns the reason if this machine has none.
    pub(crate) fn start() -> Result<Self, &'static str> {
        let program = std::env::var_os("OLMGUARD_CHROMEDRIVER");
        let program = program.ok_or("OLMGUARD_CHROMEDRIVER names no program")?;
        let profile = tempfile::tempdir().expect("a folder");
        let mut driver = Command::new(program)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts");
        let port = port(&mut driver);
        let mut browser = Self {
            driver,
            port,
            session: String::new(),
            profile,
        };
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1400,900",
        ];
        let profile = format!("--user-data-dir={}", browser.profile.path().display());
        let arguments: Vec<_> = arguments.into_iter().chain([profile.as_str()]).collect();
        let answer = browser.post(
            "/session",
            &json!({"capabilities": {"alwaysMatch": {
                "goog:chromeOptions": {"args": arguments},
                "goog:loggingPrefs": {"browser": "ALL"},
            }}}),
        );
        let session = answer["sessionId"].as_str().expect("a session");
        browser.session = format!("/session/{session}");
        Ok(browser)
    }

    /// Opens a page, and waits until it is loaded.
    pub(crate) fn open(&mut self, url: &str) {
        self.command("/url", &json!({"url": url}));
    }

    /// Runs a script in the page.
    #[track_caller]
    pub(crate) fn run(&mut self, script: &str) -> Value {
        self.run_with(script, &Value::Null)
    }

    /// Runs a script with an argument.
    #[track_caller]
    pub(crate) fn run_with(&mut self, script: &str, argument: &Value) -> Value {
        self.command(
            "/execute/sync",
            &json!({"script": script, "args": [argument]}),
        )
    }

    /// Clicks the first element of a selector, as a user does: the element must be visible.
    #[track_caller]
    pub(crate) fn click(&mut self, selector: &str) {
        self.run_with(
            "document.querySelector(arguments[0]).scrollIntoView({block: 'center', inline: 'center'})",
            &json!(selector),
        );
        let found = self.command(
            "/element",
            &json!({"using": "css selector", "value": selector}),
        );
        let element = found.as_object().and_then(|found| found.values().next());
        let element = element
            .and_then(Value::as_str)
            .expect("an element")
            .to_owned();
        self.command(&format!("/element/{element}/click"), &json!({}));
    }

    /// Saves a screenshot.
    pub(crate) fn screenshot(&mut self, file: &Path) {
        let path = format!("{}/screenshot", self.session);
        let picture = self.ask("GET", &path, "");
        let text = picture.as_str().expect("a picture");
        let bytes = base64_simd::STANDARD.decode_to_vec(text).expect("base64");
        std::fs::write(file, bytes).expect("a file");
    }

    /// Checks that the browser logged nothing: no script failed, nothing was blocked.
    #[track_caller]
    pub(crate) fn is_quiet(&mut self) {
        let log = self.command("/se/log", &json!({"type": "browser"}));
        assert_eq!(log, json!([]));
    }

    #[track_caller]
    fn command(&mut self, path: &str, body: &Value) -> Value {
        let path = format!("{}{path}", self.session);
        self.post(&path, body)
    }

    #[track_caller]
    fn post(&mut self, path: &str, body: &Value) -> Value {
        self.ask("POST", path, &body.to_string())
    }

    /// Sends a request, and returns the value of the answer.
    #[track_caller]
    fn ask(&self, method: &str, path: &str, body: &str) -> Value {
        let answer = exchange(self.port, method, path, body).expect("the driver answers");
        let mut answer: Value = serde_json::from_str(&answer).expect("JSON");
        let value = answer["value"].take();
        assert!(value["error"].is_null(), "{path}: {value}");
        value
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ends_anyway = exchange(self.port, "DELETE", &self.session, "");
        }
        let _gone = self.driver.kill();
        let _waited = self.driver.wait();
    }
}

/// Returns the port that a driver started with port 0 reports.
fn port(driver: &mut Child) -> u16 {
    let stdout = driver.stdout.take().expect("it is piped");
    for line in BufReader::new(stdout).lines() {
        let line = line.expect("text");
        if let Some((_, port)) = line.split_once("started successfully on port ") {
            return port.trim_end_matches('.').parse().expect("a port");
        }
    }
    panic!("chromedriver ended before it listened");
}

fn exchange(port: u16, method: &str, path: &str, body: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    String::from_utf8(body).map_err(std::io::Error::other)
}

/// Timeout of an answer, long enough for a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
