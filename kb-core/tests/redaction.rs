//! Redaction: none of the planted secrets is kept, and what matching needs stays.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::panic,
    reason = "helpers of tests, which clippy does not recognise as tests here"
)]

mod kb_seed;

use std::sync::Arc;

use kb_core::ids::Revision;
use kb_core::matcher::Matcher;
use kb_core::record::signature_set;
use kb_core::redact::{Lines, line};
use kb_core::scanner::{ScanOptions, scan};

/// Numbers that are the same in each run (`SplitMix64`).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    fn text(&mut self, signs: &str, length: usize) -> String {
        (0..length)
            .map(|_| char::from(signs.as_bytes()[self.below(signs.len())]))
            .collect()
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }
}

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &str = "0123456789abcdef";
const BASE62: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE64: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/";
const BASE64URL: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/// Lines as logs have them, each behind a word that says how its secret is made; `{}` is where it stands.
const PLANTED: &str = include_str!("data/planted.txt");

const USERS: [&str; 12] = [
    "ann",
    "bjoern.m",
    "c_lee",
    "dkim42",
    "elena",
    "fatima",
    "grace-h",
    "hiro",
    "ivan.petrov",
    "jsmith",
    "kwame",
    "lmartin",
];
const HOSTS: [&str; 10] = [
    "dgx-a100-07",
    "gpu17",
    "hgx-3",
    "node042",
    "nid001234",
    "ip-10-2-3-4",
    "trainbox1",
    "c12-gpu-4",
    "lab-h200-1",
    "zeus2",
];
const PASSWORDS: [&str; 12] = [
    "hunter2",
    "Tr0ub4dor&3",
    "S3cret!pass",
    "letmein1",
    "correct-horse-7",
    "Pa55w0rd",
    "gpu$farm9",
    "x7!kQ9zz",
    "qwerty123",
    "Summer2026!",
    "a1b2c3",
    "n0t.a.secret",
];

const PROMPTS: [&str; 5] = [
    "My name is Ann Example and I live in Ulm",
    "Write a letter to my landlord about the mould",
    "What did the doctor mean by stage two",
    "Summarise our offer to Contoso before Friday",
    "Translate: I was dismissed in March",
];

fn made(kind: &str, random: &mut Random) -> String {
    let (kind, length) = kind.split_once(':').unwrap_or((kind, "0"));
    let length: usize = length.parse().unwrap();
    match kind {
        "aws" => format!("{}{}", random.one(&["AKIA", "ASIA"]), random.text(UPPER, 16)),
        "gcp" => format!("AIza{}", random.text(BASE64URL, 35)),
        "github" => format!(
            "{}{}",
            random.one(&["ghp_", "gho_", "ghs_"]),
            random.text(BASE62, 36)
        ),
        "openai" => format!(
            "{}{}",
            random.one(&["sk-", "sk-proj-", "sk-ant-"]),
            random.text(BASE62, 48)
        ),
        "slack" => format!(
            "{}{}-{}",
            random.one(&["xoxb-", "xoxp-"]),
            random.text("0123456789", 12),
            random.text(BASE62, 24)
        ),
        "hook" => format!(
            "T{}/B{}/{}",
            random.text(UPPER, 8),
            random.text(UPPER, 8),
            random.text(BASE62, 24)
        ),
        "jwt" => format!(
            "eyJ{}.eyJ{}.{}",
            random.text(BASE64URL, 33),
            random.text(BASE64URL, 60),
            random.text(BASE64URL, 43)
        ),
        "ssh" => format!("AAAAC3NzaC1lZDI1NTE5AAAA{}", random.text(BASE64, 44)),
        "hex" => random.text(HEX, length),
        "b62" => random.text(BASE62, length),
        "b64" => random.text(BASE64, length),
        "b64url" => random.text(BASE64URL, length),
        "upper" => random.text(UPPER, length),
        "digits" => random.text("0123456789", length),
        "password" => random.one(&PASSWORDS).to_owned(),
        "prompt" => random.one(&PROMPTS).to_owned(),
        "word" => random.one(&["opensesame", "swordfish", "hunter2"]).to_owned(),
        "user" => random.one(&USERS).to_owned(),
        "mail" => format!(
            "{}@{}",
            random.one(&USERS),
            random.one(&["lab.example", "uni-x.edu", "corp.io"])
        ),
        "host" => random.one(&HOSTS).to_owned(),
        other => panic!("nobody makes {other}"),
    }
}

