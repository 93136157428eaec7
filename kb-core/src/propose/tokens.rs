//! A message cut into words, signs and parts that vary.

use super::kinds::{Kind, at_start};

/// Tokens of one message; what stands behind them is not part of a proposal.
const MOST_TOKENS: usize = 250;
/// Longest text between quotation marks that is a name, in bytes.
const MOST_QUOTED: usize = 120;

/// Words behind which a number says which error it is.
const CODE_WORDS: [&str; 18] = [
    "xid",
    "sxid",
    "error",
    "err",
    "errno",
    "code",
    "status",
    "signal",
    "sig",
    "ret",
    "rc",
    "retval",
    "result",
    "exception",
    "errorcode",
    "exitcode",
    "opcode",
    "reason",
];
/// Beginnings of words that end in the number of a device or of a worker.
const NUMBERED: [&str; 32] = [
    "rank", "gpu", "cuda", "dev", "device", "node", "worker", "eth", "ib", "mlx", "nvidia", "nvme", "socket",
    "core", "cpu", "pid", "thread", "tid", "channel", "ring", "peer", "stream", "block", "sm", "tpc", "gpc",
    "nvswitch", "link", "lane", "numa", "card", "host",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Text,
    Varies(Kind),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) what: What,
}

impl Token {
    pub(super) fn text<'m>(&self, message: &'m str) -> &'m str {
        message.get(self.start..self.end).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    /// What stands between quotation marks is a name that varies.
    Vary,
    /// It is part of the message.
    Stay,
}

pub(super) fn tokens(message: &str, quotes: Quotes) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let mut at = 0;
    // Where the name between quotation marks ends that began with the last token.
    let mut name_len = None;
    while found.len() < MOST_TOKENS {
        let Some(rest) = message.get(at..).filter(|rest| !rest.is_empty()) else {
            break;
        };
        let blank = rest.len() - rest.trim_start().len();
        if blank > 0 {
            at += blank;
            continue;
        }
        let follows_word = message
            .get(..at)
            .and_then(|before| before.chars().next_back())
            .is_some_and(|before| before.is_alphanumeric() || before == '_');
        let (what, len) = match name_len.take() {
            Some(len) => (What::Varies(kind_of_name(rest, len)), len),
            None => next(rest, follows_word),
        };
        let token = Token {
            start: at,
            end: at + len,
            what,
        };
        let is_code = what == What::Varies(Kind::Number) && names_error(&found, message, at);
        found.push(Token {
            what: if is_code { What::Text } else { what },
            ..token
        });
        at += len;
        if quotes == Quotes::Vary && what == What::Text && !follows_word {
            name_len = name_in_quotes(rest);
        }
    }
    found
}

/// What comes next in a text that does not begin with a blank, and its length.
fn next(rest: &str, follows_word: bool) -> (What, usize) {
    if !follows_word && let Some((kind, len)) = at_start(rest) {
        return (What::Varies(kind), len);
    }
    if follows_word && let Some(len) = number_of_word(rest) {
        return (What::Varies(Kind::Number), len);
    }
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let word: usize = rest
        .chars()
        .take_while(|letter| is_word(*letter))
        .map(char::len_utf8)
        .sum();
    if word == 0 {
        return (What::Text, rest.chars().next().map_or(1, char::len_utf8));
    }
    let text = rest.get(..word).unwrap_or_default();
    let stem = text.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let is_numbered = stem.len() < word && is_numbered(stem);
    (What::Text, if is_numbered { stem.len() } else { word })
}

fn is_numbered(stem: &str) -> bool {
    let stem = stem.trim_end_matches('_').to_ascii_lowercase();
    let last = stem.rsplit('_').next().unwrap_or_default();
    NUMBERED.contains(&last)
}

fn number_of_word(rest: &str) -> Option<usize> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let ends = rest
        .get(digits..)?
        .chars()
        .next()
        .is_none_or(|next| !next.is_alphanumeric() && next != '_');
    (digits > 0 && ends).then_some(digits)
}

/// Length of a name behind a quotation mark that begins a text: without blanks, up to the same mark.
fn name_in_quotes(rest: &str) -> Option<usize> {
    let mark = rest
        .chars()
        .next()
        .filter(|mark| matches!(mark, '"' | '\'' | '`'))?;
    let inside = rest.get(mark.len_utf8()..)?;
    let len = inside.find(mark)?;
    let name = inside.get(..len)?;
    let is_name = !name.is_empty()
        && len <= MOST_QUOTED
        && !name.contains(|letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | '`'));
    is_name.then_some(len)
}

fn kind_of_name(rest: &str, len: usize) -> Kind {
    let found = at_start(rest).filter(|(_, found)| *found == len);
    found.map_or(Kind::Quoted, |(kind, _)| kind)
}

/// Whether a number at this place says which error it is: it stands behind such a word, with signs or what is in brackets between.
fn names_error(before: &[Token], message: &str, at: usize) -> bool {
    let mut depth = 0_u32;
    let mut last = at;
    for token in before.iter().rev().take(12) {
        let text = token.text(message);
        // A blank is a sign, a longer gap another column.
        if depth == 0 && last.saturating_sub(token.end) > 1 {
            return false;
        }
        last = token.start;
        match text {
            ")" | "]" => depth += 1,
            "(" | "[" if depth > 0 => depth -= 1,
            "(" | "[" | ":" | "=" | "#" | "\"" | "'" => {}
            _ if depth > 0 => {}
            word => return CODE_WORDS.contains(&word.to_ascii_lowercase().as_str()),
        }
    }
    false
}
