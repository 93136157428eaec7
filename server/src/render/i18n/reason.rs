//! Why a record was chosen or not. Both languages say what `kb_core::render` says in English; ids, numbers and pieces of
//! the log stay as they are.

use kb_core::reason::{Condition, Found, Here, Known, Sign, Standing, Why};
use kb_core::render;
use kb_core::signature::AppliesTo;

use super::Language;
use crate::render::advice::Text;

words! {
    "reason";
    texts {
        pattern,
        pattern_over_lines,
        signature,
        signature_over_lines,
        and_then,
        word_comma,
        or,
        range_comma,
    }
    messages {
        code(code: &str),
        is(line: &str),
        whole(line: &str),
        most(line: &str),
        part(line: &str),
        over_lines(line: &str),
        whole_over_lines(line: &str),
        code_stands(code: &str, line: &str),
        code_and_whole(code: &str, line: &str),
        captured(values: &str),
        wraps(record: &str),
        meets(component: &str, range: &str, here: &str),
        fails(component: &str, range: &str, here: &str),
        untold(component: &str, range: &str),
        known_from(value: &str, line: &str),
        from(version: &str),
        before(version: &str),
        up_to(version: &str),
        other_subject(sign: &str, line: &str, subject: &str),
        no_gpu(sign: &str, line: &str),
        taken_away(record: &str, line: &str),
        only_with_others(window: &str),
        only_alone(record: &str, line: &str, window: &str),
        within(seconds: &str),
        shared(words: &str),
    }
}

/// A reason in a language. What came as a sentence alone, from another program, is English.
pub(crate) fn told(reason: Option<&Why>, sentence: &str, language: Language) -> Text {
    match reason {
        Some(why) => Text {
            text: Words::of(language).why(why),
            lang: language.tag(),
        },
        None => Text {
            text: sentence.to_owned(),
            lang: Language::English.tag(),
        },
    }
}

impl Words {
    fn why(&self, why: &Why) -> String {
        match why {
            Why::Found(found) => self.found(found),
            Why::OtherSubject { sign, line, subject } => {
                self.other_subject(&self.sign(sign), &line.to_string(), subject)
            }
            Why::NoGpuNamed { sign, line } => self.no_gpu(&self.sign(sign), &line.to_string()),
            Why::TakenAway { by, line } => self.taken_away(by.as_str(), &line.to_string()),
            Why::OnlyWithOthers { window } => self.only_with_others(&self.window(*window)),
            Why::OnlyAlone { beside, line, window } => {
                self.only_alone(beside.as_str(), &line.to_string(), &self.window(*window))
            }
            Why::SharedWords { words } => self.shared(&words.join(self.word_comma)),
        }
    }

    fn found(&self, found: &Found) -> String {
        let Found {
            captures,
            wraps,
            condition,
            ..
        } = found;
        let line = found.line.to_string();
        let mut clauses = vec![match found.standing() {
            Standing::Line => self.is(&line),
            Standing::Whole => self.whole(&line),
            Standing::Most => self.most(&line),
            Standing::Part => self.part(&line),
            Standing::OverLines { whole: false } => self.over_lines(&line),
            Standing::OverLines { whole: true } => self.whole_over_lines(&line),
            Standing::Code { code, whole: false } => self.code_stands(code, &line),
            Standing::Code { code, whole: true } => self.code_and_whole(code, &line),
        }];
        if !captures.is_empty() {
            clauses.push(self.captured(&render::list(captures)));
        }
        clauses.extend(wraps.iter().map(|inner| self.wraps(inner.as_str())));
        clauses.extend(condition.iter().map(|condition| self.condition(condition)));
        clauses.join(self.and_then)
    }

    fn sign(&self, sign: &Sign) -> String {
        match sign {
            Sign::Pattern => self.pattern.to_owned(),
            Sign::PatternOverLines => self.pattern_over_lines.to_owned(),
            Sign::Signature => self.signature.to_owned(),
            Sign::SignatureOverLines => self.signature_over_lines.to_owned(),
            Sign::Code(code) => self.code(code),
        }
    }

    fn condition(&self, condition: &Condition) -> String {
        let component = condition.about.component.as_str();
        let range = self.range(&condition.about);
        match &condition.here {
            Here::Meets(known) => self.meets(component, &range, &self.known(known)),
            Here::Fails(known) => self.fails(component, &range, &self.known(known)),
            Here::Untold => self.untold(component, &range),
        }
    }

    fn known(&self, known: &Known) -> String {
        match known.line {
            Some(line) => self.known_from(&known.value, &line.to_string()),
            None => known.value.clone(),
        }
    }

    fn range(&self, about: &AppliesTo) -> String {
        let mut words = Vec::new();
        if !about.any_of.is_empty() {
            words.push(about.any_of.join(self.or));
        }
        words.extend(about.introduced.iter().map(|version| self.from(version)));
        words.extend(about.fixed.iter().map(|version| self.before(version)));
        words.extend(about.last_affected.iter().map(|version| self.up_to(version)));
        words.join(self.range_comma)
    }

