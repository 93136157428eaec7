//! Rust source as tokens: comments and texts are left out, and so is what only tests compile.

/// A word, or a sign. `::` is one token; a text or a number is `""`.
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

pub(crate) fn is(token: Option<&Token>, text: &str) -> bool {
    token.is_some_and(|token| token.text == text)
}

/// What follows `at` begins with these tokens.
pub(crate) fn starts(tokens: &[Token], at: usize, texts: &[&str]) -> bool {
    texts
        .iter()
        .enumerate()
        .all(|(ahead, text)| is(tokens.get(at + ahead), text))
}

/// The tokens of a file without the items below `#[cfg(test)]`.
pub(crate) fn production(source: &str) -> Vec<Token> {
    let all = tokens(source);
    let mut kept = Vec::new();
    let mut at = 0;
    let mut from = 0;
    while at < all.len() {
        if starts(&all, at, &["#", "[", "cfg", "(", "test", ")", "]"]) {
            kept.push(from..at);
            at = item_end(&all, at + 7);
            from = at;
        } else {
            at += 1;
        }
    }
    kept.push(from..all.len());
    let mut all: Vec<Option<Token>> = all.into_iter().map(Some).collect();
    kept.into_iter()
        .flatten()
        .filter_map(|index| all[index].take())
        .collect()
}

/// Behind the item that begins at `at`: an import ends with `;`, another item with its braces, a field with its comma.
fn item_end(tokens: &[Token], mut at: usize) -> usize {
    while starts(tokens, at, &["#", "["]) {
        at = closing(tokens, at + 1) + 1;
    }
    let import = tokens[at..].iter().take(6).any(|token| token.text == "use");
    while let Some(token) = tokens.get(at) {
        match token.text.as_str() {
            ";" | "," => return at + 1,
            "{" if !import => return closing(tokens, at) + 1,
            "{" | "(" | "[" => at = closing(tokens, at),
            _ => {}
        }
        at += 1;
    }
    at
}

/// The bracket that closes the one at `open`.
fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}

fn tokens(source: &str) -> Vec<Token> {
    let text: Vec<char> = source.chars().collect();
    let mut found = Vec::new();
    let mut line = 1;
    let mut at = 0;
    while let Some(&sign) = text.get(at) {
        let (end, word) = match sign {
            _ if sign.is_whitespace() => (at + 1, None),
            '/' if text.get(at + 1) == Some(&'/') => (line_end(&text, at), None),
            '/' if text.get(at + 1) == Some(&'*') => (comment_end(&text, at), None),
            '"' => (text_end(&text, at + 1), Some(String::from("\"\""))),
            '\'' => quote_end(&text, at),
            _ if raw_text(&text, at).is_some() => (raw_text(&text, at).unwrap(), Some(String::from("\"\""))),
            _ if sign.is_alphanumeric() || sign == '_' => {
                let end = (at..text.len()).find(|&at| !(text[at].is_alphanumeric() || text[at] == '_'));
                let end = end.unwrap_or(text.len());
                (end, Some(text[at..end].iter().collect()))
            }
            ':' if text.get(at + 1) == Some(&':') => (at + 2, Some(String::from("::"))),
            _ => (at + 1, Some(sign.to_string())),
        };
        if let Some(text) = word {
            found.push(Token { text, line });
        }
        line += text[at..end].iter().filter(|&&sign| sign == '\n').count();
        at = end;
    }
    found
}

fn line_end(text: &[char], at: usize) -> usize {
    (at..text.len())
        .find(|&at| text[at] == '\n')
        .unwrap_or(text.len())
}

fn comment_end(text: &[char], mut at: usize) -> usize {
    let mut depth = 0;
    while at < text.len() {
        match (text[at], text.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn text_end(text: &[char], mut at: usize) -> usize {
    while at < text.len() && text[at] != '"' {
        at += if text[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(text.len())
}

/// A character, or the tick of a lifetime.
fn quote_end(text: &[char], at: usize) -> (usize, Option<String>) {
    if text.get(at + 1) == Some(&'\\') {
        let end = (at + 3..text.len()).find(|&at| text[at] == '\'');
        return (end.map_or(text.len(), |end| end + 1), Some(String::from("\"\"")));
    }
    if text.get(at + 2) == Some(&'\'') {
        return (at + 3, Some(String::from("\"\"")));
    }
    (at + 1, Some(String::from("'")))
}

/// Where `r"…"`, `r#"…"#`, `b"…"` or `br"…"` ends.
fn raw_text(text: &[char], at: usize) -> Option<usize> {
    let mut quote = at;
    if matches!(text.get(quote), Some('b' | 'c')) {
        quote += 1;
    }
    let raw = text.get(quote) == Some(&'r');
    quote += usize::from(raw);
    if quote == at {
        return None;
    }
    let hashes = text[quote..].iter().take_while(|&&sign| sign == '#').count();
    if text.get(quote + hashes) != Some(&'"') {
        return None;
    }
    if !raw {
        return (hashes == 0).then(|| text_end(text, quote + 1));
    }
    let close = |at: usize| {
        text[at] == '"' && text[at + 1..].iter().take(hashes).filter(|&&s| s == '#').count() == hashes
    };
    (quote + hashes + 1..text.len())
        .find(|&at| close(at))
        .map(|at| at + 1 + hashes)
}

#[test]
fn tests_comments_and_texts_are_no_production_code() {
    let source = "use a::b; // unsafe\n/* unsafe /* */ */ let x = r#\"unsafe \"\"#; let y = ('\\'', 'a', b\"\\\"\");\n\
        #[cfg(test)]\nuse c::{d, e};\n#[cfg(test)] #[allow(x)] mod tests { fn f() { g() } }\nfn last<'a>() {}";
    let words: Vec<String> = production(source).into_iter().map(|token| token.text).collect();
    assert_eq!(
        words.join(" "),
        "use a :: b ; let x = \"\" ; let y = ( \"\" , \"\" , \"\" ) ; fn last < ' a > ( ) { }"
    );
}
