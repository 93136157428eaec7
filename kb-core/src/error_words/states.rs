//! Whether a state or a value tells of trouble: `Link detected: no`, `loss=nan`, `Ready  False` (see [`super::phrases`]).

use super::beside::{
    NEAR, begins_with, counter, ends_with_zero, has_missing_member, has_part, is_column, is_one_of, names,
    number, value, words,
};
use super::glog;
use super::not_a_number::{is_not_a_number, may_be_value};
use super::partly_up::is_partly_up;
use super::ports::{is_down, may_be_down};
use super::shortfall::is_short;
use super::wrong::{has_wrong_values, may_be_row};

/// When a phrase tells of trouble.
#[derive(Debug, Clone, Copy)]
pub(super) enum When {
    /// Always, where it begins a word.
    Always,
    /// As a word of its own, or as the last one of a name: `KubeletNotReady`.
    Word,
    /// Before one of these values.
    Is(&'static [&'static str]),
    /// Before any value but these.
    IsNot(&'static [&'static str]),
    /// Before one of these values, and behind the name of something that a GPU program needs.
    OfDevice(&'static [&'static str]),
    /// Behind the name of such a thing.
    AfterDevice,
    /// Before a number other than zero.
    IsNumber,
    /// Behind a number other than zero: `33% packet loss`.
    AfterNumber,
    /// Before a number other than zero, with dots or labels between: `LinkDownedCounter:....3`.
    Counter,
    /// Before a number from this one on.
    IsFrom(u64),
    /// In a list of joined words, one of them these: `State=IDLE+DRAIN`.
    HasPart(&'static [&'static str]),
    /// In a column of a table.
    Column,
    /// At a figure of a training, or a word that says that it is one.
    NotANumber,
    /// The same for a phrase of a figure and `inf` with a blank between.
    InfOfFigure,
    /// In a count of fewer than there should be.
    Short,
    /// The same, behind a digit: `7/8 GPUs`.
    ShortBehindDigit,
    /// The same, or before a value that says that it is not so: `healthy: false`.
    Healthy,
    /// A row of `/proc/mdstat` with a member that is not there: `[U_]`.
    Members,
    /// Alone, or before any word but these.
    Unless(&'static [&'static str]),
    /// Before a number other than zero, and behind the name of a GPU or its memory.
    NumberOfDevice,
    /// In a row of nccl-tests that counts wrong values.
    WrongRow,
    /// Behind the name of a file in the head that glog writes for an error.
    GlogError,
    /// As the state of a port or a link.
    OfPort,
}

use When::{
    AfterDevice, AfterNumber, Always, Column, Counter, GlogError, HasPart, Healthy, InfOfFigure, Is, IsFrom,
    IsNot, IsNumber, Members, NotANumber, NumberOfDevice, OfDevice, OfPort, Short, ShortBehindDigit, Unless,
    Word, WrongRow,
};

/// What a program for GPUs cannot do without, as the beginning of a word.
const DEVICES: [&str; 12] = [
    "gpu",
    "cuda",
    "nvidia",
    "nvml",
    "nvlink",
    "cudnn",
    "p2p",
    "peer",
    "rdma",
    "infiniband",
    "gdr",
    "device",
];

/// Memory that counts its errors, in the same way.
const MEMORIES: [&str; 4] = ["ecc", "hbm", "dimm", "edac"];

/// Values of [`Healthy`] that say that something is not, or that nobody knows.
const NOT_HEALTHY: [&str; 3] = ["false", "no", "unknown"];

fn ends_with_not(before: &[u8]) -> bool {
    words(
        before
            .get(before.len().saturating_sub(NEAR)..)
            .unwrap_or_default(),
    )
    .last()
    .is_some_and(|word| is_one_of(word, &["not", "un", "non"]))
}

/// Of `sinfo`. The blank before it is part of a phrase, which would hide the state.
const DOWN_STARRED: &str = " down*";

fn is_column_behind_blank(line: &[u8], from: usize, to: usize) -> bool {
    let phrase = line.get(from..=to).unwrap_or_default();
    phrase.eq_ignore_ascii_case(DOWN_STARRED.as_bytes()) && is_column(line, from + 1, to + 1)
}

