//! Lines by which the driver reports the numbers of a record: of other processes, GPUs and links than those that stand in its examples.

use std::collections::BTreeSet;

use kb_core::record::Record;

/// GPU and process of a line about an Xid. Older drivers name no process.
const OF_GPU: [(&str, &str); 5] = [
    ("PCI:0000:3b:00", "pid=1234, name=python3, "),
    ("PCI:0000:3b:00", "pid=1234567, name=train, "),
    ("PCI:0000:91:00", "pid=56789, name=all_reduce_perf, "),
    ("PCI:0000:3b:00", "pid='<unknown>', name=<unknown>, "),
    ("PCI:0000:3b:00", ""),
];
/// What stands behind an Xid of which no example tells more.
const REST_OF_GPU: &str = "Ch 00000008";
const REST_OF_SWITCH: [&str; 2] = ["Fatal, Link 17", "Non-fatal, Link 17"];
/// What `dmesg`, syslog and both together write in front. A pattern may ask for a part of it.
const IN_FRONT: [&str; 4] = [
    "",
    "[  123.456789] ",
    "Jan  1 00:00:00 host kernel: ",
    "Jan  1 00:00:00 host kernel: [  123.456789] ",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    Xid,
    SXid,
}

/// Each line once. None for a record without a number of the driver.
pub(super) fn lines(record: &Record) -> BTreeSet<String> {
    let codes = record.codes();
    let own: BTreeSet<(Family, u32)> = codes.iter().filter_map(|code| read_code(code)).collect();
    let mut lines = BTreeSet::new();
    for &(family, number) in &own {
        let rests: &[&str] = match family {
            Family::Xid => &[REST_OF_GPU],
            Family::SXid => &REST_OF_SWITCH,
        };
        for rest in rests {
            lines.extend(written((family, number), rest));
        }
    }
    if own.is_empty() {
        return lines;
    }
    let examples = record.annex.examples.iter().map(|example| example.text.as_str());
    let signature = record.document.signature.as_str();
    for line in examples.chain([signature]).flat_map(str::lines) {
        if let Some((name, rest)) = read_line(line).filter(|(name, _)| own.contains(name)) {
            lines.extend(written(name, &rest));
        }
    }
    lines
}

/// `Xid 79`, `SXid 20034`.
fn read_code(code: &str) -> Option<(Family, u32)> {
    let (word, number) = code.split_once(' ')?;
    let family = if word.eq_ignore_ascii_case("xid") {
        Family::Xid
    } else if word.eq_ignore_ascii_case("sxid") {
        Family::SXid
    } else {
        return None;
    };
    Some((family, number.trim().parse().ok()?))
}

/// The number of a line of the driver, and what it says of it: without the process, and about link 17.
fn read_line(line: &str) -> Option<((Family, u32), String)> {
    let (before, behind) = line.split_once("Xid (")?;
    let family = if before.ends_with('S') {
        Family::SXid
    } else {
        Family::Xid
    };
    let (_, behind) = behind.split_once("): ")?;
    let rest = behind.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = behind.strip_suffix(rest)?.parse().ok()?;
    let rest = without_process(rest.trim_start_matches([',', ':', ' ']));
    Some(((family, number), of_link_17(rest)))
}

fn of_link_17(rest: &str) -> String {
    if let Some((front, link)) = rest.split_once("Link ") {
        let behind = link.trim_start_matches(|c: char| c.is_ascii_digit());
        if behind.len() < link.len() {
            return format!("{front}Link 17{behind}");
        }
    }
    rest.to_owned()
}

fn without_process(rest: &str) -> &str {
    let name = rest
        .strip_prefix("pid=")
        .and_then(|process| process.split_once("name="));
    match name {
        Some((_, name)) => name.split_once(", ").map_or("", |(_, rest)| rest),
        None => rest,
    }
}

fn written((family, number): (Family, u32), rest: &str) -> Vec<String> {
    let lines: Vec<String> = match family {
        Family::Xid => OF_GPU
            .iter()
            .map(|(gpu, process)| format!("NVRM: Xid ({gpu}): {number}, {process}{rest}"))
            .collect(),
        Family::SXid => vec![format!(
            "nvidia-nvswitch2: SXid (PCI:0000:c1:00.0): {number}, {rest}"
        )],
    };
    let ended = lines.iter().map(|line| line.trim_end_matches([',', ' ']));
    let in_full = ended.flat_map(|line| IN_FRONT.map(|front| format!("{front}{line}")));
    in_full.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines_of(codes: &[&str], examples: &[&str]) -> BTreeSet<String> {
        let document = crate::feed::samples::document("xid/7-zorgblat", "zorgblat");
        let examples: Vec<_> = examples.iter().map(|text| json!({ "text": text })).collect();
        let annex = json!({ "schema_version": 1, "codes": codes, "examples": examples });
        lines(&Record::parse(&document.to_string(), &annex.to_string()).unwrap())
    }

    #[test]
    fn a_line_is_written_with_other_processes_and_gpus() {
        let example =
            "[1.5] NVRM: Xid (PCI:0000:91:00): 7, pid='<unknown>', name=<unknown>, The axle is off.";
        let found = lines_of(
            &["Xid 7", "ZORG_BLAT"],
            &[example, "Xid (PCI:0000:91:00): 8, another"],
        );
        for line in [
            "NVRM: Xid (PCI:0000:3b:00): 7, pid=1234, name=python3, The axle is off.",
            "NVRM: Xid (PCI:0000:3b:00): 7, pid=1234567, name=train, The axle is off.",
            "NVRM: Xid (PCI:0000:3b:00): 7, The axle is off.",
            "NVRM: Xid (PCI:0000:3b:00): 7, pid=1234, name=python3, Ch 00000008",
            "[  123.456789] NVRM: Xid (PCI:0000:3b:00): 7, The axle is off.",
            "Jan  1 00:00:00 host kernel: NVRM: Xid (PCI:0000:3b:00): 7, The axle is off.",
        ] {
            assert!(found.contains(line), "{line}: {found:?}");
        }
        assert_eq!(found.len(), 10 * IN_FRONT.len(), "{found:?}");
    }

    #[test]
    fn a_line_of_a_switch_is_written_about_another_link() {
        let example = "nvidia-nvswitch0: SXid (PCI:0000:0a:00.0): 19054, Fatal, Link 02 HDR RAM ECC DBE";
        let found = lines_of(&["SXid 19054"], &[example]);
        let line = "nvidia-nvswitch2: SXid (PCI:0000:c1:00.0): 19054, Fatal, Link 17 HDR RAM ECC DBE";
        assert!(found.contains(line), "{found:?}");
        let of_syslog = format!("Jan  1 00:00:00 host kernel: {line}");
        assert!(found.contains(&of_syslog), "{found:?}");
        assert_eq!(found.len(), 3 * IN_FRONT.len(), "{found:?}");
    }

    #[test]
    fn without_a_number_of_the_driver_there_is_no_line() {
        for codes in [&["CUDA error 79"][..], &["NVML 79"], &["Xid"], &["Xid x"], &[]] {
            let found = lines_of(codes, &["NVRM: Xid (PCI:0000:91:00): 79, lost"]);
            assert!(found.is_empty(), "{codes:?}: {found:?}");
        }
    }
}
