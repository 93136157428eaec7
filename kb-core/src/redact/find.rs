//! What begins at a place of a word: an address, a path, a host's name. Each answers with its length in bytes.

use std::net::{IpAddr, Ipv4Addr};

/// Folders that tell nothing about the machine's owner.
const SYSTEM: [&str; 12] = [
    "/proc", "/sys", "/dev", "/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc", "/var/log", "/var/run",
    "/run",
];
/// Lengths of hardware addresses, in pairs of digits: Ethernet, GUIDs, IP over InfiniBand.
const HARDWARE: [usize; 3] = [6, 8, 20];

#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// What stands before it, up to the word's beginning.
    pub(super) before: &'a str,
    /// What begins there, up to the word's end.
    pub(super) rest: &'a str,
}

impl Place<'_> {
    /// True where a longer name or number does not go on here.
    fn is_start(self, joined: &str) -> bool {
        !self
            .before
            .ends_with(|character: char| character.is_alphanumeric() || joined.contains(character))
    }
}

/// An IP address, with or without zone and length of the network, or a hardware address. A PCI address is neither.
/// `is_version` leaves out four numbers with dots between.
pub(super) fn address(place: Place<'_>, is_version: bool) -> Option<usize> {
    if !place.is_start("_.") {
        return None;
    }
    let run = |also: &str| {
        let is_part = |character: char| {
            character == '.'
                || character.is_ascii_digit()
                || !also.is_empty() && (character.is_ascii_hexdigit() || also.contains(character))
        };
        let end = place.rest.find(|character| !is_part(character));
        place
            .rest
            .get(..end.unwrap_or(place.rest.len()))
            .unwrap_or_default()
    };
    let long = run(":");
    let found = [
        long,
        long.trim_end_matches(['.', ':']),
        run("").trim_end_matches('.'),
    ];
    found.into_iter().find_map(|text| {
        let behind = place.rest.get(text.len()..)?;
        let goes_on = behind.starts_with(|character: char| character.is_alphanumeric() || character == '_');
        let is_left = is_version && text.parse::<Ipv4Addr>().is_ok();
        (!goes_on && !is_left && is_address(text)).then(|| text.len() + zone_and_network(behind))
    })
}

fn is_address(text: &str) -> bool {
    let is_pair = |pair: &str| pair.len() == 2 && pair.bytes().all(|byte| byte.is_ascii_hexdigit());
    // `0::` is a part of a name in C++ more often than an address.
    let digits = text.bytes().filter(u8::is_ascii_hexdigit).count();
    text.parse::<IpAddr>().is_ok() && (digits > 2 || text == "::1")
        || text.split(':').all(is_pair) && HARDWARE.contains(&text.split(':').count())
}

/// `%eth0` and `/64` behind an address.
fn zone_and_network(behind: &str) -> usize {
    let zone = behind.strip_prefix('%').map_or(0, |zone| 1 + name(zone));
    let network = behind.get(zone..).and_then(|behind| behind.strip_prefix('/'));
    let digits = network.map_or(0, |text| text.bytes().take_while(u8::is_ascii_digit).count());
    let goes_on = network.and_then(|text| text.get(digits..)).is_some_and(|text| {
        text.starts_with(|character: char| character.is_alphanumeric() || character == '/')
    });
    if (1..=3).contains(&digits) && !goes_on {
        zone + 1 + digits
    } else {
        zone
    }
}

/// A path outside of the system's folders. `behind_server`: in an address with `://`, where it begins without a border.
pub(super) fn path(place: Place<'_>, behind_server: bool) -> Option<usize> {
    let upwards = place.rest.starts_with("../") && place.is_start("._-/");
    // `-L/home/ann/lib`, as compilers take it.
    let mut option = place.before.chars();
    let is_option = option.next() == Some('-')
        && option.next().is_some_and(char::is_alphabetic)
        && option.next().is_none();
    let is_start = behind_server || is_option || place.is_start("._-+~%*/");
    if !(upwards || is_start && place.rest.starts_with('/')) {
        return None;
    }
    // Lists of paths, and what compilers and interpreters put behind one: `train.py:12:3`.
    let ends = |behind: &str| {
        behind.starts_with('/') || behind.bytes().all(|byte| byte == b':' || byte.is_ascii_digit())
    };
    let end = place
        .rest
        .match_indices(':')
        .find(|(at, _)| place.rest.get(at + 1..).is_none_or(ends));
    let text = place.rest.get(..end.map_or(place.rest.len(), |(at, _)| at))?;
    let text = text.trim_end_matches(['.', ':']);
    is_private(text).then_some(text.len())
}

