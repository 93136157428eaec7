//! What a text says of the machine it was written on: `Driver Version: 580.159.04`, `NCCL version 2.27.3+cuda13.0`,
//! `GPU 0: NVIDIA H200`. The words are looked for together with the signatures, so lines without them cost nothing.

use std::collections::BTreeMap;

use crate::matcher::rarity::is_word_byte;
use crate::matcher::statements::{WORDS, Words};

/// Longest version or model that is read, in bytes.
const MAX_VALUE: usize = 64;
const MAX_VALUES: usize = 4;

#[derive(Debug)]
struct Statement {
    value: String,
    line: u64,
    rank: u8,
}

#[derive(Debug, Default)]
pub(super) struct Stated {
    by_component: BTreeMap<&'static str, Vec<Statement>>,
}

pub(super) enum Told<'a> {
    /// One value, and the line that has it first.
    Value(&'a str, u64),
    /// Several, so that nobody knows which is meant.
    Several(Vec<&'a str>),
}

impl Stated {
    /// Reads one of the [`WORDS`] on a line, given as it is and in ASCII lower case.
    pub(super) fn read(&mut self, which: u16, text: &[u8], lower: &[u8], line: u64) {
        let Some(words) = WORDS.get(usize::from(which)) else {
            return;
        };
        let Some(value) = value(words, text, lower) else {
            return;
        };
        let known = self.by_component.entry(words.component).or_default();
        let is_known = known
            .iter()
            .any(|known| known.value == value && known.rank <= words.rank);
        if !is_known && known.len() < MAX_VALUES {
            known.push(Statement {
                value,
                line,
                rank: words.rank,
            });
        }
    }

    pub(super) fn told(&self) -> impl Iterator<Item = (&'static str, Told<'_>)> {
        self.by_component.iter().filter_map(|(component, statements)| {
            let best = statements.iter().map(|statement| statement.rank).min()?;
            let of_best = || statements.iter().filter(|told| told.rank == best);
            // `2.21.5` is what `2.21.5+cuda12.4` says, only shorter.
            let is_short_for =
                |short: &str, long: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with('+'));
            let is_said_longer =
                |told: &Statement| of_best().any(|other| is_short_for(&told.value, &other.value));
            let best: Vec<&Statement> = of_best().filter(|told| !is_said_longer(told)).collect();
            Some(match best.as_slice() {
                [only] => (*component, Told::Value(&only.value, only.line)),
                several => {
                    let values = several.iter().map(|told| told.value.as_str());
                    (*component, Told::Several(values.collect()))
                }
            })
        })
    }
}

fn value(words: &Words, text: &[u8], lower: &[u8]) -> Option<String> {
    let at = memchr::memmem::find(lower, words.text.as_bytes())?;
    let before = at.checked_sub(1).and_then(|before| lower.get(before));
    if before.is_some_and(|byte| is_word_byte(*byte)) {
        return None;
    }
    match words.model_at {
        Some(begins) => model_name(text.get(at + begins..)?),
        None => version_number(text.get(at + words.text.len()..)?),
    }
}

fn version_number(rest: &[u8]) -> Option<String> {
    let blank = rest
        .iter()
        .take_while(|b| matches!(b, b' ' | b'\t' | b':' | b'='))
        .count();
    let rest = rest.get(blank..)?;
    let length = rest
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'+' | b'-' | b'_'))
        .count();
    let version = std::str::from_utf8(rest.get(..length)?).ok()?;
    let version = version.trim_end_matches('.');
    let is_version = version.starts_with(|c: char| c.is_ascii_digit()) && version.contains('.');
    (is_version && version.len() <= MAX_VALUE).then(|| version.to_owned())
}

