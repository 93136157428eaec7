//! How a part of the site lists the keys of its texts. The texts themselves stand in `server/locales`.

/// Makes `Words`, the texts of a part in one language: a field for each plain text, and a method for each message, which
/// takes the message's arguments. The key of `nothing_found` in the part `search` is `search-nothing-found`. An argument
/// that is a number decides between singular and plural, and is shown grouped; one that is a text is shown as it is.
macro_rules! words {
    (
        $part:literal;
        texts { $($text:ident,)+ }
        $(messages { $($message:ident($($name:ident: $kind:ty),+),)+ })?
    ) => {
        #[derive(Debug)]
        pub struct Words {
            $(pub(crate) $text: &'static str,)+
            $($($message: $crate::render::i18n::bundle::Message,)+)?
        }

        impl Words {
            pub(crate) fn of(language: $crate::render::i18n::Language) -> &'static Self {
                use std::sync::LazyLock;
                use $crate::render::i18n::Language;
                static ENGLISH: LazyLock<Words> = LazyLock::new(|| Words::load(Language::English));
                static CHINESE: LazyLock<Words> = LazyLock::new(|| Words::load(Language::Chinese));
                match language {
                    Language::English => &ENGLISH,
                    Language::Chinese => &CHINESE,
                }
            }

            fn load(language: $crate::render::i18n::Language) -> Self {
                let bundle = $crate::render::i18n::bundle::Bundle::of(language);
                let key = |field: &str| $crate::render::i18n::table::key($part, field);
                Self {
                    $($text: bundle.text(&key(stringify!($text))),)+
                    $($($message: bundle.message(&key(stringify!($message))),)+)?
                }
            }

            $($(
                pub(crate) fn $message(&self, $($name: $kind),+) -> String {
                    self.$message.format([$((stringify!($name), $name.into())),+])
                }
            )+)?

            #[cfg(test)]
            pub(super) fn keys() -> Vec<$crate::render::i18n::table::Key> {
                use $crate::render::i18n::table::Key;
                let texts = [$(Key::new($part, stringify!($text), &[]),)+];
                let messages = [$($(
                    Key::new($part, stringify!($message), &[$((stringify!($name), stringify!($kind))),+]),
                )+)?];
                texts.into_iter().chain(messages).collect()
            }
        }
    };
}

pub(super) fn key(part: &str, field: &str) -> String {
    format!("{part}-{}", field.replace('_', "-"))
}

#[cfg(test)]
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) key: String,
    pub(super) arguments: &'static [(&'static str, &'static str)],
}

#[cfg(test)]
impl Key {
    pub(super) fn new(part: &str, field: &str, arguments: &'static [(&'static str, &'static str)]) -> Self {
        Self {
            key: key(part, field),
            arguments,
        }
    }
}
