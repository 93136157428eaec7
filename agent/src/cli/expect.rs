//! `--expect`: what the node should have. Per kind the command line counts before the file; neither contradicts itself.

use std::fmt;
use std::mem::discriminant;

use kb_core::verdict::Expect;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expectation {
    Gpus(u32),
    P2p(Expect),
}

impl fmt::Display for Expectation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gpus(count) => write!(formatter, "gpus={count}"),
            Self::P2p(expect) => formatter.write_str(&expect.words()),
        }
    }
}

/// `gpus=8`, `p2p=all`.
pub(super) fn expectation(text: &str) -> Result<Expectation, String> {
    if let Some(count) = text.strip_prefix("gpus=") {
        let wrong = || format!("{count:?} is no number of GPUs between 1 and 1024");
        let count: u32 = count.parse().map_err(|_| wrong())?;
        return (1..=1024)
            .contains(&count)
            .then_some(Expectation::Gpus(count))
            .ok_or_else(wrong);
    }
    let known = Expect::ALL.into_iter().find(|(expect, _)| expect.words() == text);
    known.map(|(expect, _)| Expectation::P2p(expect)).ok_or_else(|| {
        let words = Expect::ALL.map(|(expect, _)| expect.words());
        format!("{text:?} is none of gpus=N, {}", words.join(", "))
    })
}

pub(super) fn p2p(said: &[Expectation]) -> Expect {
    let mut said = said.iter().filter_map(|expectation| match expectation {
        Expectation::P2p(expect) => Some(*expect),
        Expectation::Gpus(_) => None,
    });
    said.next_back().unwrap_or_default()
}

pub(super) fn gpus(said: &[Expectation]) -> Option<u32> {
    said.iter().rev().find_map(|expectation| match expectation {
        Expectation::Gpus(count) => Some(*count),
        Expectation::P2p(_) => None,
    })
}

pub(super) fn check_setting(text: &str) -> Result<(), String> {
    let said: Result<Vec<Expectation>, String> = text.split(',').map(expectation).collect();
    contradict(&said?)
}

/// Refuses two expectations of one kind that differ: whichever counted, the other could hide a fault.
pub(super) fn contradict(said: &[Expectation]) -> Result<(), String> {
    for (position, second) in said.iter().enumerate() {
        let mut before = said.iter().take(position);
        let differs = |first: &&Expectation| discriminant(*first) == discriminant(second) && *first != second;
        if let Some(first) = before.find(differs) {
            return Err(format!(
                "--expect says {first} and {second}: say only one of them"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::{Cli, ProbeArgs, Verb};
    use super::*;

    #[test]
    fn expectations_of_one_kind_must_not_differ() {
        let said = |text: &str| {
            text.split(',')
                .map(|one| expectation(one).unwrap())
                .collect::<Vec<_>>()
        };
        for good in ["gpus=8", "gpus=8,gpus=8,p2p=all", "p2p=none,gpus=2,p2p=none"] {
            assert_eq!(contradict(&said(good)), Ok(()), "{good}");
        }
        for (bad, why) in [
            ("gpus=8,gpus=2", "gpus=8 and gpus=2"),
            ("gpus=8,p2p=auto,gpus=2", "gpus=8 and gpus=2"),
            ("p2p=none,p2p=all", "p2p=none and p2p=all"),
        ] {
            let error = contradict(&said(bad)).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn expectations_are_read_or_refused() {
        let line = "peerless-agent probe --expect=gpus=8 --expect p2p=none";
        let cli = Cli::try_parse_from(line.split(' ')).unwrap();
        let Verb::Probe(ProbeArgs { run, .. }) = cli.verb else {
            panic!("another verb");
        };
        assert_eq!((p2p(&run.expect), gpus(&run.expect)), (Expect::None, Some(8)));
        for bad in ["gpus=", "gpus=0", "gpus=-1", "gpus=9999", "gpus=x"] {
            let error = expectation(bad).unwrap_err();
            assert!(error.contains("between 1 and 1024"), "{error}");
        }
        for bad in ["", "nvlink", "p2p=", "p2p=All", "p2p=all "] {
            let error = expectation(bad).unwrap_err();
            assert!(
                error.contains("p2p=auto, p2p=all, p2p=nvlink, p2p=none"),
                "{error}"
            );
        }
    }
}
