//! A server that takes reports, and fails in every way that a network and a crash can: on demand, from a seed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// What the server has: bodies by report id, and how often each was counted as new.
pub(crate) type Taken = Arc<Mutex<BTreeMap<String, (Vec<u8>, u32)>>>;

/// The stub; it ends when dropped.
pub(crate) struct Stub {
    pub(crate) address: String,
    pub(crate) taken: Taken,
    /// Probability of a fault in a request, in per cent.
    pub(crate) faults: Arc<AtomicU64>,
    /// Requests that are still answered with "busy" before all else.
    pub(crate) busy: Arc<AtomicU64>,
    /// Reports that are answered with an error of the server's own, by id.
    pub(crate) failing: Arc<Mutex<BTreeSet<String>>>,
    /// The policy that it gives, with its entity tag; without one it is a server of before there were policies.
    pub(crate) policy: Arc<Mutex<Option<(String, String)>>>,
    /// How often it was asked for a policy, and how often it said that nothing had changed.
    pub(crate) asked: Arc<Mutex<(u32, u32)>>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Stub {
    pub(crate) fn start(seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let taken = Taken::default();
        let faults = Arc::new(AtomicU64::new(0));
        let busy = Arc::new(AtomicU64::new(0));
        let ends = Arc::new(AtomicBool::new(false));
        let failing = Arc::<Mutex<BTreeSet<String>>>::default();
        let policy = Arc::<Mutex<Option<(String, String)>>>::default();
        let asked = Arc::<Mutex<(u32, u32)>>::default();
        let serve = {
            let (taken, faults, ends) = (Arc::clone(&taken), Arc::clone(&faults), Arc::clone(&ends));
            let (busy, failing) = (Arc::clone(&busy), Arc::clone(&failing));
            let (policy, asked) = (Arc::clone(&policy), Arc::clone(&asked));
            move || {
                let mut random = Random(seed);
                for stream in listener.incoming() {
                    if ends.load(Ordering::SeqCst) {
                        return;
                    }
                    let mut reader = BufReader::new(stream.unwrap());
                    let mut line = String::new();
                    if reader.read_line(&mut line).is_err() {
                        continue;
                    }
                    if line.starts_with("GET ") {
                        let policy = policy.lock().unwrap().clone();
                        let _ = give(reader, policy, &mut asked.lock().unwrap());
                        continue;
                    }
                    let is_busy = busy
                        .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
                        .is_ok();
                    let fails = random.below(100) < faults.load(Ordering::SeqCst);
                    let fault = if is_busy {
                        Some(4)
                    } else {
                        fails.then(|| random.below(5))
                    };
                    // A client that was killed in the middle of its request is nobody's fault.
                    let _ = serve(reader, &taken, &failing.lock().unwrap(), fault);
                }
            }
        };
        Self {
            address,
            taken,
            faults,
            busy,
            failing,
            policy,
            asked,
            ends,
            thread: Some(std::thread::spawn(serve)),
        }
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address.trim_start_matches("http://"));
        let _ = self.thread.take().unwrap().join();
    }
}

/// Answers a question for the policy.
fn give(
    mut reader: BufReader<TcpStream>,
    policy: Option<(String, String)>,
    asked: &mut (u32, u32),
) -> std::io::Result<()> {
    let mut known = String::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(tag) = line.to_ascii_lowercase().strip_prefix("if-none-match: ") {
            tag.trim().clone_into(&mut known);
        }
        if line.trim_end().is_empty() {
            break;
        }
    }
    asked.0 += 1;
    let (status, tag, body) = match policy {
        None => (404, String::new(), String::new()),
        Some((tag, _)) if tag == known => (304, tag, String::new()),
        Some((tag, body)) => (200, tag, body),
    };
    asked.1 += u32::from(status == 304);
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status} Status\r\netag: {tag}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    reader.into_inner().write_all(answer.as_bytes())
}

/// Serves one request whose first line was read. Faults: 0 closes at once, 1 closes in the middle of the body, 2 keeps the report and closes
/// without an answer, 3 keeps it and breaks off within the answer, 4 is busy.
fn serve(
    mut reader: BufReader<TcpStream>,
    taken: &Taken,
    failing: &BTreeSet<String>,
    fault: Option<u64>,
) -> std::io::Result<()> {
    if fault == Some(0) {
        return Ok(());
    }
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(number) = line.strip_prefix("content-length: ") {
            length = number.parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    if fault == Some(1) {
        length /= 2;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    if fault == Some(1) {
        return Ok(());
    }
    let mut stream = reader.into_inner();
    if fault == Some(4) {
        return stream.write_all(
            b"HTTP/1.1 503 Busy\r\nretry-after: 0\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
        );
    }
    let json = zstd::stream::decode_all(body.as_slice())?;
    let report: serde_json::Value = serde_json::from_slice(&json)?;
    let id = report["report_id"].as_str().unwrap().to_owned();
    let status = if failing.contains(&id) {
        500
    } else {
        let mut taken = taken.lock().unwrap();
        match taken.get(&id) {
            None => {
                taken.insert(id.clone(), (json, 1));
                201
            }
            Some((known, _)) if *known == json => 200,
            Some(_) => 409,
        }
    };
    let body = serde_json::json!({ "id": id }).to_string();
    let length = body.len();
    let answer =
        format!("HTTP/1.1 {status} Status\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
    match fault {
        Some(2) => Ok(()),
        Some(3) => stream.write_all(&answer.as_bytes()[..9]),
        _ => stream.write_all(answer.as_bytes()),
    }
}

/// G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003): the triple 13, 7, 17.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
