//! Checks of single texts that both the document and the annex use.

use crate::ids::{RecordId, ReportId};

pub(crate) fn record_id(text: &str) -> Result<(), String> {
    text.parse::<RecordId>()
        .map(|_| ())
        .map_err(|error| error.to_string())
}

pub(crate) fn report_id(text: &str) -> Result<(), String> {
    text.parse::<ReportId>()
        .map(|_| ())
        .map_err(|error| error.to_string())
}

/// A web address that may be shown as a link: `http` or `https`, a host, and no white space or control characters.
pub(crate) fn url(text: &str) -> Result<(), String> {
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"))
        .ok_or_else(|| format!("{text:?} does not start with https:// or http://"))?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let plain_host = host
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b':' | b'[' | b']'));
    if host.is_empty() || !plain_host {
        return Err(format!("{text:?} has no plain host name"));
    }
    if text
        .chars()
        .any(|c| c.is_whitespace() || c.is_control() || matches!(c, '"' | '<' | '>' | '\\'))
    {
        return Err(format!("{text:?} holds characters that an address must escape"));
    }
    Ok(())
}

/// A day as `2024-06-01`.
pub(crate) fn day(text: &str) -> Result<(), String> {
    let format = time::macros::format_description!("[year]-[month]-[day]");
    match time::Date::parse(text, &format) {
        Ok(_) => Ok(()),
        Err(_) => Err(format!("{text:?} is not a day as 2024-06-01")),
    }
}
