//! A line as it was before it was written down for a program or a page: escapes of JSON and of source texts, entities of
//! HTML, the quotes and blanks that editors and pages put in, marks of Markdown, colours whose escape character was lost. Such a line is read
//! as it stands and once more so; what both readings find counts once.

use std::borrow::Cow;

use super::bytes;
use super::clean::{Clean, ESC, sequence_len};
use super::encoded::{self, Address};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signs {
    /// Backslashes, as programs write lines of others into their own logs.
    Escapes,
    /// What pages and editors put in place of blanks and quotes.
    Typography,
    /// Both, and the marks of Markdown: pages and editors are no logs.
    All,
    /// All of these, and what addresses and mails put in place of signs, and tabs and further blanks between words.
    Encoded,
}

impl Signs {
    fn begin(self, byte: u8) -> bool {
        match byte {
            ESC => true,
            b'\\' | b'#' | b'[' => self != Self::Typography,
            b'&' | b'^' | b'*' | b'`' => self.is_of_page(),
            b'%' | b'+' | b'=' | b' ' | b'\t' => self == Self::Encoded,
            0xc2 | 0xe2 | 0xe3 | 0xef => self != Self::Escapes,
            _ => false,
        }
    }

    fn is_of_page(self) -> bool {
        matches!(self, Self::All | Self::Encoded)
    }
}

/// Bytes of a character in UTF-8 at most.
const LONGEST_CHAR: usize = 4;

