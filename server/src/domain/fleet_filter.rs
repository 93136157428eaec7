//! Which nodes are asked for, in the words of an address: read strictly, and written so that a part can be changed.

use kb_core::ids::NodeId;
use kb_core::near;
use kb_core::severity::Action;
use kb_core::verdict::Verdict;
use time::OffsetDateTime;

use super::fleet::{SILENT_HOURS_MAX, silent_before};
use super::labels;
use crate::store::{
    Known, MOST_LABELS, NodeFilter, NodeListing, NodeOrder, NodeQuery, NodeStore, OrderKey,
    SEARCH_CHARACTERS, SUMMARY_NAME_CHARACTERS, StoreError, of_word, word,
};

/// Stands for a value that is not known.
pub const UNKNOWN: &str = "unknown";
/// From so many names of labels on, a name that no node has is not refused.
const MOST_LABEL_NAMES: u32 = 1_000;
/// Between the key and the id of a cursor; no id has it.
const BEHIND_KEY: char = '~';

/// The parameters of an address by which nodes are narrowed and sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    pub filter: NodeFilter,
    pub silent_hours: Option<u32>,
    pub order: NodeOrder,
    pub reversed: bool,
}

/// A parameter that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {reason}")]
pub struct Unreadable {
    pub name: &'static str,
    pub reason: String,
}

