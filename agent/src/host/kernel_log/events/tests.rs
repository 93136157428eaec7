//! Events of the kernel log from look to look.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use time::macros::datetime;

use super::*;
use crate::host::tests::tree::tree;

const NOW: OffsetDateTime = datetime!(2026-11-24 10:00 UTC);
const KERN: &str = "var/log/kern.log";

fn kmsg(number: u64, message: &str) -> String {
    format!("3,{number},{},-;{message}\n", number * 1_000_000)
}

fn syslog(seconds: u32, message: &str) -> String {
    format!("Nov 21 10:00:00 gpu-17 kernel: [{seconds:5}.000000] {message}\n")
}

fn xid(number: u32) -> String {
    format!("NVRM: Xid (PCI:0000:3b:00): {number}, x")
}

fn add(root: &Path, path: &str, text: &str) {
    let mut file = fs::OpenOptions::new().append(true).open(root.join(path)).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Numbers of the Xids behind the place, with their boots.
fn look(root: &Path, boot: &str, place: &mut Option<LogPlace>) -> (Vec<(String, String)>, Missed) {
    let read = events(&HostRoot::new(root), Some(boot), place.as_ref(), NOW);
    assert_eq!(read.unread, None);
    *place = read.place;
    let told = |occurrence: Occurrence| {
        let text = occurrence.event.text;
        let number = text.split("): ").nth(1).unwrap().trim_end_matches(", x");
        (number.to_owned(), occurrence.boot_id.unwrap())
    };
    let told = read.occurrences.into_iter().map(told).collect();
    (told, read.missed)
}

fn of(numbers: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(number, boot): &(&str, &str)| ((*number).to_owned(), (*boot).to_owned());
    numbers.iter().map(owned).collect()
}

#[test]
fn each_record_of_the_kernel_counts_once_and_equal_ones_twice() {
    let log = [kmsg(1, &xid(31)), kmsg(2, &xid(31)), kmsg(3, "usb 1-1: x")].concat();
    let root = tree(&[("dev/kmsg", &log)]);
    let mut place = None;
    assert_eq!(
        look(root.path(), "a", &mut place).0,
        of(&[("31", "a"), ("31", "a")])
    );
    assert_eq!(look(root.path(), "a", &mut place), (vec![], Missed::Nothing));
    add(root.path(), "dev/kmsg", &kmsg(4, &xid(79)));
    assert_eq!(
        look(root.path(), "a", &mut place),
        (of(&[("79", "a")]), Missed::Nothing)
    );
    // Another boot numbers anew.
    fs::write(root.path().join("dev/kmsg"), kmsg(0, &xid(48))).unwrap();
    assert_eq!(
        look(root.path(), "b", &mut place),
        (of(&[("48", "b")]), Missed::Nothing)
    );
    // A boot whose beginning was overwritten before anybody looked, after one that was looked at.
    fs::write(root.path().join("dev/kmsg"), kmsg(500, &xid(48))).unwrap();
    assert_eq!(look(root.path(), "c", &mut place.clone()).1, Missed::BetweenLooks);
    assert_eq!(look(root.path(), "c", &mut None).1, Missed::BeforeFirstLook);
    // Numbers 2 to 8 were overwritten.
    fs::write(root.path().join("dev/kmsg"), kmsg(9, &xid(48))).unwrap();
    assert_eq!(
        look(root.path(), "b", &mut place),
        (of(&[("48", "b")]), Missed::BetweenLooks)
    );
}

#[test]
fn a_flood_hides_no_line() {
    let flood: String = (2..5_000).map(|number| kmsg(number, &xid(45))).collect();
    let root = tree(&[("dev/kmsg", &[kmsg(1, &xid(79)), flood].concat())]);
    let (told, _) = look(root.path(), "a", &mut None);
    assert_eq!((told.len(), told[0].0.as_str()), (4_999, "79"));
}

/// As a template of a site writes a line of the kernel's.
const IN_JSON: &str =
    "{\"host\": \"gpu-17\", \"program\": \"kernel\", \"message\": \"NVRM: Xid (PCI:0000:3b:00): 79, x\"}\n";

#[test]
fn a_file_that_mixes_forms_is_read_line_by_line() {
    let modern = |number| format!("<4>1 2026-11-30T10:00:00Z gpu-17 kernel - - - {}\n", xid(number));
    let log = [syslog(0, "Linux version"), syslog(1, "usb 1-1: x"), modern(79)].concat();
    let root = tree(&[(KERN, &log)]);
    let mut place = None;
    assert_eq!(look(root.path(), "a", &mut place).0, of(&[("79", "a")]));
    add(root.path(), KERN, &[modern(48), syslog(3, &xid(31))].concat());
    let told = (of(&[("48", "a"), ("31", "a")]), Missed::Nothing);
    assert_eq!(look(root.path(), "a", &mut place), told);
}

#[test]
fn lines_in_a_form_that_is_not_known_are_told_beside_those_that_are() {
    let log = [
        syslog(0, "Linux version"),
        syslog(1, &xid(31)),
        IN_JSON.to_owned(),
    ]
    .concat();
    let root = tree(&[(KERN, &log)]);
    let host = HostRoot::new(root.path());
    let first = events(&host, Some("a"), None, NOW);
    assert!(first.unread.unwrap().contains("in a form that is not known"));
    assert_eq!((first.occurrences.len(), first.missed), (1, Missed::BetweenLooks));
    let second = events(&host, Some("a"), first.place.as_ref(), NOW);
    assert_eq!((second.unread, second.occurrences.len()), (None, 0));
}

#[test]
fn each_message_of_a_record_counts() {
    let switch = "nvidia-nvswitch3: SXid (PCI:0000:c5:00.0): 20034, x";
    let record = [xid(13), xid(79), switch.to_owned()].join(r"\x0a");
    let glued = [xid(13), xid(48)].concat();
    let root = tree(&[("dev/kmsg", &[kmsg(0, &record), kmsg(1, &glued)].concat())]);
    let told: Vec<String> = look(root.path(), "a", &mut None)
        .0
        .into_iter()
        .map(|(it, _)| it)
        .collect();
    assert_eq!(told, ["13", "79", "20034", "13", "48"]);
    let many = kmsg(0, &xid(13).repeat(100));
    let root = tree(&[("dev/kmsg", &many)]);
    let read = events(&HostRoot::new(root.path()), Some("a"), None, NOW);
    assert!(read.unread.unwrap().contains("more messages than are read"));
    assert_eq!((read.occurrences.len(), read.missed), (65, Missed::BetweenLooks));
}

#[test]
fn an_xid_whose_number_cannot_be_read_is_told() {
    let mixed = "NVRM: Xid (PCI:0000:3bNVRM: Xid (PCI:0000:4c:00): 31:00): 79, pid=1";
    for message in [mixed, "NVRM: Xid (PCI:0000:3b:00"] {
        let root = tree(&[("dev/kmsg", &kmsg(0, message))]);
        let read = events(&HostRoot::new(root.path()), Some("a"), None, NOW);
        assert!(read.unread.unwrap().contains("cannot be read"));
        assert_eq!((read.occurrences.len(), read.missed), (0, Missed::BetweenLooks));
    }
}

#[test]
fn a_log_in_a_form_that_is_not_known_is_not_read() {
    let line = IN_JSON;
    let root = tree(&[(KERN, line)]);
    let read = events(&HostRoot::new(root.path()), Some("a"), None, NOW);
    assert!(read.unread.unwrap().contains("none of its lines"));
    let root = tree(&[(KERN, &syslog(1, "usb 1-1: x"))]);
    let first = events(&HostRoot::new(root.path()), Some("a"), None, NOW);
    add(root.path(), KERN, line);
    let second = events(&HostRoot::new(root.path()), Some("a"), first.place.as_ref(), NOW);
    assert!(second.unread.unwrap().contains("none of its lines"));
}

#[test]
fn a_file_of_other_hosts_alone_is_not_read_until_a_look_of_this_boot_has_read_it() {
    let other = "2026-11-30T02:50:00Z old-17 kernel: NVRM: Xid (PCI:0000:3b:00): 79, x\n";
    let root = tree(&[
        ("proc/sys/kernel/hostname", "gpu-17\n"),
        ("etc/hostname", "gpu-17\n"),
        // 2026-11-30T01:00:00Z.
        ("proc/stat", "btime 1796000400\n"),
        (KERN, other),
    ]);
    let host = HostRoot::new(root.path());
    let why = |boot: &str, from: Option<&LogPlace>| events(&host, Some(boot), from, NOW).unread;
    let told = why("a", None).unwrap();
    assert!(told.contains(": old-17; this host is gpu-17"), "{told}");
    let own = "2026-11-30T02:51:00Z gpu-17 kernel: usb 1-1: x\n";
    add(root.path(), KERN, own);
    let read = events(&host, Some("a"), None, NOW);
    assert_eq!(read.unread, None);
    // What is added by others is theirs in this boot; the next boot has lines of its own.
    add(root.path(), KERN, other);
    assert_eq!(why("a", read.place.as_ref()), None);
    assert!(why("b", read.place.as_ref()).unwrap().contains("old-17"));
    // Beside them a line that may be this host's.
    add(root.path(), KERN, IN_JSON);
    let told = why("a", read.place.as_ref()).unwrap();
    assert!(told.contains("none of its lines"), "{told}");
}

#[test]
fn lines_before_the_kernels_first_are_of_an_earlier_boot() {
    let line = |message: &str| format!("Nov 21 10:00:00 gpu-17 kernel: {message}\n");
    let log = [line(&xid(79)), line("Linux version 6.8.0"), line(&xid(31))].concat();
    let root = tree(&[(KERN, &log)]);
    assert_eq!(look(root.path(), "a", &mut None).0, of(&[("31", "a")]));
}

#[test]
fn a_file_is_read_on_across_boots_and_rotation() {
    let log = [
        syslog(9_000, &xid(13)),
        syslog(0, "Linux version"),
        syslog(5, &xid(31)),
    ]
    .concat();
    let root = tree(&[(KERN, &log)]);
    let mut place = None;
    assert_eq!(look(root.path(), "a", &mut place).0, of(&[("31", "a")]));
    // One that the node went down with, and one of the boot after it.
    let more = [
        syslog(900, &xid(79)),
        syslog(0, "Linux version"),
        syslog(7, &xid(48)),
    ]
    .concat();
    add(root.path(), KERN, &more);
    assert_eq!(
        look(root.path(), "b", &mut place),
        (of(&[("79", "a"), ("48", "b")]), Missed::Nothing)
    );
    add(root.path(), KERN, &syslog(8, &xid(62)));
    fs::rename(root.path().join(KERN), root.path().join("var/log/kern.log.1")).unwrap();
    fs::write(root.path().join(KERN), syslog(9, &xid(64))).unwrap();
    assert_eq!(
        look(root.path(), "b", &mut place),
        (of(&[("62", "b"), ("64", "b")]), Missed::Nothing)
    );
    fs::remove_file(root.path().join("var/log/kern.log.1")).unwrap();
    fs::rename(root.path().join(KERN), root.path().join("var/log/kern.log.2")).unwrap();
    fs::write(root.path().join(KERN), syslog(10, &xid(74))).unwrap();
    assert_eq!(
        look(root.path(), "b", &mut place),
        (of(&[("74", "b")]), Missed::BetweenLooks)
    );
    // Put aside while its writer still has it, until that notices.
    fs::rename(root.path().join(KERN), root.path().join("var/log/kern.log.1")).unwrap();
    fs::write(root.path().join(KERN), "").unwrap();
    let nothing = (of(&[]), Missed::Nothing);
    assert_eq!(look(root.path(), "b", &mut place), nothing);
    add(root.path(), "var/log/kern.log.1", &syslog(10, &xid(63)));
    assert_eq!(
        look(root.path(), "b", &mut place),
        (of(&[("63", "b")]), Missed::Nothing)
    );
    add(root.path(), KERN, &syslog(10, &xid(92)));
    assert_eq!(
        look(root.path(), "b", &mut place),
        (of(&[("92", "b")]), Missed::Nothing)
    );
    // Emptied in place and filled beyond where it was read.
    let refilled = [syslog(11, &xid(79)), syslog(12, &xid(95))].concat();
    fs::write(root.path().join(KERN), refilled).unwrap();
    assert_eq!(
        look(root.path(), "b", &mut place),
        (of(&[("79", "b"), ("95", "b")]), Missed::BetweenLooks)
    );
}

#[test]
fn a_log_that_cannot_be_read_or_ends_at_boot_says_so_and_keeps_the_place() {
    let root = tree(&[("dev/kmsg", &kmsg(1, &xid(79)))]);
    let host = HostRoot::new(root.path());
    let first = events(&host, Some("a"), None, NOW);
    fs::remove_file(root.path().join("dev/kmsg")).unwrap();
    let second = events(&host, Some("a"), first.place.as_ref(), NOW);
    assert!(second.unread.is_some() && second.occurrences.is_empty());
    assert_eq!(second.place, first.place);
    let root = tree(&[("var/log/dmesg", "[   77.000000] NVRM: x\n")]);
    let snapshot = events(&HostRoot::new(root.path()), Some("a"), None, NOW);
    assert!(snapshot.unread.unwrap().starts_with("before only"));
}

#[test]
fn the_time_of_a_line_is_that_of_the_log() {
    let root = tree(&[
        ("dev/kmsg", &kmsg(60, &xid(79))),
        ("proc/uptime", "3660.00 9.00\n"),
    ]);
    let read = events(&HostRoot::new(root.path()), Some("a"), None, NOW);
    assert_eq!(read.occurrences[0].at, "2026-11-24T09:00:00Z");
}

#[test]
fn what_a_program_writes_about_a_kernel_is_not_the_kernels() {
    let fake = "Nov 21 10:00:00 gpu-17 alice[7]: kernel: [   10.000000] NVRM: Xid (PCI:0000:3b:00): 79, x\n";
    let log = [fake, &syslog(1, "usb 1-1: x")].concat();
    let root = tree(&[(KERN, &log)]);
    assert_eq!(look(root.path(), "a", &mut None).0, []);
}

/// The first look at a node whose log was rotated in this boot.
#[test]
fn what_was_put_aside_in_this_boot_is_read_at_the_first_look() {
    let before = [
        syslog(9_000, &xid(13)),
        syslog(0, "Linux version"),
        syslog(5, &xid(79)),
    ]
    .concat();
    let now = syslog(9, &xid(31));
    for name in ["var/log/kern.log.1", "var/log/kern.log-20261129"] {
        let root = tree(&[(KERN, &now), (name, &before)]);
        let mut place = None;
        assert_eq!(
            look(root.path(), "a", &mut place),
            (of(&[("79", "a"), ("31", "a")]), Missed::Nothing),
            "{name}"
        );
        assert_eq!(look(root.path(), "a", &mut place).0, []);
        // Begun anew, and its writer still has the old one.
        let root = tree(&[(KERN, ""), (name, &before)]);
        let mut place = None;
        assert_eq!(
            look(root.path(), "a", &mut place),
            (of(&[("79", "a")]), Missed::Nothing),
            "{name}"
        );
        add(root.path(), name, &syslog(10, &xid(63)));
        assert_eq!(look(root.path(), "a", &mut place).0, of(&[("63", "a")]), "{name}");
        add(root.path(), KERN, &syslog(11, &xid(92)));
        assert_eq!(look(root.path(), "a", &mut place).0, of(&[("92", "a")]), "{name}");
    }
}

#[test]
fn lines_of_this_boot_that_are_gone_at_the_first_look_are_told() {
    let late = syslog(900, &xid(31));
    let told = (of(&[("31", "a")]), Missed::BeforeFirstLook);
    let root = tree(&[(KERN, &late)]);
    assert_eq!(look(root.path(), "a", &mut None), told);
    // Put aside and compressed.
    let root = tree(&[(KERN, &late), ("var/log/kern.log.2.gz", "x")]);
    assert_eq!(look(root.path(), "a", &mut None), told);
    // In a file that is too long to be read whole.
    let long = [syslog(5, &xid(79)), syslog(6, "usb 1-1: x").repeat(30_000)].concat();
    let root = tree(&[(KERN, &long)]);
    assert_eq!(look(root.path(), "a", &mut None).1, Missed::BeforeFirstLook);
    // Nobody reads again a line whose number cannot be read.
    let cut = long.clone() + &syslog(7, "NVRM: Xid (PCI:0000:3b");
    let root = tree(&[(KERN, &cut)]);
    let read = events(&HostRoot::new(root.path()), Some("a"), None, NOW);
    assert_eq!(read.missed, Missed::BetweenLooks);
    // The older file was written to before the boot alone.
    let root = tree(&[
        ("proc/stat", "btime 1000000000\n"),
        (KERN, &late),
        ("var/log/kern.log.1", &syslog(5, &xid(79))),
    ]);
    let aside = fs::File::options()
        .append(true)
        .open(root.path().join("var/log/kern.log.1"))
        .unwrap();
    let days_before = Duration::from_secs(1_000_000_000 - 2 * 86_400);
    aside.set_modified(std::time::UNIX_EPOCH + days_before).unwrap();
    let all = (of(&[("31", "a")]), Missed::Nothing);
    assert_eq!(look(root.path(), "a", &mut None), all);
}

/// A container loses the device, or an older agent took something without records for it.
#[test]
fn a_file_in_place_of_the_kernels_own_log_is_read_from_the_boot_on() {
    let before = [syslog(0, "Linux version"), syslog(5, &xid(79))].concat();
    let now = syslog(9, &xid(31));
    let of_kmsg = |sequence| {
        Some(LogPlace {
            boot_id: Some("a".to_owned()),
            place: Place::Kmsg {
                sequence,
                forms: FORMS,
            },
        })
    };
    let root = tree(&[(KERN, &now), ("var/log/kern.log.1", &before)]);
    for sequence in [0, 7] {
        let mut place = of_kmsg(sequence);
        assert_eq!(
            look(root.path(), "a", &mut place),
            (of(&[("79", "a"), ("31", "a")]), Missed::Nothing)
        );
        assert_eq!(look(root.path(), "a", &mut place).0, []);
    }
    let root = tree(&[(KERN, &now)]);
    let told = (of(&[("31", "a")]), Missed::BetweenLooks);
    assert_eq!(look(root.path(), "a", &mut of_kmsg(7)), told);
}
