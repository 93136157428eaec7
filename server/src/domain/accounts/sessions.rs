//! Logging in, being logged in, logging out.

use std::net::IpAddr;

use time::{Duration, OffsetDateTime};

use super::password::{PasswordError, Passwords};
use super::people::{self, PeopleError};
use super::{LoginLimiter, csrf};
use crate::clock::{Random, RandomError};
use crate::domain::tokens::hash;
use crate::store::{
    ActorKind, By, LiveSession, NewAudit, NewSession, Person, SessionStore, Store, StoreError,
};

/// A session that nobody uses ends after so long.
pub const IDLE: Duration = Duration::hours(12);
/// And any session after so long.
pub const LONGEST: Duration = Duration::days(7);
/// A session in use is noted no more often than this.
const NOTED_EVERY: Duration = Duration::minutes(1);

const SECRET_BYTES: usize = 32;
/// What the secret of a session begins with that a proxy's word began. It is part of what is hashed, so that nobody takes it off, and
/// every server knows by it that the session counts with that word alone.
const BY_PROXY: &str = "proxy-";
/// Longest name of a browser that is kept, in characters.
const AGENT_CHARACTERS: usize = 120;

#[derive(Debug, Clone, Default)]
pub struct Browser {
    pub address: Option<IpAddr>,
    pub user_agent: Option<String>,
    /// Secret of the session that it shows, if any; it ends when another begins.
    pub secret: Option<String>,
}

impl Browser {
    fn told(&self) -> Option<String> {
        self.address.map(|address| address.to_string())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// No such login, no such password, or shut out: nobody is told which.
    #[error("login or password is wrong")]
    Wrong,
    #[error("too many attempts failed: wait {} s", .0.as_secs() + 1)]
    Wait(std::time::Duration),
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<RandomError> for LoginError {
    fn from(error: RandomError) -> Self {
        Self::Password(error.into())
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Door<'a> {
    pub store: &'a dyn Store,
    pub passwords: &'a Passwords,
    pub limiter: &'a LoginLimiter,
    pub random: &'a dyn Random,
    pub now: OffsetDateTime,
}

/// Lets in who knows the password; returns the secret of the new session. The work is the same whether there is such a login.
pub async fn log_in(
    door: Door<'_>,
    (login, password): (&str, &str),
    browser: &Browser,
) -> Result<String, LoginError> {
    let address = browser.address.unwrap_or(IpAddr::from([0, 0, 0, 0]));
    let attempt = door
        .limiter
        .admit(login.trim(), address, door.now)
        .map_err(LoginError::Wait)?;
    let person = door.store.person_by_login(login.trim()).await?;
    let known = person.as_ref().map(|person| person.login.clone());
    let kept = person
        .as_ref()
        .filter(|person| person.disabled_at.is_none())
        .and_then(|person| person.password_hash.as_deref());
    let is_right = door.passwords.verify(kept, password).await?;
    let Some(person) = person.filter(|_| is_right) else {
        // A login that nobody has may be a password in the wrong field.
        let subject = known.unwrap_or_else(|| "(nobody)".to_owned());
        let by = By {
            address: browser.told(),
            ..By::system("login")
        };
        let entry = NewAudit::new("login.failed", subject, &by, door.now);
        door.store.note(entry).await?;
        return Err(LoginError::Wrong);
    };
    door.limiter.succeeded(attempt, door.now);
    Ok(start(door.store, door.random, &person, browser, Word::Login, door.now).await?)
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<StartError> for LoginError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Random(error) => error.into(),
            StartError::Store(error) => error.into(),
        }
    }
}

/// Who said who somebody is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// A proxy does, with each request.
    Proxy,
    /// A password, a provider or a link did, at the login.
    Login,
}

/// Whether this secret's session counts only while a proxy names its login.
pub fn is_by_proxy(secret: &str) -> bool {
    secret.starts_with(BY_PROXY)
}