impl Asked {
    /// Reads parameters. Those of other names, and empty ones, are passed over: a form sends what was not filled in.
    pub fn read(pairs: &[(String, String)], now: OffsetDateTime) -> Result<Self, Unreadable> {
        let mut asked = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
            if seen.contains(&name.as_str()) && NAMES.contains(&name.as_str()) && name != "label" {
                return Err(refused(name, "is given twice, give it once".to_owned()));
            }
            seen.push(name);
            asked.take(name, value, now)?;
        }
        Ok(asked)
    }

    fn take(&mut self, name: &str, value: &str, now: OffsetDateTime) -> Result<(), Unreadable> {
        let refuse = |reason: String| refused(name, reason);
        let filter = &mut self.filter;
        match name {
            "verdict" => {
                let verdict = Verdict::ALL.into_iter().find(|verdict| verdict.word() == value);
                let words: Vec<&str> = Verdict::ALL.iter().map(|verdict| verdict.word()).collect();
                filter.verdict = Some(verdict.ok_or_else(|| refuse(near::choices(value, &words)))?);
            }
            "action" if value == UNKNOWN => filter.action = Some(Known::Unknown),
            "action" => {
                let action = of_word::<Action>(value);
                let words: Vec<&str> = Action::WORDS.iter().copied().chain([UNKNOWN]).collect();
                filter.action = Some(Known::Is(
                    action.ok_or_else(|| refuse(near::choices(value, &words)))?,
                ));
            }
            "record" => {
                let record = value.parse();
                filter.record = Some(record.map_err(|error| refuse(format!("{error}")))?);
            }
            "model" => filter.model = Some(named(value, SUMMARY_NAME_CHARACTERS).map_err(refuse)?),
            "driver" => filter.driver = Some(named(value, SUMMARY_NAME_CHARACTERS).map_err(refuse)?),
            "label" => {
                let label = labels::parse(value).map_err(refuse)?;
                if !filter.labels.contains(&label) {
                    filter.labels.push(label);
                }
                if filter.labels.len() > MOST_LABELS {
                    return Err(refuse(format!("give at most {MOST_LABELS} of them")));
                }
            }
            "silent_hours" => {
                let hours = value
                    .parse()
                    .ok()
                    .filter(|hours| (1..=SILENT_HOURS_MAX).contains(hours));
                let hours =
                    hours.ok_or_else(|| refuse(format!("give a number from 1 to {SILENT_HOURS_MAX}")))?;
                self.silent_hours = Some(hours);
                filter.silent_before = Some(silent_before(now, hours));
            }
            "simulated" => {
                filter.simulated = Some(match value {
                    "true" => true,
                    "false" => false,
                    _ => return Err(refuse("give true or false".to_owned())),
                });
            }
            "q" => filter.text = Some(searched(value).map_err(refuse)?),
            "sort" => {
                let (reversed, order) = match value.strip_prefix('-') {
                    Some(order) => (true, order),
                    None => (false, value),
                };
                let known = NodeOrder::ALL.into_iter().find(|known| known.word() == order);
                let words: Vec<&str> = NodeOrder::ALL.iter().map(|order| order.word()).collect();
                self.order = known.ok_or_else(|| refuse(near::choices(order, &words)))?;
                self.reversed = reversed;
            }
            _ => {}
        }
        Ok(())
    }

    /// Refuses a label that no node has: `rak=r17` would be answered with no node.
    pub async fn check_labels(&self, store: &dyn NodeStore) -> Result<Result<(), Unreadable>, StoreError> {
        if self.filter.labels.is_empty() {
            return Ok(Ok(()));
        }
        let known = store.label_names(MOST_LABEL_NAMES).await?;
        if known.len() == MOST_LABEL_NAMES as usize {
            return Ok(Ok(()));
        }
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let mut unknown = self
            .filter
            .labels
            .iter()
            .filter(|(name, _)| !known.contains(&name.as_str()));
        Ok(match unknown.next() {
            None => Ok(()),
            Some((name, _)) => {
                let (shown, choices) = (near::shown(name), near::choices(name, &known));
                Err(refused(
                    "label",
                    format!("no node has a label {shown}: {choices}"),
                ))
            }
        })
    }

    /// The same parameters in one order, as an address has them.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        let filter = &self.filter;
        let mut pairs = Vec::new();
        let mut push = |name: &'static str, value: Option<String>| {
            pairs.extend(value.map(|value| (name, value)));
        };
        push("q", filter.text.clone());
        push("verdict", filter.verdict.map(|verdict| verdict.word().to_owned()));
        push(
            "action",
            filter
                .action
                .as_ref()
                .map(|action| text(action, |action| word(action))),
        );
        push("record", filter.record.as_ref().map(ToString::to_string));
        push(
            "model",
            filter.model.as_ref().map(|model| text(model, String::clone)),
        );
        push(
            "driver",
            filter.driver.as_ref().map(|driver| text(driver, String::clone)),
        );
        for (name, value) in &filter.labels {
            push("label", Some(format!("{name}={value}")));
        }
        push("silent_hours", self.silent_hours.map(|hours| hours.to_string()));
        push(
            "simulated",
            filter.simulated.map(|simulated| simulated.to_string()),
        );
        let is_usual = self.order == NodeOrder::default() && !self.reversed;
        let sign = if self.reversed { "-" } else { "" };
        push(
            "sort",
            (!is_usual).then(|| format!("{sign}{}", self.order.word())),
        );
        pairs
    }

    /// What is asked of the store; `cursor` is that of the page before.
    pub fn query(&self, cursor: Option<&str>, limit: u32) -> Result<NodeQuery, Unreadable> {
        let after = cursor.map(|cursor| {
            after(self.order, cursor).ok_or_else(|| Unreadable {
                name: "cursor",
                reason: "it is not of a page that this server gave in this order".to_owned(),
            })
        });
        Ok(NodeQuery {
            filter: self.filter.clone(),
            order: self.order,
            reversed: self.reversed,
            after: after.transpose()?,
            limit,
        })
    }

    /// The node behind which a page begins, whatever the order.
    pub fn node_of(cursor: &str) -> Option<NodeId> {
        let id = cursor.rsplit_once(BEHIND_KEY).map_or(cursor, |(_, id)| id);
        id.parse().ok()
    }

    /// Where the page behind a node begins.
    pub fn cursor(&self, node: &NodeListing) -> String {
        let key = match OrderKey::of(self.order, node) {
            OrderKey::Id => return node.id.to_string(),
            OrderKey::Number(number) => number.to_string(),
            // Stored times are whole microseconds.
            OrderKey::Time(time) => (time.unix_timestamp_nanos() / 1_000).to_string(),
        };
        format!("{key}{BEHIND_KEY}{}", node.id)
    }
}

/// Parameters that [`Asked`] reads.
pub const NAMES: [&str; 10] = [
    "q",
    "verdict",
    "action",
    "record",
    "model",
    "driver",
    "label",
    "silent_hours",
    "simulated",
    "sort",
];

