//! Which form of an answer `Accept` asks for (RFC 9110, 12.5.1).

use actix_web::HttpRequest;
use actix_web::http::header;

use super::error::{Code, Problem};

/// Parts of `Accept` that are read; no client sends nearly as many.
const MOST_PARTS: usize = 64;

/// A part of the header: `text/*;q=0.5`.
struct Range<'h> {
    kind: &'h str,
    subtype: &'h str,
    /// In thousandths.
    quality: u16,
}

/// The form that is wanted most; of several, the first that the header names, and of those that it does not name the first of
/// `forms`. Without the header that is the first of all.
pub(super) fn best<T: Copy>(request: &HttpRequest, forms: &[(&str, T)]) -> Result<T, Problem> {
    let mut header = String::new();
    for value in request.headers().get_all(header::ACCEPT) {
        let Ok(value) = value.to_str() else {
            return Err(refused(forms));
        };
        header.push_str(value);
        header.push(',');
    }
    chosen(&header, forms).ok_or_else(|| refused(forms))
}

fn chosen<T: Copy>(header: &str, forms: &[(&str, T)]) -> Option<T> {
    let parts = header
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .take(MOST_PARTS);
    let ranges: Option<Vec<Range<'_>>> = parts.map(range).collect();
    let ranges = ranges?;
    if ranges.is_empty() {
        return forms.first().map(|(_, form)| *form);
    }
    let wanted = forms.iter().filter_map(|(media_type, form)| {
        let (kind, subtype) = media_type.split_once('/')?;
        let fits = |range: &Range<'_>| {
            let exactly = range.kind.eq_ignore_ascii_case(kind);
            if exactly && range.subtype.eq_ignore_ascii_case(subtype) {
                Some(2)
            } else if exactly && range.subtype == "*" {
                Some(1)
            } else {
                (range.kind == "*" && range.subtype == "*").then_some(0)
            }
        };
        let fitting = ranges.iter().enumerate();
        let fitting = fitting.filter_map(|(place, range)| Some((fits(range)?, range.quality, place)));
        // What is named exactly says more than a wildcard; of the same twice the first counts.
        let (closeness, quality, place) =
            fitting.min_by_key(|(closeness, _, place)| (2 - closeness, *place))?;
        let place = if closeness == 2 { place } else { usize::MAX };
        (quality > 0).then_some(((u16::MAX - quality, place), *form))
    });
    wanted.min_by_key(|(rank, _)| *rank).map(|(_, form)| form)
}

fn range(part: &str) -> Option<Range<'_>> {
    let mut parameters = part.split(';').map(str::trim);
    let (kind, subtype) = match parameters.next()? {
        // Java's own client writes it for `*/*`.
        "*" => ("*", "*"),
        media_type => media_type.split_once('/')?,
    };
    let quality = parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| value.trim())
    });
    Some(Range {
        kind,
        subtype,
        quality: quality.map_or(Some(1_000), thousandths)?,
    })
}

/// `0`, `0.5`, `1.000`, and `.2`, as Java's own client writes it.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, rest) = match text.split_once('.') {
        Some(("", rest)) if !rest.is_empty() => ("0", rest),
        Some(parts) => parts,
        None => (text, ""),
    };
    let whole: u16 = whole.parse().ok().filter(|whole| *whole <= 1)?;
    let is_fraction = rest.len() <= 3 && rest.bytes().all(|byte| byte.is_ascii_digit());
    let fraction: u16 = format!("{rest:0<3}").parse().ok().filter(|_| is_fraction)?;
    Some(whole * 1_000 + fraction).filter(|quality| *quality <= 1_000)
}

fn refused<T>(forms: &[(&str, T)]) -> Problem {
    let known: Vec<&str> = forms.iter().map(|(media_type, _)| *media_type).collect();
    let detail = format!(
        "the answer is one of {}: Accept allows none of them",
        known.join(", ")
    );
    Problem::new(Code::NotAcceptable, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMS: [(&str, u8); 3] = [
        ("application/json", b'j'),
        ("text/plain", b't'),
        ("application/x-ndjson", b'n'),
    ];

    #[test]
    fn the_form_that_is_wanted_most_is_chosen() {
        for (header, form) in [
            ("", Some(b'j')),
            ("*/*", Some(b'j')),
            ("text/plain", Some(b't')),
            ("TEXT/Plain; charset=utf-8", Some(b't')),
            ("text/*", Some(b't')),
            ("application/*", Some(b'j')),
            ("text/plain, application/json", Some(b't')),
            ("application/x-ndjson, */*", Some(b'n')),
            ("text/plain;q=0.5, application/json", Some(b'j')),
            ("text/plain;q=0", None),
            ("text/plain;q=0, */*", Some(b'j')),
            ("application/json;q=0, */*;q=0.1", Some(b't')),
            ("text/html,application/xhtml+xml,*/*;q=0.8", Some(b'j')),
            ("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", Some(b'j')),
            ("*", Some(b'j')),
            ("text/plain;q=.5, application/x-ndjson;q=.25", Some(b't')),
            ("text/plain;q=.", None),
            ("text/plain;q=", None),
            ("text/plian", None),
            ("application/pdf", None),
            ("text/plain;q=2", None),
            ("text/plain;q=0.1234", None),
            ("text/plain;q=-1", None),
            ("text", None),
            (",,", Some(b'j')),
        ] {
            assert_eq!(chosen(header, &FORMS), form, "{header}");
        }
    }
}
