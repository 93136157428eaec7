//! What `peerless match` says of a line that the driver calls fatal, and whose record says that the others of its number are
//! harmless.

use crate::process::{folder, peerless};

#[test]
fn a_line_that_the_driver_calls_fatal_is_not_told_as_harmless() {
    let (_folder, data) = folder();
    for (told, is_fatal) in [("Fatal", true), ("Nonfatal", false)] {
        let line = format!("NVRM: Xid (PCI:0000:af:00): 147, TREX {told} XC0 i0 Link 07 (0x1)");
        let mut command = peerless();
        command.args(["match", "--data-dir", &data, "--text", &line]);
        let run = command.output().unwrap();
        let answer = String::from_utf8(run.stdout).unwrap();
        assert_eq!(run.status.code(), Some(i32::from(!is_fatal)), "{answer}");
        assert_eq!(answer.contains("The driver calls it fatal"), is_fatal, "{answer}");
        assert_eq!(answer.contains("(harmless)"), !is_fatal, "{answer}");
        assert!(!answer.contains("a notice, no fault by itself"), "{answer}");
    }
}
