//! What an evaluation prints: tables, the bars, and each miss.

use serde_json::{Map, Value, json};

#[derive(Default)]
pub(crate) struct Report {
    text: String,
    values: Map<String, Value>,
    bars: Vec<Bar>,
    misses: Vec<String>,
}

struct Bar {
    what: String,
    demanded: String,
    measured: String,
    held: bool,
}

impl Report {
    /// A table under a title, and the same as values.
    pub(crate) fn table(&mut self, name: &str, title: &str, table: &str, values: Value) {
        self.text.push_str(&format!("## {title}\n\n{table}\n"));
        self.values.insert(name.to_owned(), values);
    }

    pub(crate) fn bar(&mut self, what: impl Into<String>, demanded: &str, measured: String, held: bool) {
        self.bars.push(Bar {
            what: what.into(),
            demanded: demanded.to_owned(),
            measured,
            held,
        });
    }

    pub(crate) fn miss(&mut self, miss: String) {
        self.misses.push(miss);
    }

    pub(crate) fn all_held(&self) -> bool {
        self.bars.iter().all(|bar| bar.held)
    }

    pub(crate) fn markdown(&self, with_misses: bool) -> String {
        let mut text = format!(
            "{}## Bars\n\n| what | bar | measured | held |\n| --- | --- | --- | --- |\n",
            self.text
        );
        for bar in &self.bars {
            let held = if bar.held { "yes" } else { "**no**" };
            text.push_str(&format!(
                "| {} | {} | {} | {held} |\n",
                bar.what, bar.demanded, bar.measured
            ));
        }
        if with_misses {
            text.push_str(&format!("\n## Misses: {}\n\n", self.misses.len()));
            for miss in &self.misses {
                text.push_str(&format!("- {miss}\n"));
            }
        }
        text
    }

    pub(crate) fn json(&self) -> Value {
        let bars = self.bars.iter().map(
            |bar| json!({ "what": bar.what, "bar": bar.demanded, "measured": bar.measured, "held": bar.held }),
        );
        let mut values = self.values.clone();
        values.insert("bars".to_owned(), bars.collect());
        values.insert("misses".to_owned(), self.misses.clone().into());
        values.into()
    }
}

/// The beginning of a text on one line, for a list.
pub(crate) fn shortened(text: &str) -> String {
    const MOST: usize = 160;
    let line: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MOST)
        .collect();
    format!("`{}`", line.replace('`', "'"))
}
