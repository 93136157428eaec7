//! Taking out of texts what their owner does not want to leave the house. Each cut leaves a mark; the same text has the same
//! mark throughout, so that lines still fit together. In reports marks are `[host 1]`, `[address 2]`, `[path 3]`, `[secret 4]`,
//! `[user 5]`. In lines that are to become patterns they are written like what they stand for: `host-1`, `192.0.2.2`, `/path-3`.
//!
//! ```text
//! report   every text of a report, as its owner asked            lines    lines that anybody may read: all kinds, and in doubt a cut
//! find     addresses, paths, known hosts, word by word           rules    what its neighbours give away: keys, users, hosts, prompts
//! random   whether a word looks as if nobody could have thought of it           cuts     the rules applied to a text
//! ```
//!
//! PCI addresses, GPU UUIDs, error codes and versions stay: without them a line says nothing. System paths (`/proc`, `/sys`,
//! `/usr` …) are the same everywhere and stay too.

mod cuts;
mod find;
mod lines;
mod random;
mod report;
mod rules;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::ops::Range;

use find::Place;

pub use lines::{Lines, line};
pub use report::report;

/// What is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Names of the host and of those that log lines name beside it.
    Hosts,
    /// IP and hardware addresses.
    Addresses,
    /// Paths outside of the system's own folders.
    Paths,
    /// Keys, tokens and passwords.
    Secrets,
    /// Names of users and e-mail addresses.
    Users,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 5] = [
        Self::Hosts,
        Self::Addresses,
        Self::Paths,
        Self::Secrets,
        Self::Users,
    ];

    /// The word of its marks.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hosts => "host",
            Self::Addresses => "address",
            Self::Paths => "path",
            Self::Secrets => "secret",
            Self::Users => "user",
        }
    }
}

/// The name up to its domain, which is found wherever it stands; all of it where that is no name by itself.
fn known_host(named: &str) -> String {
    let short = named.split('.').next().unwrap_or_default();
    let is_number = named.parse::<IpAddr>().is_ok() || short.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { named } else { short }.to_owned()
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Cut {
    at: Range<usize>,
    kind: Kind,
}

#[derive(Debug)]
struct Redactor<'a> {
    kinds: &'a [Kind],
    /// Name of the host without its domain.
    host: String,
    /// Whether names that look like those of hosts are cut, too, and paths up to what is the same everywhere.
    guesses: bool,
    /// Whether secrets stay for now.
    spares_secrets: bool,
    /// Number of each text that was cut.
    marks: BTreeMap<(Kind, String), usize>,
    /// How many texts of each kind have a number: counting them anew at each cut would take quadratic time.
    numbered: BTreeMap<Kind, usize>,
}

impl<'a> Redactor<'a> {
    fn of(kinds: &'a [Kind], host: &str) -> Self {
        Self {
            kinds,
            host: known_host(host),
            guesses: false,
            spares_secrets: false,
            marks: BTreeMap::new(),
            numbered: BTreeMap::new(),
        }
    }

