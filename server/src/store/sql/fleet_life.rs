//! The life of a finding from report to report: when it began, how often it was shown, and whether it is still about what people have
//! seen when they acknowledged or silenced it.

use std::collections::BTreeSet;

use kb_core::ids::NodeId;
use time::{Duration, OffsetDateTime};

use super::convert::unreadable;
use super::engine::{Cells, Engine, values};
use super::fleet_handling::handling_from;
use super::session::Tx;
use crate::store::{Handling, StoreError};

/// Names of what a finding is about that are kept.
const MOST_ABOUT: usize = 512;

/// Columns of [`Before::of`], in its order; those of what people did follow them.
macro_rules! life_columns {
    () => {
        "is_open, reports, first_at, opened_at, last_at, about"
    };
}
pub(super) use life_columns;

/// What is kept of a finding from the reports before.
#[derive(Debug)]
pub(super) struct Before {
    pub(super) is_open: bool,
    reports: i64,
    first_at: OffsetDateTime,
    opened_at: OffsetDateTime,
    last_at: OffsetDateTime,
    /// `None` where it was not noted.
    about: Option<BTreeSet<String>>,
    handling: Option<Handling>,
}

/// What reports show of a finding now.
#[derive(Debug)]
pub(super) struct Now<'n> {
    pub(super) at: OffsetDateTime,
    /// Ends of the runs of the reports that show it.
    pub(super) ends: &'n [OffsetDateTime],
    /// The report that is new, or that has other findings now, shows it.
    pub(super) is_news: bool,
    /// The report is new.
    pub(super) is_of_new: bool,
    pub(super) about: &'n BTreeSet<String>,
    /// It has no name but the verdict's: something else that it is about is another fault.
    pub(super) is_unnamed: bool,
}

/// What of a finding is more than the reports of today show.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) first_at: OffsetDateTime,
    pub(super) opened_at: OffsetDateTime,
    pub(super) last_at: OffsetDateTime,
    pub(super) reports: i64,
    pub(super) about: BTreeSet<String>,
    /// It is about something that was not there before: it begins again, and what people said was not of this.
    pub(super) is_another: bool,
}

impl Before {
    pub(super) fn of(row: &impl Cells, first: usize) -> Result<Self, StoreError> {
        Ok(Self {
            is_open: row.flag(first)?,
            reports: row.integer(first + 1)?,
            first_at: row.time(first + 2)?,
            opened_at: row.time(first + 3)?,
            last_at: row.time(first + 4)?,
            about: about_from(&row.text(first + 5)?)?,
            handling: handling_from(row, first + 6)?,
        })
    }

    /// What the finding is about from now on, and whether that is another thing than it was.
    fn about_now(&self, now: &Now<'_>) -> (BTreeSet<String>, bool) {
        let shown = now.about.clone();
        let known = self.about.as_ref();
        // Of a record whose lines name no GPU nobody knows whether it is another one.
        let Some(known) = known.filter(|known| now.is_unnamed || !known.is_empty()) else {
            return (shown, false);
        };
        let handling = self.handling.as_ref();
        let holds = handling.is_some_and(|handling| handling.holds(self.opened_at, now.at));
        if shown.is_subset(known) {
            let goes_on = self.is_open || holds;
            return (if goes_on { known.clone() } else { shown }, false);
        }
        let is_another = holds || (self.is_open && now.is_unnamed);
        if self.is_open && !now.is_unnamed {
            return (shown.union(known).cloned().collect(), is_another);
        }
        (shown, is_another)
    }
}

pub(super) fn life(now: &Now<'_>, before: Option<&Before>) -> Life {
    let first = now.ends.iter().min().copied().unwrap_or(now.at);
    let last = now.ends.iter().max().copied().unwrap_or(now.at);
    let Some(kept) = before else {
        return Life {
            first_at: first,
            opened_at: first,
            last_at: last,
            reports: i64::try_from(now.ends.len()).unwrap_or_default(),
            about: now.about.clone(),
            is_another: false,
        };
    };
    // Findings of a report that was counted are made anew when records change.
    let is_new = now.is_news && (now.is_of_new || last > kept.last_at);
    let (about, is_another) = kept.about_now(now);
    let last_at = last.max(kept.last_at);
    Life {
        first_at: kept.first_at.min(first),
        opened_at: match (kept.is_open, is_another) {
            (true, false) => kept.opened_at,
            (false, _) => last,
            (true, true) => last_at,
        },
        last_at,
        reports: kept.reports + i64::from(is_new),
        about,
        is_another,
    }
}

