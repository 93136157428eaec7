//! Lines of the driver in the output of a tool.

use super::{ALL, NVBANDWIDTH_JSON, converted};

#[test]
fn lines_of_the_driver_are_kept_and_told() {
    let xid = "[ 12.5] NVRM: Xid (PCI:0000:00:06): 79, GPU has fallen off the bus.";
    for text in ALL.into_iter().filter(|text| *text != NVBANDWIDTH_JSON) {
        let report = converted(&format!("{}\n{xid}\n", text.trim_end()));
        let kept = report.logs.iter().any(|log| log.text.contains(xid));
        assert!(kept, "{:?}", report.logs);
        let told = report
            .notes
            .iter()
            .any(|note| note.message.contains("Xid (PCI:0000:00:06): 79"));
        assert!(told, "{:?}", report.notes);
        assert!(converted(text).logs.iter().all(|log| log.source != "output"));
    }
}