/// Up to two blanks or what cannot be in a name; `-SXM4-80GB` can.
fn model_name(rest: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(rest.get(..rest.len().min(2 * MAX_VALUE))?);
    let end = text.find([',', '(', '"', '|', ';']).unwrap_or(text.len());
    let name = text.get(..end)?;
    let name = name.split("  ").next().unwrap_or(name).trim();
    (name.len() > "NVIDIA ".len() && name.len() <= MAX_VALUE).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> Vec<(&'static str, String)> {
        let mut stated = Stated::default();
        let lower = line.to_ascii_lowercase();
        for which in 0..u16::try_from(WORDS.len()).unwrap() {
            stated.read(which, line.as_bytes(), lower.as_bytes(), 1);
        }
        let value = |told: Told<'_>| match told {
            Told::Value(value, _) => value.to_owned(),
            Told::Several(values) => values.join(" or "),
        };
        stated
            .told()
            .map(|(component, told)| (component, value(told)))
            .collect()
    }

    #[test]
    fn versions_and_models_are_read_where_programs_state_them() {
        for (line, expected) in [
            (
                "| NVIDIA-SMI 580.159.04    Driver Version: 580.159.04   CUDA Version: 13.0  |",
                vec![("cuda", "13.0"), ("driver", "580.159.04")],
            ),
            (
                "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build",
                vec![("driver", "580.159.04")],
            ),
            (
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.07  Sat Feb 17",
                vec![("driver", "535.161.07")],
            ),
            (
                "node1:7:8 [0] NCCL INFO NCCL version 2.27.3+cuda13.0",
                vec![("nccl", "2.27.3+cuda13.0")],
            ),
            ("PyTorch version: 2.3.0+cu121", vec![("pytorch", "2.3.0+cu121")]),
            ("CUDA used to build PyTorch: 12.1", vec![("cuda", "12.1")]),
            ("Nvidia driver version: 550.54.14", vec![("driver", "550.54.14")]),
            (
                "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-x)",
                vec![("gpu_model", "NVIDIA A100-SXM4-80GB")],
            ),
            (
                "|   0  NVIDIA H200                    On  |   00000000:19:00.0 Off |",
                vec![("gpu_model", "NVIDIA H200")],
            ),
            (
                "Created device with 1 MB memory:  -> device: 0, name: NVIDIA A100-PCIE-40GB, pci bus id: 0000:07:00.0",
                vec![("gpu_model", "NVIDIA A100-PCIE-40GB")],
            ),
            ("your driver version: unknown", vec![]),
            ("the NCCL version 2 is old", vec![]),
            ("myNCCL version 2.1", vec![]),
        ] {
            let expected: Vec<_> = expected
                .into_iter()
                .map(|(name, value)| (name, value.to_owned()))
                .collect();
            assert_eq!(told(line), expected, "{line}");
        }
    }

    #[test]
    fn what_a_framework_was_built_with_counts_before_what_the_driver_could_run() {
        let mut stated = Stated::default();
        for (line, text) in [
            (1, "CUDA Version: 13.0"),
            (2, "CUDA used to build PyTorch: 12.1"),
            (3, "CUDA Version: 12.8"),
        ] {
            for which in 0..u16::try_from(WORDS.len()).unwrap() {
                stated.read(which, text.as_bytes(), text.to_ascii_lowercase().as_bytes(), line);
            }
        }
        let all: Vec<_> = stated.told().collect();
        assert!(matches!(all.as_slice(), [("cuda", Told::Value("12.1", 2))]));
    }

    #[test]
    fn a_version_without_its_build_agrees_with_the_same_one_that_has_it() {
        let mut stated = Stated::default();
        for (line, text) in [
            (1, "NCCL version 2.21.5+cuda12.4"),
            (2, "NCCL version 2.21.5"),
            (3, "NCCL version 2.21.50"),
        ] {
            for which in 0..u16::try_from(WORDS.len()).unwrap() {
                stated.read(which, text.as_bytes(), text.to_ascii_lowercase().as_bytes(), line);
            }
            let all: Vec<_> = stated.told().collect();
            let several = ["2.21.5+cuda12.4", "2.21.50"];
            match all.as_slice() {
                [("nccl", Told::Value(value, 1))] => assert_eq!((*value, line < 3), (several[0], true)),
                [("nccl", Told::Several(values))] => assert_eq!((values.as_slice(), line), (&several[..], 3)),
                _ => panic!("line {line}"),
            }
        }
    }
}