/// As it is kept. Of too many nothing is noted: of a part nobody could tell whether something was added.
pub(super) fn about_text(about: &BTreeSet<String>) -> String {
    if about.len() > MOST_ABOUT {
        return String::new();
    }
    serde_json::to_string(about).unwrap_or_default()
}

fn about_from(text: &str) -> Result<Option<BTreeSet<String>>, StoreError> {
    if text.is_empty() {
        return Ok(None);
    }
    let about = serde_json::from_str(text).map(Some);
    about.map_err(|_| unreadable("about", text))
}

/// Takes from a finding what people said of something else, so that it is told as one that began at this time.
pub(super) async fn begin_again<DB: Engine>(
    tx: &mut Tx<DB>,
    (node, name): (&NodeId, &str),
    opened_at: OffsetDateTime,
) -> Result<(), StoreError> {
    let sql = "UPDATE node_finding SET handling = '', silenced_until = NULL, note = NULL, handled_by = NULL, handled_at = NULL \
        WHERE node_id = $1 AND name = $2";
    tx.run(sql, values![node, name]).await?;
    // It may begin again within the run of which it was told; that it was told stays, so that its end is told.
    let sql = "UPDATE node_finding SET told_at = $3 WHERE node_id = $1 AND name = $2 AND told_at >= $4";
    let before = opened_at.saturating_sub(Duration::seconds(1));
    tx.run(sql, values![node, name, before, opened_at]).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::HandlingKind;

    fn at(second: i64) -> OffsetDateTime {
        OffsetDateTime::UNIX_EPOCH + Duration::seconds(second)
    }

    fn names(all: &[&str]) -> BTreeSet<String> {
        all.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn of_too_many_names_nothing_is_noted() {
        let of = |count: usize| {
            (0..count)
                .map(|number| number.to_string())
                .collect::<BTreeSet<_>>()
        };
        let all = of(MOST_ABOUT);
        assert_eq!(about_from(&about_text(&all)).unwrap(), Some(all));
        assert_eq!(about_from(&about_text(&of(MOST_ABOUT + 1))).unwrap(), None);
    }

    fn before(is_open: bool, about: Option<&[&str]>, kind: Option<HandlingKind>) -> Before {
        Before {
            is_open,
            reports: 1,
            first_at: at(10),
            opened_at: at(10),
            last_at: at(10),
            about: about.map(names),
            handling: kind.map(|kind| Handling {
                kind,
                note: None,
                by: "ada".to_owned(),
                at: at(15),
            }),
        }
    }

    #[test]
    fn what_people_said_covers_what_they_have_seen() {
        let silenced = Some(HandlingKind::Silenced(at(100)));
        let over = Some(HandlingKind::Silenced(at(16)));
        let known = Some(HandlingKind::Acknowledged);
        let one: &[&str] = &["GPU 1"];
        let two: &[&str] = &["GPU 0", "GPU 1"];
        let none: &[&str] = &[];
        for (before, is_unnamed, shown, is_another) in [
            (before(true, Some(one), silenced), false, one, false),
            (before(true, Some(two), silenced), true, one, false),
            (before(true, Some(one), silenced), false, two, true),
            (before(true, Some(one), known), false, two, true),
            (before(false, Some(one), silenced), false, one, false),
            (before(false, Some(one), silenced), false, two, true),
            // Whoever said nothing, or whose time is over, was told of the record, and of a fault without a name only of this one.
            (before(true, Some(one), None), false, two, false),
            (before(true, Some(one), over), false, two, false),
            (before(true, Some(one), None), true, two, true),
            // Of before it was noted, or without a GPU.
            (before(true, None, silenced), true, two, false),
            (before(true, Some(none), silenced), false, two, false),
            (before(true, Some(one), silenced), true, none, false),
        ] {
            let about = names(shown);
            let now = Now {
                at: at(20),
                ends: &[at(20)],
                is_news: true,
                is_of_new: true,
                about: &about,
                is_unnamed,
            };
            let life = life(&now, Some(&before));
            assert_eq!(life.is_another, is_another, "{before:?} {shown:?}");
            let goes_on = before.is_open && !is_another;
            let opened_at = if goes_on { at(10) } else { at(20) };
            assert_eq!(life.opened_at, opened_at, "{before:?} {shown:?}");
        }
    }
}
