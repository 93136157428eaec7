//! Languages that are asked for on the command line.

use clap::{Args, ValueEnum};

use crate::render::i18n::Language;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Lang {
    /// English
    En,
    /// Chinese
    Zh,
}

impl From<Lang> for Language {
    fn from(lang: Lang) -> Self {
        match lang {
            Lang::En => Self::English,
            Lang::Zh => Self::Chinese,
        }
    }
}

/// For answers that are in English alone: whoever asks for another language is told where there is one.
#[derive(Debug, Args)]
pub(super) struct EnglishArgs {
    // Hidden: it changes nothing.
    #[arg(long, value_name = "LANGUAGE", value_parser = english, hide = true)]
    lang: Option<String>,
}

fn english(text: &str) -> Result<String, String> {
    match text {
        "en" => Ok(text.to_owned()),
        "zh" => Err(
            "this answer is in English alone; `peerless record --lang zh ID` prints each record that it names in \
             Chinese, and the pages of a server show whole answers in Chinese (choose 中文)"
                .to_owned(),
        ),
        _ => Err("this answer is in English alone: leave --lang out".to_owned()),
    }
}
