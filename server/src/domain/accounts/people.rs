//! Making people, and changing what they may do.

use time::{Duration, OffsetDateTime};

use super::names::{Wrong, check_login, check_name};
use super::password::{self, PasswordError, Passwords, WeakPassword};
use crate::clock::{Random, RandomError};
use crate::domain::tokens::hash;
use crate::store::{
    By, FirstAdmin, NewPerson, Person, PersonChange, PersonStore, Role, Standing, StoreError,
};

pub const FIRST_ADMIN_LINK: Duration = Duration::hours(1);

const ID_BYTES: usize = 8;
const KEY_BYTES: usize = 32;

#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    #[error(transparent)]
    Wrong(#[from] Wrong),
    #[error(transparent)]
    Weak(#[from] WeakPassword),
    #[error("somebody has this login already")]
    LoginTaken,
    #[error("there is nobody with this login")]
    NoPerson,
    #[error("this is the last administrator: make another first")]
    LastAdmin,
    #[error(
        "this link is not good: it is for one use within an hour of the start, and only while there is nobody; \
         `peerless user add` makes an administrator too"
    )]
    Link,
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<RandomError> for PeopleError {
    fn from(error: RandomError) -> Self {
        Self::Password(error.into())
    }
}

#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    pub login: &'a str,
    /// What readers see; the login where nothing is said.
    pub name: &'a str,
    /// Absent where the person logs in elsewhere.
    pub password: Option<&'a str>,
    pub standing: Standing,
}

impl Wanted<'_> {
    async fn made(
        &self,
        passwords: &Passwords,
        random: &dyn Random,
        now: OffsetDateTime,
    ) -> Result<NewPerson, PeopleError> {
        let login = check_login(self.login)?;
        let name = if self.name.trim().is_empty() {
            login.clone()
        } else {
            check_name(self.name)?
        };
        let password_hash = match self.password {
            Some(password) => {
                password::check(password, &login)?;
                Some(passwords.hash(password, random).await?)
            }
            None => None,
        };
        Ok(NewPerson {
            id: new_id(random)?,
            login,
            name,
            standing: self.standing,
            password_hash,
            subject: None,
            created_at: now,
        })
    }
}

pub fn new_id(random: &dyn Random) -> Result<String, RandomError> {
    let mut bytes = [0; ID_BYTES];
    random.fill(&mut bytes)?;
    Ok(hex::encode(bytes))
}

pub async fn add(
    store: &dyn PersonStore,
    (passwords, random): (&Passwords, &dyn Random),
    wanted: &Wanted<'_>,
    by: &By,
    now: OffsetDateTime,
) -> Result<String, PeopleError> {
    let person = wanted.made(passwords, random, now).await?;
    let id = person.id.clone();
    if store.create_person(person, by).await? {
        Ok(id)
    } else {
        Err(PeopleError::LoginTaken)
    }
}

/// Makes the key of the link that makes the first administrator; `None` where there are people already.
pub async fn offer_first_admin(
    store: &dyn PersonStore,
    random: &dyn Random,
    now: OffsetDateTime,
) -> Result<Option<String>, PeopleError> {
    let mut bytes = [0; KEY_BYTES];
    random.fill(&mut bytes)?;
    let key = hex::encode(bytes);
    let offered = store
        .offer_first_admin(&hash(&key), now + FIRST_ADMIN_LINK, now)
        .await?;
    Ok(offered.then_some(key))
}

pub async fn is_first_admin_key(
    store: &dyn PersonStore,
    key: &str,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    store.is_first_admin_key(&hash(key), now).await
}

pub async fn add_first_admin(
    store: &dyn PersonStore,
    (passwords, random): (&Passwords, &dyn Random),
    (key, login, name, password): (&str, &str, &str, &str),
    address: Option<String>,
    now: OffsetDateTime,
) -> Result<Person, PeopleError> {
    // Before the password is hashed: only the holder of the link shall cost that.
    if !is_first_admin_key(store, key, now).await? {
        return Err(PeopleError::Link);
    }
    let wanted = Wanted {
        login,
        name,
        password: Some(password),
        standing: Standing {
            role: Role::Admin,
            operator: false,
        },
    };
    let person = wanted.made(passwords, random, now).await?;
    let id = person.id.clone();
    let by = By {
        address,
        ..By::system("first administrator")
    };
    match store.create_first_admin(&hash(key), person, &by).await? {
        FirstAdmin::Made => store.person(&id).await?.ok_or(PeopleError::NoPerson),
        FirstAdmin::NoKey | FirstAdmin::Late => Err(PeopleError::Link),
    }
}

/// Gives a person another role. The sessions end, so that none goes on with what it could do before.
pub async fn set_role(
    store: &dyn PersonStore,
    id: &str,
    standing: Standing,
    by: &By,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    changed(store.set_role(id, standing, by, now).await?)
}

/// Shuts a person out, sessions and tokens too, or lets in again.
pub async fn set_disabled(
    store: &dyn PersonStore,
    id: &str,
    disabled: bool,
    by: &By,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    changed(store.set_disabled(id, disabled, by, now).await?)
}

/// Sets a password that somebody may have forgotten. All sessions end.
pub async fn set_password(
    store: &dyn PersonStore,
    (passwords, random): (&Passwords, &dyn Random),
    person: &Person,
    password: &str,
    by: &By,
    now: OffsetDateTime,
) -> Result<(), PeopleError> {
    password::check(password, &person.login)?;
    let hash = passwords.hash(password, random).await?;
    changed(store.set_password(&person.id, &hash, by, now).await?)
}

fn changed(change: PersonChange) -> Result<(), PeopleError> {
    match change {
        PersonChange::Changed | PersonChange::Unchanged => Ok(()),
        PersonChange::NoPerson => Err(PeopleError::NoPerson),
        PersonChange::LastAdmin => Err(PeopleError::LastAdmin),
    }
}