fn is_private(text: &str) -> bool {
    let bare = text.trim_start_matches('/');
    let leads_out = text.split('/').any(|part| part == "..");
    let is_system = SYSTEM.iter().any(|folder| {
        let folder = folder.trim_start_matches('/');
        bare.strip_prefix(folder)
            .is_some_and(|behind| behind.is_empty() || behind.starts_with('/'))
    });
    !bare.is_empty() && (leads_out || !is_system)
}

pub(super) fn host(place: Place<'_>, known: &str) -> Option<usize> {
    if known.is_empty() || !place.is_start("-") {
        return None;
    }
    let there = place.rest.get(..known.len())?;
    let behind = place.rest.get(known.len()..)?;
    if !there.eq_ignore_ascii_case(known)
        || behind.starts_with(|character: char| character.is_alphanumeric() || character == '-')
    {
        return None;
    }
    Some(known.len() + domain(behind))
}

/// `.lab.example`; a dot that ends a sentence is none.
fn domain(behind: &str) -> usize {
    let is_domain = |text: &&str| text.starts_with('.') && name(text) > 1;
    Some(behind).filter(is_domain).map_or(0, |text| {
        text.get(..name(text))
            .unwrap_or_default()
            .trim_end_matches('.')
            .len()
    })
}

/// The name of a process of NCCL up to its host: `node1:4711:4720`, host and two numbers.
pub(super) fn process(place: Place<'_>) -> Option<usize> {
    let length = name(place.rest);
    let (name, behind) = place.rest.split_at_checked(length)?;
    let numbers: Vec<&str> = behind
        .strip_prefix(':')?
        .trim_end_matches(['.', ':'])
        .split(':')
        .collect();
    let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // `2024-05-01T10:00:00`, `nv-mm.h:29:13`.
    let is_time = name.bytes().all(|byte| byte.is_ascii_hexdigit())
        || name.starts_with(|letter: char| letter.is_ascii_digit())
            && numbers.iter().all(|text| text.len() == 2)
        || SOURCES.iter().any(|ending| name.ends_with(ending));
    (place.is_start("-._") && !is_time && numbers.len() == 2 && numbers.iter().all(is_number))
        .then_some(length)
}

fn name(text: &str) -> usize {
    let end = text.find(|character: char| !(character.is_alphanumeric() || "-_.".contains(character)));
    end.unwrap_or(text.len())
}

/// Folders of Python packages: what follows is the same everywhere.
const PACKAGES: [&str; 2] = ["/site-packages/", "/dist-packages/"];
/// Folders of the system that stand within others, such as those of a container's image, and of well-known sources.
const WITHIN: [&str; 11] = [
    "/usr/lib/",
    "/usr/lib64/",
    "/usr/bin/",
    "/usr/local/cuda",
    "/proc/driver/",
    "/run/nvidia",
    "/lib/firmware/",
    "/sys/",
    "/third_party/",
    "/aten/src/",
    "/torch/csrc/",
];
/// Endings of sources that a library was built from.
const SOURCES: [&str; 8] = [".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".rs"];

/// The end of a private path without its owner: a package's module, a library's file or source, a container's system path.
pub(super) fn known_end(path: &str) -> &str {
    let behind = |folder: &str, kept: usize| path.rfind(folder).and_then(|at| path.get(at + kept..));
    let package = PACKAGES
        .iter()
        .find_map(|folder| behind(folder, folder.len() - 1))
        .or_else(|| WITHIN.iter().find_map(|folder| behind(folder, 0)));
    if let Some(package) = package.filter(|end| !end.contains("..")) {
        return package;
    }
    let name = path.rfind('/').and_then(|at| path.get(at..)).unwrap_or_default();
    let file = name.split(':').next().unwrap_or_default();
    let is_library = file == "/slurm_script"
        || file.starts_with("/lib") && (file.contains(".so") || file.strip_suffix(".a").is_some());
    let is_source = SOURCES.iter().any(|ending| file.ends_with(ending));
    if is_library || is_source { name } else { "" }
}

/// `/total` of `</total>`, as nvidia-smi's XML has it.
pub(super) fn is_end_tag(word: &str) -> bool {
    let name = word.strip_prefix('/').unwrap_or_default();
    let is_of_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    !name.is_empty() && name.bytes().all(is_of_name)
}

/// Names that look like paths: tasks of TensorFlow and JAX, methods of gRPC.
pub(super) fn is_no_path(text: &str) -> bool {
    ["/job:", "/replica:", "/task:", "/device:", "/tensorflow."]
        .iter()
        .any(|start| text.starts_with(start))
}
