//! The texts of one language: the files of `server/locales`, which are part of the program, as one Fluent bundle.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentError, FluentMessage, FluentResource, FluentValue};

use super::Language;
use crate::render::words::grouped;

macro_rules! files {
    ($($part:literal),+) => {
        /// Each part of the site with its English and its Chinese file.
        pub(super) const FILES: &[(&str, &str, &str)] = &[$((
            $part,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/locales/en/", $part, ".ftl")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/locales/zh/", $part, ".ftl")),
        )),+];
    };
}

files!(
    "account",
    "answer",
    "baseline",
    "edit",
    "facets",
    "failure",
    "feedback",
    "field",
    "files",
    "fleet",
    "graph",
    "history",
    "kept",
    "lookup",
    "moves",
    "reason",
    "record",
    "report",
    "search",
    "shared",
    "site",
    "tab",
    "terms",
    "unmatched",
    "workbench"
);

pub(super) struct Bundle(FluentBundle<FluentResource>);

impl Bundle {
    pub(super) fn of(language: Language) -> &'static Self {
        static ENGLISH: LazyLock<Bundle> = LazyLock::new(|| Bundle::load(Language::English));
        static CHINESE: LazyLock<Bundle> = LazyLock::new(|| Bundle::load(Language::Chinese));
        match language {
            Language::English => &ENGLISH,
            Language::Chinese => &CHINESE,
        }
    }

    /// Messages with a syntax error are left out. Tests find them; at run time a page with one text less is better than none.
    fn load(language: Language) -> Self {
        let tag = language.tag().parse().unwrap_or_default();
        let mut bundle = FluentBundle::new_concurrent(vec![tag]);
        // Commands and ids are copied from sentences: isolation marks around a value would be copied with them.
        bundle.set_use_isolating(false);
        bundle.set_formatter(Some(|value, _| grouped_number(value)));
        for (_, english, chinese) in FILES {
            let source = match language {
                Language::English => english,
                Language::Chinese => chinese,
            };
            let file = FluentResource::try_new((*source).to_owned()).unwrap_or_else(|(readable, _)| readable);
            bundle.add_resource_overriding(file);
        }
        Self(bundle)
    }

    /// A text without arguments; the key itself where there is none.
    pub(super) fn text(&'static self, key: &str) -> &'static str {
        let Some(pattern) = self.message(key).message.and_then(|message| message.value()) else {
            return key.to_owned().leak();
        };
        match self.0.format_pattern(pattern, None, &mut Vec::new()) {
            Cow::Borrowed(text) => text,
            // A text with a quoted blank. Each table asks once for each text, so that what leaks is bounded.
            Cow::Owned(text) => text.leak(),
        }
    }

    pub(super) fn message(&'static self, key: &str) -> Message {
        Message {
            bundle: self,
            message: self.0.get_message(key),
        }
    }
}

/// Numbers look the same in both languages and as elsewhere on the pages. Texts are not changed.
fn grouped_number(value: &FluentValue<'_>) -> Option<String> {
    let FluentValue::Number(number) = value else {
        return None;
    };
    number.as_string().parse().ok().map(grouped)
}

pub(crate) struct Message {
    bundle: &'static Bundle,
    message: Option<FluentMessage<'static>>,
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(f)
    }
}

impl Message {
    pub(super) fn format<'v, const N: usize>(&self, values: [(&'v str, FluentValue<'v>); N]) -> String {
        self.format_and_report(values, &mut Vec::new())
    }

    /// As [`Self::format`], with what is wrong with the message or its values.
    pub(super) fn format_and_report<'v>(
        &self,
        values: impl IntoIterator<Item = (&'v str, FluentValue<'v>)>,
        errors: &mut Vec<FluentError>,
    ) -> String {
        let Some(pattern) = self.message.as_ref().and_then(FluentMessage::value) else {
            return String::new();
        };
        let values: FluentArgs<'_> = values.into_iter().collect();
        let text = self.bundle.0.format_pattern(pattern, Some(&values), errors);
        text.into_owned()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_values_have_no_isolation_marks() {
        let found = Bundle::of(Language::English).message("search-found");
        assert_eq!(found.format([("count", 1_u64.into())]), "1 record found");
        assert_eq!(
            found.format([("count", 1_200_u64.into())]),
            "1\u{202f}200 records found"
        );
        let find_out = Bundle::of(Language::Chinese).message("lookup-find-out");
        let text = find_out.format([("command", "`peerless-agent probe`".into())]);
        assert_eq!(text, "查明是哪一个：在节点上运行 `peerless-agent probe`。");
    }

    #[test]
    fn the_syntax_of_fluent_in_a_value_is_plain_text() {
        let host = Bundle::of(Language::English).message("fleet-host");
        let text = host.format([("hostname", "{ $hostname } { fleet-nodes }".into())]);
        assert_eq!(text, "Host { $hostname } { fleet-nodes }");
    }

    #[test]
    fn each_file_can_be_read_and_no_key_is_given_twice() {
        for language in [Language::English, Language::Chinese] {
            let mut bundle: FluentBundle<FluentResource> = FluentBundle::new_concurrent(Vec::new());
            for (part, english, chinese) in FILES {
                let source = if language == Language::English {
                    english
                } else {
                    chinese
                };
                let file = FluentResource::try_new((*source).to_owned()).map_err(|(_, errors)| errors);
                bundle
                    .add_resource(file.unwrap_or_else(|errors| panic!("{part}: {errors:?}")))
                    .unwrap();
            }
        }
    }
}
