//! The errors that are kept: of each chain of exceptions the one that was raised first. A few of the beginning and of the end of a text.

use std::collections::VecDeque;

use super::form::{same_writer, writer};
use super::open::Open;
use super::thrown::{Thrown, Writer};

/// Chains of the beginning of a text that are kept, and as many of its end.
const MAX_OF_EACH_END: usize = 8;
/// Chains to which a later exception may still belong.
const MAX_RECENT: usize = 16;

/// Exceptions that came from each other, and reports of the same error.
#[derive(Debug, Clone)]
pub(in crate::scanner) struct Chain {
    number: u64,
    pub(in crate::scanner) first: Thrown,
    pub(in crate::scanner) writer: Writer,
    pub(in crate::scanner) head_line: u64,
    /// The last line on which the chain names an exception.
    pub(in crate::scanner) last_line: u64,
    /// The program went on after it.
    pub(in crate::scanner) is_caught: bool,
    /// Somebody ended the program.
    pub(in crate::scanner) is_interrupted: bool,
}

#[derive(Debug)]
struct Recent {
    prefix: Vec<u8>,
    chain: u64,
    /// Whether Python said that another exception follows from it.
    is_awaited: bool,
}

#[derive(Debug, Default)]
pub(super) struct Kept {
    chains: Vec<Chain>,
    recent: VecDeque<Recent>,
    count: u64,
}

impl Kept {
    pub(super) fn chains(&self) -> &[Chain] {
        &self.chains
    }

    pub(super) fn await_next(&mut self, prefix: &[u8]) {
        if let Some(recent) = self.last_of(prefix) {
            recent.is_awaited = true;
        }
    }

    /// The chain that the next traceback of a writer continues.
    pub(super) fn take_awaited(&mut self, prefix: &[u8]) -> Option<u64> {
        let recent = self.last_of(prefix)?;
        std::mem::take(&mut recent.is_awaited).then_some(recent.chain)
    }

    fn last_of(&mut self, prefix: &[u8]) -> Option<&mut Recent> {
        self.recent
            .iter_mut()
            .rev()
            .find(|recent| same_writer(&recent.prefix, prefix))
    }

    pub(super) fn add(&mut self, open: Open, thrown: Thrown) {
        let is_interrupted = thrown.name.ends_with("KeyboardInterrupt");
        let (line, is_explained) = (thrown.line, thrown.is_explained);
        let continued = |chain: &&mut Chain| {
            open.chained == Some(chain.number)
                || chain.first.name == thrown.name && chain.first.text == thrown.text
        };
        let number = match self.chains.iter_mut().find(continued) {
            Some(chain) => {
                chain.last_line = line;
                chain.is_interrupted |= is_interrupted;
                // One report of it was caught, another was not.
                chain.is_caught &= open.is_caught;
                chain.first.is_explained |= is_explained && open.chained.is_none();
                chain.number
            }
            None => self.push(Chain {
                number: 0,
                first: thrown,
                writer: writer(&open.prefix),
                head_line: open.head_line,
                last_line: line,
                is_caught: open.is_caught,
                is_interrupted,
            }),
        };
        self.recent.retain(|recent| recent.prefix != open.prefix);
        if self.recent.len() == MAX_RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(Recent {
            prefix: open.prefix,
            chain: number,
            is_awaited: false,
        });
    }

    fn push(&mut self, chain: Chain) -> u64 {
        if self.chains.len() == 2 * MAX_OF_EACH_END {
            self.chains.remove(MAX_OF_EACH_END);
        }
        self.count += 1;
        self.chains.push(Chain {
            number: self.count,
            ..chain
        });
        self.count
    }
}
