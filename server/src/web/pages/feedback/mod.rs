//! Votes and suggestions on the page of a record: what people said, the forms to say more, and what comes of sending them.

pub mod queue;

use actix_web::http::header;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use kb_core::record::Record;

use super::locale;
use super::record::RecordPage;
use crate::domain::feedback::Suggestion;
use crate::domain::outcomes::{ActionTally, OutcomeVote, Share, Voting, said};
use crate::domain::records::{Found, find};
use crate::feed::PublishedRecord;
use crate::render::advice::{AdviceVotes, VoteForm};
use crate::render::i18n::Locale;
use crate::render::i18n::feedback::Words;
use crate::render::record::Notice;
use crate::render::words::{Tone, record_href};
use crate::store::{ActionKind, Vote, VoteOutcome, VoterKind};
use crate::web::auth::{Anyone, FeedbackWriter};
use crate::web::error::{Code, Problem};
use crate::web::session::{Form, Session};
use crate::web::state::AppState;
use crate::web::{anonymous, feedback};

const FIELDS: [&str; 8] = [
    "do",
    "tried",
    "revision",
    "outcome",
    "driver",
    "gpu_model",
    "text",
    "source",
];

#[derive(Debug)]
pub struct SuggestForm {
    pub(super) words: &'static Words,
    pub(super) action: String,
    pub(super) csrf: String,
}

#[derive(Debug)]
pub(super) struct Reader {
    /// Id of the person who is logged in.
    person: Option<String>,
    csrf: String,
    may_write: bool,
}

impl Reader {
    pub(super) fn of(caller: &Anyone, session: Option<Session>, state: &AppState) -> Self {
        let person = caller.0.as_ref().and_then(|actor| actor.person());
        Self {
            may_write: session.is_some() || state.settings.anonymous_writing,
            person: person.filter(|_| session.is_some()).map(str::to_owned),
            csrf: session.map(|session| session.csrf).unwrap_or_default(),
        }
    }

    pub(super) async fn fill(
        &self,
        page: &mut RecordPage,
        published: &PublishedRecord,
        state: &AppState,
        locale: Locale,
    ) {
        let (record, words) = (&published.record, Words::of(locale.language));
        let action = locale.href(format!("{}/-/feedback", record_href(record.id().as_str())));
        let tallies = state.shares.of(record.id());
        let own = match &self.person {
            // A page without the reader's own votes is better than none.
            Some(_) => state.store.votes(record.id()).await.unwrap_or_default(),
            None => Vec::new(),
        };
        let lists = [
            (ActionKind::Workaround, &mut page.record.workarounds),
            (ActionKind::DeadEnd, &mut page.record.dead_ends),
        ];
        for (kind, list) in lists {
            for advice in list.iter_mut() {
                let Some((tried, text)) = action_at(record, kind, advice.position) else {
                    continue;
                };
                let tally = tallies
                    .iter()
                    .find(|tally| tally.kind == kind && tally.action == text);
                let own = self.own(&own, kind, &text);
                let form = self.may_write.then(|| VoteForm {
                    action: action.clone(),
                    csrf: self.csrf.clone(),
                    tried,
                    revision: published.revision.0,
                    outcomes: outcomes(own.map(|vote| vote.outcome), words),
                    place: words.place,
                    driver: words.driver,
                    gpu_model: words.gpu_model,
                    driver_value: own.map(|vote| vote.driver.clone()).unwrap_or_default(),
                    gpu_model_value: own.map(|vote| vote.model.clone()).unwrap_or_default(),
                });
                let votes = AdviceVotes {
                    share: tally
                        .and_then(|tally| tally.share)
                        .map(|share| told_share(&share, words)),
                    groups: tally.map(|tally| groups(tally, words)).unwrap_or_default(),
                    own: own.map(|vote| own_word(vote.outcome, words)),
                    form,
                };
                let is_empty = votes.share.is_none() && votes.form.is_none();
                advice.votes = Some(votes).filter(|_| !is_empty);
            }
        }
        page.suggest = self.may_write.then(|| SuggestForm {
            words,
            action,
            csrf: self.csrf.clone(),
        });
    }

    fn own<'v>(&self, votes: &'v [Vote], kind: ActionKind, text: &str) -> Option<&'v Vote> {
        let person = self.person.as_ref()?;
        let mut own = votes.iter().filter(|vote| {
            vote.voter.kind == VoterKind::Person
                && vote.voter.id == *person
                && vote.kind == kind
                && vote.action == text
        });
        own.next_back()
    }
}

fn action_at(record: &Record, kind: ActionKind, position: usize) -> Option<(String, String)> {
    match kind {
        ActionKind::Workaround => {
            let item = record.document.workarounds.get(position)?;
            let text = said(&item.action, item.how.as_deref());
            Some((format!("/workarounds/{position}"), text))
        }
        ActionKind::DeadEnd => {
            let item = record.document.dead_ends.get(position)?;
            let text = said(&item.action, item.why_fails.as_deref());
            Some((format!("/dead_ends/{position}"), text))
        }
    }
}

