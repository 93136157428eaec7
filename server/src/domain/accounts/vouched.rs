//! Logins that somebody else vouches for: a proxy that signs people on, a provider of OpenID Connect.

use time::OffsetDateTime;

use super::names::{Wrong, check_login, check_name};
use super::people;
use super::sessions::{Browser, StartError, Word, start};
use crate::clock::{Random, RandomError};
use crate::store::{By, NewPerson, Person, PersonChange, Role, Standing, Store, StoreError};

/// Who it is, by the word of another.
#[derive(Debug, Clone)]
pub struct Vouched<'a> {
    /// Who vouches, for the audit: `proxy`, or the issuer.
    pub by: &'a str,
    /// Whether it is asked at the login alone, or with each request.
    pub word: Word,
    pub login: &'a str,
    /// What readers see; the login where nothing is said.
    pub name: &'a str,
    /// Issuer and subject. Without, the login is the person.
    pub subject: Option<(&'a str, &'a str)>,
    pub standing: Option<Standing>,
}

#[derive(Debug, thiserror::Error)]
pub enum VouchedError {
    #[error(transparent)]
    Wrong(#[from] Wrong),
    #[error("the login {0} belongs to another account here: an administrator can sort it out")]
    LoginTaken(String),
    #[error("this account may not log in")]
    Disabled,
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<StartError> for VouchedError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Random(error) => error.into(),
            StartError::Store(error) => error.into(),
        }
    }
}

/// Lets somebody in, who gets an account at the first time; returns the secret of the new session.
pub async fn log_in(
    (store, random): (&dyn Store, &dyn Random),
    vouched: &Vouched<'_>,
    browser: &Browser,
    now: OffsetDateTime,
) -> Result<String, VouchedError> {
    let by = By {
        address: browser.address.map(|address| address.to_string()),
        ..By::system(vouched.by)
    };
    let person = match find(store, vouched).await? {
        Some(person) => person,
        None => make(store, random, vouched, &by, now).await?,
    };
    if person.disabled_at.is_some() {
        return Err(VouchedError::Disabled);
    }
    let person = match vouched.standing {
        Some(standing) if standing != person.standing => {
            // The last administrator here stays one, whatever another says.
            match store.set_role(&person.id, standing, &by, now).await? {
                PersonChange::Changed => Person { standing, ..person },
                _ => person,
            }
        }
        _ => person,
    };
    Ok(start(store, random, &person, browser, vouched.word, now).await?)
}

async fn find(store: &dyn Store, vouched: &Vouched<'_>) -> Result<Option<Person>, StoreError> {
    match vouched.subject {
        Some((issuer, subject)) => store.person_by_subject(issuer, subject).await,
        None => store.person_by_login(vouched.login).await,
    }
}

async fn make(
    store: &dyn Store,
    random: &dyn Random,
    vouched: &Vouched<'_>,
    by: &By,
    now: OffsetDateTime,
) -> Result<Person, VouchedError> {
    let login = check_login(vouched.login)?;
    let name = check_name(vouched.name).unwrap_or_else(|_| login.clone());
    let id = people::new_id(random)?;
    let viewer = Standing {
        role: Role::Viewer,
        operator: false,
    };
    let person = NewPerson {
        id: id.clone(),
        login: login.clone(),
        name,
        standing: vouched.standing.unwrap_or(viewer),
        password_hash: None,
        subject: vouched
            .subject
            .map(|(issuer, subject)| (issuer.to_owned(), subject.to_owned())),
        created_at: now,
    };
    if !store.create_person(person, by).await? {
        // Another request of the same person may have been faster.
        return match find(store, vouched).await? {
            Some(person) => Ok(person),
            None => Err(VouchedError::LoginTaken(login)),
        };
    }
    store.person(&id).await?.ok_or(VouchedError::LoginTaken(login))
}
