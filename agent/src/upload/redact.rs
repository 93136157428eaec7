//! Taking out of a report what its owner does not want to leave the house. Each cut leaves a mark: `[host 1]`,
//! `[address 2]`, `[path 3]`; the same text has the same mark throughout a report, so that lines still fit together.
//!
//! PCI addresses, GPU UUIDs and the node's id stay: without them a report says nothing. System paths (`/proc`, `/sys`,
//! `/usr` …) are the same everywhere and stay too.

mod find;

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::{Value, json};

use find::Place;

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
    let mut cutter = Cutter {
        kinds,
        host: known_host(&named),
        marks: BTreeMap::new(),
    };
    cutter.value(report, false);
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

/// The name up to its domain, which is found wherever it stands; all of it where that is no name by itself.
fn known_host(named: &str) -> String {
    let short = named.split('.').next().unwrap_or_default();
    let is_number = named.parse::<IpAddr>().is_ok() || short.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { named } else { short }.to_owned()
}

struct Cutter<'a> {
    kinds: &'a [Kind],
    /// Name of the host without its domain.
    host: String,
    /// Number of each text that was cut.
    marks: BTreeMap<(Kind, String), usize>,
}

impl Cutter<'_> {
    /// `is_version`: the value of a fact whose name says that it is one, where four numbers are no address.
    fn value(&mut self, value: &mut Value, is_version: bool) {
        match value {
            Value::String(text) => *text = self.text(text, is_version),
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(value, is_version)),
            Value::Object(fields) => {
                for (name, mut value) in std::mem::take(fields) {
                    match name.as_str() {
                        "report_id" => {}
                        "evidence" => self.pointers(&mut value),
                        _ => self.value(&mut value, is_version || name.contains("version")),
                    }
                    fields.insert(self.key(&name), value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Names of the format's own stay, whatever the host is called.
    fn key(&mut self, name: &str) -> String {
        if is_of_the_format(name) {
            name.to_owned()
        } else {
            self.text(name, false)
        }
    }

    /// Pointers into the report (RFC 6901) follow its keys.
    fn pointers(&mut self, value: &mut Value) {
        for value in value.as_array_mut().into_iter().flatten() {
            let Value::String(pointer) = value else { continue };
            let parts = pointer.split('/').map(|part| {
                let name = part.replace("~1", "/").replace("~0", "~");
                self.key(&name).replace('~', "~0").replace('/', "~1")
            });
            *pointer = parts.collect::<Vec<String>>().join("/");
        }
    }

    /// Word by word: what stands between two characters that are part of no name, address or path.
    fn text(&mut self, text: &str, is_version: bool) -> String {
        let mut written = String::with_capacity(text.len());
        let mut rest = text;
        let mut is_version_next = false;
        while !rest.is_empty() {
            let end = rest.find(is_border).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            written.push_str(&self.word(word, is_version || is_version_next));
            if !word.is_empty() {
                is_version_next = word.eq_ignore_ascii_case("version");
            }
            let border = behind.chars().next().map_or(0, char::len_utf8);
            let (border, behind) = behind.split_at(border);
            written.push_str(border);
            rest = behind;
        }
        written
    }

    /// Looks at each place of the word.
    fn word(&mut self, word: &str, is_version: bool) -> String {
        let mut written = String::with_capacity(word.len());
        let mut at = 0;
        let mut behind_server = false;
        while let Some((before, rest)) = word.split_at_checked(at) {
            let place = Place { before, rest };
            if let Some((kind, length)) = self.found(place, behind_server, is_version) {
                let (cut, _) = rest.split_at(length);
                written.push_str(&self.mark(kind, cut));
                at += length;
                continue;
            }
            let Some(character) = rest.chars().next() else {
                break;
            };
            if rest.starts_with("://") {
                behind_server = true;
                written.push_str("://");
                at += 3;
                continue;
            }
            behind_server &= character != '/';
            written.push(character);
            at += character.len_utf8();
        }
        written
    }

    fn found(&self, place: Place<'_>, behind_server: bool, is_version: bool) -> Option<(Kind, usize)> {
        let wanted = |kind| self.kinds.contains(&kind);
        let path = || find::path(place, behind_server).map(|length| (Kind::Paths, length));
        let address = || find::address(place, is_version).map(|length| (Kind::Addresses, length));
        let host = || {
            // The format's own words (`peer_access`) may hold a host's name; they stay unless they are one.
            let word = [place.before, place.rest].concat();
            let known = if is_of_the_format(&word) && !word.eq_ignore_ascii_case(&self.host) {
                None
            } else {
                find::host(place, &self.host)
            };
            known
                .or_else(|| find::process(place))
                .map(|length| (Kind::Hosts, length))
        };
        let path = wanted(Kind::Paths).then(path).flatten();
        let address = || wanted(Kind::Addresses).then(address).flatten();
        let host = || wanted(Kind::Hosts).then(host).flatten();
        path.or_else(address).or_else(host)
    }

    fn mark(&mut self, kind: Kind, text: &str) -> String {
        let next = 1 + self.marks.keys().filter(|(known, _)| *known == kind).count();
        // Names of hosts have no case.
        let text = match kind {
            Kind::Hosts => text.to_ascii_lowercase(),
            Kind::Addresses | Kind::Paths => text.to_owned(),
        };
        let number = *self.marks.entry((kind, text)).or_insert(next);
        format!("[{} {number}]", word(kind))
    }
}

fn is_border(character: char) -> bool {
    character.is_whitespace() || "\"'`,;()<>[]{}=|".contains(character)
}

/// As the names and words that the report's format defines are written; hosts, addresses and paths have more.
fn is_of_the_format(name: &str) -> bool {
    name.bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b'.')
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
            ("tcp://10.1.2.3:29500", "tcp://[address 1]:29500"),
            ("tcp://gpu-17:29500", "tcp://[host 1]:29500"),
            ("http://gpu-17.lab.example:8080/x", "http://[host 1]:8080[path 1]"),
            ("ann@gpu-17", "ann@[host 1]"),
            ("gpu-17.local. GPU-17", "[host 1]. [host 2]"),
            ("GPU-17 gpu-17 core_gpu-17_1", "[host 1] [host 1] core_[host 1]_1"),
            ("rank0:/home/ann/train.py", "rank0:[path 1]"),
            ("/home/ann/train.py:12:3: x", "[path 1]:12:3: x"),
            ("file:///home/ann/x", "file://[path 1]"),
            (
                "LD_LIBRARY_PATH=/usr/local/cuda/lib64:/home/ann/lib",
                "LD_LIBRARY_PATH=/usr/local/cuda/lib64:[path 1]",
            ),
            ("-L/home/ann/lib -I/usr/include", "-L[path 1] -I/usr/include"),
            ("/usr/lib/../../home/ann ../ann/x", "[path 1] [path 2]"),
            ("/var/log/gpu-17.log //home/ann", "/var/log/[host 1] [path 1]"),
            ("/home/ann/0000:3b:00.0/x", "[path 1]"),
            ("10.0.0.1->10.0.0.2", "[address 1]->[address 2]"),
            ("10.1.2.0/24 10.1.2.3/24x", "[address 1] [address 2]/24x"),
            ("inet6:fe80::1 fe80::/64", "inet6:[address 1] [address 2]"),
            ("[::ffff:10.1.2.3]:8080", "[[address 1]]:8080"),
            ("nfs:10.1.2.3:/export/ann", "nfs:[address 1]:[path 1]"),
            ("[default0]:node3:4711:4720", "[default0]:[host 1]:4711:4720"),
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
            "cuDNN version 9.1.0.70, libcudnn.so.9.1.0.70 c10::Error c10::cuda (PCI:0000:06:00)",
            "gpu-170 my-gpu-17 /sys/bus/pci/devices/0000:3b:00.0/numa_node 2026-01-01T12:34:56Z",
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

    #[test]
    fn keys_are_cut_with_what_points_at_them_and_versions_stay() {
        let mut report = json!({
            "node": { "hostname": "node" },
            "host": {
                "/home/ann/key": { "value": 1 },
                "cudnn.version": { "value": "9.1.0.70" },
                "address": { "value": "9.1.0.70" },
            },
            "pairs": [{ "verdict": { "evidence": ["/host/~1home~1ann~1key"], "reason": "node_down" } }],
        });
        redact(&mut report, &ALL);
        assert_eq!(report["node"]["hostname"], "[host 1]");
        assert_eq!(report["host"]["[path 1]"]["value"], 1);
        assert_eq!(report["host"]["cudnn.version"]["value"], "9.1.0.70");
        assert_eq!(report["host"]["address"]["value"], "[address 1]");
        let verdict = &report["pairs"][0]["verdict"];
        assert_eq!(verdict["evidence"][0], "/host/[path 1]");
        assert_eq!(verdict["reason"], "node_down");
    }
}
