//! Ports and links that are told to be down: `mlx5_0 port 1: DOWN`, `NVLink 3 down`, `port 1 state INIT`.

use super::beside::{NEAR, begins_with, is_one_of, words};

/// Beginnings of the names of ports, links and adapters.
const PORTS: [&str; 11] = [
    "port", "link", "nvlink", "mlx", "ib", "hca", "nic", "bond", "eth", "roce", "rdma",
];
/// Words between the name and its state.
const LABELS: [&str; 5] = ["state", "status", "carrier", "phy", "physical"];
/// Units of a rate, before `/s` or with it.
const RATES: [&str; 19] = [
    "b", "bit", "bits", "kbit", "kbits", "mbit", "mbits", "gbit", "gbits", "bps", "kbps", "mbps", "gbps",
    "kb", "mb", "gb", "kib", "mib", "gib",
];

/// Whether what stands before `from` names a port, and `down` or another such state ends at `to` and is its state.
pub(super) fn is_down(line: &[u8], from: usize, to: usize) -> bool {
    may_be_down(line, from) && !goes_on(line.get(to..).unwrap_or_default())
}

/// Whether what stands before `from` names a port.
pub(super) fn may_be_down(text: &[u8], from: usize) -> bool {
    let before = text.get(..from).unwrap_or_default();
    let near = before
        .get(before.len().saturating_sub(NEAR)..)
        .unwrap_or_default();
    let is_name = |word: &&[u8]| !word.iter().all(u8::is_ascii_digit) && !is_one_of(word, &LABELS);
    let name = words(near).filter(is_name).last().unwrap_or_default();
    PORTS.iter().any(|port| begins_with(name, port))
}

/// Whether it is part of a longer word, a count (`down: 0`, `down 0 times`), a rate (`down 20 Mbit/s`), or a step (`down to x8`).
fn goes_on(rest: &[u8]) -> bool {
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let behind = rest.trim_ascii_start();
    let is_value = matches!(behind.first(), Some(b':' | b'='));
    rest.first().is_some_and(is_of_word) || is_value || is_none_or_rate(behind) || behind.starts_with(b"to ")
}

/// Whether it is a zero or a rate. Other numbers say when, or how often: `down 2 times`, `DOWN 2026-11-30`.
fn is_none_or_rate(text: &[u8]) -> bool {
    let is_of_number = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
    let text = text.get(..NEAR.min(text.len())).unwrap_or_default();
    let length = text.iter().take_while(is_of_number).count();
    let (number, unit) = text.split_at(length);
    let goes_on =
        matches!(unit, [b':' | b'-' | b'/', ..]) || unit.first().is_some_and(u8::is_ascii_alphabetic);
    let letters = unit.trim_ascii_start();
    let end = letters
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let is_rate = is_one_of(letters.get(..end).unwrap_or_default(), &RATES);
    !number.is_empty() && (is_rate || number == b"0" && !goes_on)
}
