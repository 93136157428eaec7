//! Keys and signatures in the format of minisign, so that `minisign -V` checks what this program signed, and the other way
//! round.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use minisign::{PublicKey, PublicKeyBox, SecretKey, SecretKeyBox, SignatureBox};

/// Why a key or a signature cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("{}: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error(
        "{0} is no public key of minisign, and no file with one: it has 56 letters and begins with RW, like the second \
         line of minisign.pub"
    )]
    Public(String),
    #[error("{}: not a secret key of minisign, or the password is wrong: {reason}", path.display())]
    Secret { path: PathBuf, reason: String },
    #[error("cannot sign: {0}")]
    Sign(String),
}

/// A key that signatures are checked with.
#[derive(Debug, Clone)]
pub struct VerifyKey(PublicKey);

impl VerifyKey {
    /// From the letters of a key, or from a file like `minisign.pub`.
    pub fn find(text: &str) -> Result<Self, KeyError> {
        if let Ok(key) = PublicKey::from_base64(text.trim()) {
            return Ok(Self(key));
        }
        let unreadable = || KeyError::Public(text.to_owned());
        let file = fs::read_to_string(text).map_err(|_| unreadable())?;
        let key = PublicKeyBox::from_string(&file).and_then(PublicKeyBox::into_public_key);
        key.map(Self).map_err(|_| unreadable())
    }

    /// As `minisign` prints it.
    pub fn id(&self) -> String {
        shown(self.0.keynum())
    }
}

pub(super) struct Signature(SignatureBox);

impl Signature {
    /// From the four lines of a signature.
    pub(super) fn parse(lines: &str) -> Option<Self> {
        let signature = SignatureBox::from_string(lines).ok()?;
        signature.is_prehashed().then_some(Self(signature))
    }

    pub(super) fn key_id(&self) -> String {
        shown(self.0.keynum())
    }

    pub(super) fn fits(&self, key: &VerifyKey, bytes: &[u8]) -> bool {
        minisign::verify(&key.0, &self.0, Cursor::new(bytes), true, false, false).is_ok()
    }
}

pub struct SignKey(SecretKey);

impl std::fmt::Debug for SignKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SignKey")
    }
}

impl SignKey {
    /// From a file that `minisign -G` made. `password` is asked only for a key that has one.
    pub fn read(path: &Path, password: impl FnOnce() -> std::io::Result<String>) -> Result<Self, KeyError> {
        let unreadable = |source| KeyError::Read {
            path: path.to_owned(),
            source,
        };
        let refused = |error: minisign::PError| KeyError::Secret {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let text = fs::read_to_string(path).map_err(unreadable)?;
        if let Some(key) = without_password(&text) {
            return Ok(Self(key));
        }
        let sealed = SecretKeyBox::from_string(&text).map_err(refused)?;
        let password = password().map_err(unreadable)?;
        let key = sealed.into_secret_key(Some(password)).map_err(refused)?;
        Ok(Self(key))
    }

    /// The four lines of a signature. The comment is signed, too.
    pub(super) fn sign(&self, bytes: &[u8], comment: &str, untrusted: &str) -> Result<String, KeyError> {
        // A damaged key makes signatures that fit no public key; this tells.
        let signed = PublicKey::from_secret_key(&self.0).and_then(|public| {
            let (comment, untrusted) = (Some(comment), Some(untrusted));
            minisign::sign(Some(&public), &self.0, Cursor::new(bytes), comment, untrusted)
        });
        let signature = signed.map_err(|error| KeyError::Sign(error.to_string()))?;
        Ok(signature.into_string())
    }
}

/// A key that has no password. Those that `minisign -G -W` makes have no checksum, which the library asks for.
fn without_password(text: &str) -> Option<SecretKey> {
    let bytes = BASE64_STANDARD.decode(text.lines().nth(1)?.trim()).ok()?;
    let key = SecretKey::from_bytes(&bytes).ok()?;
    (!key.is_encrypted()).then_some(key)
}

/// Ids are eight bytes, the lowest first, and are written as one number.
fn shown(id: &[u8]) -> String {
    let highest_first: Vec<u8> = id.iter().rev().copied().collect();
    hex::encode_upper(highest_first)
}