    fn wants(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind) && !(self.spares_secrets && kind == Kind::Secrets)
    }

    /// First what neighbours give away, then word by word what is left.
    fn text(&mut self, text: &str, is_version: bool) -> String {
        let mut cuts = Vec::new();
        if self.guesses || self.wants(Kind::Secrets) || self.wants(Kind::Users) {
            cuts = cuts::cuts(text, self.guesses, |kind| self.wants(kind));
        }
        let mut written = String::with_capacity(text.len());
        let mut from = 0;
        for cut in cuts {
            self.piece(text, from..cut.at.start, is_version, &mut written);
            let mark = self.mark(cut.kind, text.get(cut.at.clone()).unwrap_or_default());
            written.push_str(&mark);
            from = cut.at.end;
        }
        self.piece(text, from..text.len(), is_version, &mut written);
        written
    }

    /// Word by word: what stands between two characters that are part of no name, address or path.
    fn piece(&mut self, text: &str, piece: Range<usize>, is_version: bool, written: &mut String) {
        let before = text.get(..piece.start).unwrap_or_default();
        // A word that a cut has parted goes on here.
        let begun = before.rfind(is_border).map_or(0, |at| {
            at + before
                .get(at..)
                .and_then(|rest| rest.chars().next())
                .map_or(1, char::len_utf8)
        });
        let mut before = text.get(begun..piece.start).unwrap_or_default();
        let mut rest = text.get(piece).unwrap_or_default();
        let mut is_version_next = false;
        while !rest.is_empty() {
            let end = rest.find(is_border).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            if written.ends_with('<') && behind.starts_with('>') && find::is_end_tag(word) {
                written.push_str(word);
            } else {
                let whole = [before, word].concat();
                written.push_str(&self.word(&whole, before.len(), is_version || is_version_next));
            }
            before = "";
            if !word.is_empty() {
                is_version_next = word.eq_ignore_ascii_case("version");
            }
            let border = behind.chars().next().map_or(0, char::len_utf8);
            let (border, behind) = behind.split_at(border);
            written.push_str(border);
            rest = behind;
        }
    }

    fn word(&mut self, word: &str, mut at: usize, is_version: bool) -> String {
        let mut written = String::with_capacity(word.len());
        let begun = word.get(..at).unwrap_or_default();
        let mut behind_server = begun.rfind("://").is_some_and(|server| {
            begun
                .get(server + 3..)
                .is_some_and(|authority| !authority.contains('/'))
        });
        while let Some((before, rest)) = word.split_at_checked(at) {
            let place = Place { before, rest };
            if let Some((kind, length)) = self.found(place, behind_server, is_version) {
                let (cut, _) = rest.split_at(length);
                written.push_str(&self.mark(kind, cut));
                if kind == Kind::Paths && self.guesses {
                    written.push_str(find::known_end(cut));
                }
                at += length;
                continue;
            }
            let Some(character) = rest.chars().next() else {
                break;
            };
            if rest.starts_with("://") {
                behind_server = true;
                written.push_str("://");
                at += 3;
                continue;
            }
            behind_server &= character != '/';
            written.push(character);
            at += character.len_utf8();
        }
        written
    }

    fn found(&self, place: Place<'_>, behind_server: bool, is_version: bool) -> Option<(Kind, usize)> {
        let is_public = behind_server && self.guesses && cuts::is_public(place.before);
        let path = || find::path(place, behind_server).map(|length| (Kind::Paths, length));
        let address = || find::address(place, is_version).map(|length| (Kind::Addresses, length));
        let host = || {
            // The format's own words (`peer_access`) may hold a host's name; they stay unless they are one.
            let word = [place.before, place.rest].concat();
            let known = if is_of_the_format(&word) && !word.eq_ignore_ascii_case(&self.host) {
                None
            } else {
                find::host(place, &self.host)
            };
            known
                .or_else(|| find::process(place))
                .map(|length| (Kind::Hosts, length))
        };
        let is_path = !(is_public || self.guesses && find::is_no_path(place.rest));
        let path = (self.wants(Kind::Paths) && is_path).then(path).flatten();
        let address = || self.wants(Kind::Addresses).then(address).flatten();
        let host = || self.wants(Kind::Hosts).then(host).flatten();
        path.or_else(address).or_else(host)
    }

    fn mark(&mut self, kind: Kind, text: &str) -> String {
        let is_hardware =
            kind == Kind::Addresses && text.parse::<IpAddr>().is_err() && text.matches(':').count() >= 5;
        // Names of hosts have no case.
        let text = match kind {
            Kind::Hosts => text.to_ascii_lowercase(),
            Kind::Addresses | Kind::Paths | Kind::Secrets | Kind::Users => text.to_owned(),
        };
        let numbered = self.numbered.entry(kind).or_default();
        let number = *self.marks.entry((kind, text)).or_insert_with(|| {
            *numbered += 1;
            *numbered
        });
        if !self.guesses {
            return format!("[{} {number}]", kind.word());
        }
        alike(kind, number, is_hardware)
    }
}

/// What stands for a cut, written alike: patterns still find the line, and a pattern made from it finds the original.
fn alike(kind: Kind, number: usize, is_hardware: bool) -> String {
    match kind {
        // Both kinds of addresses are kept for examples: RFC 7042, section 2.1.1, and RFC 5737.
        Kind::Addresses if is_hardware => format!("00:00:5e:00:53:{:02x}", number % 256),
        Kind::Addresses => format!("192.0.2.{}", number % 255),
        Kind::Paths => format!("/path-{number}"),
        Kind::Hosts | Kind::Secrets | Kind::Users => format!("{}-{number}", kind.word()),
    }
}

fn is_border(character: char) -> bool {
    character.is_whitespace() || "\"'`,;()<>[]{}=|".contains(character)
}

/// As the names and words that the report's format defines are written; hosts, addresses and paths have more.
fn is_of_the_format(name: &str) -> bool {
    name.bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b'.')
}
