//! What people and programs read: a terminal table whose first line is the verdict, or the report as JSON.

mod bench;
mod converted;
mod gate;
mod grid;
mod load;
mod map;
mod metrics;
mod pairs;
mod progress;
mod style;
mod table;
mod times;

pub(crate) use gate::gate_metrics;
pub(crate) use metrics::metrics;
pub(crate) use progress::Drawn;
pub(crate) use style::Style;
pub(crate) use table::table;

use kb_core::report::Report;

pub(crate) fn is_of_another_tool(report: &Report) -> bool {
    converted::tools(report).is_some()
}

pub(crate) fn json(report: &Report) -> serde_json::Result<String> {
    let mut text = serde_json::to_string_pretty(report)?;
    text.push('\n');
    Ok(text)
}
