//! `peerless match` as people script it: files and pipes, here and by a server, as text, JSON, lines and SARIF.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::process::{Server, folder, peerless};

const LINE: &str = "RuntimeError: CUDA error: peer access is not supported between these two devices";
const RECORD: &str = "cuda/peer-access-unsupported-by-hardware";

/// A folder of logs, and no database.
struct Logs {
    folder: TempDir,
    data: String,
}

impl Logs {
    fn new() -> Self {
        let (folder, data) = folder();
        Self { folder, data }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// `peerless match` in this folder.
    fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = peerless();
        command.current_dir(self.folder.path()).arg("match");
        command.args(arguments).args(["--data-dir", &self.data]);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn piped(&self, arguments: &[&str], text: &[u8]) -> Output {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(text).unwrap();
        child.wait_with_output().unwrap()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn objects(bytes: &[u8]) -> Vec<Value> {
    text(bytes)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn each_file_gets_its_answer_however_it_is_packed() {
    let logs = Logs::new();
    let log = format!("{}{LINE}\n", "nothing here\n".repeat(5000));
    logs.write("plain.log", &log);
    logs.write("rotated.log.1.gz", gzip(&log));
    logs.write("rotated.log.2.zst", zstd::encode_all(log.as_bytes(), 1).unwrap());
    logs.write("clean.log", "all is well\n");
    let files = ["plain.log", "rotated.log.1.gz", "rotated.log.2.zst", "clean.log"];
    let output = logs.run(&[&files[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0));
    let answers = objects(&output.stdout);
    assert_eq!(answers.len(), files.len());
    for (answer, file) in answers.iter().zip(&files[..3]) {
        assert_eq!(answer["file"], *file);
        assert_eq!(answer["root_cause"], RECORD, "{file}");
        assert_eq!(answer["matches"][0]["lines"][0]["line"], 5001, "{file}");
    }
    assert_eq!(answers[3]["matches"], serde_json::json!([]));

    let shown = text(&logs.run(&["plain.log", "clean.log"]).stdout);
    assert!(shown.starts_with("== plain.log\n") && shown.contains("== clean.log\nNo known error"));
    assert_eq!(logs.run(&["clean.log"]).status.code(), Some(1));
}

#[test]
fn logs_of_windows_and_archives_are_read() {
    let logs = Logs::new();
    let log = format!("{}{LINE}\r\n", "nothing here\r\n".repeat(5000));
    let utf16 = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    logs.write("powershell.log", [&[0xff, 0xfe][..], &utf16(&log)].concat());
    logs.write("bare.log", utf16(&log));
    let mut xz = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1)).unwrap();
    xz.write_all(log.as_bytes()).unwrap();
    logs.write("rotated.log.xz", xz.finish().unwrap());
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in [("rank0.log", &log[..]), ("rank1.log", "all is well\n")] {
        zip.start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    logs.write("job.zip", zip.finish().unwrap().into_inner());
    let files = ["powershell.log", "bare.log", "rotated.log.xz", "job.zip"];
    let output = logs.run(&[&files[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let answers = objects(&output.stdout);
    let named = [
        "powershell.log",
        "bare.log",
        "rotated.log.xz",
        "job.zip!/rank0.log",
        "job.zip!/rank1.log",
    ];
    assert_eq!(answers.len(), named.len());
    for (answer, file) in answers.iter().zip(named) {
        assert_eq!(answer["file"], file);
        if file != "job.zip!/rank1.log" {
            assert_eq!(answer["root_cause"], RECORD, "{file}");
            assert_eq!(answer["matches"][0]["lines"][0]["line"], 5001, "{file}");
        }
    }
    let shown = text(&logs.run(&["job.zip"]).stdout);
    assert!(shown.contains("== job.zip!/rank1.log\nNo known error"), "{shown}");
}

#[test]
fn what_is_no_text_is_trouble_and_not_clean() {
    let logs = Logs::new();
    logs.write("a.bz2", b"BZh91AY&SY\x1a\x2b\x3c");
    logs.write("b.7z", b"7z\xbc\xaf\x27\x1c\0\x04");
    logs.write("c.zip", b"PK\x03\x04\x14\0\0\0\x08\0");
    logs.write("d.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    logs.write(
        "e.bin",
        (0..9999_u32)
            .map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[1])
            .collect::<Vec<_>>(),
    );
    let files = ["a.bz2", "b.7z", "c.zip", "d.png", "e.bin"];
    for form in ["--json", "--ndjson", "--sarif", "--follow"] {
        // A plain file is followed for ever.
        let files = if form == "--follow" { &files[..4] } else { &files };
        let output = logs.run(&[files, &[form]].concat());
        assert_eq!(output.status.code(), Some(2), "{form}");
        let told = text(&output.stderr);
        for (file, words) in files
            .iter()
            .zip(["bzcat", "7z x -so", "archive", "picture", "binary file"])
        {
            let told = told.lines().find(|line| line.contains(file));
            assert!(
                told.is_some_and(|line| line.contains(words)),
                "{file} {form}: {told:?}"
            );
        }
    }
    let piped = logs.piped(&[], b"PK\x03\x04\x14\0\0\0\x08\0");
    assert_eq!(piped.status.code(), Some(2));
}

#[test]
fn an_environment_with_a_misspelt_name_is_refused() {
    let logs = Logs::new();
    logs.write("a.log", LINE);
    for (pair, words) in [
        ("drver=1", "is driver meant?"),
        ("driver=abc", "no version of driver"),
    ] {
        let output = logs.run(&["a.log", "--env", pair]);
        assert_eq!(output.status.code(), Some(64), "{pair}");
        assert!(text(&output.stderr).contains(words), "{pair}");
    }
    let twice = logs.run(&["a.log", "--env", "driver=535", "--env", "driver=550"]);
    assert_eq!(twice.status.code(), Some(64));
}

#[test]
fn pipes_are_read_with_and_without_a_dash() {
    let logs = Logs::new();
    for arguments in [&["-", "--json"][..], &["--json"]] {
        for body in [LINE.as_bytes().to_vec(), gzip(LINE)] {
            let output = logs.piped(arguments, &body);
            let answers = objects(&output.stdout);
            assert_eq!((&answers[0]["file"], answers.len()), (&"-".into(), 1));
            assert_eq!(answers[0]["root_cause"], RECORD);
        }
    }
    assert_eq!(logs.piped(&[], b"").status.code(), Some(1));
}

#[test]
fn a_text_may_stand_on_the_command_line() {
    let logs = Logs::new();
    let found = logs.run(&["--text", LINE]);
    assert_eq!(found.status.code(), Some(0));
    assert!(text(&found.stdout).contains(RECORD), "{}", text(&found.stdout));
    let json = logs.run(&["--json", "--text", "-- nothing is wrong here"]);
    assert_eq!(json.status.code(), Some(1));
    assert_eq!(objects(&json.stdout)[0]["file"], "(text)");
    // In the place of a file it is a name that does not exist, which says what was meant.
    let taken = logs.run(&[LINE]);
    assert_eq!(taken.status.code(), Some(2));
    let told = text(&taken.stderr);
    assert!(told.contains("write --text before it"), "{told}");
    let missing = text(&logs.run(&["missing.log"]).stderr);
    assert!(!missing.contains("--text"), "{missing}");
    assert_eq!(logs.run(&["--text", LINE, "a.log"]).status.code(), Some(64));
}

#[test]
fn lines_that_no_record_explains_fail_a_call_that_asks_for_it() {
    let logs = Logs::new();
    logs.write("clean.log", "all is well\n");
    logs.write("known.log", LINE);
    logs.write("strange.log", format!("{LINE}\nfrobnicator: zorgblat failed\n"));
    let server = Server::start(&["--data-dir", &logs.data], &logs.path("server.log"));
    let code = |arguments: &[&str]| logs.run(arguments).status.code();
    let asked = |arguments: &[&str]| code(&[arguments, &["--fail-on", "unexplained"]].concat());
    for form in ["--json", "--ndjson", "--sarif"] {
        assert_eq!(asked(&["strange.log", form]), Some(3), "{form}");
    }
    assert_eq!(asked(&["strange.log", "known.log"]), Some(3));
    assert_eq!(asked(&["known.log"]), Some(0));
    assert_eq!(asked(&["clean.log"]), Some(1));
    assert_eq!(asked(&["strange.log", "missing.log"]), Some(2));
    let there = ["--server", &server.url];
    for (file, code) in [("strange.log", 3), ("known.log", 0), ("clean.log", 1)] {
        assert_eq!(asked(&[&[file], &there[..]].concat()), Some(code), "{file}");
    }
    assert_eq!(code(&["strange.log"]), Some(0), "nobody asked");
    assert_eq!(code(&["clean.log", "--fail-on", "zorgblat"]), Some(64));
    let followed = logs.piped(
        &["--follow", "-", "--fail-on", "unexplained"],
        b"zorgblat failed\n",
    );
    assert_eq!(followed.status.code(), Some(3));
    server.terminate();
}

#[test]
fn a_file_in_trouble_does_not_keep_the_others_from_being_read() {
    let logs = Logs::new();
    logs.write("good.log", LINE);
    logs.write("cut.log.gz", &gzip(&LINE.repeat(1000))[..40]);
    let output = logs.run(&["missing.log", ".", "cut.log.gz", "good.log", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(objects(&output.stdout)[0]["file"], "good.log");
    let complaints = text(&output.stderr);
    let complaints: Vec<_> = complaints.lines().collect();
    assert_eq!(complaints.len(), 3, "{complaints:?}");
    for (complaint, file) in complaints.iter().zip(["missing.log", ".", "cut.log.gz"]) {
        assert!(
            complaint.starts_with(&format!("peerless: {file}: ")),
            "{complaint}"
        );
    }
}

#[test]
fn a_server_gives_the_answer_that_this_program_gives() {
    let logs = Logs::new();
    // Repeats itself so much that a server refuses it unless it is padded.
    let log = format!("{}{LINE}\n{LINE}", "nothing here\n".repeat(400_000));
    logs.write("train.log", &log);
    logs.write("clean.log.gz", gzip("all is well\n"));
    let server = Server::start(&["--data-dir", &logs.data], &logs.path("server.log"));
    let nowhere = logs.path("nowhere").to_string_lossy().into_owned();
    for form in ["--json", "--ndjson", "--sarif"] {
        let arguments = ["train.log", "clean.log.gz", form, "--env", "driver=550.54.14"];
        let here = logs.run(&arguments);
        let there = peerless()
            .current_dir(logs.folder.path())
            .arg("match")
            .args(arguments)
            .args(["--data-dir", &nowhere, "--server", &format!("{}/", server.url)])
            .output()
            .unwrap();
        assert_eq!(there.status.code(), Some(0), "{}", text(&there.stderr));
        // Only a server has a page to link to, and an address that is more than a path.
        let here = text(&here.stdout);
        let there = text(&there.stdout).replace(&server.url, "");
        let without_page: Vec<_> = there
            .lines()
            .filter(|line| !line.contains("\"helpUri\""))
            .collect();
        assert_eq!(without_page, here.lines().collect::<Vec<_>>(), "{form}");
    }
    let shown = text(&logs.run(&["train.log", "--server", &server.url]).stdout);
    assert!(shown.contains(RECORD) && shown.contains("2 lines"), "{shown}");
    let clean = logs.run(&["clean.log.gz", "--server", &server.url]);
    assert_eq!(clean.status.code(), Some(1));
    server.terminate();
    let asked = std::fs::read_to_string(logs.path("server.log")).unwrap();
    assert!(!asked.contains("550.54.14"), "no query reaches the log");
}

#[test]
fn a_server_that_cannot_be_asked_is_trouble() {
    let logs = Logs::new();
    logs.write("train.log", LINE);
    let server = Server::start(&["--data-dir", &logs.data], &logs.path("server.log"));
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    for (server, why) in [
        (format!("http://{port}"), "the connection was refused (Connection"),
        (
            "http://no.invalid".to_owned(),
            "http://no.invalid cannot be asked: its name",
        ),
        (format!("{}/elsewhere", server.url), "404"),
        ("ftp://x".to_owned(), "http://"),
    ] {
        let output = logs.run(&["train.log", "--server", &server]);
        assert_eq!(output.status.code(), Some(2));
        let complaint = text(&output.stderr);
        assert!(complaint.contains(why), "{complaint}");
    }
    let refused = logs.run(&["train.log", "--server", &server.url, "--token", "prl_x_y"]);
    assert!(text(&refused.stderr).contains("401"), "{}", text(&refused.stderr));
    for senseless in [
        &["--follow", "--json"][..],
        &["--json", "--sarif"],
        &["--token", "x"],
    ] {
        let output = logs.run(&[&["train.log"], senseless].concat());
        assert_eq!(output.status.code(), Some(64), "{senseless:?}");
    }
    // The variable may be set for other programs; only a server is shown it.
    let exported = |arguments: &[&str]| {
        let mut command = logs.command(arguments);
        command.env("PEERLESS_TOKEN", "prl_x_y").output().unwrap()
    };
    assert_eq!(exported(&["train.log"]).status.code(), Some(0));
    let refused = exported(&["train.log", "--server", &server.url]);
    assert!(text(&refused.stderr).contains("401"), "{}", text(&refused.stderr));
}

fn append(path: &Path, line: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    writeln!(file, "{line}").unwrap();
}

#[test]
fn hits_are_shown_while_files_grow_and_are_replaced() {
    let logs = Logs::new();
    let (log, other) = (logs.path("train.log"), logs.path("other.log"));
    append(&log, "nothing here");
    append(&other, "all is well");
    let mut command = logs.command(&["--follow", "--ndjson", "train.log", "other.log"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();

    append(&log, LINE);
    let hit = next();
    assert_eq!(
        (&hit["event"], &hit["file"]),
        (&"hit".into(), &"train.log".into())
    );
    assert_eq!((&hit["line"], &hit["record"]), (&2.into(), &RECORD.into()));

    // The log is rotated: the old one is summed up, the new one counts from its first line.
    std::fs::rename(&log, logs.path("train.log.1")).unwrap();
    append(&log, LINE);
    let summary = next();
    assert_eq!(
        (&summary["event"], &summary["lines_scanned"]),
        (&"summary".into(), &2.into())
    );
    assert_eq!(next()["line"], 1);

    let id = child.id().to_string();
    let interrupted = std::process::Command::new("kill").args(["-INT", &id]).status();
    assert!(interrupted.unwrap().success());
    let summaries = [next(), next()];
    assert_eq!(summaries[0]["root_cause"], RECORD);
    assert_eq!(
        (&summaries[1]["file"], &summaries[1]["root_cause"]),
        (&"other.log".into(), &Value::Null)
    );
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn following_a_pipe_ends_with_it() {
    let logs = Logs::new();
    let output = logs.piped(&["--follow", "-"], format!("x\n{LINE}\n").as_bytes());
    assert_eq!(output.status.code(), Some(0));
    let shown = text(&output.stdout);
    assert!(
        shown.starts_with(&format!("(standard input):2: {RECORD}: RuntimeError")),
        "{shown}"
    );
    assert!(shown.contains("  Do: "), "{shown}");
    assert_eq!(logs.run(&["--follow", "missing.log"]).status.code(), Some(2));
}

#[test]
fn sarif_is_what_the_standard_asks_for() {
    let logs = Logs::new();
    logs.write("rank 0.log", format!("x\n{LINE}\n{LINE}\n"));
    logs.write("rank1.log", LINE);
    let output = logs.run(&["--sarif", "rank 0.log", "rank1.log", "missing.log"]);
    assert_eq!(output.status.code(), Some(2), "a file is missing");
    let log: Value = serde_json::from_slice(&output.stdout).unwrap();
    let schema = serde_json::from_str(include_str!("sarif.schema.json")).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let violations: Vec<_> = validator
        .iter_errors(&log)
        .map(|found| found.to_string())
        .collect();
    assert_eq!(violations, [""; 0]);
    insta::assert_json_snapshot!(log, { ".**.version" => "…", ".**.semanticVersion" => "…" });
}
