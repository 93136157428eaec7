//! A page as it is written: without control characters, and without what a browser does not need. There are thousands of pages, and a
//! host may not compress them.

use askama::Template;
use kb_core::terminal::harmless_lines;

/// Elements whose blanks are shown.
const KEPT: [&str; 2] = ["pre", "textarea"];
/// Elements around which no blank is shown.
const BLOCKS: [&str; 17] = [
    "article", "dd", "div", "dl", "dt", "footer", "form", "h1", "h2", "header", "li", "main", "nav", "ol",
    "p", "section", "ul",
];
/// What the next element, or the end of the one around it, closes as well.
const IMPLIED: [&str; 3] = ["</li>", "</dt>", "</dd>"];
/// What closes a paragraph that is still open.
const CLOSES_PARAGRAPH: [&str; 16] = [
    "<p",
    "<ul",
    "<ol",
    "<dl",
    "<div",
    "<section",
    "<pre",
    "<h2",
    "<details",
    "<article",
    "<li",
    "</section",
    "</div",
    "</article",
    "</header",
    "</ol",
];
/// What is written on each page of a record many times, and what stands for it. The sheet shows both alike. No copy button stands in a
/// form, where one without a type would send it.
const SHORTER: [(&str, &str); 2] = [
    ("<pre class=\"block wrap\">", "<pre>"),
    ("<button type=\"button\" class=\"copy\"", "<button class=\"copy\""),
];

/// `lang` is the language of the page (BCP 47).
pub(super) fn page(template: &impl Template, lang: &str) -> askama::Result<String> {
    let text = template.render()?;
    Ok(bare(&squeezed(&harmless_lines(&text)), lang))
}

/// Without what is said once for the whole page (its language, that links tell nobody where they were followed), without ends that go
/// without saying, and without quotes around plain values. Quotes in texts are escaped, so that what stands between two is a value.
fn bare(html: &str, lang: &str) -> String {
    let own = format!(" lang=\"{lang}\"");
    let of_page = format!("<html{own}");
    let (head, body) = match html.find(&of_page) {
        Some(at) => html.split_at(at + of_page.len()),
        None => ("", html),
    };
    let mut rest = body.replace(&own, "").replace(" rel=\"noreferrer\"", "");
    for end in IMPLIED {
        rest = rest.replace(end, "");
    }
    for (long, short) in SHORTER {
        rest = rest.replace(long, short);
    }
    rest = with_short_notes(&rest);
    rest = without_plain_spans(&rest);
    rest = without_ends_of_paragraphs(&rest);
    let mut out = String::with_capacity(html.len());
    out.push_str(head);
    let mut left = rest.as_str();
    while let Some((before, value, after)) = next_value(left) {
        out.push_str(before);
        let is_last = after.starts_with([' ', '>']);
        if is_last && is_plain(value) {
            out.push_str(value);
        } else {
            out.push('"');
            out.push_str(value);
            out.push('"');
        }
        left = after;
    }
    out.push_str(left);
    out
}

/// A muted span on a line of its own is a `small`.
fn with_short_notes(html: &str) -> String {
    replaced(html, "<br><span class=\"muted\">", |text| {
        (!text.contains('<')).then(|| format!("<br><small>{text}</small>"))
    })
}

/// Without spans that say nothing of their text, where they stand in a sentence. An empty one is filled by a script.
fn without_plain_spans(html: &str) -> String {
    replaced(html, "> <span>", |text| {
        (!text.is_empty() && !text.contains("<span")).then(|| format!("> {text}"))
    })
}

/// What `open` begins and the next `</span>` ends becomes what `shorter` makes of the text between, where it makes something.
fn replaced(html: &str, open: &str, shorter: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, behind)) = rest.split_once(open) {
        out.push_str(before);
        let made = behind
            .split_once("</span>")
            .and_then(|(text, after)| Some((shorter(text)?, after)));
        if let Some((made, after)) = made {
            out.push_str(&made);
            rest = after;
        } else {
            out.push_str(open);
            rest = behind;
        }
    }
    out.push_str(rest);
    out
}

