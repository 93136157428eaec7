//! `watch` of a file: what is no text, what takes its place, and who reads.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Stdio};

use fake_gpu::Scenario;
use kb_core::ids::Revision;
use kb_core::record::Record;
use kb_core::signature::RecordSignatures;

use crate::matching::{LINE, fetched, run, serving};
use crate::node::{Node, Run};
use crate::tree::write;

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
        Self::of(node, log)
    }

    /// With the signatures that the node has.
    fn of(node: &Node, log: PathBuf) -> Self {
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

/// The Xids and SXids that records are about, by family, number and record.
fn xids() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let rows = include_str!("../../../kb-core/data/xids.tsv").lines().skip(1);
    rows.map(|row| {
        let cells: Vec<&str> = row.split('\t').collect();
        (cells[0], cells[1], cells[2])
    })
}

/// Their shipped records: more than are counted on one line.
fn fetched_xids(node: &Node) {
    let ids: BTreeSet<&str> = xids().map(|(.., id)| id).collect();
    assert!(ids.len() > 100, "{}", ids.len());
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kb-seed");
    let signatures = |id: &str| -> RecordSignatures {
        let read = |kind: &str| fs::read_to_string(seeds.join(format!("{id}.{kind}"))).unwrap();
        let record = Record::parse(&read("json"), &read("ext.json")).unwrap();
        record.signatures(Revision(1))
    };
    let records: Vec<RecordSignatures> = ids.into_iter().map(signatures).collect();
    let body = serde_json::json!({ "records": records, "kb": { "seq": 7 } });
    let (address, thread) = serving(body.to_string(), 1);
    let log = node.path("clean.log");
    fs::write(&log, "step 1\n").unwrap();
    let run = run(node, "match", &["--server", &address, log.to_str().unwrap()]);
    thread.join().unwrap();
    assert_eq!(run.code, 1, "{}", run.stderr);
}

/// A line with all of them.
fn crowded() -> String {
    let all: Vec<String> = xids()
        .map(|(family, number, _)| format!("{family} {number}"))
        .collect();
    format!("{}\n", all.join(" "))
}

const CROWDED: &str = "line has too many possible matches";

#[test]
fn what_is_left_out_of_a_crowded_line_is_told() {
    let node = Node::with(&Scenario::healthy(2));
    fetched_xids(&node);
    let log = node.path("job.log");
    fs::write(&log, crowded()).unwrap();
    let log = log.to_str().unwrap();
    let watched = run(&node, "watch", &["--once", log]);
    let notes: Vec<&str> = watched
        .stdout
        .lines()
        .filter(|line| line.starts_with("note: "))
        .collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains(CROWDED), "{notes:?}");
    assert_eq!(watched.stdout.lines().count(), 101, "100 records and the note");
    let matched = run(&node, "match", &[log]);
    assert!(matched.stdout.contains(CROWDED), "{}", matched.stdout);
    // Lines of JSON stay hits.
    let json = run(&node, "watch", &["--once", "--json", log]);
    assert_eq!(json.stdout.lines().count(), 100);
    assert!(json.stderr.contains(CROWDED), "{}", json.stderr);
    fs::write(log, "step 1\n").unwrap();
    assert_eq!(run(&node, "watch", &["--once", log]).stdout, "");
}

/// A log that is followed may never end.
#[test]
fn what_is_left_out_of_a_log_that_goes_on_is_told_at_once() {
    let node = Node::with(&Scenario::healthy(2));
    fetched_xids(&node);
    let log = node.path("job.log");
    fs::write(&log, "").unwrap();
    let mut followed = Followed::of(&node, log);
    let unknown = "NVRM: Xid (PCI:0000:00:06): 61, pid=7";
    add(&followed.log, &format!("{unknown}\n{}", crowded()));
    let told = followed.told.by_ref().lines().map(Result::unwrap);
    let mut notes: Vec<String> = told.filter(|line| line.starts_with("note: ")).take(2).collect();
    followed.watching.kill().unwrap();
    followed.watching.wait().unwrap();
    notes.sort();
    assert!(notes[0].contains(CROWDED), "{notes:?}");
    assert!(notes[1].contains("Xid 61, which no record explains"), "{notes:?}");
}

/// A note that counts would be another one for each line.
#[test]
fn notes_do_not_grow_with_the_log() {
    let node = Node::with(&Scenario::healthy(2));
    fetched_xids(&node);
    let bin = node.path("bin");
    write(&bin, "lines", crowded().repeat(40));
    write(&bin, "journalctl", "#!/bin/sh\ncat \"${0%/*}/lines\"\n");
    fs::set_permissions(bin.join("journalctl"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = node.bare("watch");
    command.args(["--journal", "--once", "--signatures"]);
    command
        .arg(node.path("cache/signatures.json"))
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let watched = Run::of(&command.output().unwrap());
    let notes: Vec<&str> = watched
        .stdout
        .lines()
        .filter(|line| line.starts_with("note: "))
        .collect();
    assert_eq!(notes.len(), 21, "{notes:?}");
    assert!(notes[0].starts_with("note: 1 line has"), "{notes:?}");
    assert!(notes[20].starts_with("note: 40 lines have"), "{notes:?}");
}
