//! Lines that the driver itself calls fatal. They are never harmless, whatever their record says of the others of their number.

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