fn without_ends_of_paragraphs(html: &str) -> String {
    const END: &str = "</p>";
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, behind)) = rest.split_once(END) {
        out.push_str(before);
        let next = behind.trim_start_matches('\n');
        if !CLOSES_PARAGRAPH.iter().any(|tag| begins_with_tag(next, tag)) {
            out.push_str(END);
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// `<li` begins `<li>` and `<li class=…>`, and not `<link>`.
fn begins_with_tag(html: &str, tag: &str) -> bool {
    let behind_name = html.strip_prefix(tag);
    behind_name.is_some_and(|rest| rest.starts_with(|c: char| c == '>' || c.is_ascii_whitespace()))
}

/// What stands before the next value, with its `=`, the value without quotes, and what stands behind it.
fn next_value(html: &str) -> Option<(&str, &str, &str)> {
    let at = html.find("=\"")? + 1;
    let (before, rest) = html.split_at_checked(at)?;
    let (value, after) = rest.strip_prefix('"')?.split_once('"')?;
    Some((before, value, after))
}

fn is_plain(value: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:#".contains(c);
    !value.is_empty() && value.chars().all(plain)
}

/// Without empty lines and without the blanks that lines begin and end with, except within elements that show them.
fn squeezed(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((at, name)) = first_kept(rest) {
        let (before, kept) = rest.split_at(at);
        push_lines(&mut out, before);
        let end = format!("</{name}>");
        let length = kept.find(&end).map_or(kept.len(), |found| found + end.len());
        let (kept, after) = kept.split_at(length);
        out.push_str(kept);
        rest = after;
    }
    push_lines(&mut out, rest);
    out
}

fn first_kept(html: &str) -> Option<(usize, &'static str)> {
    let places = KEPT
        .iter()
        .filter_map(|name| Some((html.find(&format!("<{name}"))?, *name)));
    places.min()
}

fn push_lines(out: &mut String, html: &str) {
    let is_filled = |line: &&str| !line.trim().is_empty();
    let mut lines = html.split('\n').filter(is_filled).peekable();
    if lines.peek().is_some() && html.starts_with('\n') {
        out.push('\n');
    }
    while let Some(line) = lines.next() {
        out.push_str(line.trim());
        let is_shown = match lines.peek() {
            Some(next) => !begins_with_block(next.trim()),
            None => html.ends_with('\n'),
        };
        if is_shown {
            out.push('\n');
        }
    }
}

fn begins_with_block(line: &str) -> bool {
    let Some(tag) = line.strip_prefix("</").or_else(|| line.strip_prefix('<')) else {
        return false;
    };
    let name = tag.split([' ', '>']).next().unwrap_or_default();
    BLOCKS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_browser_needs_stays() {
        let page = r#"<html lang="en" x><p lang="en" class="a b"><a href="r/a.html" rel="noreferrer">x</a><rect rx="4"/> a=&#34;b&#34;"#;
        let expected =
            r#"<html lang="en" x><p class="a b"><a href=r/a.html>x</a><rect rx="4"/> a=&#34;b&#34;"#;
        assert_eq!(bare(page, "en"), expected);
        assert_eq!(
            bare(r#"<p lang="zh-Hans"><b lang="en">"#, "zh-Hans"),
            "<p><b lang=en>"
        );
        assert_eq!(bare(r#"<i title="">"#, "en"), r#"<i title="">"#);
    }

    #[test]
    fn what_pages_of_records_repeat_is_short() {
        let shortened = |html: &str| bare(html, "en");
        assert_eq!(
            shortened(r#"<pre class="block wrap"><code>x</code></pre><pre class="block wrap" data-how>"#),
            r#"<pre><code>x</code></pre><pre class="block wrap" data-how>"#
        );
        assert_eq!(
            shortened(
                r#"<button type="button" class="copy" hidden data-copy>Copy</button><button type="button">"#
            ),
            "<button class=copy hidden data-copy>Copy</button><button type=button>"
        );
        assert_eq!(
            shortened(r#"<br><span class="muted">Read</span><br><span class="muted"><b>a</b></span>"#),
            "<br><small>Read</small><br><span class=muted><b>a</b></span>"
        );
        assert_eq!(
            shortened(
                r#"<b>When:</b> <span lang="en">it <code>x</code> runs</span> <span lang="zh-Hans">b</span> <span></span>"#
            ),
            "<b>When:</b> it <code>x</code> runs <span lang=zh-Hans>b</span> <span></span>"
        );
        // Where text may follow, or a parent's end does not close it, a paragraph keeps its own.
        assert_eq!(
            shortened(
                "<li><p>a</p><p>b</p></li>\n<li><p>c</p>\n<pre>x</pre><p>d</p><button></button><noscript><p>e</p></noscript>"
            ),
            "<li><p>a<p>b\n<li><p>c\n<pre>x</pre><p>d</p><button></button><noscript><p>e</p></noscript>"
        );
        // A name that only begins like one that closes it closes nothing.
        assert_eq!(
            shortened("<p>a</p><link><p>b</p><p class=x>c</p><picture></picture><p>d</p><li>"),
            "<p>a</p><link><p>b<p class=x>c</p><picture></picture><p>d<li>"
        );
    }

    #[test]
    fn only_what_is_not_shown_is_left_out() {
        assert_eq!(
            squeezed("<p>\n\n\n<b>a</b> \n<pre>\n\n  x\n\n</pre>\n\n<i>b</i> <u>c</u>\n</p>\n<i>d</i>"),
            "<p>\n<b>a</b>\n<pre>\n\n  x\n\n</pre>\n<i>b</i> <u>c</u></p>\n<i>d</i>"
        );
        assert_eq!(squeezed("a<pre>  b"), "a<pre>  b");
        assert_eq!(squeezed("<ul>\n  <li>a\n</li>\n</ul>"), "<ul><li>a</li></ul>");
    }
}