fn may_be_unhealthy(text: &[u8], from: usize) -> bool {
    is_one_of(value(text, from + "healthy".len()), &NOT_HEALTHY)
}

/// Whether a number may belong to a word that begins at a place: most lines with such a word have none, and each is looked at as a whole.
fn may_count(text: &[u8], from: usize) -> bool {
    let behind = text.get(from..text.len().min(from + NEAR)).unwrap_or_default();
    if behind.get(..3).is_some_and(|no| no.eq_ignore_ascii_case(b"no ")) {
        return true;
    }
    let line_ends = |byte: &u8| *byte == b'\n';
    let behind = behind.split(line_ends).next().unwrap_or_default();
    let digit = behind.iter().position(u8::is_ascii_digit);
    let is_address = |at: usize| behind.get(at..at + 2) == Some(b"0x");
    if digit.is_some_and(|at| !is_address(at)) {
        return true;
    }
    let before = text.get(from.saturating_sub(NEAR)..from).unwrap_or_default();
    let before = before.rsplit(line_ends).next().unwrap_or_default();
    let words = before
        .rsplit(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    words.take(2).any(|word| {
        word.iter()
            .find(|byte| **byte != b'(')
            .is_some_and(u8::is_ascii_digit)
    })
}

impl When {
    /// Whether the phrase at `from..to` tells of trouble. Reads a bounded part of the line.
    pub(super) fn tells(self, line: &[u8], from: usize, to: usize) -> bool {
        let before = line.get(..from).unwrap_or_default();
        let value = || value(line, to);
        let is_of = |values: &[&str]| is_one_of(value(), values);
        match self {
            Always => true,
            Word => !line.get(to).is_some_and(u8::is_ascii_alphanumeric),
            Is(values) => is_of(values),
            IsNot(values) => !value().is_empty() && !is_of(values),
            OfDevice(values) => is_of(values) && names(before, &DEVICES),
            AfterDevice => names(before, &DEVICES),
            IsNumber => number(line, to).is_some_and(|number| number != 0),
            AfterNumber => !ends_with_zero(before),
            Counter => counter(line, to).is_some_and(|number| number != 0),
            IsFrom(least) => number(line, to).is_some_and(|number| number >= least),
            HasPart(parts) => has_part(line, to, parts),
            Column => is_column(line, from, to),
            NotANumber => is_not_a_number(line, from, to),
            InfOfFigure => is_not_a_number(line, to.saturating_sub("inf".len()), to),
            Short | ShortBehindDigit => is_short(line, from) || is_partly_up(line, from),
            Healthy => {
                is_of(&NOT_HEALTHY) && !ends_with_not(before)
                    || is_short(line, from)
                    || is_partly_up(line, from)
            }
            Members => has_missing_member(line, from),
            Unless(values) => !is_of(values),
            NumberOfDevice => {
                number(line, to).is_some_and(|number| number != 0)
                    && (names(before, &DEVICES) || names(before, &MEMORIES))
            }
            WrongRow => has_wrong_values(line, from),
            GlogError => glog::is_error(line, from),
            OfPort => is_down(line, from, to) || is_column_behind_blank(line, from, to),
        }
    }

    /// Whether the phrase may stand here. `begins`: a word or a part of a name begins at it.
    pub(super) fn may_stand(self, text: &[u8], from: usize, begins: bool) -> bool {
        match self {
            // The end of a colour may stand between the digit and the blank.
            ShortBehindDigit => {
                let before = from.checked_sub(1).and_then(|before| text.get(before));
                before.is_some_and(|before| before.is_ascii_digit() || *before == b'm')
            }
            Short => begins && may_count(text, from),
            Healthy => begins && (may_count(text, from) || may_be_unhealthy(text, from)),
            WrongRow => may_be_row(text, from),
            GlogError => glog::may_be_place(text, from),
            // A digit may stand before the colon.
            OfPort => {
                may_be_down(text, from)
                    || text
                        .get(from..)
                        .is_some_and(|rest| begins_with(rest, DOWN_STARRED))
            }
            NotANumber => {
                let is_sign = |first: &u8| !first.is_ascii_alphanumeric();
                (begins || text.get(from).is_some_and(is_sign)) && may_be_value(text, from)
            }
            _ => begins,
        }
    }
}
