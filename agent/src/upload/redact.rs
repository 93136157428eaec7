//! Taking out of a report what its owner does not want to leave the house. Each cut leaves a mark: `[host 1]`,
//! `[address 2]`, `[path 3]`; the same text has the same mark throughout a report, so that lines still fit together.
//!
//! PCI addresses, GPU UUIDs and the node's id stay: without them a report says nothing. System paths (`/proc`, `/sys`,
//! `/usr` …) are the same everywhere and stay too.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::{Value, json};

/// What is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Kind {
    /// Names of the host and of those that log lines name beside it
    Hosts,
    /// IP and hardware addresses
    Addresses,
    /// Paths outside of the system's own folders
    Paths,
}

/// Folders that tell nothing about the machine's owner.
const SYSTEM: [&str; 12] = [
    "/proc", "/sys", "/dev", "/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc", "/var/log", "/var/run",
    "/run",
];
/// Values that are structure: pointers into the report.
const STRUCTURE: [&str; 2] = ["evidence", "report_id"];

/// Redacts every text of a report, and writes into it what was done (`host.redaction`).
pub(crate) fn redact(report: &mut Value, kinds: &[Kind]) {
    if kinds.is_empty() {
        return;
    }
    let named = report
        .pointer("/node/hostname")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let short = named.split('.').next().unwrap_or_default().to_owned();
    let mut cutter = Cutter {
        kinds,
        hosts: [named, short]
            .into_iter()
            .filter(|name| !name.is_empty())
            .collect(),
        marks: BTreeMap::new(),
    };
    cutter.value(report);
    let mut counts: BTreeMap<&str, usize> = kinds.iter().map(|kind| (word(*kind), 0)).collect();
    for (kind, _) in cutter.marks.keys() {
        *counts.entry(word(*kind)).or_default() += 1;
    }
    if let Some(host) = report.get_mut("host").and_then(Value::as_object_mut) {
        host.insert(
            "redaction".to_owned(),
            json!({ "value": counts, "source": "--redact" }),
        );
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Hosts => "host",
        Kind::Addresses => "address",
        Kind::Paths => "path",
    }
}

struct Cutter<'a> {
    kinds: &'a [Kind],
    hosts: Vec<String>,
    /// Number of each text that was cut.
    marks: BTreeMap<(Kind, String), usize>,
}

