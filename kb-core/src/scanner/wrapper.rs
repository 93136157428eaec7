//! Which match only wraps another: a framework prints its own error around a library's, around a code of CUDA, around what
//! the driver said of the device. The specific one comes first, the wrapper stays and says what it wraps.

use std::collections::BTreeMap;

use super::entry::{Entry, MAX_MATCHES};
use super::summary::Applies;

/// A wrapper stands within this many lines of what it wraps: a chained traceback of one worker.
const NEAR_LINES: u64 = 24;
/// On one line the score decides; only among near equals, by this share, the deeper layer does.
const SHARE_ON_LINE: f32 = 0.9;

/// The place of each wrapper, with that of the record wrapped.
pub(super) type Wraps = BTreeMap<u32, u32>;

/// Puts each wrapper behind what it wraps. The entries are ranked.
pub(super) fn put_wrappers_behind(entries: &mut Vec<Entry<'_>>) -> Wraps {
    let mut wraps = BTreeMap::new();
    for entry in entries.iter().take(MAX_MATCHES) {
        let others = || entries.iter().take(MAX_MATCHES);
        // The innermost, and of those the best; else the nearest error that it may tell of.
        let inner = others()
            .filter(|inner| is_around(entry, inner))
            .min_by_key(|inner| inner.layer);
        let any = || {
            let told = others().filter(|inner| may_tell_of(entry, inner));
            told.min_by_key(|inner| nearest(entry, inner))
        };
        if let Some(inner) = inner.or_else(any) {
            wraps.insert(entry.place, inner.place);
        }
    }
    let mut at = 0;
    let mut moved = 0;
    while at < entries.len() && moved < entries.len() {
        let inner = entries.get(at).and_then(|entry| wraps.get(&entry.place));
        let behind = inner.and_then(|inner| entries.iter().rposition(|entry| entry.place == *inner));
        match behind.filter(|behind| *behind > at) {
            Some(behind) => {
                let wrapper = entries.remove(at);
                entries.insert(behind, wrapper);
                moved += 1;
            }
            None => at += 1,
        }
    }
    wraps
}

fn is_around(outer: &Entry<'_>, inner: &Entry<'_>) -> bool {
    if outer.place == inner.place || inner.applies == Applies::No {
        return false;
    }
    let (own, other) = (outer.tally.best.score.value, inner.tally.best.score.value);
    let is_deeper = inner.layer < outer.layer;
    let is_led_to =
        inner.record.leads_to.contains(&outer.place) && !outer.record.leads_to.contains(&inner.place);
    // A library's result code wraps its own warning, a framework's exception its own watchdog's line. Else an edge within a
    // layer tells of two faults: one Xid that follows another wraps nothing.
    let is_own = outer.layer >= LIBRARY && inner.record.domain_word() == outer.record.domain_word();
    if !is_deeper && !is_led_to {
        return false;
    }
    let apart = nearest(outer, inner);
    if apart == 0 {
        return is_deeper && outer.layer >= LIBRARY && other >= own * SHARE_ON_LINE;
    }
    // The scores say nothing here: what is specific names devices and addresses, of which no record knows anything.
    is_led_to && (is_deeper || is_own) && apart <= NEAR_LINES
}

/// Whether one match only says that some error ended a program, and the other is an error.
fn may_tell_of(outer: &Entry<'_>, inner: &Entry<'_>) -> bool {
    let is_error = inner.is_error && !inner.harmless && !inner.notice && inner.applies != Applies::No;
    // On one line the error is a part of the message, and the rules of one line hold.
    let has_own_line = || {
        let around = lines(outer);
        lines(inner).iter().any(|line| !around.contains(line))
    };
    outer.record.wraps_others && !inner.record.wraps_others && is_error && has_own_line()
}

pub(super) fn lines(entry: &Entry<'_>) -> Vec<u64> {
    let kept = entry.tally.first.iter().chain(&entry.tally.last);
    kept.map(|matched| matched.line).collect()
}

fn nearest(one: &Entry<'_>, other: &Entry<'_>) -> u64 {
    let theirs = lines(other);
    let apart = lines(one)
        .into_iter()
        .flat_map(|line| theirs.iter().map(move |their| line.abs_diff(*their)));
    apart.min().unwrap_or(u64::MAX)
}

/// What calls CUDA and hands its codes on.
const LIBRARY: u8 = 2;

/// How far above the hardware a domain is: kernel and devices, driver interfaces, libraries above them, all else.
pub(super) fn layer(domain: &str) -> u8 {
    match domain {
        "xid" | "sxid" | "driver" | "nvidia" | "kernel" | "pcie" | "iommu" | "nvlink" | "nvswitch"
        | "fabric-manager" => 0,
        "cuda" | "nvml" | "dcgm" | "nvrtc" | "rdma" | "infiniband" | "p2p" | "mig" => 1,
        "nccl" | "cudnn" | "cublas" | "nvshmem" | "ucx" => LIBRARY,
        // Frameworks, which call the libraries.
        _ => LIBRARY + 1,
    }
}