/// What stands for something else: its length in bytes, and what it stands for.
type Stand = (usize, Cow<'static, str>);

/// Puts a line back; `is_middle`: a piece that does not begin it. `false` where only colours stand for something else.
pub(super) fn restore(line: &[u8], signs: Signs, is_middle: bool, clean: &mut Clean) -> bool {
    clean.clear();
    let (mut at, mut kept, mut differs) = (0, 0, false);
    let mut address = Address::default();
    let mut end = line.len();
    if signs == Signs::Encoded {
        let words = encoded::words(line);
        (at, end) = (at.max(words.start), words.end);
    }
    if is_middle && let Some((len, text)) = bytes::middle(line) {
        clean.put(&text, len);
        (at, kept, differs) = (len, len, true);
    }
    let next = |at| line.get(at..end)?.iter().position(|byte| signs.begin(*byte));
    while let Some(step) = next(at) {
        at += step;
        if line.get(at) == Some(&b'[')
            && bytes::is_message(line, at)
            && let Some((len, text)) = bytes::array(tail(line, at))
        {
            clean.keep(line, kept..at);
            clean.put(&text, at + len);
            at += len;
            (kept, differs) = (at, true);
            continue;
        }
        let stand = match line.get(at) {
            Some(b'\\') if signs == Signs::Encoded => {
                let stand = escape(tail(line, at));
                stand.map(|(len, text)| {
                    if text == "\t" {
                        borrowed((len, " "))
                    } else {
                        (len, text)
                    }
                })
            }
            Some(b'%' | b'+') => address.stand(line, at).map(borrowed),
            Some(b'=') => line.get(at..end).and_then(encoded::of_mail).map(borrowed),
            Some(b' ' | b'\t') => encoded::blanks(tail(line, at)).map(|len| borrowed((len, " "))),
            _ => stand(tail(line, at), signs),
        };
        let Some((len, text)) = stand else {
            at += 1;
            continue;
        };
        differs |= line.get(at) != Some(&ESC);
        clean.keep(line, kept..at);
        clean.put(text.as_bytes(), at + len);
        at += len;
        kept = at;
    }
    clean.keep(line, kept..line.len());
    differs
}

fn borrowed((len, text): (usize, &'static str)) -> Stand {
    (len, Cow::Borrowed(text))
}

fn stand(rest: &[u8], signs: Signs) -> Option<Stand> {
    match rest.first()? {
        &ESC => Some((sequence_len(rest).max(1), Cow::Borrowed(""))),
        b'\\' => escape(rest),
        b'&' => entity(rest),
        b'^' => Some((2 + colour(rest.strip_prefix(b"^[")?)?, Cow::Borrowed(""))),
        b'#' => control(rest),
        b'[' if signs.is_of_page() => Some((colour(rest)?, Cow::Borrowed(""))),
        0xc2 if rest.get(1) == Some(&0x9b) => Some((short_sequence(rest), Cow::Borrowed(""))),
        b'*' => rest.starts_with(b"**").then_some((2, Cow::Borrowed(""))),
        b'`' => Some((1, Cow::Borrowed(""))),
        _ if signs != Signs::Escapes => typographic(rest),
        _ => None,
    }
}

/// `\"`, `\n`, `\u003c`, `\x1b[31m`. Programs inside programs escape each other's escapes, so that backslashes come in rows.
fn escape(rest: &[u8]) -> Option<Stand> {
    let slashes = rest.iter().take_while(|byte| **byte == b'\\').count();
    let behind = tail(rest, slashes);
    if let Some(len) = escaped_colour(behind) {
        return Some((slashes + len, Cow::Borrowed("")));
    }
    if let Some(end) = behind.strip_prefix(b"r")
        && end.starts_with(rest.get(..slashes)?)
        && tail(end, slashes).first() == Some(&b'n')
    {
        return Some((2 * slashes + 2, Cow::Borrowed("\r")));
    }
    let text = match behind.first() {
        Some(b'"') => "\"",
        Some(b'\'') => "'",
        Some(b'/') => "/",
        Some(b'n' | b'r') => "\r",
        Some(b't') => "\t",
        Some(b'u') if let Some((len, text)) = unicode(behind) => return Some((slashes + len, text)),
        _ if slashes > 1 => return Some((slashes, Cow::Borrowed("\\"))),
        _ => return None,
    };
    Some((slashes + 1, Cow::Borrowed(text)))
}

/// `#033[31m`, `#011`, `#012`: rsyslog writes control characters as octal numbers.
fn control(rest: &[u8]) -> Option<Stand> {
    const LEN: usize = 4;
    if rest.starts_with(b"#015#012") {
        return Some((2 * LEN, Cow::Borrowed("\r")));
    }
    let text = match control_number(rest)? {
        // The last digit stands where the escape character would.
        ESC => {
            return Some((
                LEN - 1 + sequence_len(tail(rest, LEN - 1)).max(1),
                Cow::Borrowed(""),
            ));
        }
        b'\t' => "\t",
        b'\n' | b'\r' => "\r",
        _ => "",
    };
    Some((LEN, Cow::Borrowed(text)))
}

pub(super) fn control_number(rest: &[u8]) -> Option<u8> {
    let [b'#', b'0', high @ b'0'..=b'3', low @ b'0'..=b'7', ..] = *rest else {
        return None;
    };
    Some((high - b'0') * 8 + (low - b'0'))
}

/// Length of `x1b[31m`, `033[0m`, `u001b[1m` behind a backslash.
fn escaped_colour(behind: &[u8]) -> Option<usize> {
    const ESCAPES: [&str; 6] = ["u001b", "u001B", "x1b", "x1B", "033", "e"];
    let mut all = ESCAPES.into_iter();
    let escape = all.find(|escape| behind.starts_with(escape.as_bytes()))?;
    Some(escape.len() + colour(tail(behind, escape.len()))?)
}

/// `u003c` behind a backslash.
fn unicode(behind: &[u8]) -> Option<Stand> {
    Some((5, shown(number(behind.get(1..5)?, 16)?)))
}

/// `&lt;`, `&quot;`, `&#39;`, `&#x27;`.
fn entity(rest: &[u8]) -> Option<Stand> {
    const LONGEST: usize = 8;
    let end = rest.iter().take(LONGEST + 1).position(|byte| *byte == b';')?;
    let text = match rest.get(1..end)? {
        b"lt" => Cow::Borrowed("<"),
        b"gt" => Cow::Borrowed(">"),
        b"amp" => Cow::Borrowed("&"),
        b"quot" => Cow::Borrowed("\""),
        b"apos" => Cow::Borrowed("'"),
        b"nbsp" => Cow::Borrowed(" "),
        [b'#', b'x' | b'X', digits @ ..] => shown(number(digits, 16)?),
        [b'#', digits @ ..] => shown(number(digits, 10)?),
        _ => return None,
    };
    Some((end + 1, text))
}

fn number(digits: &[u8], radix: u32) -> Option<char> {
    let digits = std::str::from_utf8(digits).ok()?;
    char::from_u32(u32::from_str_radix(digits, radix).ok()?)
}

/// Length of `[31m`, `[0m`, `[1;38;5;9m`: what a colour leaves of itself without its escape character.
fn colour(rest: &[u8]) -> Option<usize> {
    const LONGEST: usize = 20;
    let body = rest.strip_prefix(b"[")?;
    let len = body
        .iter()
        .take(LONGEST)
        .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
        .count();
    let is_colour = len > 0 && matches!(body.get(len), Some(b'm' | b'K'));
    is_colour.then_some(len + 2)
}

/// Length of a control sequence that U+009B begins, which is `ESC [` in one character (ECMA-48, 8-bit C1).
fn short_sequence(rest: &[u8]) -> usize {
    const LEN: usize = 2;
    let body = tail(rest, LEN);
    let parameters = body.iter().take_while(|b| (0x20..=0x3f).contains(*b)).count();
    let has_final = body.get(parameters).is_some_and(|b| (0x40..=0x7e).contains(b));
    LEN + parameters + usize::from(has_final)
}

/// A character that pages, editors and input methods put in the place of an ASCII one.
fn typographic(rest: &[u8]) -> Option<Stand> {
    // Two characters: reading on to the end for each one would take the square of a line's length.
    let near = rest.get(..2 * LONGEST_CHAR).unwrap_or(rest);
    let mut chars = near.utf8_chunks().next()?.valid().chars();
    let c = chars.next()?;
    let text = plain(c, chars.next())?;
    Some((c.len_utf8(), text))
}

fn shown(c: char) -> Cow<'static, str> {
    plain(c, None).unwrap_or_else(|| Cow::Owned(c.to_string()))
}

/// What programs print for a typographic character; `None` for any other. East Asian punctuation holds its own blank.
fn plain(c: char, next: Option<char>) -> Option<Cow<'static, str>> {
    let text = match c {
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => " ",
        '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => "",
        '\u{2018}'..='\u{201b}' | '\u{2032}' => "'",
        '\u{201c}'..='\u{201f}' | '\u{2033}' => "\"",
        '\u{2010}' | '\u{2011}' | '\u{2212}' => "-",
        // The sides of a table that was drawn anew.
        '\u{2502}' | '\u{2503}' | '\u{2551}' => "|",
        '\u{ff01}'..='\u{ff5e}' => {
            let ascii = u8::try_from(u32::from(c) - 0xfee0).ok()?;
            let mut text = char::from(ascii).to_string();
            if b":,;".contains(&ascii) && next.is_some_and(|next| !next.is_whitespace()) {
                text.push(' ');
            }
            return Some(Cow::Owned(text));
        }
        _ => return None,
    };
    Some(Cow::Borrowed(text))
}