fn after(order: NodeOrder, cursor: &str) -> Option<(OrderKey, NodeId)> {
    if order == NodeOrder::Id {
        return Some((OrderKey::Id, cursor.parse().ok()?));
    }
    let (key, id) = cursor.split_once(BEHIND_KEY)?;
    let key: i64 = key.parse().ok()?;
    let key = match order {
        NodeOrder::Heard | NodeOrder::Since => {
            let nanoseconds = i128::from(key).checked_mul(1_000)?;
            OrderKey::Time(OffsetDateTime::from_unix_timestamp_nanos(nanoseconds).ok()?)
        }
        _ => OrderKey::Number(key),
    };
    Some((key, id.parse().ok()?))
}

fn refused(name: &str, reason: String) -> Unreadable {
    let name = NAMES
        .into_iter()
        .find(|known| *known == name)
        .unwrap_or("parameter");
    Unreadable { name, reason }
}

fn named(value: &str, most: usize) -> Result<Known<String>, String> {
    if value == UNKNOWN {
        return Ok(Known::Unknown);
    }
    Ok(Known::Is(bounded(value, most)?))
}

fn searched(value: &str) -> Result<String, String> {
    bounded(value.trim(), SEARCH_CHARACTERS)
}

fn bounded(value: &str, most: usize) -> Result<String, String> {
    let length = value.chars().count();
    if length == 0 || length > most || value.chars().any(char::is_control) {
        return Err(format!("give 1 to {most} printable characters"));
    }
    Ok(value.to_owned())
}

fn text<T>(value: &Known<T>, text: impl Fn(&T) -> String) -> String {
    match value {
        Known::Is(value) => text(value),
        Known::Unknown => UNKNOWN.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Asked, Unreadable> {
        let pairs: Vec<(String, String)> = pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Asked::read(&pairs, OffsetDateTime::UNIX_EPOCH)
    }

    #[test]
    fn what_is_read_is_written_as_it_was() {
        let all = [
            ("q", "gpu"),
            ("verdict", "no_fault_seen"),
            ("action", "reset_gpu"),
            ("record", "xid/79-gpu-has-fallen-off-the-bus"),
            ("model", "NVIDIA H200"),
            ("driver", "unknown"),
            ("label", "rack=r17"),
            ("label", "pod=a"),
            ("silent_hours", "24"),
            ("simulated", "false"),
            ("sort", "-heard"),
        ];
        let asked = read(&all).unwrap();
        let written = asked.pairs();
        let written: Vec<(&str, &str)> = written
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        assert_eq!(written, all);
        assert_eq!(read(&[("q", ""), ("verdict", "")]).unwrap(), Asked::default());
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (name, value, why) in [
            ("verdict", "brokn", "broken"),
            ("action", "reboot", "reboot_node"),
            ("record", "x", "segments"),
            ("label", "rack", "NAME=VALUE"),
            ("silent_hours", "0", "1 to 8760"),
            ("simulated", "yes", "true or false"),
            ("sort", "name", "verdict"),
            ("q", " \u{7}", "printable"),
            ("model", "a\nb", "printable"),
        ] {
            let told = read(&[(name, value)]).unwrap_err();
            assert_eq!(told.name, name);
            assert!(told.reason.contains(why), "{told}");
        }
        let told = read(&[("verdict", "broken"), ("verdict", "healthy")]).unwrap_err();
        assert!(told.reason.contains("twice"), "{told}");
        let five = [
            ("label", "a=1"),
            ("label", "b=1"),
            ("label", "c=1"),
            ("label", "d=1"),
            ("label", "e=1"),
        ];
        assert!(read(&five).is_err());
    }

    #[test]
    fn a_cursor_is_of_its_order() {
        for order in NodeOrder::ALL {
            assert_eq!(after(order, "a b"), None);
            assert_eq!(after(order, "x~n1"), None);
            assert_eq!(after(order, "99999999999999999999~n1"), None);
        }
        assert!(after(NodeOrder::Heard, "1767323045000000~n1").is_some());
        assert!(after(NodeOrder::Gpus, "n1").is_none());
    }
}
