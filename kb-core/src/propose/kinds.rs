//! Parts of a line that vary from run to run: how each is told from its text, and the class that takes its like.

use std::sync::LazyLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Url,
    Uuid,
    Pci,
    Mac,
    Time,
    Ip,
    Hex,
    Path,
    Host,
    Decimal,
    BareHex,
    Number,
    /// What redaction puts for the name of a user, and for a secret.
    User,
    Secret,
    Quoted,
}

/// Forms of which the first that fits counts; each ends where a word does.
const FORMS: [(Kind, &str); 18] = [
    (Kind::Url, r#"[a-z][a-z0-9+]{1,9}://[^\s"'<>]+"#),
    (
        Kind::Uuid,
        r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b",
    ),
    (
        Kind::Pci,
        r"(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]\b",
    ),
    (Kind::Pci, r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\b"),
    (Kind::Mac, r"(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}\b"),
    (
        Kind::Time,
        r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?\b",
    ),
    (Kind::Time, r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?\b"),
    (Kind::Ip, r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b"),
    (Kind::Ip, r"(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}\b"),
    (
        Kind::Ip,
        r"[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){0,6}::(?:[0-9a-fA-F]{1,4}:){0,6}[0-9a-fA-F]{1,4}\b",
    ),
    (Kind::Hex, r"0[xX][0-9a-fA-F]+\b"),
    (
        Kind::Path,
        r"(?:[A-Za-z]:\\|[.~]{0,2}/)[A-Za-z0-9_.+@%=~-]+(?:[/\\][A-Za-z0-9_.+@%=~-]*)*",
    ),
    (
        Kind::Path,
        r"[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.+-]+)+\.[A-Za-z0-9]{1,5}\b",
    ),
    (
        Kind::Host,
        r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*\.(?:com|org|net|edu|gov|io|local|localdomain|internal|lan|corp|cluster|cloud|svc|home)\b",
    ),
    (
        Kind::Host,
        r"(?:ip|gpu|node|host|worker|dgx|hgx|compute|login|cn|nid|server|pod|head|slurm|rack)[A-Za-z0-9]*(?:-[A-Za-z0-9]+)*-[A-Za-z]*[0-9]+\b",
    ),
    (Kind::Decimal, r"[0-9]+(?:\.[0-9]+)+\b"),
    (Kind::User, r"user-[0-9]+\b"),
    (Kind::Secret, r"secret-[0-9]+\b"),
];

static READ: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new_many(&FORMS.map(|(_, form)| form)).ok());

/// Shortest run of hexadecimal digits without `0x` that is a number and no word.
const LEAST_BARE_HEX: usize = 8;
/// What may follow a number without a blank.
const UNITS: [&str; 27] = [
    "ns", "us", "ms", "s", "sec", "min", "h", "B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "kB",
    "b", "K", "M", "G", "W", "C", "MHz", "GHz", "x", "th",
];

/// What varies at the beginning of a text that begins where a word may, and its length in bytes.
pub(super) fn at_start(rest: &str) -> Option<(Kind, usize)> {
    let input = Input::new(rest).anchored(Anchored::Yes);
    if let Some(found) = READ.as_ref().and_then(|read| read.find(input)) {
        let kind = FORMS.get(found.pattern().as_usize()).map(|(kind, _)| *kind)?;
        // A sentence or a list goes on behind a path.
        let trimmed = rest
            .get(..found.end())?
            .trim_end_matches(['.', '=', '-', ',', ';', ')', ':']);
        if matches!(kind, Kind::Path | Kind::Url) {
            return (trimmed.len() > 1).then_some((kind, trimmed.len()));
        }
        return Some((kind, found.end()));
    }
    let run = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let word = rest.get(..run)?;
    if goes_on(rest.get(run..)?) {
        return None;
    }
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let is_hex = run >= LEAST_BARE_HEX && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    match digits {
        _ if is_hex && digits < run && word.bytes().any(|byte| byte.is_ascii_digit()) => {
            Some((Kind::BareHex, run))
        }
        0 => None,
        _ if digits == run || UNITS.contains(&word.get(digits..)?) => Some((Kind::Number, digits)),
        _ => None,
    }
}

fn goes_on(rest: &str) -> bool {
    rest.chars()
        .next()
        .is_some_and(|next| next.is_alphanumeric() || next == '_')
}

/// A class of signs, written between brackets or as a class of its own, and how many of them a value has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) signs: &'static str,
    /// Longest value that is taken, where no longer one was seen.
    pub(super) usual: usize,
}

pub(super) const DIGITS: Class = Class {
    signs: "[0-9]",
    usual: 12,
};
pub(super) const HEX_DIGITS: Class = Class {
    signs: "[0-9a-fA-F]",
    usual: 16,
};
pub(super) const NAME: Class = Class {
    signs: "[A-Za-z0-9_.:/-]",
    usual: 64,
};
pub(super) const UNBROKEN: Class = Class {
    signs: r"\S",
    usual: 64,
};
pub(super) const ANY: Class = Class {
    signs: ".",
    usual: 80,
};

impl Kind {
    pub(super) fn class(self) -> Class {
        let of = |signs, usual| Class { signs, usual };
        match self {
            Self::Url => of(r#"[^\s"'<>]"#, 120),
            Self::Uuid => of("[0-9a-fA-F-]", 36),
            Self::Pci => of("[0-9a-fA-F:.]", 16),
            Self::Mac => of("[0-9a-fA-F:]", 17),
            Self::Time => of("[0-9TZ:.,/+-]", 35),
            Self::Ip => of("[0-9a-fA-F:.]", 45),
            Self::Hex => of("[0-9a-fA-FxX]", 18),
            Self::Path => of(r"[A-Za-z0-9_.+@%=~:/\\-]", 120),
            Self::Host => of("[A-Za-z0-9.-]", 64),
            Self::Decimal => of("[0-9.]", 16),
            Self::BareHex => of("[0-9a-fA-F]", 32),
            Self::Number => DIGITS,
            Self::User => of("[A-Za-z0-9_.@+-]", 64),
            Self::Secret => of(r"\S", 200),
            Self::Quoted => of(r#"[^"'`]"#, 120),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Uuid => "uuid",
            Self::Pci => "pci",
            Self::Mac => "mac",
            Self::Time => "time",
            Self::Ip => "ip",
            Self::Hex | Self::BareHex => "address",
            Self::Path => "path",
            Self::Host => "host",
            Self::Decimal | Self::Number => "number",
            Self::User => "user",
            Self::Secret => "secret",
            Self::Quoted => "name",
        }
    }

    pub(super) fn is_named_by_word(self) -> bool {
        matches!(
            self,
            Self::Decimal | Self::Number | Self::BareHex | Self::Hex | Self::Quoted
        )
    }
}
