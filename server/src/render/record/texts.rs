//! A record's texts in the language asked for; where a text has no translation the other language stands in, marked.

use kb_core::annex::{Dispute, WorkaroundKind, WorkaroundNote};
use kb_core::record::{Advised, DeadEnd, Record, Workaround};

use super::tier::{Tier, rate};
use crate::render::advice::{Advice, Citation, Nature, Objection, Text};
use crate::render::i18n::{Language, terms};
use crate::render::words::{Mark, Tone, is_chinese};

/// The signature in the language asked for. A Chinese one comes with the English one, which programs print.
pub fn signature(record: &Record, language: Language) -> (Text, Option<Text>) {
    let english = Text::new(record.document.signature.as_str());
    let chinese = Text::filled(record.document.signature_zh.as_deref());
    match (language, chinese) {
        (Language::Chinese, Some(chinese)) => (chinese, Some(english)),
        _ => (english, None),
    }
}

/// The title in the language asked for; `None` where the record has none.
pub fn title(record: &Record, language: Language) -> Option<Text> {
    let english = Text::filled(record.annex.title.as_deref());
    let chinese = Text::filled(record.annex.title_zh.as_deref());
    match language {
        Language::English => english,
        Language::Chinese => chinese.or(english),
    }
}

pub fn heading(record: &Record, language: Language) -> Text {
    title(record, language).unwrap_or_else(|| signature(record, language).0)
}

pub fn root_cause(record: &Record, language: Language) -> Text {
    let chinese = Text::filled(record.document.root_cause_zh.as_deref());
    match (language, chinese) {
        (Language::Chinese, Some(chinese)) => chinese,
        _ => Text::new(record.document.root_cause.as_str()),
    }
}

pub fn root_cause_dispute(record: &Record, language: Language) -> Option<Objection> {
    record
        .dispute("/root_cause")
        .map(|dispute| objection(dispute, language))
}

fn objection(dispute: &Dispute, language: Language) -> Objection {
    let chinese = Text::filled(dispute.why_zh.as_deref());
    Objection {
        why: match (language, chinese) {
            (Language::Chinese, Some(chinese)) => chinese,
            _ => Text::new(dispute.why.as_str()),
        },
        source: Citation::new(&dispute.source),
    }
}

/// What wastes time; what is disputed stands last.
pub fn dead_ends(record: &Record, language: Language, tier: &Tier) -> Vec<Advice> {
    let list = record.dead_ends().into_iter();
    list.map(|advised| dead_end(record, language, tier, &advised))
        .collect()
}

fn dead_end(record: &Record, language: Language, tier: &Tier, advised: &Advised<'_, DeadEnd>) -> Advice {
    let &Advised {
        position,
        item,
        dispute,
    } = advised;
    let words = language.words();
    let chinese = match language {
        Language::Chinese => record.annex.dead_ends_zh.get(position),
        Language::English => None,
    };
    let title = chinese.and_then(|zh| Text::filled(zh.action.as_deref()));
    let body = chinese.and_then(|zh| Text::filled(zh.why_fails.as_deref()));
    let has_sources = !item.sources.is_empty();
    Advice {
        title: title.or_else(|| Text::filled(Some(&item.action))),
        body: body.or_else(|| Text::filled(item.why_fails.as_deref())),
        condition: Text::filled(item.condition.as_deref()),
        kind: None,
        nature: None,
        stop_first: None,
        rate: item
            .fail_rate
            .map(|share| rate(words.fails_in, share, has_sources, tier, words)),
        sources: item.sources.iter().map(|source| Citation::new(source)).collect(),
        dispute: dispute.map(|dispute| objection(dispute, language)),
        position,
        votes: None,
        correct: None,
    }
}

/// What works; what is disputed stands last.
pub fn workarounds(record: &Record, language: Language, tier: &Tier) -> Vec<Advice> {
    let list = record.workarounds().into_iter();
    list.map(|advised| workaround(record, language, tier, &advised))
        .collect()
}

