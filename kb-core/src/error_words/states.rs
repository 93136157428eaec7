//! States and values by which tools tell of trouble without a word for an error: `Link detected: no`, `loss=nan`,
//! `Ready  False`. A level in front of them says nothing about them: trainers write `INFO … loss=nan`.

use super::beside::{
    ends_with_zero, has_missing_member, has_part, is_column, is_one_of, names, number, value,
};
use super::glog;
use super::not_a_number::is_not_a_number;
use super::ports::is_down;
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
    AfterDevice, AfterNumber, Always, Column, GlogError, HasPart, InfOfFigure, Is, IsFrom, IsNot, IsNumber,
    Members, NotANumber, NumberOfDevice, OfDevice, OfPort, Short, ShortBehindDigit, Unless, Word, WrongRow,
};

/// Node and job states of Slurm, states of ports and of drives.
const BAD_STATES: &[&str] = &[
    "down",
    "drain",
    "drained",
    "draining",
    "fail",
    "failed",
    "failing",
    "not_responding",
    "no_respond",
    "node_fail",
    "out_of_memory",
    "error",
    "inval",
    "faulted",
    "degraded",
    "polling",
    "disabled_by_error",
    "port_down",
    "port_init",
    "initializing",
    "removed",
    "unavail",
    "unknown",
];
const NO: &[&str] = &["false", "no"];
const YES: &[&str] = &["yes", "true"];