#[test]
fn none_of_the_planted_secrets_is_kept() {
    let mut random = Random(17);
    let mut kept = Vec::new();
    let mut planted = 0;
    for line_of_file in PLANTED.lines() {
        let (kind, place) = line_of_file.split_once('\t').unwrap();
        for _ in 0..4 {
            let secret = made(kind, &mut random);
            let shown = line(&place.replacen("{}", &secret, 1));
            planted += 1;
            // A name may be a part of other words.
            let words = shown.split(|sign: char| !sign.is_alphanumeric() && !"-_.&!$+/".contains(sign));
            let stays = match kind {
                "user" | "host" | "password" | "word" => words.into_iter().any(|word| word == secret),
                // Half a secret is one, too.
                _ => {
                    shown.contains(&secret[..secret.len().min(12)])
                        || shown.contains(&secret[secret.len() / 2..])
                }
            };
            if stays {
                kept.push(format!("{kind}: {secret}: {shown}"));
            }
        }
    }
    assert!(planted >= 300, "{planted}");
    assert!(kept.is_empty(), "{} kept:\n{}", kept.len(), kept.join("\n"));
}

#[test]
fn a_key_on_several_lines_is_cut_as_a_whole() {
    let mut lines = Lines::of(None);
    let mut random = Random(3);
    let body = random.text(BASE64, 20);
    let text = [
        "loading key",
        "-----BEGIN EC PRIVATE KEY-----",
        &body,
        "short",
        "-----END EC PRIVATE KEY-----",
        "NVRM: Xid 79",
    ];
    let shown: Vec<String> = text.into_iter().map(|line| lines.next(line)).collect();
    assert_eq!(shown[0], "loading key");
    assert!(
        shown[1..5].iter().all(|line| line.starts_with("secret-")),
        "{shown:?}"
    );
    assert_eq!(shown[5], "NVRM: Xid 79");
}

#[test]
fn a_key_that_begins_on_a_line_that_was_left_out_is_cut() {
    let mut lines = Lines::of(None);
    lines.pass("-----BEGIN EC PRIVATE KEY-----");
    assert!(lines.is_within_key());
    assert!(lines.next("short").starts_with("secret-"));
    lines.pass("-----END EC PRIVATE KEY-----");
    assert!(!lines.is_within_key());
    assert_eq!(lines.next("NVRM: Xid 79"), "NVRM: Xid 79");
}

