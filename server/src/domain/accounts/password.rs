//! Passwords: which are too weak, and how they are hashed (argon2id, RFC 9106).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use argon2::password_hash::{PasswordHash, PasswordHasher as _, PasswordVerifier as _, SaltString};
use argon2::{Argon2, Params};
use tokio::sync::Semaphore;

use super::common;
use crate::clock::{Random, RandomError};

pub const MIN_PASSWORD_CHARACTERS: usize = 10;
/// Longest password, in bytes: what is longer costs work and protects nothing more.
pub const MAX_PASSWORD_BYTES: usize = 1024;

/// Passwords that are hashed at the same time: each takes 19 MiB and a processor.
const AT_ONCE: usize = 2;
const SALT_BYTES: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WeakPassword {
    #[error("a password has at least {MIN_PASSWORD_CHARACTERS} characters")]
    Short,
    #[error("a password has at most {MAX_PASSWORD_BYTES} bytes")]
    Long,
    #[error("the password is the login, or little more")]
    Login,
    #[error("the password repeats few characters, or follows the keyboard or the alphabet")]
    Pattern,
    #[error("the password is made of words that are guessed first")]
    Common,
}

#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    #[error(transparent)]
    Random(#[from] RandomError),
    /// argon2 refused its own parameters, or its thread ended.
    #[error("the password cannot be hashed: {0}")]
    Hash(String),
}

/// Hashes passwords, few at a time.
#[derive(Debug)]
pub struct Passwords {
    places: Semaphore,
    hashed: Arc<AtomicU64>,
    nobody: Arc<Nobody>,
}

/// A dummy hash, against which the password of an unknown login is verified: that takes as long as with a known one. It is made with the
/// first password that is verified, for known and unknown logins alike.
#[derive(Debug)]
struct Nobody {
    password: String,
    salt: SaltString,
    hash: OnceLock<String>,
}

impl Nobody {
    fn hash(&self) -> Result<String, PasswordError> {
        if let Some(hash) = self.hash.get() {
            return Ok(hash.clone());
        }
        let hash = hash_with(&self.password, &self.salt)?;
        Ok(self.hash.get_or_init(|| hash).clone())
    }
}

impl Passwords {
    pub fn new(random: &dyn Random) -> Result<Self, PasswordError> {
        let mut password = [0; 32];
        random.fill(&mut password)?;
        Ok(Self {
            places: Semaphore::new(AT_ONCE),
            hashed: Arc::default(),
            nobody: Arc::new(Nobody {
                password: hex::encode(password),
                salt: salt(random)?,
                hash: OnceLock::new(),
            }),
        })
    }

    pub async fn hash(&self, password: &str, random: &dyn Random) -> Result<String, PasswordError> {
        let salt = salt(random)?;
        let password = password.to_owned();
        self.work(move || hash_with(&password, &salt)).await?
    }

    /// Whether `kept` was made of the password. Without `kept` the work is the same and the answer no.
    pub async fn verify(&self, kept: Option<&str>, password: &str) -> Result<bool, PasswordError> {
        let is_somebody = kept.is_some();
        let kept = kept.map(str::to_owned);
        let nobody = Arc::clone(&self.nobody);
        // A password that is too long for a hash to have been made of it costs as much as another.
        let end = password.floor_char_boundary(MAX_PASSWORD_BYTES);
        let is_whole = end == password.len();
        let password = password.get(..end).unwrap_or_default().to_owned();
        let verified = self
            .work(move || {
                let nobody = nobody.hash()?;
                let kept = kept.unwrap_or(nobody);
                let kept =
                    PasswordHash::new(&kept).map_err(|error| PasswordError::Hash(error.to_string()))?;
                Ok::<_, PasswordError>(engine().verify_password(password.as_bytes(), &kept).is_ok())
            })
            .await??;
        Ok(verified && is_somebody && is_whole)
    }

    pub fn hashed(&self) -> u64 {
        self.hashed.load(Ordering::Relaxed)
    }

    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PasswordError> {
        let told = |error: &dyn std::fmt::Display| PasswordError::Hash(error.to_string());
        let _place = self.places.acquire().await.map_err(|error| told(&error))?;
        self.hashed.fetch_add(1, Ordering::Relaxed);
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|error| told(&error))
    }
}

/// What OWASP advises: 19 MiB, two passes, one lane.
fn engine() -> Argon2<'static> {
    Argon2::new(
        argon2::Algorithm::Argon2id,
        argon2::Version::V0x13,
        Params::DEFAULT,
    )
}

