//! Xids that no record explains.

use super::super::testing::{matcher_of, record, scan_text};

#[test]
fn an_xid_that_no_record_explains_is_told() {
    let mut known = record("xid/79", "GPU has fallen off the bus");
    known.domain = "xid".to_owned();
    known.codes = vec!["Xid 79".to_owned(), "SXid 20001".to_owned()];
    let matcher = matcher_of(vec![known]);
    let text = "step 1\n\
        NVRM: Xid (PCI:0000:3b:00): 79, pid=7, GPU has fallen off the bus.\n\
        [ 812.5] NVRM: Xid (PCI:0000:3b:00): 81, pid=7, VGA Subsystem Error\n\
        NVRM: Xid (PCI:0000:5e:00): 81, pid=8\n\
        nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 31337, Fatal, Link 7 unheard of\n\
        [ERROR] detected NVSwitch fatal error 31338 on fid 0 on NVSwitch pci bus id 00000000:83:00.0\n";
    let summary = scan_text(&matcher, text);
    assert_eq!(summary.matches.len(), 1);
    let starts: Vec<&str> = summary
        .notes
        .iter()
        .filter_map(|note| note.split(',').next())
        .collect();
    assert_eq!(
        starts,
        [
            "line 3 has Xid 81",
            "line 5 has SXid 31337",
            "line 6 has SXid 31338"
        ]
    );
    let long = format!(
        "{{\"pad\":\"{}\",\"msg\":\"NVRM: Xid (PCI:0000:3b:00): 81, pid=7\"}}\n",
        "x".repeat(9_000)
    );
    assert_eq!(scan_text(&matcher, &long).notes.len(), 1);
    let quiet = scan_text(
        &matcher,
        "Xid errors: none\nthe Xid 81 of last year\nxid (epoch 7)\n",
    );
    assert_eq!(quiet.notes, Vec::<String>::new());
    let many: Vec<String> = (200..300)
        .map(|n| format!("NVRM: Xid (PCI:0000:3b:00): {n}, pid=7\n"))
        .collect();
    let many = many.concat();
    assert_eq!(scan_text(&matcher, many).notes.len(), 17);
}

/// Lines of two GPUs that were written into each other.
#[test]
fn the_number_of_a_mixed_line_is_not_told() {
    let line = "NVRM: Xid (PCI:0000:3bNVRM: Xid (PCI:0000:4c:00): 31:00): 79, pid\n";
    let mut known = record("xid/79", "GPU has fallen off the bus");
    known.domain = "xid".to_owned();
    known.codes = vec!["Xid 79".to_owned()];
    let summary = scan_text(&matcher_of(vec![known]), line);
    assert_eq!(summary.notes, Vec::<String>::new());
    assert_eq!(summary.unexplained.unwrap().lines.len(), 1);
}
