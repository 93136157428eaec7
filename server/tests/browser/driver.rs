//! One browser for one test: chromedriver on a free port, a headless Chromium with an empty profile, and the few
//! `WebDriver` commands that the tests need.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use reqwest::Client;
use serde_json::{Value, json};
use tempfile::TempDir;

const CHROMIUM: &str = "/usr/bin/chromium";
const CHROMEDRIVER: &str = "/usr/bin/chromedriver";
/// How long a page or an element may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(50);
/// Key of an element in the JSON of `WebDriver`.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

pub struct Browser {
    driver: Child,
    client: Client,
    session: String,
    profile: TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends its Chromium only when asked to; killed, it leaves a dozen processes behind.
        let _ = self.end_session();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

impl Browser {
    /// Asks the driver to end the session and waits until it has. By hand, because dropping cannot await.
    fn end_session(&self) -> std::io::Result<()> {
        let address = self.session.trim_start_matches("http://");
        let (host, path) = address.split_once('/').unwrap_or((address, ""));
        let mut stream = std::net::TcpStream::connect(host)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "DELETE /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )?;
        // The answer comes once the browser has ended; the driver keeps the connection open after it.
        let _ = stream.read(&mut [0; 512])?;
        Ok(())
    }

    pub async fn start() -> Self {
        Self::start_with(true).await
    }

    pub async fn start_with(javascript: bool) -> Self {
        for program in [CHROMIUM, CHROMEDRIVER] {
            assert!(
                std::fs::metadata(program).is_ok(),
                "{program} is missing: run `cargo xtask test --install` once, which installs it"
            );
        }
        let profile = TempDir::new().unwrap();
        let port = free_port();
        let driver = Command::new(CHROMEDRIVER)
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let address = format!("http://127.0.0.1:{port}");
        let mut browser = Self {
            driver,
            client: crate::test_app::client(),
            session: address.clone(),
            profile,
        };
        browser.wait_for_driver().await;
        let answer = browser
            .command("POST", "/session", Some(capabilities(&browser, javascript)))
            .await;
        browser.session = format!("{address}/session/{}", answer["sessionId"].as_str().unwrap());
        browser
    }

