//! The pages' own words in English and Chinese, one table for each part of the site. What records, reports and logs
//! say is shown as it was written, and marked with its language.

#[macro_use]
mod table;

pub mod fleet;
pub mod graph;
pub mod lookup;
pub(in crate::web) mod reason;
pub mod record;
pub mod report;
pub mod search;
pub mod site;
pub mod terms;

mod locale;
#[cfg(test)]
mod tests;

pub use locale::{Language, Locale};

use super::words::grouped;

/// A text with values in the places that are left for them (`{}`), in order.
pub(in crate::web) fn filled(text: &str, values: &[&str]) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut values = values.iter();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{}") {
        out.push_str(before);
        out.push_str(values.next().copied().unwrap_or_default());
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A number in the text for one, or in the text for any other.
pub(in crate::web) fn counted(number: u64, one: &str, many: &str) -> String {
    filled(if number == 1 { one } else { many }, &[&grouped(number)])
}
