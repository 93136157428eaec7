//! Access Control Services of a bridge, from its configuration space.
//!
//! PCI Express Base Specification: extended capabilities begin at 0x100 (7.6.3), ACS is the one with id 0x000D, its
//! capability register at +4 and its control register at +6 (7.7.11). Which bit means what is fixed there too; Linux
//! has the same numbers in `pci_regs.h` (`PCI_ACS_*`).

use kb_core::report::GapKind;
use serde_json::{Value, json};

const EXTENDED: usize = 0x100;
/// What a process without `CAP_SYS_ADMIN` gets of the file `config`.
const UNPRIVILEGED: usize = 64;
/// More capabilities than fit between 0x100 and 0x1000: a chain that is longer runs in a circle.
const MOST_CAPABILITIES: usize = (0x1000 - EXTENDED) / 8;
const ACS: u32 = 0x000D;

/// The bits of both registers, by the report's names.
const BITS: [(&str, u16); 7] = [
    ("source_validation", 1),
    ("translation_blocking", 1 << 1),
    ("request_redirect", 1 << 2),
    ("completion_redirect", 1 << 3),
    ("upstream_forwarding", 1 << 4),
    ("egress_control", 1 << 5),
    ("direct_translated", 1 << 6),
];
/// Those that send traffic between peers to the root complex, or refuse it. Source validation only checks who sends.
const REDIRECTING: u16 = 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Acs {
    Absent,
    Present { capability: u16, control: u16 },
}

pub(super) type Unseen = (GapKind, &'static str);

impl Acs {
    /// From `/sys/bus/pci/devices/…/config`, four bytes at a time by their offset; `None` where the file ends. Each
    /// of them is a transaction on the bus, so that no more are read than lead to the capability.
    pub(super) fn parse(dword: impl Fn(usize) -> Option<u32>) -> Result<Self, Unseen> {
        if dword(UNPRIVILEGED).is_none() {
            return Err((
                GapKind::NoPermission,
                "only root (CAP_SYS_ADMIN) sees the configuration space beyond its first 64 bytes",
            ));
        }
        let Some(mut header) = dword(EXTENDED) else {
            return Err((
                GapKind::NotVisible,
                "this kernel shows no extended configuration space of the bridge",
            ));
        };
        if dword(0) == Some(u32::MAX) {
            return Err((
                GapKind::Failed,
                "the bridge does not answer: all bits read as ones",
            ));
        }
        let mut at = EXTENDED;
        for _ in 0..MOST_CAPABILITIES {
            if header & 0xFFFF == ACS {
                let registers = dword(at + 4).ok_or((GapKind::Failed, "the capability is cut off"))?;
                let [a, b, c, d] = registers.to_le_bytes();
                return Ok(Self::Present {
                    capability: u16::from_le_bytes([a, b]),
                    control: u16::from_le_bytes([c, d]),
                });
            }
            // The lowest two bits of the offset are reserved.
            at = usize::try_from(header >> 20 & 0xFFC).unwrap_or(0);
            if at < EXTENDED {
                return Ok(Self::Absent);
            }
            header = dword(at).ok_or((GapKind::Failed, "its list of capabilities leads outside"))?;
        }
        Err((GapKind::Failed, "its list of capabilities runs in a circle"))
    }

    pub(super) fn redirects(self) -> bool {
        matches!(self, Self::Present { control, .. } if control & REDIRECTING != 0)
    }

    pub(super) fn to_json(self) -> Value {
        let (present, capability, control) = match self {
            Self::Absent => (false, 0, 0),
            Self::Present { capability, control } => (true, capability, control),
        };
        let mut object = serde_json::Map::from_iter([("present".to_owned(), json!(present))]);
        for (name, bit) in BITS {
            object.insert(name.to_owned(), json!(control & bit != 0));
        }
        let can = BITS.iter().filter(|(_, bit)| capability & bit != 0);
        let names: Vec<&str> = can.map(|(name, _)| *name).collect();
        object.insert("supported".to_owned(), json!(names));
        Value::Object(object)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::host::tests::tree::config_with_acs;

    fn parse(config: &[u8]) -> Result<Acs, Unseen> {
        Acs::parse(|at| {
            let bytes = config.get(at..at.checked_add(4)?)?;
            Some(u32::from_le_bytes(bytes.try_into().ok()?))
        })
    }

    #[test]
    fn the_control_register_is_found_behind_other_capabilities() {
        let config = config_with_acs(0x5f, 0x1d);
        let acs = parse(&config).unwrap();
        assert_eq!(
            acs,
            Acs::Present {
                capability: 0x5f,
                control: 0x1d
            }
        );
        assert!(acs.redirects());
        let written = acs.to_json();
        assert_eq!(written["request_redirect"], true);
        assert_eq!(written["translation_blocking"], false);
        assert_eq!(written["supported"][6], Value::Null);
    }

    #[test]
    fn source_validation_alone_redirects_nothing() {
        for (control, redirects) in [(0, false), (1, false), (1 << 1, false), (1 << 6, false)]
            .into_iter()
            .chain((2..6).map(|bit| (1 << bit, true)))
        {
            let acs = parse(&config_with_acs(0x7f, control)).unwrap();
            assert_eq!(acs.redirects(), redirects, "{control:#x}");
        }
    }

    #[test]
    fn what_is_not_seen_is_said() {
        let config = config_with_acs(0x5f, 0x1d);
        let kind = |bytes: &[u8]| parse(bytes).unwrap_err().0;
        assert_eq!(kind(&config[..64]), GapKind::NoPermission);
        assert_eq!(kind(&config[..256]), GapKind::NotVisible);
        assert_eq!(kind(&[0xFF; 4096]), GapKind::Failed);

        let mut without = vec![0; 4096];
        without[0] = 1;
        assert_eq!(parse(&without), Ok(Acs::Absent));

        // A capability that names itself as the next one.
        let mut circle = without;
        circle[EXTENDED..EXTENDED + 4].copy_from_slice(&0x1001_0001_u32.to_le_bytes());
        assert_eq!(kind(&circle), GapKind::Failed);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..4200)) {
            let _ = parse(&bytes).map(Acs::to_json);
        }

        #[test]
        fn any_chain_ends(links in proptest::collection::vec((0x100_u32..0x1000, 0_u32..0x20), 1..60)) {
            let mut config = vec![0; 4096];
            let mut at = EXTENDED;
            for (next, id) in links {
                if let Some(place) = config.get_mut(at..at + 4) {
                    place.copy_from_slice(&(next << 20 | 0x1_0000 | id).to_le_bytes());
                }
                at = next as usize & 0xFFC;
            }
            let _ = parse(&config);
        }
    }
}