/// Phrases in ASCII lower case. None of them begins with what a word of [`super::ERRORS`] begins with and ends before it: the words are
/// looked for one behind the other, and the one that ends first takes its bytes.
pub(super) const STATES: [(&str, When); 111] = [
    // PCIe, by lspci.
    ("(downgraded)", Always),
    ("(rev ff)", Always),
    ("unknown header type", Always),
    // systemd.
    ("inactive (dead)", Always),
    ("activating (auto-restart)", Always),
    ("deactivating (", Always),
    ("code=exited, status=", IsNumber),
    // Kubernetes.
    ("notready", Word),
    ("ready", Is(&["false", "unknown"])),
    ("memorypressure", Is(&["true", "unknown"])),
    ("diskpressure", Is(&["true", "unknown"])),
    ("pidpressure", Is(&["true", "unknown"])),
    ("networkunavailable", Is(&["true", "unknown"])),
    ("pullbackoff", Always),
    ("back-off ", Always),
    ("errimagepull", Always),
    ("evicted", Word),
    // Ports and links.
    ("link detected", Is(NO)),
    ("port_down", Always),
    ("port_init", Always),
    (
        "physical state",
        Is(&["polling", "disabled", "sleep", "linkerrorrecovery"]),
    ),
    (
        "phys_state",
        Is(&["polling", "disabled", "sleep", "linkerrorrecovery"]),
    ),
    (
        "phys state",
        Is(&["polling", "disabled", "sleep", "linkerrorrecovery"]),
    ),
    (
        "physical linkstate",
        Is(&["polling", "disabled", "sleep", "linkerrorrecovery"]),
    ),
    ("packet loss", AfterNumber),
    (": down", OfPort),
    // Slurm and drives.
    ("state:", HasPart(BAD_STATES)),
    ("state=", HasPart(BAD_STATES)),
    ("state :", HasPart(BAD_STATES)),
    ("not_responding", Always),
    ("drain", Column),
    ("drng", Column),
    ("down*", Column),
    ("[u_", Members),
    ("[uu", Members),
    ("[_u]", Members),
    ("[_uu", Members),
    ("percentage used", IsFrom(100)),
    ("percentage_used", IsFrom(100)),
    ("unavail ", Always),
    ("service unavailable", Always),
    ("temporarily unavailable", Always),
    // nvidia-smi and DCGM.
    ("no devices were found", Always),
    ("reset required", Is(YES)),
    ("reset recommended", Is(YES)),
    ("requires reset", Always),
    ("requires a reset", Always),
    ("pending", Is(&["yes"])),
    ("page blacklist", Is(YES)),
    ("slowdown", Is(&["active"])),
    ("recovery action", IsNot(&["none", "n", "not"])),
    (
        "overall health",
        Is(&["warning", "warn", "failure", "fail", "unhealthy", "critical"]),
    ),
    ("removed from bus", Always),
    ("removed from the bus", Always),
    (
        "thermal shutdown",
        Unless(&[
            "not",
            "no",
            "n",
            "none",
            "inactive",
            "disabled",
            "enabled",
            "false",
            "0",
            "threshold",
            "thresholds",
            "temp",
            "temperature",
            "limit",
            "point",
            "at",
            "count",
            "counter",
            "events",
            "protection",
        ]),
    ),
    ("ue=", NumberOfDevice),
    ("ue:", NumberOfDevice),
    ("uncorr. ecc", IsNumber),
    ("uncorrected ecc", IsNumber),
    // Programs that see no device.
    ("available", OfDevice(NO)),
    ("not available", AfterDevice),
    // How programs end.
    ("core dumped", Always),
    ("exit code", IsNumber),
    ("exit status", IsNumber),
    ("exitcode", IsNumber),
    ("exit_code", IsNumber),
    ("exited (", IsNumber),
    ("exited with", IsNumber),
    ("returned non-zero", Always),
    ("non-zero exit", Always),
    ("nonzero exit", Always),
    // Trainings.
    ("nan", NotANumber),
    ("=inf", NotANumber),
    (": inf", NotANumber),
    (":inf", NotANumber),
    ("is inf", NotANumber),
    ("loss inf", InfOfFigure),
    ("norm inf", InfOfFigure),
    ("ppl inf", InfOfFigure),
    ("perplexity inf", InfOfFigure),
    // Counts.
    ("expect", Short),
    ("want", Short),
    ("found", Short),
    ("detected", Short),
    ("only", Short),
    ("no gpu", Short),
    ("healthy", Short),
    (" gpus", ShortBehindDigit),
    (" ranks", ShortBehindDigit),
    (" nodes", ShortBehindDigit),
    (" links", ShortBehindDigit),
    (" nvlinks", ShortBehindDigit),
    (" hcas", ShortBehindDigit),
    (" nics", ShortBehindDigit),
    (" workers", ShortBehindDigit),
    // Types of nccl-tests.
    ("float", WrongRow),
    ("half", WrongRow),
    ("double", WrongRow),
    ("int8", WrongRow),
    ("int32", WrongRow),
    ("int64", WrongRow),
    ("f8e", WrongRow),
    // Endings of source files, as glog and klog name them. Python writes each line of a traceback with such a head, and its words tell.
    (".cc:", GlogError),
    (".cpp:", GlogError),
    (".cxx:", GlogError),
    (".c:", GlogError),
    (".cu:", GlogError),
    (".h:", GlogError),
    (".hpp:", GlogError),
    (".go:", GlogError),
    (".rs:", GlogError),
];

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

/// Whether a number may belong to a word that begins at a place: most lines with such a word have none, and each is looked at as a whole.
fn may_count(text: &[u8], from: usize) -> bool {
    const NEAR: usize = 40;
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
            IsFrom(least) => number(line, to).is_some_and(|number| number >= least),
            HasPart(parts) => has_part(line, to, parts),
            Column => is_column(line, from, to),
            NotANumber => is_not_a_number(line, from, to),
            InfOfFigure => is_not_a_number(line, to.saturating_sub("inf".len()), to),
            Short | ShortBehindDigit => is_short(line, from),
            Members => has_missing_member(line, from),
            Unless(values) => !is_of(values),
            NumberOfDevice => {
                number(line, to).is_some_and(|number| number != 0)
                    && (names(before, &DEVICES) || names(before, &MEMORIES))
            }
            WrongRow => has_wrong_values(line, from),
            GlogError => glog::is_error(line, from),
            OfPort => is_down(line, from, to),
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
            WrongRow => may_be_row(text, from),
            GlogError => glog::may_be_place(text, from),
            // A digit may stand before the colon.
            OfPort => true,
            NotANumber => begins || text.get(from).is_some_and(|first| !first.is_ascii_alphanumeric()),
            _ => begins,
        }
    }
}