    async fn wait_for_driver(&self) {
        let deadline = std::time::Instant::now() + PATIENCE;
        while self
            .client
            .get(format!("{}/status", self.session))
            .send()
            .await
            .is_err()
        {
            assert!(
                std::time::Instant::now() < deadline,
                "chromedriver does not answer"
            );
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Any command; the answer's `value`.
    async fn command(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        self.attempt(method, path, body)
            .await
            .unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    async fn attempt(&self, method: &str, path: &str, body: Option<Value>) -> Result<Value, Value> {
        let mut request = self
            .client
            .request(method.parse().unwrap(), format!("{}{path}", self.session));
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.timeout(PATIENCE * 2).send().await.unwrap();
        let succeeded = response.status().is_success();
        let mut answer: Value = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
        if succeeded {
            Ok(answer["value"].take())
        } else {
            Err(answer["value"]["message"].take())
        }
    }

    pub async fn open(&self, url: &str) {
        self.command("POST", "/url", Some(json!({ "url": url }))).await;
    }

    pub async fn back(&self) {
        self.command("POST", "/back", Some(json!({}))).await;
    }

    pub async fn address(&self) -> String {
        self.command("GET", "/url", None)
            .await
            .as_str()
            .unwrap()
            .to_owned()
    }

    pub async fn title(&self) -> String {
        self.command("GET", "/title", None)
            .await
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Runs a script in the page, even where the page itself may run none.
    pub async fn script(&self, script: &str) -> Value {
        self.command(
            "POST",
            "/execute/sync",
            Some(json!({ "script": script, "args": [] })),
        )
        .await
    }

    /// Waits for the element that a CSS selector names and does something with it, again when the page is
    /// replaced in between.
    async fn at(&self, selector: &str, method: &str, what: &str, body: Option<Value>) -> Value {
        let deadline = std::time::Instant::now() + PATIENCE;
        let wanted = json!({ "using": "css selector", "value": selector });
        loop {
            let found = self.attempt("POST", "/element", Some(wanted.clone())).await;
            let done = match found {
                Ok(found) => {
                    let element = found[ELEMENT].as_str().unwrap();
                    self.attempt(method, &format!("/element/{element}/{what}"), body.clone())
                        .await
                }
                Err(error) => Err(error),
            };
            match done {
                Ok(done) => return done,
                Err(error) => assert!(
                    std::time::Instant::now() < deadline,
                    "{selector} on {}: {error}",
                    self.address().await
                ),
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    pub async fn text(&self, selector: &str) -> String {
        let text = self.at(selector, "GET", "text", None).await;
        text.as_str().unwrap().to_owned()
    }

    /// Clicks on what leaves the page as it is.
    pub async fn click(&self, selector: &str) {
        self.at(selector, "POST", "click", Some(json!({}))).await;
    }

    /// Clicks on what leads to another page, and waits until that has come in place of this one.
    pub async fn follow(&self, selector: &str) {
        self.script("document.documentElement.dataset.left = 'yes'").await;
        self.click(selector).await;
        let deadline = std::time::Instant::now() + PATIENCE;
        let arrived = json!({
            "script": "return document.readyState === 'complete' && !document.documentElement.dataset.left",
            "args": [],
        });
        while self.attempt("POST", "/execute/sync", Some(arrived.clone())).await != Ok(json!(true)) {
            assert!(
                std::time::Instant::now() < deadline,
                "{selector} led nowhere from {}",
                self.address().await
            );
            tokio::time::sleep(PAUSE).await;
        }
    }

    pub async fn type_into(&self, selector: &str, text: &str) {
        self.at(selector, "POST", "value", Some(json!({ "text": text })))
            .await;
    }

    /// Presses keys where the focus is.
    pub async fn press(&self, keys: &str) {
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|key| {
                [
                    json!({ "type": "keyDown", "value": key }),
                    json!({ "type": "keyUp", "value": key }),
                ]
            })
            .collect();
        let body = json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] });
        self.command("POST", "/actions", Some(body)).await;
    }

    /// Waits until a script in the page gives true.
    pub async fn until(&self, script: &str) {
        let deadline = std::time::Instant::now() + PATIENCE;
        let asked = json!({ "script": script, "args": [] });
        while self.attempt("POST", "/execute/sync", Some(asked.clone())).await != Ok(json!(true)) {
            assert!(std::time::Instant::now() < deadline, "never true: {script}");
            tokio::time::sleep(PAUSE).await;
        }
    }

    pub async fn viewport(&self, width: u32, height: u32, scheme: &str) {
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.devtools("Emulation.setEmulatedMedia", media).await;
    }

    /// Pixels by which the page is wider than `width`. A phone widens its window to what sticks out, so that
    /// `innerWidth` says nothing of it.
    pub async fn sticks_out(&self, width: u32) -> i64 {
        let wide = self.script("return document.documentElement.scrollWidth").await;
        wide.as_i64().unwrap() - i64::from(width)
    }

    pub async fn devtools(&self, command: &str, parameters: Value) {
        let body = json!({ "cmd": command, "params": parameters });
        self.command("POST", "/goog/cdp/execute", Some(body)).await;
    }

    /// The most memory in kB that a process of the browser that shows pages has had.
    pub fn renderer_peak(&self) -> u64 {
        let status =
            |process: &str| std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let field = |status: &str, name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let names: Vec<String> = processes
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        let parent = |process: u64| field(&status(&process.to_string()), "PPid:");
        let is_own = |process: u64| {
            let mut above = Some(process);
            while let Some(process) = above.filter(|process| *process > 1) {
                if process == u64::from(self.driver.id()) {
                    return true;
                }
                above = parent(process);
            }
            false
        };
        let own = names
            .iter()
            .filter_map(|name| name.parse().ok())
            .filter(|process| is_own(*process));
        let renderers = own.filter(|process| {
            let command = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&command).contains("--type=renderer")
        });
        renderers
            .filter_map(|process| field(&status(&process.to_string()), "VmHWM:"))
            .max()
            .unwrap_or_default()
    }

    /// What the browser complained about since it was last asked: script errors, refusals by the content security
    /// policy, files that are not there.
    pub async fn complaints(&self) -> Vec<String> {
        let entries = self
            .command("POST", "/se/log", Some(json!({ "type": "browser" })))
            .await;
        let messages = entries
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["message"].as_str().unwrap().to_owned());
        messages.collect()
    }
}

fn capabilities(browser: &Browser, javascript: bool) -> Value {
    let profile = browser.profile.path().display();
    let arguments = [
        "--headless=new".to_owned(),
        "--no-sandbox".to_owned(),
        "--disable-gpu".to_owned(),
        "--no-first-run".to_owned(),
        "--disable-background-networking".to_owned(),
        "--disable-component-update".to_owned(),
        "--disable-sync".to_owned(),
        format!("--user-data-dir={profile}"),
    ];
    // 2 blocks: the content setting that a user would choose.
    let preferences = if javascript {
        json!({})
    } else {
        json!({ "profile.managed_default_content_settings.javascript": 2 })
    };
    json!({ "capabilities": { "alwaysMatch": {
        "browserName": "chrome",
        // axe-core takes long over a page with thousands of elements.
        "timeouts": { "script": 110_000 },
        "goog:loggingPrefs": { "browser": "ALL" },
        "goog:chromeOptions": { "binary": CHROMIUM, "args": arguments, "prefs": preferences },
    } } })
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