fn salt(random: &dyn Random) -> Result<SaltString, PasswordError> {
    let mut bytes = [0; SALT_BYTES];
    random.fill(&mut bytes)?;
    SaltString::encode_b64(&bytes).map_err(|error| PasswordError::Hash(error.to_string()))
}

fn hash_with(password: &str, salt: &SaltString) -> Result<String, PasswordError> {
    let hash = engine().hash_password(password.as_bytes(), salt.as_salt());
    hash.map(|hash| hash.to_string())
        .map_err(|error| PasswordError::Hash(error.to_string()))
}

/// Refuses what is guessed first.
pub(super) fn check(password: &str, login: &str) -> Result<(), WeakPassword> {
    if password.len() > MAX_PASSWORD_BYTES {
        return Err(WeakPassword::Long);
    }
    if password.chars().count() < MIN_PASSWORD_CHARACTERS {
        return Err(WeakPassword::Short);
    }
    let folded = password.to_lowercase();
    let login = login.to_lowercase();
    let local = login.split('@').next().unwrap_or_default();
    for own in [login.as_str(), local] {
        // What is left beside the login is what has to be guessed.
        let left = folded.replace(own, "");
        if own.chars().count() >= 3 && folded.contains(own) && left.chars().count() < 6 {
            return Err(WeakPassword::Login);
        }
    }
    if common::is_pattern(&folded) {
        return Err(WeakPassword::Pattern);
    }
    if common::is_common(&folded) {
        return Err(WeakPassword::Common);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemRandom;

    #[test]
    fn weak_passwords_are_refused_with_the_reason() {
        for (password, why) in [
            ("short", WeakPassword::Short),
            ("ninechars", WeakPassword::Short),
            (&"x1y2z3w4".repeat(200), WeakPassword::Long),
            ("ada.lovelace", WeakPassword::Login),
            ("Ada.Lovelace1!", WeakPassword::Login),
            ("aaaaaaaaaaaa", WeakPassword::Pattern),
            ("ababababab12", WeakPassword::Pattern),
            ("1234567890", WeakPassword::Pattern),
            ("0987654321", WeakPassword::Pattern),
            ("abcdefghijkl", WeakPassword::Pattern),
            ("qwertyuiop12", WeakPassword::Pattern),
            ("Password123!", WeakPassword::Common),
            ("P@ssw0rd2024", WeakPassword::Common),
            ("letmeinplease", WeakPassword::Common),
            ("peerlessadmin", WeakPassword::Common),
            ("iloveyou1234", WeakPassword::Common),
            ("welcome-2025", WeakPassword::Common),
            ("administrator", WeakPassword::Common),
            ("Summer2026!!", WeakPassword::Common),
        ] {
            assert_eq!(check(password, "ada.lovelace"), Err(why), "{password}");
        }
        for good in [
            "correct horse battery staple",
            "tr4mway-oxide-lantern",
            "gJ7#kQpz2Lw",
            "我的密码很长而且没人猜得到",
            "dragon teeth in the toolbox",
            "adas long night on the hill",
        ] {
            assert_eq!(check(good, "ada"), Ok(()), "{good}");
        }
    }

    #[tokio::test]
    async fn only_the_password_fits_its_hash() {
        let passwords = Passwords::new(&SystemRandom).unwrap();
        let kept = passwords.hash("correct horse", &SystemRandom).await.unwrap();
        assert!(kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{kept}");
        assert_ne!(
            kept,
            passwords.hash("correct horse", &SystemRandom).await.unwrap(),
            "salted"
        );
        assert!(passwords.verify(Some(&kept), "correct horse").await.unwrap());
        for wrong in ["", "correct hors", "correct horse ", "Correct horse"] {
            assert!(!passwords.verify(Some(&kept), wrong).await.unwrap(), "{wrong}");
        }
        let longest = "é".repeat(MAX_PASSWORD_BYTES / 2);
        let kept = passwords.hash(&longest, &SystemRandom).await.unwrap();
        assert!(passwords.verify(Some(&kept), &longest).await.unwrap());
        assert!(
            !passwords
                .verify(Some(&kept), &format!("{longest}x"))
                .await
                .unwrap()
        );
    }

    #[tokio::test]
    async fn a_login_that_nobody_has_costs_the_same_work() {
        let passwords = Passwords::new(&SystemRandom).unwrap();
        let before = passwords.hashed();
        assert!(!passwords.verify(None, "correct horse").await.unwrap());
        assert_eq!(passwords.hashed(), before + 1);
    }
}
