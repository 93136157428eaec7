//! How a table of words is written: each key with its English and its Chinese, so that none can be without one.

/// Makes `Words`, a struct with a text for each key, and the two languages of it.
macro_rules! words {
    ($($(#[$meta:meta])* $key:ident: $english:literal, $chinese:literal;)+) => {
        /// The words of this part in one language; `{}` stands for a value.
        #[derive(Debug)]
        pub struct Words {
            $($(#[$meta])* pub(in crate::web) $key: &'static str,)+
        }

        impl Words {
            /// In a language.
            pub(in crate::web) fn of(language: $crate::web::pages::i18n::Language) -> &'static Self {
                static ENGLISH: Words = Words { $($key: $english,)+ };
                static CHINESE: Words = Words { $($key: $chinese,)+ };
                match language {
                    $crate::web::pages::i18n::Language::English => &ENGLISH,
                    $crate::web::pages::i18n::Language::Chinese => &CHINESE,
                }
            }

            /// Every key with its English and its Chinese.
            #[cfg(test)]
            pub(super) const ALL: &[(&str, &str, &str)] = &[$((stringify!($key), $english, $chinese),)+];
        }
    };
}