/// The buttons: whether it came back is asked of those whom it helped.
fn outcomes(own: Option<VoteOutcome>, words: &Words) -> Vec<(&'static str, &'static str)> {
    let mut buttons = vec![
        (VoteOutcome::Worked, words.worked),
        (VoteOutcome::DidNotHelp, words.did_not_help),
    ];
    if own == Some(VoteOutcome::Worked) {
        buttons.push((VoteOutcome::CameBack, words.came_back));
    }
    let named = buttons
        .into_iter()
        .map(|(outcome, label)| (outcome.as_str(), label));
    named.collect()
}

fn own_word(outcome: VoteOutcome, words: &Words) -> &'static str {
    match outcome {
        VoteOutcome::Worked => words.you_worked,
        VoteOutcome::DidNotHelp => words.you_did_not_help,
        VoteOutcome::CameBack => words.you_came_back,
    }
}

/// `Helped 8 of 12 people (39 to 86 %).`
fn told_share(share: &Share, words: &Words) -> String {
    let told = words.share(share.worked, share.n, &range(share));
    if share.came_back == 0 {
        return told;
    }
    format!("{told} {}", words.returned(share.came_back))
}

fn groups(tally: &ActionTally, words: &Words) -> Vec<String> {
    let drivers = tally.drivers.iter().map(|group| {
        let share = &group.share;
        words.of_driver(&group.name, share.worked, share.n, &range(share))
    });
    let models = tally.gpu_models.iter().map(|group| {
        let share = &group.share;
        words.of_gpu_model(&group.name, share.worked, share.n, &range(share))
    });
    drivers.chain(models).collect()
}

/// The interval of a share: `39–86 %`.
fn range(share: &Share) -> String {
    format!("{:.0}–{:.0} %", share.low * 100.0, share.high * 100.0)
}

pub(super) fn told(word: Option<&str>, locale: Locale) -> Option<Notice> {
    let words = Words::of(locale.language);
    let (title, text) = match word? {
        "voted" => (words.voted, words.voted_means),
        "queued" => (words.queued, words.queued_means),
        _ => return None,
    };
    Some(Notice {
        tone: Tone::Good,
        title,
        text: text.to_owned(),
        link: None,
    })
}

/// `POST /r/{id}/-/feedback`: a vote or a suggestion.
pub async fn send(
    writer: FeedbackWriter,
    request: HttpRequest,
    id: Path<String>,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&FIELDS)?;
    let voting = match &writer.0 {
        Some(actor) => Voting::Known(actor),
        None => Voting::Nobody(anonymous::nobody(&state, &request)),
    };
    let generation = state.knowledge.current();
    let id = match find(&generation, &id)? {
        Found::Published(published) => published.record.id().clone(),
        Found::Moved(now) => now,
        Found::Unpublished(id) => {
            return Err(Problem::new(
                Code::NotFound,
                format!("there is no published record {id}"),
            ));
        }
    };
    let told = match form.get("do") {
        "vote" => {
            let receipt = feedback::cast(&state, &id, vote(&form)?, voting).await?;
            if receipt.outcome == "queued" {
                "queued"
            } else {
                "voted"
            }
        }
        "suggest" => {
            let suggestion = Suggestion {
                text: form.get("text").to_owned(),
                source: form.get("source").to_owned(),
            };
            feedback::suggest(&state, &id, &suggestion, voting).await?;
            "queued"
        }
        other => {
            let detail = format!("the form has no button {other:?}");
            return Err(Problem::new(Code::MalformedBody, detail));
        }
    };
    let page = format!("{}?told={told}", record_href(id.as_str()));
    Ok(HttpResponse::SeeOther()
        .insert_header((header::LOCATION, locale::of(&request).href(page)))
        .finish())
}

fn vote(form: &Form) -> Result<OutcomeVote, Problem> {
    let malformed = |detail: String| Problem::new(Code::MalformedBody, detail);
    let word = form.get("outcome");
    let outcome = VoteOutcome::from_word(word)
        .ok_or_else(|| malformed(format!("{word:?} is no outcome: worked, did_not_help, came_back")))?;
    let revision = form.get("revision");
    let revision = revision
        .parse()
        .map_err(|_| malformed(format!("{revision:?} is no number")))?;
    let environment = ["driver", "gpu_model"].into_iter().filter_map(|name| {
        let value = form.get(name).trim();
        (!value.is_empty()).then(|| (name.to_owned(), value.to_owned()))
    });
    Ok(OutcomeVote {
        tried: form.get("tried").to_owned(),
        worked: outcome != VoteOutcome::DidNotHelp,
        came_back: Some(outcome == VoteOutcome::CameBack),
        environment: environment.collect(),
        revision: Some(revision),
    })
}