fn tail(bytes: &[u8], from: usize) -> &[u8] {
    bytes.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn restored(line: &str, signs: Signs) -> Option<String> {
        let mut clean = Clean::default();
        let differs = restore(line.as_bytes(), signs, false, &mut clean);
        differs.then(|| String::from_utf8(clean.text).unwrap())
    }

    #[test]
    fn what_programs_escape_is_put_back() {
        for (sent, was) in [
            (r#"{"log":"a \u003c b\n"}"#, "{\"log\":\"a < b\r\"}"),
            (r#"{"msg":"say \"no\""}"#, r#"{"msg":"say "no""}"#),
            (
                r#"{"log":"{\"msg\":\"say \\\"no\\\"\"}"}"#,
                r#"{"log":"{"msg":"say "no""}"}"#,
            ),
            (r"\u001b[31mred\u001b[0m \x1b[1mbold\033[0m", "red bold"),
            (r"C:\\Windows\\x", r"C:\Windows\x"),
            (r"a\r\nb\\r\\nc\n\nd#015#012e", "a\rb\rc\r\rd\re"),
            (r"it\u2019s", "it's"),
            (r"\u2502 GPU3: Fail \u2502", "| GPU3: Fail |"),
            ("#033[31mred#033[0m#011x#015", "red\tx\r"),
            (
                r#"{"MESSAGE":[27,91,51,49,109,114,101,100,10],"A":[1]}"#,
                "{\"MESSAGE\":\"red\r\",\"A\":[1]}",
            ),
            (r#"{"MESSAGE" : [ 114, 101 ]}"#, r#"{"MESSAGE" : "re"}"#),
        ] {
            assert_eq!(restored(sent, Signs::Escapes).as_deref(), Some(was), "{sent}");
        }
        for sent in [
            r"C:\Windows",
            "plain",
            "\u{1b}[31mred\u{1b}[0m",
            "a &lt; b",
            r"\u12",
            "\\",
            "#0  0x00007f in main, #99, #0400",
            r#"{"MESSAGE":[],"TOKENS":[1,2]}"#,
            "a[3] [1;31m",
        ] {
            assert_eq!(restored(sent, Signs::Escapes), None, "{sent}");
        }
    }

    #[test]
    fn what_pages_and_editors_change_is_put_back() {
        for (sent, was) in [
            (
                "a &lt; b &amp;&amp; &#39;c&#x27; &quot;d&quot;",
                "a < b && 'c' \"d\"",
            ),
            ("‘a’ “b” c\u{a0}d\u{200b}e", "'a' \"b\" c de"),
            ("│ a ┃ b ║", "| a | b |"),
            ("错误：未知（999）", "错误: 未知(999)"),
            ("^[[31mred^[[0m [1;31mred[0m", "red red"),
            ("\u{1b}[1mbold\u{1b}[0m &gt;", "bold >"),
            ("\u{9b}31mred\u{9b}0m \u{9b}1;4mbold\u{9b}", "red bold"),
            ("**Xid** 79, `error 217` ``x``", "Xid 79, error 217 x"),
        ] {
            assert_eq!(restored(sent, Signs::All).as_deref(), Some(was), "{sent}");
        }
        for sent in [
            "AT&T; x",
            "a[3] [0]",
            "显存不足",
            "x ^ y",
            "&#xd800;",
            "[m",
            "2 * 3 * x",
        ] {
            assert_eq!(restored(sent, Signs::All), None, "{sent}");
        }
    }

    #[test]
    fn a_place_leads_back_to_the_bytes_as_sent() {
        let sent = r#"x \u003c \"near\" y"#;
        let mut clean = Clean::default();
        restore(sent.as_bytes(), Signs::Escapes, false, &mut clean);
        let text = String::from_utf8(clean.text.clone()).unwrap();
        let at = text.find("near").unwrap();
        let span = clean.original(&(at..at + 4));
        assert_eq!(&sent[span], "near");
        let quoted = clean.original(&(at - 1..at + 5));
        assert_eq!(&sent[quoted], r#""near\""#, "the end is exact");
    }
}
