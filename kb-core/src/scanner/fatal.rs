//! Lines that are never harmless, whatever their record says of others: those that the driver itself calls fatal, and errors of CUDA
//! with which a program ended.

use super::entry::Entry;
use super::raised::Chain;
use super::wrapper::lines;

/// The domain whose records name error codes: a code is harmless only where the program goes on.
const CODES: &str = "cuda";

/// Takes the errors of CUDA beside which a program says that it ends, or with which it was left, for what they are.
pub(super) fn put_ends_right(entries: &mut [Entry<'_>], chains: &[Chain]) {
    let ends = entries
        .iter()
        .filter(|entry| entry.record.wraps_others && entry.is_error);
    let ends: Vec<u64> = ends.flat_map(lines).collect();
    let raised = |line: u64| {
        let mut chains = chains.iter().filter(|chain| !chain.is_caught);
        chains.any(|chain| chain.first.line == line)
    };
    let is_end = |line: u64| raised(line) || ends.iter().any(|end| end.abs_diff(line) == 1);
    for entry in entries {
        let is_harmless_code = entry.harmless && entry.record.domain_word() == CODES;
        if is_harmless_code && lines(entry).into_iter().any(is_end) {
            entry.harmless = false;
            entry.notice = false;
            entry.is_error = true;
        }
    }
}

/// Whether a line of Xid, SXid or NVSwitch says "fatal", and not "nonfatal" or "non-fatal".
pub(super) fn is_called_fatal(line: &[u8]) -> bool {
    const WORD: &str = "fatal";
    let line = String::from_utf8_lossy(line).to_ascii_lowercase();
    // `SXid` holds `Xid`.
    if !line.contains("xid") && !line.contains("nvswitch") {
        return false;
    }
    line.match_indices(WORD).any(|(at, _)| {
        let (before, rest) = line.split_at(at);
        let ends = !rest
            .get(WORD.len()..)
            .is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
        let begins = !before.ends_with(char::is_alphanumeric);
        ends && begins && !before.ends_with("non-") && !before.ends_with("non ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_of_the_driver_decides() {
        for fatal in [
            "NVRM: Xid (PCI:0000:af:00): 147, TREX Fatal XC0 i0 Link 07",
            "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 22013, Fatal, Link 57 Minion",
            "detected NVSwitch fatal error 20001 on fid 0",
        ] {
            assert!(is_called_fatal(fatal.as_bytes()), "{fatal}");
        }
        for other in [
            "NVRM: Xid (PCI:0000:af:00): 147, TREX Nonfatal XC0 i0 Link 07",
            "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 22013, Non-fatal, Link 57 Minion",
            "detected NVSwitch non-fatal error 20001 on fid 0",
            "fatal: not a git repository",
        ] {
            assert!(!is_called_fatal(other.as_bytes()), "{other}");
        }
    }
}
