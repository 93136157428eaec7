//! `watch` of a file: what is no text, what takes its place, and who reads.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Stdio};

use fake_gpu::Scenario;

use crate::matching::{LINE, fetched, run};
use crate::node::Node;

/// Where a file is no text, silence would mean that it holds no error.
#[test]
fn what_is_no_text_is_not_watched() {
    let node = Node::with(&Scenario::healthy(2));
    let log = node.path("job.log");
    fs::write(&log, format!("{LINE}\n")).unwrap();
    fetched(&node, log.to_str().unwrap());
    let gzip = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b\x4c\x04\x00\x00\x00".to_vec();
    let utf16 = |text: &str| -> Vec<u8> {
        let words = std::iter::once(0xfeff).chain(text.encode_utf16());
        words.flat_map(u16::to_le_bytes).collect()
    };
    let watch = |bytes: &[u8], arguments: &[&str]| {
        fs::write(&log, bytes).unwrap();
        run(&node, "watch", &[arguments, &[log.to_str().unwrap()]].concat())
    };
    let packed = watch(&gzip, &["--once"]);
    assert_eq!(
        (packed.code, packed.stdout.as_str()),
        (64, ""),
        "{}",
        packed.stderr
    );
    assert!(packed.stderr.contains("gzip"), "{}", packed.stderr);
    let followed = watch(&gzip, &[]);
    assert_eq!(followed.code, 64, "{}", followed.stderr);
    let wide = watch(&utf16(&format!("{LINE}\r\n")), &["--once"]);
    assert_eq!(wide.stdout.lines().count(), 1, "{}", wide.stderr);
    let wide_followed = watch(&utf16("step 1\r\n"), &[]);
    assert_eq!(wide_followed.code, 64, "{}", wide_followed.stderr);
    assert!(
        wide_followed.stderr.contains("--once"),
        "{}",
        wide_followed.stderr
    );
    let behind = [b"step 1\n".as_slice(), &gzip].concat();
    let unread = watch(&behind, &["--once"]);
    assert_eq!(unread.code, 64, "{}", unread.stderr);
}

/// A log of one line that is followed from its end, and what is told of it.
struct Followed {
    log: PathBuf,
    watching: Child,
    told: BufReader<ChildStdout>,
    _stderr: BufReader<ChildStderr>,
}

impl Followed {
    fn start(node: &Node) -> Self {
        let log = node.path("job.log");
        fs::write(&log, format!("{LINE}\n")).unwrap();
        fetched(node, log.to_str().unwrap());
        let mut command = node.bare("watch");
        command
            .arg("--signatures")
            .arg(node.path("cache/signatures.json"));
        command.arg(&log).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut watching = command.spawn().unwrap();
        let mut said = String::new();
        let mut stderr = BufReader::new(watching.stderr.take().unwrap());
        stderr.read_line(&mut said).unwrap();
        assert!(said.contains("following"), "{said}");
        Self {
            told: BufReader::new(watching.stdout.take().unwrap()),
            log,
            watching,
            _stderr: stderr,
        }
    }

    /// What is told up to the line that ends with "the last".
    fn told_up_to_the_last(mut self) -> Vec<String> {
        let mut told = Vec::new();
        for line in self.told.by_ref().lines() {
            told.push(line.unwrap());
            if told.last().unwrap().contains("the last") {
                break;
            }
        }
        self.watching.kill().unwrap();
        self.watching.wait().unwrap();
        told
    }
}

fn add(log: &Path, text: &str) {
    let mut file = fs::File::options().append(true).open(log).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

#[test]
fn watching_ends_with_its_reader() {
    let node = Node::with(&Scenario::healthy(2));
    let mut followed = Followed::start(&node);
    drop(followed.told);
    add(&followed.log, &format!("{LINE}\nstep\n"));
    assert_eq!(followed.watching.wait().unwrap().code(), Some(0));
}

#[test]
fn the_last_line_of_a_file_is_not_joined_to_the_first_of_its_successor() {
    let node = Node::with(&Scenario::healthy(2));
    let followed = Followed::start(&node);
    add(&followed.log, LINE);
    let newer = node.path("newer.log");
    fs::write(&newer, format!("{LINE}\n{LINE} the last\n")).unwrap();
    fs::rename(&newer, &followed.log).unwrap();
    let told = followed.told_up_to_the_last();
    assert_eq!(told.len(), 3, "{told:?}");
}

#[test]
fn a_file_that_was_emptied_and_filled_beyond_its_place_is_read_anew() {
    let node = Node::with(&Scenario::healthy(2));
    let followed = Followed::start(&node);
    let refilled = format!("{LINE} again\n{}{LINE} the last\n", "step done\n".repeat(200));
    fs::write(&followed.log, refilled).unwrap();
    let told = followed.told_up_to_the_last();
    assert_eq!(told.len(), 2, "{told:?}");
}
