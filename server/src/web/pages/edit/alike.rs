//! Published records that may say the same as a draft, with the reasons.

use crate::domain::curate::{Alike, Likeness};
use crate::feed::Generation;
use crate::render::i18n::{Locale, edit::Words};
use crate::render::record::texts;
use crate::render::words::record_href;

#[derive(Debug)]
pub(in crate::web::pages) struct AlikeView {
    pub(in crate::web::pages) id: String,
    pub(in crate::web::pages) title: String,
    pub(in crate::web::pages) href: String,
    pub(in crate::web::pages) why: String,
}

pub(in crate::web::pages) fn alike_views(
    found: Vec<Alike>,
    generation: &Generation,
    locale: Locale,
) -> Vec<AlikeView> {
    let words = Words::of(locale.language);
    let views = found.into_iter().map(|alike| {
        let id = alike.record;
        let title = match generation.record(&id) {
            Some(published) => texts::heading(&published.record, locale.language).text,
            None => alike.title,
        };
        let why: Vec<String> = alike.why.iter().map(|why| said(why, words)).collect();
        AlikeView {
            href: locale.href(record_href(id.as_str())),
            id: id.to_string(),
            title,
            why: why.join("; "),
        }
    });
    views.collect()
}

fn said(why: &Likeness, words: &Words) -> String {
    match why {
        Likeness::Signature => words.same_signature.to_owned(),
        Likeness::Code { code } => words.same_code(code),
        Likeness::Example { pointer, pattern } => {
            let at = pointer.rsplit('/').next().and_then(|at| at.parse::<u64>().ok());
            words.takes_example(&(at.unwrap_or_default() + 1).to_string(), pattern)
        }
    }
}
