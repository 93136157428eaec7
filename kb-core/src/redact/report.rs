//! Every text of a report, and what was done to it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Kind, Redactor, is_of_the_format};

/// Redacts every text of a report, and writes into it what was done (`host.redaction`).
pub fn report(report: &mut Value, kinds: &[Kind]) {
    if kinds.is_empty() {
        return;
    }
    let named = report
        .pointer("/node/hostname")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let mut walk = Walk {
        redactor: Redactor::of(kinds, &named),
    };
    walk.value(report, false);
    let mut counts: BTreeMap<&str, usize> = kinds.iter().map(|kind| (kind.word(), 0)).collect();
    for (kind, _) in walk.redactor.marks.keys() {
        *counts.entry(kind.word()).or_default() += 1;
    }
    if let Some(host) = report.get_mut("host").and_then(Value::as_object_mut) {
        host.insert(
            "redaction".to_owned(),
            json!({ "value": counts, "source": "--redact" }),
        );
    }
}

struct Walk<'a> {
    redactor: Redactor<'a>,
}

impl Walk<'_> {
    /// `is_version`: the value of a fact whose name says that it is one, where four numbers are no address.
    fn value(&mut self, value: &mut Value, is_version: bool) {
        match value {
            Value::String(text) => *text = self.redactor.text(text, is_version),
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(value, is_version)),
            Value::Object(fields) => {
                for (name, mut value) in std::mem::take(fields) {
                    match name.as_str() {
                        "report_id" => {}
                        "evidence" => self.pointers(&mut value),
                        // Ids and digests are random, and no secrets.
                        "id" | "boot_id" | "uuid" => self.without_secrets(&mut value),
                        _ if name.ends_with("sha256") => self.without_secrets(&mut value),
                        _ => self.value(&mut value, is_version || name.contains("version")),
                    }
                    fields.insert(self.key(&name), value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn without_secrets(&mut self, value: &mut Value) {
        let before = std::mem::replace(&mut self.redactor.spares_secrets, true);
        self.value(value, false);
        self.redactor.spares_secrets = before;
    }

    /// Names of the format's own stay, whatever the host is called.
    fn key(&mut self, name: &str) -> String {
        if is_of_the_format(name) {
            name.to_owned()
        } else {
            self.redactor.text(name, false)
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(text: &str, kinds: &[Kind]) -> String {
        let mut report =
            json!({ "node": { "hostname": "gpu-17.lab.example" }, "host": {}, "logs": [{ "text": text }] });
        super::report(&mut report, kinds);
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
        super::report(&mut report, &ALL);
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
        super::report(&mut report, &ALL);
        assert_eq!(report["node"]["hostname"], "[host 1]");
        assert_eq!(report["host"]["[path 1]"]["value"], 1);
        assert_eq!(report["host"]["cudnn.version"]["value"], "9.1.0.70");
        assert_eq!(report["host"]["address"]["value"], "[address 1]");
        let verdict = &report["pairs"][0]["verdict"];
        assert_eq!(verdict["evidence"][0], "/host/[path 1]");
        assert_eq!(verdict["reason"], "node_down");
    }
}