#[test]
fn quotes_and_backslashes_within_a_password_do_not_end_it() {
    for (text, shown) in [
        (
            r#"{"password": "P4ss\\word", "x": 1}"#,
            r#"{"password": "secret-1", "x": 1}"#,
        ),
        (r#"{"password": "\\Abc9"}"#, r#"{"password": "secret-1"}"#),
        (r#"{"password": "a\"bc9"}"#, r#"{"password": "secret-1"}"#),
        (
            r#"{\"password\": \"P4ss\\\\word\"}"#,
            r#"{\"password\": \"secret-1\"}"#,
        ),
        (r"{\'password\': \'Abc9\'}", r"{\'password\': \'secret-1\'}"),
        (r"password='it\'s9x'", "password='secret-1'"),
        ("密码：123456", "密码：secret-1"),
    ] {
        assert_eq!(line(text), shown, "{text}");
    }
}

#[test]
fn a_secret_in_a_sentence_is_cut_and_the_sentence_stays() {
    for (text, shown) in [
        ("refused: token is hunter2SECRET99x", "refused: token is secret-1"),
        (
            "mount error: credentials hunter2SECRET99x",
            "mount error: credentials secret-1",
        ),
        ("$ wandb login hunter2SECRET99x", "$ wandb login secret-1"),
        ("WIFI_PSK hunter2SECRET99x", "WIFI_PSK secret-1"),
        ("user root pass hunter2SECRET99x", "user root pass secret-1"),
    ] {
        assert_eq!(line(text), shown, "{text}");
    }
    for text in [
        "the token is invalid or expired",
        "credentials were not found",
        "wandb login failed",
        "pass 1 of 3",
    ] {
        assert_eq!(line(text), text);
    }
}

#[test]
fn what_matching_needs_stays() {
    for text in [
        "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python3, GPU has fallen off the bus.",
        "RuntimeError: CUDA error: an illegal memory access was encountered (cudaErrorIllegalAddress)",
        "NCCL WARN Cuda failure 217 'peer access is not supported between these two devices'",
        "CUDA_ERROR_SYSTEM_NOT_READY (802) driver 580.159.04 cuda 13.0",
        "libcudnn_ops_infer.so.8: cannot open shared object file: No such file or directory",
        "nvidia-smi: GPU-592ae3c5-d0e9-aa09-ab69-25fb91b6a20a ECC 0x0000000000000010",
        "mlx5_0: ibv_modify_qp failed with error 110, remote QPN 0x1a2b",
        "torch.cuda.OutOfMemoryError: Tried to allocate 2.00 GiB (GPU 0; 79.15 GiB total capacity)",
        "NVLink: fatal error detected on link 7 (0x10000, 0x0, 0x0)",
        "KeyError: 'model.layers.0.weight' max_tokens: 4096",
        "see https://pytorch.org/docs/stable/notes/cuda.html for details",
    ] {
        assert_eq!(line(text), text);
    }
    assert_eq!(
        line(
            "File \"/opt/env/lib/python3.11/site-packages/torch/cuda/__init__.py\", line 247, in _lazy_init"
        ),
        "File \"/path-1/torch/cuda/__init__.py\", line 247, in _lazy_init"
    );
    assert_eq!(
        line("error while loading /home/ann/cuda/lib64/libnccl.so.2"),
        "error while loading /path-1/libnccl.so.2"
    );
    assert_eq!(
        line("<total>2</total></double_bit> </home/ann>"),
        "<total>2</total></double_bit> </path-1>"
    );
}

/// Of so many examples of the shipped records one loses its match by redaction, at most: when this was written 50 of 5,227 did, most of
/// them by the path of a source that a pattern asks for.
const ONE_IS_LOST_OF: usize = 80;

#[test]
fn examples_of_the_shipped_records_still_match_theirs() {
    let records = kb_seed::records();
    let signatures = signature_set(records.iter().map(|record| (record, Revision(1))));
    let matcher = Arc::new(Matcher::build(signatures).0);
    let (mut all, mut lost) = (0, Vec::new());
    for record in &records {
        for example in &record.annex.examples {
            let finds = |text: &str| {
                let summary = scan(&matcher, text.as_bytes(), ScanOptions::default());
                summary.matches.iter().any(|found| found.id == *record.id())
            };
            if !finds(&example.text) {
                continue;
            }
            all += 1;
            let mut lines = Lines::of(None);
            let shown: Vec<String> = example.text.lines().map(|line| lines.next(line)).collect();
            let shown = shown.join("\n");
            if !finds(&shown) {
                lost.push(format!("{}: {}\n  {}", record.id(), example.text, shown));
            }
        }
    }
    println!("{} of {all} examples lose their match", lost.len());
    assert!(all > 500, "{all}");
    assert!(
        lost.len() * ONE_IS_LOST_OF <= all,
        "{} of {all}:\n{}",
        lost.len(),
        lost.join("\n")
    );
}
