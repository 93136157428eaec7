//! The strict reader of strings and numbers.

/// Something wrong at a byte offset; the reader adds the pointer.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) rule: &'static str,
    pub(super) reason: String,
}

impl Fault {
    pub(super) fn new(at: usize, rule: &'static str, reason: impl Into<String>) -> Self {
        Self {
            at,
            rule,
            reason: reason.into(),
        }
    }
}

/// The string whose opening quote is at `start`, unescaped, and the offset after its closing quote.
pub(super) fn string(text: &str, start: usize) -> Result<(String, usize), Fault> {
    let bytes = text.as_bytes();
    let mut plain = String::new();
    let mut at = start + 1;
    loop {
        let run_start = at;
        while bytes
            .get(at)
            .is_some_and(|&b| b != b'"' && b != b'\\' && b >= 0x20)
        {
            at += 1;
        }
        // The run ends before an ASCII byte or at the end, so it is cut between characters.
        plain.push_str(text.get(run_start..at).unwrap_or_default());
        match bytes.get(at) {
            Some(b'"') => return Ok((plain, at + 1)),
            Some(b'\\') => at = escape(bytes, at, &mut plain)?,
            Some(0) => return Err(Fault::new(at, "nul", "a NUL byte stands in a string")),
            Some(byte) => {
                let reason = format!("the control character \\u{byte:04x} must be escaped in a string");
                return Err(Fault::new(at, "syntax", reason));
            }
            None => return Err(Fault::new(start, "syntax", "this string is not closed")),
        }
    }
}

/// Reads the escape whose backslash is at `at`; returns the offset after it.
fn escape(bytes: &[u8], at: usize, plain: &mut String) -> Result<usize, Fault> {
    let simple = match bytes.get(at + 1) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(bytes, at, plain),
        _ => return Err(Fault::new(at, "syntax", "this escape is not one of JSON's")),
    };
    plain.push(simple);
    Ok(at + 2)
}

fn unicode_escape(bytes: &[u8], at: usize, plain: &mut String) -> Result<usize, Fault> {
    let first = four_digits(bytes, at)?;
    if first == 0 {
        return Err(Fault::new(at, "nul", "\\u0000 (NUL) is not accepted in a string"));
    }
    if let Some(character) = char::from_u32(first) {
        plain.push(character);
        return Ok(at + 6);
    }
    let lone = || {
        Fault::new(
            at,
            "surrogate",
            format!("\\u{first:04x} is half of a surrogate pair"),
        )
    };
    let is_high = (0xd800..0xdc00).contains(&first);
    let followed_by_escape = bytes.get(at + 6) == Some(&b'\\') && bytes.get(at + 7) == Some(&b'u');
    if !is_high || !followed_by_escape {
        return Err(lone());
    }
    let second = four_digits(bytes, at + 6)?;
    if !(0xdc00..0xe000).contains(&second) {
        return Err(lone());
    }
    let code_point = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    plain.push(char::from_u32(code_point).ok_or_else(lone)?);
    Ok(at + 12)
}

fn four_digits(bytes: &[u8], at: usize) -> Result<u32, Fault> {
    let mut code_unit = 0;
    for offset in 2..6 {
        let digit = bytes.get(at + offset).and_then(|&b| char::from(b).to_digit(16));
        let digit = digit.ok_or_else(|| Fault::new(at, "syntax", "\\u takes four hexadecimal digits"))?;
        code_unit = code_unit * 16 + digit;
    }
    Ok(code_unit)
}

/// The number at `start`, which must be finite as a double, and the offset after it.
pub(super) fn number(text: &str, start: usize) -> Result<(f64, usize), Fault> {
    let bytes = text.as_bytes();
    let digits_from = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|b| b.is_ascii_digit()).count()
    };
    let wants_digit = |at: usize| Fault::new(at, "syntax", "a digit is expected here");

    let integer = start + usize::from(bytes.get(start) == Some(&b'-'));
    let mut end = digits_from(integer);
    if end == integer {
        return Err(wants_digit(end));
    }
    if bytes.get(integer) == Some(&b'0') && end > integer + 1 {
        return Err(Fault::new(integer, "syntax", "a number must not start with 0"));
    }
    if bytes.get(end) == Some(&b'.') {
        let fraction = end + 1;
        end = digits_from(fraction);
        if end == fraction {
            return Err(wants_digit(end));
        }
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
        let exponent = end + 1 + usize::from(signed);
        end = digits_from(exponent);
        if end == exponent {
            return Err(wants_digit(end));
        }
    }
    let literal = text.get(start..end).unwrap_or_default();
    match literal.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((number, end)),
        _ => Err(Fault::new(
            start,
            "number",
            format!("{literal} does not fit a double"),
        )),
    }
}
