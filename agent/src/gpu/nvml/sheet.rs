//! Facts by name, as they go into the report.

use std::collections::BTreeMap;

use kb_core::report::Fact;
use serde_json::Value;

#[derive(Debug, Default)]
pub(crate) struct Sheet(BTreeMap<String, Fact>);

impl Sheet {
    pub(crate) fn put<T: Into<Value>>(&mut self, name: &str, fact: Fact<T>) {
        self.0.insert(name.to_owned(), fact.map(Into::into));
    }

    pub(crate) fn put_part<T, U: Into<Value>>(
        &mut self,
        name: &str,
        whole: &Fact<T>,
        part: impl FnOnce(&T) -> U,
    ) {
        let fact = Fact {
            value: whole.value.as_ref().map(part),
            source: whole.source.clone(),
            gap: whole.gap.clone(),
        };
        self.put(name, fact);
    }

    pub(crate) fn into_facts(self) -> BTreeMap<String, Fact> {
        self.0
    }
}
