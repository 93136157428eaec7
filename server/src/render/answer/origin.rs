//! Who wrote the lines of a match, and when, as far as the lines say so.

use kb_core::scanner::{Match, written_by};
use kb_core::terminal::harmless;

use crate::domain::hits::HitsOfRecord;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The time of the line that is named, as that has it.
    pub time: Option<String>,
    pub hosts: Vec<String>,
    pub ranks: Vec<String>,
    /// Numbers, or addresses on the bus.
    pub gpus: Vec<String>,
    /// There are more hosts, ranks or GPUs than are known.
    pub are_more: bool,
}

impl Origin {
    pub fn begin_with(&mut self, host: Option<&str>) {
        let known = self.hosts.iter().position(|known| Some(known.as_str()) == host);
        if let Some(before) = known.and_then(|at| self.hosts.get_mut(..=at)) {
            before.rotate_right(1);
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Only {
    pub host: Option<String>,
    pub rank: Option<String>,
    pub gpu: Option<String>,
}

impl Only {
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a match from there is wanted. One that has more origins than are known may come from anywhere.
    pub fn wants(&self, origin: &Origin) -> bool {
        let wants = |only: &Option<String>, of: &[String]| {
            origin.are_more || only.as_ref().is_none_or(|only| of.contains(only))
        };
        wants(&self.host, &origin.hosts) && wants(&self.rank, &origin.ranks) && wants(&self.gpu, &origin.gpus)
    }

    /// Without what no match comes from: it was chosen for another text.
    #[must_use]
    pub fn of_these(&self, origins: &[&Origin]) -> Self {
        let known = |only: &Option<String>, part: fn(&Origin) -> &Vec<String>| {
            let is_there = |value: &&String| origins.iter().any(|origin| part(origin).contains(value));
            only.as_ref().filter(is_there).cloned()
        };
        Self {
            host: known(&self.host, |origin| &origin.hosts),
            rank: known(&self.rank, |origin| &origin.ranks),
            gpu: known(&self.gpu, |origin| &origin.gpus),
        }
    }
}

pub fn of(found: &Match, line: u64, hits: Option<&HitsOfRecord>) -> Origin {
    let named = found.lines.iter().find(|matched| matched.line == line);
    let marked = named.and_then(|matched| matched.text.as_ref());
    let time = marked.and_then(|marked| written_by(&marked.text).time.map(harmless));
    let Some(hits) = hits else {
        return Origin {
            time,
            ..Origin::default()
        };
    };
    Origin {
        time,
        hosts: hits.hosts.clone(),
        ranks: hits.ranks.clone(),
        gpus: hits.gpus.clone(),
        are_more: hits.are_more,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(host: &str, rank: &str) -> Only {
        let filled = |value: &str| Some(value.to_owned()).filter(|value| !value.is_empty());
        Only {
            host: filled(host),
            rank: filled(rank),
            gpu: None,
        }
    }

    fn origin() -> Origin {
        Origin {
            hosts: vec!["gpu07".to_owned()],
            ranks: vec!["1".to_owned(), "2".to_owned()],
            ..Origin::default()
        }
    }

    #[test]
    fn what_is_chosen_alone_must_be_there_or_may_be() {
        let mut origin = origin();
        assert!(Only::default().wants(&origin) && only("gpu07", "2").wants(&origin));
        assert!(!only("gpu08", "").wants(&origin) && !only("gpu07", "3").wants(&origin));
        origin.are_more = true;
        assert!(only("gpu08", "3").wants(&origin));
    }

    #[test]
    fn a_host_can_stand_before_the_others() {
        let mut origin = Origin {
            hosts: ["a", "b", "c"].map(str::to_owned).to_vec(),
            ..Origin::default()
        };
        origin.begin_with(Some("c"));
        origin.begin_with(Some("d"));
        origin.begin_with(None);
        assert_eq!(origin.hosts, ["c", "a", "b"]);
    }

    #[test]
    fn what_was_chosen_for_another_text_is_forgotten() {
        let origin = origin();
        assert_eq!(only("gpu08", "1").of_these(&[&origin]), only("", "1"));
        assert_eq!(only("gpu08", "1").of_these(&[]), Only::default());
    }
}
