//! Sums of all files of a release, and the signature of the sums.

use std::fmt::Write as _;
use std::io::{Cursor, IsTerminal as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use minisign::{PublicKey, SecretKey, SecretKeyBox, SignatureBox};
use sha2::{Digest as _, Sha256};

const SUMS: &str = "SHA256SUMS";
const SIGNATURE: &str = "SHA256SUMS.minisig";
/// The variable with the password of the key.
const PASSWORD: &str = "PEERLESS_SIGN_PASSWORD";

/// Writes the sums in the form of `sha256sum`, which checks them with `--check`.
pub(super) fn write(folder: &Path) -> Result<PathBuf> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry
            .file_name()
            .into_string()
            .ok()
            .context("a file's name is not UTF-8")?;
        if entry.file_type()?.is_file() && name != SUMS && name != SIGNATURE {
            names.push(name);
        }
    }
    names.sort();
    let mut sums = String::new();
    for name in names {
        let bytes = std::fs::read(folder.join(&name))?;
        writeln!(sums, "{}  {name}", hex::encode(Sha256::digest(bytes)))?;
    }
    let path = folder.join(SUMS);
    std::fs::write(&path, sums)?;
    Ok(path)
}

/// Signs the sums as minisign does: `minisign -Vm SHA256SUMS -p PUBLIC_KEY`.
pub(super) fn sign(folder: &Path, key: &Path) -> Result<PathBuf> {
    let text = std::fs::read_to_string(key).with_context(|| key.display().to_string())?;
    let secret = match without_password(&text) {
        Some(secret) => secret,
        None => SecretKeyBox::from_string(&text)?
            .into_secret_key(Some(password()?))
            .with_context(|| {
                format!(
                    "{}: no secret key of minisign, or the password is wrong",
                    key.display()
                )
            })?,
    };
    let sums = std::fs::read(folder.join(SUMS))?;
    let comment = format!("file:{SUMS}");
    let signature = minisign::sign(None, &secret, Cursor::new(&sums), Some(&comment), None)?;
    let public = PublicKey::from_secret_key(&secret)?;
    check_with(&sums, &signature, &public)?;
    let path = folder.join(SIGNATURE);
    std::fs::write(&path, signature.into_string())?;
    Ok(path)
}

/// A key that has no password. Those that `minisign -G -W` makes have no checksum, which the library asks for.
fn without_password(text: &str) -> Option<SecretKey> {
    let bytes = BASE64_STANDARD.decode(text.lines().nth(1)?.trim()).ok()?;
    let key = SecretKey::from_bytes(&bytes).ok()?;
    (!key.is_encrypted()).then_some(key)
}

fn check_with(sums: &[u8], signature: &SignatureBox, public: &PublicKey) -> Result<()> {
    Ok(minisign::verify(
        public,
        signature,
        Cursor::new(sums),
        true,
        false,
        false,
    )?)
}

/// Holds the files to the sums.
pub(super) fn check(folder: &Path) -> Result<usize> {
    let sums = std::fs::read_to_string(folder.join(SUMS))?;
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").with_context(|| format!("{SUMS}: {line}"))?;
        let bytes = std::fs::read(folder.join(name)).with_context(|| name.to_owned())?;
        ensure!(
            hex::encode(Sha256::digest(bytes)) == sum,
            "{name} is not what {SUMS} says"
        );
    }
    Ok(sums.lines().count())
}

fn password() -> Result<String> {
    if let Ok(password) = std::env::var(PASSWORD) {
        return Ok(password);
    }
    if !std::io::stdin().is_terminal() {
        bail!("the key has a password: give it in {PASSWORD}");
    }
    Ok(rpassword::prompt_password("Password of the key: ")?)
}