impl Cutter<'_> {
    fn value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(value)),
            Value::Object(fields) => {
                for (name, value) in fields.iter_mut() {
                    if !STRUCTURE.contains(&name.as_str()) {
                        self.value(value);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Word by word: what stands between two characters that are part of no name, address or path.
    fn text(&mut self, text: &str) -> String {
        let mut written = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(is_border).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            written.push_str(&self.word(word));
            let border = behind.chars().next().map_or(0, char::len_utf8);
            let (border, behind) = behind.split_at(border);
            written.push_str(border);
            rest = behind;
        }
        written
    }

    fn word(&mut self, word: &str) -> String {
        let core = word.trim_end_matches(['.', ':']);
        let tail = word.get(core.len()..).unwrap_or_default();
        if self.kinds.contains(&Kind::Paths) && is_private_path(core) {
            return format!("{}{tail}", self.mark(Kind::Paths, core));
        }
        if self.kinds.contains(&Kind::Addresses) {
            // `10.0.0.1:8080`, `eth0:10.1.2.3` and `[fe80::1]` hold an address among other parts.
            if is_address(core) {
                return format!("{}{tail}", self.mark(Kind::Addresses, core));
            }
            let parts: Vec<&str> = core.split(':').collect();
            if parts.len() <= 3 && parts.iter().any(|part| is_address(part)) {
                let parts: Vec<String> = parts.into_iter().map(|part| self.part(part)).collect();
                return format!("{}{tail}", parts.join(":"));
            }
        }
        if self.kinds.contains(&Kind::Hosts) {
            // `node1:4711:4720` is how NCCL names a process.
            let (name, behind) = core.split_once(':').map_or((core, ""), |(name, _)| {
                (name, core.get(name.len()..).unwrap_or_default())
            });
            let is_process =
                behind.len() > 1 && behind.bytes().all(|byte| byte == b':' || byte.is_ascii_digit());
            let is_process = is_process
                && behind.matches(':').count() == 2
                && !name.bytes().all(|byte| byte.is_ascii_hexdigit());
            if self.hosts.iter().any(|host| host == name) || is_process {
                return format!("{}{behind}{tail}", self.mark(Kind::Hosts, name));
            }
        }
        word.to_owned()
    }

    fn part(&mut self, part: &str) -> String {
        if is_address(part) {
            self.mark(Kind::Addresses, part)
        } else {
            part.to_owned()
        }
    }

    fn mark(&mut self, kind: Kind, text: &str) -> String {
        let next = 1 + self.marks.keys().filter(|(known, _)| *known == kind).count();
        let number = *self.marks.entry((kind, text.to_owned())).or_insert(next);
        format!("[{} {number}]", word(kind))
    }
}

/// Characters that end a word.
fn is_border(character: char) -> bool {
    character.is_whitespace() || "\"'`,;()<>[]{}=|".contains(character)
}

fn is_private_path(word: &str) -> bool {
    let below = |folder: &str| {
        word.strip_prefix(folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    word.len() > 1
        && word.starts_with('/')
        && !word.starts_with("//")
        && !SYSTEM.iter().any(|folder| below(folder))
}

/// An IP address, with or without length of the network, or six pairs of hexadecimal digits. A PCI address is neither.
fn is_address(word: &str) -> bool {
    let word = word.split('/').next().unwrap_or_default();
    let bare = word.split('%').next().unwrap_or_default();
    let hardware = || {
        let mut pairs = 0;
        word.split(':').all(|pair| {
            pairs += 1;
            pair.len() == 2 && pair.bytes().all(|byte| byte.is_ascii_hexdigit())
        }) && pairs == 6
    };
    bare.parse::<IpAddr>().is_ok() || hardware()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(text: &str, kinds: &[Kind]) -> String {
        let mut report =
            json!({ "node": { "hostname": "gpu-17.lab.example" }, "host": {}, "logs": [{ "text": text }] });
        redact(&mut report, kinds);
        report
            .pointer("/logs/0/text")
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned()
    }

    const ALL: [Kind; 3] = [Kind::Hosts, Kind::Addresses, Kind::Paths];

    #[test]
    fn each_cut_is_marked_and_the_same_text_has_the_same_mark() {
        for (text, expected) in [
            ("gpu-17 kernel: gpu-17.lab.example", "[host 1] kernel: [host 2]"),
            (
                "node3:4711:4720 [0] NCCL INFO x",
                "[host 1]:4711:4720 [0] NCCL INFO x",
            ),
            (
                "from 10.1.2.3:8080, 10.1.2.3.",
                "from [address 1]:8080, [address 1].",
            ),
            ("Using eth0:10.1.2.3<0>", "Using eth0:[address 1]<0>"),
            (
                "fe80::1%eth0 and aa:bb:cc:dd:ee:ff",
                "[address 1] and [address 2]",
            ),
            ("open /home/ann/x.so: /scratch/y", "open [path 1]: [path 2]"),
        ] {
            assert_eq!(redacted(text, &ALL), expected);
        }
    }

    #[test]
    fn what_the_report_is_about_stays() {
        for text in [
            "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.",
            "0000:00:06.0 12:34:56 580.159.04 /proc/driver/nvidia/version /usr/lib/libcuda.so.1",
            "GPU-592ae3c5-d0e9-aa09-ab69-25fb91b6a20a I/O and/or //",
        ] {
            assert_eq!(redacted(text, &ALL), text);
        }
        assert_eq!(
            redacted("10.1.2.3 /home/ann", &[Kind::Paths]),
            "10.1.2.3 [path 1]"
        );
    }

    #[test]
    fn the_report_says_what_was_done_and_keeps_its_pointers() {
        let mut report = json!({
            "node": { "hostname": "gpu-17" },
            "host": { "host.name": { "value": "gpu-17" } },
            "pairs": [{ "verdict": { "evidence": ["/pairs/0/nvlinks"] } }],
        });
        redact(&mut report, &ALL);
        assert_eq!(report["node"]["hostname"], "[host 1]");
        assert_eq!(report["host"]["host.name"]["value"], "[host 1]");
        assert_eq!(report["pairs"][0]["verdict"]["evidence"][0], "/pairs/0/nvlinks");
        assert_eq!(
            report["host"]["redaction"]["value"],
            json!({ "host": 1, "address": 0, "path": 0 })
        );
    }
}