fn workaround(record: &Record, language: Language, tier: &Tier, advised: &Advised<'_, Workaround>) -> Advice {
    let &Advised {
        position,
        item,
        dispute,
    } = advised;
    let words = language.words();
    let in_chinese = language == Language::Chinese;
    let annex = record.annex.workarounds_zh.get(position).filter(|_| in_chinese);
    let document = record
        .document
        .workarounds_zh
        .get(position)
        .filter(|_| in_chinese);
    let title = annex
        .and_then(|zh| Text::filled(zh.action.as_deref()))
        .or_else(|| Text::filled(document.map(String::as_str)))
        .or_else(|| Text::filled(Some(&item.action)));
    // The seeds repeat the action as the way to do it.
    let how = item.how.as_deref().filter(|how| how.trim() != item.action.trim());
    // The document's Chinese is of the whole workaround.
    let whole = document.filter(|_| annex.and_then(|zh| zh.action.as_ref()).is_none());
    let how = annex.and_then(|zh| Text::filled(zh.how.as_deref())).or_else(|| {
        match whole.filter(|whole| is_chinese(whole)) {
            Some(whole) => Text::filled(commands_beyond(how?, whole).as_deref()),
            None => Text::filled(how),
        }
    });
    let has_sources = !item.sources.is_empty();
    let note = record.workaround_note(position);
    Advice {
        title,
        body: how,
        condition: Text::filled(item.condition.as_deref()),
        kind: note.map(|note| kind(note, language)),
        nature: note.map(|note| nature(note, language)),
        stop_first: note.and_then(|note| {
            either(
                language,
                note.stop_first.as_deref(),
                note.stop_first_zh.as_deref(),
            )
        }),
        rate: item
            .success_rate
            .map(|share| rate(words.works_in, share, has_sources, tier, words)),
        sources: item.sources.iter().map(|source| Citation::new(source)).collect(),
        dispute: dispute.map(|dispute| objection(dispute, language)),
        position,
        votes: None,
        correct: None,
    }
}

/// `avoids the error; the cost: … · touches the whole node`
fn kind(note: &WorkaroundNote, language: Language) -> String {
    let words = terms::Words::of(language);
    let cost = either(language, note.cost.as_deref(), note.cost_zh.as_deref());
    let kind = words.workaround_kind(note.kind, cost.as_ref().map(|cost| cost.text.as_str()));
    format!("{kind} · {}", words.workaround_scope(note.scope))
}

fn nature(note: &WorkaroundNote, language: Language) -> Nature {
    let words = terms::Words::of(language);
    let (tone, sign, label) = match note.kind {
        WorkaroundKind::Repairs => (Tone::Good, "✓", words.repairs),
        WorkaroundKind::Avoids => (Tone::Warn, "△", words.avoids),
        WorkaroundKind::Diagnoses => (Tone::Unknown, "?", words.diagnoses),
        WorkaroundKind::Hides => (Tone::Bad, "✗", words.hides),
    };
    Nature {
        kind: Mark { tone, sign, label },
        scope: words.workaround_scope(note.scope),
        cost: either(language, note.cost.as_deref(), note.cost_zh.as_deref()),
    }
}

pub fn harmless_unless(record: &Record, language: Language) -> Option<Text> {
    let harmless = record.annex.harmless.as_ref()?;
    either(language, Some(&harmless.unless), harmless.unless_zh.as_deref())
}

fn either(language: Language, english: Option<&str>, chinese: Option<&str>) -> Option<Text> {
    let chinese = Text::filled(chinese).filter(|_| language == Language::Chinese);
    chinese.or_else(|| Text::filled(english))
}

/// The commands of `how` that a translation leaves out, as they are to be typed; all of it where it is lines of commands.
fn commands_beyond(how: &str, translation: &str) -> Option<String> {
    if how.trim().contains('\n') {
        return Some(how.to_owned());
    }
    let said = on_one_line(translation);
    // Between the first and the second mark, the third and the fourth, …
    let commands = how.split('`').skip(1).step_by(2);
    let left: Vec<String> = commands
        .filter(|command| !said.contains(&on_one_line(command)))
        .map(|command| format!("`{command}`"))
        .collect();
    (!left.is_empty()).then(|| left.join("\n"))
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::feed::samples::PEER_ACCESS;

    #[test]
    fn a_chinese_step_has_no_english_beside_it_but_the_commands_it_leaves_out() {
        let shown = |how: &str, chinese: &str, language: Language| {
            let (document, annex) = PEER_ACCESS;
            let mut record = Record::parse(document, annex).unwrap();
            let first = record.document.workarounds.first_mut().unwrap();
            first.action = "Clear the cache".to_owned();
            first.how = Some(how.to_owned());
            record.annex.workarounds_zh.clear();
            record.document.workarounds_zh = vec![chinese.to_owned()];
            let tier = Tier::of(&record.document, language.words());
            let body = workarounds(&record, language, &tier).remove(0).body;
            body.map(|body| body.text)
        };
        let how = "Stop the job; `rm -rf  ~/.nv`; then `nvidia-smi -r`.";
        let chinese = |chinese: &str| shown(how, chinese, Language::Chinese);
        assert_eq!(chinese("清理缓存：rm -rf ~/.nv，再 nvidia-smi -r。"), None);
        assert_eq!(chinese("清理缓存：rm -rf ~/.nv。").unwrap(), "`nvidia-smi -r`");
        assert_eq!(chinese("Clear the cache").unwrap(), how);
        assert_eq!(shown(how, "清理缓存。", Language::English).unwrap(), how);
        let lines = "first\n  second";
        assert_eq!(shown(lines, "清理缓存。", Language::Chinese).unwrap(), lines);
    }
}
