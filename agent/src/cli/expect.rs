//! `--expect`: what the node should have. Of each kind the last that was said counts.

use kb_core::verdict::Expect;

/// One thing that the node should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expectation {
    Gpus(u32),
    P2p(Expect),
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

/// What was said of the number of GPUs.
pub(super) fn gpus(said: &[Expectation]) -> Option<u32> {
    let mut said = said.iter().filter_map(|expectation| match expectation {
        Expectation::Gpus(count) => Some(*count),
        Expectation::P2p(_) => None,
    });
    said.next_back()
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::{Cli, ProbeArgs, Verb};
    use super::*;

    #[test]
    fn expectations_are_read_or_refused_and_the_last_of_each_kind_counts() {
        let line = "peerless-agent probe --expect=gpus=8,p2p=all --expect p2p=none";
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
