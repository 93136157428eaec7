//! What the page of an answer says of sharing it: the form that shows what would be kept, that which keeps it, and what stands
//! over an answer that is shared.

use kb_core::ids::RecordId;
use kb_core::scanner::Match;

use crate::domain::lookup::MatchAnswer;
use crate::domain::shared::{DAYS, Held, Kept, Shared, Unknown};
use crate::render::answer::unknown as told;
use crate::render::i18n::Locale;
use crate::render::i18n::shared::Words;
use crate::render::words::{moment, record_href};

/// Days that are chosen before somebody chooses.
const USUAL_DAYS: u16 = 7;

#[derive(Debug)]
pub struct ShareForm {
    pub action: String,
    /// What is kept, as JSON.
    pub answer: String,
    pub submit: &'static str,
    pub days: Vec<Days>,
}

#[derive(Debug)]
pub struct Days {
    pub value: u16,
    pub text: String,
    pub is_chosen: bool,
}

#[derive(Debug)]
pub struct SharedView {
    pub words: &'static Words,
    pub title: &'static str,
    pub means: String,
    pub form: Option<ShareForm>,
    pub address: Option<String>,
    /// Records that are named for lines which do not show them.
    pub unconfirmed: Vec<Named>,
    /// Errors that this server finds on the lines and that were not named.
    pub unnamed: Vec<Named>,
}

#[derive(Debug)]
pub struct Named {
    pub id: String,
    pub href: String,
    /// `2, 14`; empty where no line is to be told.
    pub lines: String,
}

impl ShareForm {
    /// Leads to what would be kept of an answer; nothing where there is nothing to keep.
    pub(super) fn of(
        answer: &MatchAnswer,
        ordered: &[&Match],
        unknown: &told::Unknown,
        text: Option<&str>,
        locale: Locale,
    ) -> Option<Self> {
        let (numbers, are_more) = match unknown {
            told::Unknown::NotLooked => (Vec::new(), false),
            told::Unknown::Lines { numbers, are_more } => (numbers.iter().copied().collect(), *are_more),
        };
        let unknown = Unknown {
            looked: *unknown != told::Unknown::NotLooked,
            numbers: &numbers,
            are_more,
        };
        let shared = Shared::of(answer, ordered, unknown, text);
        shared.is_something().then(|| Self {
            action: locale.href("/share"),
            answer: shared.to_json(),
            submit: Words::of(locale.language).offer,
            days: Vec::new(),
        })
    }

    fn keeping(shared: &Shared, locale: Locale) -> Self {
        let words = Words::of(locale.language);
        let days = DAYS.map(|days| Days {
            value: days,
            text: words.days(u64::from(days)),
            is_chosen: days == USUAL_DAYS,
        });
        Self {
            action: locale.href("/share/keep"),
            answer: shared.to_json(),
            submit: words.make,
            days: days.into(),
        }
    }
}

impl SharedView {
    /// Of what would be kept. `was_changed`: it is not what the form held.
    pub fn of_preview(shared: &Shared, was_changed: bool, locale: Locale) -> Self {
        let words = Words::of(locale.language);
        let means = if was_changed {
            words.was_changed
        } else {
            words.would_be_kept
        };
        Self {
            words,
            title: words.title,
            means: means.to_owned(),
            form: Some(ShareForm::keeping(shared, locale)),
            address: None,
            unconfirmed: Vec::new(),
            unnamed: Vec::new(),
        }
    }

    pub fn of_kept(kept: &Kept, address: String, locale: Locale) -> Self {
        let words = Words::of(locale.language);
        Self {
            words,
            title: words.shared,
            means: words.shared_means(&moment(kept.made), &moment(kept.until)),
            form: None,
            address: Some(address),
            unconfirmed: Vec::new(),
            unnamed: Vec::new(),
        }
    }

    /// With what this server does not find on the lines, and what it finds beside that.
    #[must_use]
    pub fn held(self, held: &Held, locale: Locale) -> Self {
        let named = |id: &RecordId, lines: Vec<u64>| Named {
            id: id.to_string(),
            href: locale.href(record_href(id.as_str())),
            lines: lines.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
        };
        let unconfirmed = held.unconfirmed.iter();
        let unnamed = held.unnamed.iter();
        Self {
            unconfirmed: unconfirmed.map(|(id, lines)| named(id, lines.clone())).collect(),
            unnamed: unnamed
                .map(|found| named(&found.id, found.lines.iter().map(|line| line.line).collect()))
                .collect(),
            ..self
        }
    }
}