    fn window(&self, window: Option<u32>) -> String {
        window.map_or_else(String::new, |seconds| self.within(&seconds.to_string()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn about(any_of: &[&str], bounds: [&str; 3]) -> AppliesTo {
        let [introduced, fixed, last_affected] =
            bounds.map(|bound| (!bound.is_empty()).then(|| bound.to_owned()));
        AppliesTo {
            component: "driver".to_owned(),
            introduced,
            fixed,
            last_affected,
            any_of: any_of.iter().map(|word| (*word).to_owned()).collect(),
        }
    }

    fn known(line: Option<u64>) -> Known {
        Known {
            value: "535.1".to_owned(),
            line,
        }
    }

    fn all() -> Vec<Why> {
        let id = || "nccl/a".parse().unwrap();
        let signs = || {
            [
                Sign::Pattern,
                Sign::PatternOverLines,
                Sign::Signature,
                Sign::SignatureOverLines,
                Sign::Code("Xid 79".to_owned()),
            ]
        };
        let found = Found {
            sign: Sign::Pattern,
            percent: 58,
            line: 1_200,
            whole_signature: false,
            captures: BTreeMap::new(),
            wraps: None,
            condition: None,
        };
        let mut founds = vec![found.clone()];
        founds.extend(signs().map(|sign| Found {
            sign,
            whole_signature: true,
            ..found.clone()
        }));
        founds.extend([12, 100].map(|percent| Found {
            percent,
            ..found.clone()
        }));
        let unlike = [Sign::PatternOverLines, Sign::Code("Xid 79".to_owned())];
        founds.extend(unlike.map(|sign| Found {
            sign,
            ..found.clone()
        }));
        founds.push(Found {
            captures: BTreeMap::from([
                ("file".to_owned(), "a; it only wraps b".to_owned()),
                ("line".to_owned(), "{ $line }".to_owned()),
            ]),
            wraps: Some(id()),
            ..found.clone()
        });
        let heres = [
            Here::Meets(known(None)),
            Here::Fails(known(Some(3))),
            Here::Untold,
        ];
        let ranges = [
            about(&["*H200*", "A100"], ["", "", ""]),
            about(&[], ["550", "560", ""]),
            about(&["x"], ["550", "", "560"]),
        ];
        for here in heres {
            founds.extend(ranges.iter().map(|about| Found {
                condition: Some(Condition {
                    about: about.clone(),
                    here: here.clone(),
                }),
                ..found.clone()
            }));
        }
        let mut all: Vec<Why> = founds
            .into_iter()
            .map(|found| Why::Found(Box::new(found)))
            .collect();
        all.extend(signs().map(|sign| Why::OtherSubject {
            sign,
            line: 1_200,
            subject: "xid".to_owned(),
        }));
        all.extend(signs().map(|sign| Why::NoGpuNamed { sign, line: 2 }));
        all.push(Why::TakenAway { by: id(), line: 2 });
        for window in [None, Some(30)] {
            all.push(Why::OnlyWithOthers { window });
            all.push(Why::OnlyAlone {
                beside: id(),
                line: 2,
                window,
            });
        }
        all.push(Why::SharedWords {
            words: vec!["peer".to_owned(), "access".to_owned()],
        });
        all
    }

    #[test]
    fn english_pages_say_what_the_interface_says() {
        for why in all() {
            let sentence = render::why(&why);
            let told = told(Some(&why), "", Language::English);
            assert_eq!((told.text, told.lang), (sentence, "en"));
        }
    }

    #[test]
    fn every_reason_is_said_in_chinese_with_its_values() {
        for why in all() {
            let told = told(Some(&why), "", Language::Chinese);
            assert_eq!(told.lang, "zh-Hans");
            for english in [" is ", " stands", "it ", " and ", "line "] {
                let is_value = matches!(&why, Why::Found(found) if !found.captures.is_empty());
                assert!(is_value || !told.text.contains(english), "{}", told.text);
            }
        }
        let chinese = |at: usize| told(all().get(at), "", Language::Chinese).text;
        assert_eq!(chinese(0), "第 1200 行的大部分内容是这条错误信息");
        assert_eq!(chinese(5), "错误码 Xid 79 和完整的错误信息都出现在第 1200 行");
        assert_eq!(chinese(6), "第 1200 行的一部分是这条错误信息");
        assert_eq!(chinese(7), "第 1200 行就是这条错误信息");
        assert!(
            chinese(10).ends_with("；其中的值：file=a; it only wraps b, line={ $line }；它只是包装了 nccl/a")
        );
        assert!(chinese(12).ends_with("；该记录针对 driver 550 及以上且低于 560，此处为 535.1"));
        assert!(chinese(14).contains("此处为 535.1（第 3 行）"));
    }

    #[test]
    fn a_sentence_without_its_reason_stays_english() {
        let sentence = "somebody thought of a new sentence";
        let told = told(None, sentence, Language::Chinese);
        assert_eq!((told.text.as_str(), told.lang), (sentence, "en"));
    }
}
