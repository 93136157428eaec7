//! What came in, and what an export would give back, field by field.

use std::collections::BTreeMap;

use serde_json::Value;

use super::canon::Canon;
use super::to_canon;
use crate::store::SeedRecord;

/// Counts by field, as `/error/regex` or `/dead_ends/*/action`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Fields that came, and those that would be given back with the same value.
    pub fields: BTreeMap<String, (u64, u64)>,
    /// Canons that would be given back byte for byte.
    pub same_bytes: u64,
    /// Canons that would be given back value for value.
    pub same_values: u64,
}

impl Tally {
    pub(super) fn add(&mut self, canon: &Canon<'_>, record: &SeedRecord) {
        let back = to_canon(&record.document, &record.annex).map(|exported| exported.text);
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        let (before, after) = (read(canon.text), read(back.as_deref().unwrap_or("null")));
        self.same_bytes += u64::from(back.as_deref() == Some(canon.text));
        self.same_values += u64::from(before == after);
        self.compare(&mut String::new(), &before, Some(&after));
    }

    fn compare(&mut self, path: &mut String, before: &Value, after: Option<&Value>) {
        let length = path.len();
        match before {
            Value::Object(members) => {
                for (key, value) in members {
                    path.push('/');
                    path.push_str(key);
                    self.compare(path, value, after.and_then(|after| after.get(key)));
                    path.truncate(length);
                }
            }
            Value::Array(items) => {
                path.push_str("/*");
                for (index, value) in items.iter().enumerate() {
                    self.compare(path, value, after.and_then(|after| after.get(index)));
                }
                path.truncate(length);
            }
            _ => {
                let (came, goes) = self.fields.entry(path.clone()).or_default();
                *came += 1;
                *goes += u64::from(Some(before) == after);
            }
        }
    }
}
