//! How the worker gets at the bytes of a large log: through one buffer, and in slices from where that ends. Its script is served with lines
//! before it that change the browser. `cargo xtask wasm --test` builds the module and runs this.

use std::fs;
use std::sync::Arc;

use actix_web::web::{self, Data, Path};
use actix_web::{App, HttpResponse, HttpServer};
use serde_json::{Value, json};

use crate::driver::Browser;

/// Tells with each answer how many slices were read.
const COUNTED: &str = "{
    let slices = 0;
    const whole = Blob.prototype.arrayBuffer;
    Blob.prototype.arrayBuffer = function () { slices += 1; return whole.call(this); };
    const post = self.postMessage.bind(self);
    self.postMessage = (message) => post({ ...message, slices });
}";

/// From the third read on, a read does what stands for `INSTEAD`.
const THIRD_READ: &str = "{
    let reads = 0;
    const own = ReadableStreamBYOBReader.prototype.read;
    ReadableStreamBYOBReader.prototype.read = function (view) {
        reads += 1;
        return reads < 3 ? own.call(this, view) : INSTEAD;
    };
}";

const NO_BUFFER: &str = "{
    const own = ReadableStream.prototype.getReader;
    ReadableStream.prototype.getReader = function (how) {
        if (how) throw new TypeError('no such reader');
        return own.call(this);
    };
}";

/// Reads a log of 4 MB, whose last line is an error.
const READ: &str = "
    const get = async (address) => (await fetch(address)).arrayBuffer();
    const reader = new Worker('/worker/CHANGE');
    const ask = (message) => new Promise((resolve, reject) => {
        reader.onerror = () => reject(new Error('the worker cannot run'));
        reader.onmessage = ({ data }) => 'progress' in data || resolve(data);
        reader.postMessage(message);
    });
    await ask({ module: await get('/module') });
    await ask({ signatures: await get('/signatures') });
    const last = 'NVRM: Xid (PCI:0000:3b:00): 79, pid=7, GPU has fallen off the bus.\\n';
    const log = new Blob(['step 7 of 9 is done\\n'.repeat(200000), last]);
    const told = await ask({ log, environment: {}, base: location.origin });
    reader.terminate();
    return told;";

struct Served {
    worker: String,
    module: Vec<u8>,
    signatures: Vec<u8>,
}

fn change(name: &str) -> String {
    match name {
        "never-ends" => THIRD_READ.replace("INSTEAD", "new Promise(() => {})"),
        "fails" => THIRD_READ.replace("INSTEAD", "Promise.reject(new TypeError('network error'))"),
        "stops-early" => THIRD_READ.replace(
            "INSTEAD",
            "Promise.resolve({ value: new Uint8Array(0), done: true })",
        ),
        "no-buffer" => NO_BUFFER.to_owned(),
        _ => String::new(),
    }
}

async fn worker(name: Path<String>, served: Data<Served>) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header(("content-type", "text/javascript; charset=utf-8"))
        .body(format!("{COUNTED}\n{}\n{}", change(name.as_str()), served.worker))
}

async fn module(served: Data<Served>) -> Vec<u8> {
    served.module.clone()
}

async fn signatures(served: Data<Served>) -> Vec<u8> {
    served.signatures.clone()
}

async fn page() -> HttpResponse {
    HttpResponse::Ok()
        .insert_header(("content-type", "text/html; charset=utf-8"))
        .body("<!doctype html><title>log</title>")
}

fn host() -> String {
    let folder = std::env::var_os("PEERLESS_TEST_TAB")
        .map(std::path::PathBuf::from)
        .expect("the module for browsers is not there: run `cargo xtask wasm --test`, which builds it");
    let records = Arc::new(peerless::feed::offline(peerless::bundle::embedded().unwrap()).unwrap());
    let served = Data::new(Served {
        worker: fs::read_to_string(folder.join("worker.js")).unwrap(),
        module: fs::read(folder.join("tab.wasm")).unwrap(),
        signatures: peerless::domain::tab::pack(&records).unwrap(),
    });
    let app = move || {
        App::new()
            .app_data(served.clone())
            .route("/", web::get().to(page))
            .route("/worker/{name}", web::get().to(worker))
            .route("/module", web::get().to(module))
            .route("/signatures", web::get().to(signatures))
    };
    let listening = HttpServer::new(app)
        .workers(1)
        .disable_signals()
        .bind("127.0.0.1:0")
        .unwrap();
    let address = listening.addrs()[0];
    tokio::spawn(listening.run());
    format!("http://{address}/")
}

#[tokio::test]
#[ignore = "needs the module for browsers: cargo xtask wasm --test"]
async fn a_large_log_is_read_whole_whatever_its_stream_does() {
    let browser = Browser::start().await;
    browser.open(&host()).await;
    let mut answers = Vec::new();
    for (name, slices) in [
        ("none", 1..2),
        ("never-ends", 2..6),
        ("fails", 2..6),
        ("stops-early", 2..6),
        ("no-buffer", 4..5),
    ] {
        let read = READ.replace("CHANGE", name);
        let told = browser
            .script(&format!("return (async () => {{{read}}})()"))
            .await;
        let read_in = told["slices"].as_i64().unwrap();
        assert!(slices.contains(&read_in), "{name}: {read_in} slices");
        let text = told["answer"]
            .as_str()
            .unwrap_or_else(|| panic!("{name}: {told}"));
        let answer: Value = serde_json::from_str(text).unwrap();
        assert_eq!(answer["lines_scanned"], json!(200_001), "{name}");
        assert_eq!(answer["matches"][0]["id"], "xid/79-gpu-has-fallen-off-the-bus");
        answers.push(answer);
    }
    assert!(answers.windows(2).all(|two| two[0] == two[1]));
}
