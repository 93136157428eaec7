//! What readers are told where something they filled in was not taken.

use crate::domain::accounts::own_tokens::OwnTokenError;
use crate::domain::accounts::people::PeopleError;
use crate::domain::accounts::sessions::{ChangeError, LoginError};
use crate::domain::accounts::{WeakPassword, Wrong};
use crate::render::i18n::account::Words;
use crate::web::error::Problem;

/// The sentence for the reader; an error that is no reader's is passed on.
pub(super) fn login(error: LoginError, words: &Words) -> Result<String, Problem> {
    match error {
        LoginError::Wrong => Ok(words.wrong_login.to_owned()),
        LoginError::Wait(wait) => Ok(words.wait(wait.as_secs() + 1)),
        LoginError::Password(error) => Err(Problem::internal(&error)),
        LoginError::Store(error) => Err(error.into()),
    }
}

pub(super) fn people(error: PeopleError, words: &Words) -> Result<String, Problem> {
    let text = match error {
        PeopleError::Wrong(Wrong::Login) => words.bad_login,
        PeopleError::Wrong(Wrong::Name) => words.bad_name,
        PeopleError::Weak(weak) => return Ok(weak_password(weak, words)),
        PeopleError::LoginTaken => words.login_taken,
        PeopleError::NoPerson => words.nobody,
        PeopleError::LastAdmin => words.last_admin,
        PeopleError::Link => words.link_over,
        PeopleError::Password(error) => return Err(Problem::internal(&error)),
        PeopleError::Store(error) => return Err(error.into()),
    };
    Ok(text.to_owned())
}

fn weak_password(weak: WeakPassword, words: &Words) -> String {
    match weak {
        WeakPassword::Short => words.password_short,
        WeakPassword::Long => words.password_long,
        WeakPassword::Login => words.password_login,
        WeakPassword::Pattern => words.password_pattern,
        WeakPassword::Common => words.password_common,
    }
    .to_owned()
}

pub(super) fn change(error: ChangeError, words: &Words) -> Result<String, Problem> {
    match error {
        ChangeError::Login(LoginError::Wrong) => Ok(words.wrong_password.to_owned()),
        ChangeError::Login(error) => login(error, words),
        ChangeError::People(error) => people(error, words),
        ChangeError::Same => Ok(words.password_same.to_owned()),
    }
}

pub(super) fn own_token(error: OwnTokenError, words: &Words) -> Result<String, Problem> {
    let text = match error {
        OwnTokenError::Name => words.bad_name,
        OwnTokenError::NoScope => words.no_scope,
        OwnTokenError::NotYours(_) => words.not_your_scope,
        OwnTokenError::Days => words.bad_days,
        OwnTokenError::TooMany => words.too_many_tokens,
        OwnTokenError::Issue(error) => return Err(Problem::internal(&error)),
        OwnTokenError::Store(error) => return Err(error.into()),
    };
    Ok(text.to_owned())
}