/// Begins a session of an identified person; returns its secret. The browser's former session ends: another may know it.
pub async fn start(
    store: &dyn SessionStore,
    random: &dyn Random,
    person: &Person,
    browser: &Browser,
    word: Word,
    now: OffsetDateTime,
) -> Result<String, StartError> {
    let mut secret = [0; SECRET_BYTES];
    let mut proof = [0; csrf::BYTES];
    random.fill(&mut secret)?;
    random.fill(&mut proof)?;
    let secret = match word {
        Word::Proxy => format!("{BY_PROXY}{}", hex::encode(secret)),
        Word::Login => hex::encode(secret),
    };
    let agent = browser.user_agent.as_deref().map(shortened);
    let session = NewSession {
        id: hash(&secret),
        person: person.id.clone(),
        csrf: hex::encode(proof),
        standing: person.standing,
        made_at: now,
        seen_at: now,
        idle_ends_at: now + IDLE,
        ends_at: now + LONGEST,
        address: browser.told(),
        user_agent: agent,
    };
    let before = browser.secret.as_deref().map(hash);
    let by = by(person, browser.told());
    store
        .start_session(session, before.as_deref(), (&by, "login"))
        .await?;
    Ok(secret)
}

fn shortened(agent: &str) -> String {
    agent
        .chars()
        .filter(|c| !c.is_control())
        .take(AGENT_CHARACTERS)
        .collect()
}

pub fn by(person: &Person, address: Option<String>) -> By {
    By {
        kind: ActorKind::Person,
        id: person.id.clone(),
        name: person.name.clone(),
        address,
    }
}

/// The session with this secret, if it is not over. That it is used puts off its end.
pub async fn authenticate(
    store: &dyn SessionStore,
    secret: &str,
    now: OffsetDateTime,
) -> Result<Option<LiveSession>, StoreError> {
    let digits = secret.strip_prefix(BY_PROXY).unwrap_or(secret);
    if digits.len() != 2 * SECRET_BYTES || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(None);
    }
    let live = store.session(&hash(secret), now).await?;
    if let Some(live) = &live
        && now - live.session.seen_at >= NOTED_EVERY
    {
        let noted = store.touch_session(&live.session.id, now, now + IDLE).await;
        // A database that cannot be written answers readers all the same.
        if let Err(error) = noted {
            tracing::warn!(%error, "that a session is in use was not noted");
        }
    }
    Ok(live)
}

/// Ends a session of the person; false where there is none.
pub async fn end(
    store: &dyn SessionStore,
    person: &str,
    id: &str,
    (by, action): (&By, &'static str),
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    store.end_session(person, id, (by, action), now).await
}

pub async fn end_all(
    store: &dyn Store,
    person: &str,
    by: &By,
    now: OffsetDateTime,
) -> Result<u64, PeopleError> {
    if store.person(person).await?.is_none() {
        return Err(PeopleError::NoPerson);
    }
    Ok(store.end_sessions(person, by, now).await?)
}

#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error(transparent)]
    Login(#[from] LoginError),
    #[error(transparent)]
    People(#[from] PeopleError),
    #[error("the new password is the old one")]
    Same,
}

/// Changes one's own password, for which the old one is asked again. All sessions end and one begins; returns its secret.
pub async fn change_password(
    door: Door<'_>,
    person: &Person,
    (old, new): (&str, &str),
    browser: &Browser,
) -> Result<String, ChangeError> {
    let address = browser.address.unwrap_or(IpAddr::from([0, 0, 0, 0]));
    let attempt = door
        .limiter
        .admit(&person.login, address, door.now)
        .map_err(LoginError::Wait)?;
    let kept = person.password_hash.as_deref();
    let verified = door.passwords.verify(kept, old).await;
    if !verified.map_err(LoginError::from)? {
        return Err(LoginError::Wrong.into());
    }
    door.limiter.succeeded(attempt, door.now);
    // Told only to whoever knows it.
    if old == new {
        return Err(ChangeError::Same);
    }
    let by = by(person, browser.told());
    let how = (door.passwords, door.random);
    people::set_password(door.store, how, person, new, &by, door.now).await?;
    let started = start(door.store, door.random, person, browser, Word::Login, door.now).await;
    Ok(started.map_err(LoginError::from)?)
}
