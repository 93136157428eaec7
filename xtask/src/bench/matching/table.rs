//! The rows that are printed: one a measurement, as Markdown.

pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) bar: String,
    pub(crate) measured: String,
    pub(crate) held: bool,
}

impl Row {
    pub(crate) fn new(what: impl Into<String>, bar: impl Into<String>, measured: String, held: bool) -> Self {
        Self {
            what: what.into(),
            bar: bar.into(),
            measured,
            held,
        }
    }
}

pub(crate) fn head() {
    println!("| what | bar | measured | held |\n| --- | --- | --- | --- |");
}

pub(crate) fn print(row: &Row) {
    let held = if row.held { "yes" } else { "**no**" };
    println!("| {} | {} | {} | {held} |", row.what, row.bar, row.measured);
}
