//! Records in one signed, dated file, to be carried to where there is no network.
//!
//! The file begins with the four lines of a minisign signature. What is signed follows: one Zstandard frame with lines of
//! JSON, first a [`Head`], then a [`Line`] for each record.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;

use super::keys::{KeyError, SignKey, Signature, VerifyKey};
use super::lines::{Line, parse_line};

/// Version of the file's format that this program writes and reads.
const FORMAT: u32 = 1;
const BEGINNING: &str = "untrusted comment: peerless records";
const SIGNATURE_LINES: usize = 4;
/// Largest file that is read, in bytes. All records of today take 4 MB.
pub const MOST_BYTES: u64 = 64 << 20;
/// Most text that is unpacked from it, in bytes, against files made to fill the memory.
const MOST_TEXT: u64 = 512 << 20;
/// Effort of compression: more takes much longer and gains little.
const LEVEL: i32 = 12;

/// What a bundle says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub format: u32,
    #[serde(with = "time::serde::rfc3339")]
    pub made_at: OffsetDateTime,
    /// How many lines follow, withdrawn records among them.
    pub records: u32,
    /// Version of the program that wrote it.
    pub program: String,
    /// Who made it, as they call themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// A bundle whose signature fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    pub head: Head,
    pub lines: Vec<Line>,
    pub key_id: String,
    /// Of the whole file, hex.
    pub sha256: String,
}

/// Why a file is not taken.
#[derive(Debug, thiserror::Error)]
pub enum SignedError {
    #[error("this is no bundle of records: `peerless kb export` writes one")]
    NotABundle,
    #[error("larger than {} MiB", MOST_BYTES >> 20)]
    TooLarge,
    #[error(
        "signed by the key {signed_by}, and --key names {given}: get the key of whoever made the bundle, by another way"
    )]
    AnotherKey { signed_by: String, given: String },
    #[error("the signature of the key {0} does not fit: the file was cut or changed; fetch it again")]
    DoesNotFit(String),
    #[error("format {0}, and this program reads format {FORMAT}: use a newer peerless")]
    Format(u32),
    #[error("it is signed and cannot be read all the same: {0}")]
    Broken(String),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error("cannot pack the records: {0}")]
    Write(#[from] std::io::Error),
}

pub fn write_signed(
    (made_at, from): (OffsetDateTime, Option<String>),
    lines: &[Line],
    key: &SignKey,
) -> Result<Vec<u8>, SignedError> {
    let head = Head {
        format: FORMAT,
        made_at,
        records: u32::try_from(lines.len()).unwrap_or(u32::MAX),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        from,
    };
    let mut packed = zstd::Encoder::new(Vec::new(), LEVEL)?;
    let mut line = |text: serde_json::Result<String>| {
        let text = text.map_err(std::io::Error::from)?;
        writeln!(packed, "{text}")
    };
    line(serde_json::to_string(&head))?;
    for record in lines {
        line(serde_json::to_string(record))?;
    }
    let packed = packed.finish()?;
    let comment = format!("{} records of {}", head.records, made_at.date());
    let signature = key.sign(&packed, &comment, "peerless records")?;
    let mut file = signature.trim_end().as_bytes().to_vec();
    file.push(b'\n');
    file.extend(packed);
    Ok(file)
}

impl Signed {
    /// Reads a bundle that one of these keys signed. Nothing of it is looked at before its signature fits.
    pub fn read(file: &[u8], keys: &[VerifyKey]) -> Result<Self, SignedError> {
        if file.len() as u64 > MOST_BYTES {
            return Err(SignedError::TooLarge);
        }
        let (signature, packed) = split(file).ok_or(SignedError::NotABundle)?;
        let key_id = signature.key_id();
        let Some(key) = keys.iter().find(|key| key.id() == key_id) else {
            let given: Vec<String> = keys.iter().map(VerifyKey::id).collect();
            return Err(SignedError::AnotherKey {
                signed_by: key_id,
                given: given.join(", "),
            });
        };
        if !signature.fits(key, packed) {
            return Err(SignedError::DoesNotFit(key_id));
        }
        let (head, lines) = unpack(packed)?;
        Ok(Self {
            head,
            lines,
            key_id,
            sha256: hex::encode(Sha256::digest(file)),
        })
    }
}

fn split(file: &[u8]) -> Option<(Signature, &[u8])> {
    if !file.starts_with(BEGINNING.as_bytes()) {
        return None;
    }
    let ends = memchr::memchr_iter(b'\n', file).nth(SIGNATURE_LINES - 1)?;
    let (lines, packed) = file.split_at_checked(ends + 1)?;
    let signature = Signature::parse(std::str::from_utf8(lines).ok()?.trim_end())?;
    Some((signature, packed))
}

/// The version alone: what else stands in the head of a newer format is not known.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

fn unpack(packed: &[u8]) -> Result<(Head, Vec<Line>), SignedError> {
    let broken = |reason: &dyn std::fmt::Display| SignedError::Broken(reason.to_string());
    let decoder = zstd::Decoder::new(packed).map_err(|error| broken(&error))?;
    let mut text = BufReader::new(decoder.take(MOST_TEXT)).lines();
    let head = text
        .next()
        .ok_or_else(|| broken(&"it is empty"))?
        .map_err(|error| broken(&error))?;
    let Version { format } = serde_json::from_str(&head).map_err(|error| broken(&error))?;
    if format != FORMAT {
        return Err(SignedError::Format(format));
    }
    let head: Head = serde_json::from_str(&head).map_err(|error| broken(&error))?;
    let mut lines = Vec::new();
    for (number, line) in (2..).zip(text) {
        let line = line.map_err(|error| broken(&error))?;
        let line = parse_line(&line).map_err(|error| broken(&format_args!("line {number}: {error}")))?;
        lines.push(line);
    }
    if lines.len() as u64 != u64::from(head.records) {
        let told = format_args!("{} of its {} records are there", lines.len(), head.records).to_string();
        return Err(SignedError::Broken(told));
    }
    Ok((head, lines))
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;
    use minisign::KeyPair;
    use proptest::prelude::*;
    use time::macros::datetime;

    use super::*;

    struct Keys {
        folder: tempfile::TempDir,
        verify: VerifyKey,
    }

    fn keys() -> Keys {
        let pair = KeyPair::generate_unencrypted_keypair().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = pair.sk.to_bytes();
        // As the program minisign writes a key without a password: its last bytes, the checksum, are nothing.
        let checksum = bytes.len() - 32;
        bytes[checksum..].fill(0);
        let secret = format!("untrusted comment: a key\n{}\n", BASE64_STANDARD.encode(bytes));
        std::fs::write(folder.path().join("key"), secret).unwrap();
        Keys {
            folder,
            verify: VerifyKey::find(&pair.pk.to_base64()).unwrap(),
        }
    }

    impl Keys {
        fn sign(&self) -> SignKey {
            SignKey::read(&self.folder.path().join("key"), || {
                unreachable!("it has no password")
            })
            .unwrap()
        }

        fn bundle(&self) -> Vec<u8> {
            let line = Line {
                id: "t/a".parse().unwrap(),
                revision: kb_core::ids::Revision(3),
                document: "{}".to_owned(),
                annex: "{}".to_owned(),
                withdrawn: false,
            };
            let made = (datetime!(2026-11-29 10:00 UTC), Some("the team".to_owned()));
            write_signed(made, &[line], &self.sign()).unwrap()
        }
    }

    /// A bundle of any text, signed.
    fn sealed(keys: &Keys, text: &str) -> Vec<u8> {
        let packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
        let signature = keys.sign().sign(&packed, "x", "peerless records").unwrap();
        [signature.trim_end().as_bytes(), b"\n", &packed].concat()
    }

    #[test]
    fn a_bundle_comes_back_as_it_was_written() {
        let keys = keys();
        let read = Signed::read(&keys.bundle(), std::slice::from_ref(&keys.verify)).unwrap();
        assert_eq!(read.head.from.as_deref(), Some("the team"));
        assert_eq!(read.lines[0].id.as_str(), "t/a");
        assert_eq!(read.key_id, keys.verify.id());
    }

    #[test]
    fn what_is_signed_and_makes_no_sense_is_refused() {
        let keys = keys();
        let read = |text: &str| Signed::read(&sealed(&keys, text), std::slice::from_ref(&keys.verify));
        assert!(matches!(
            read("{\"format\": 2, \"new\": true}\n"),
            Err(SignedError::Format(2))
        ));
        assert!(matches!(read(""), Err(SignedError::Broken(_))));
        assert!(matches!(read("{}\n"), Err(SignedError::Broken(_))));
        let head = "{\"format\":1,\"made_at\":\"2026-11-29T10:00:00Z\",\"records\":2,\"program\":\"0\"}\n";
        assert!(
            matches!(read(head), Err(SignedError::Broken(_))),
            "records are missing"
        );
        assert!(matches!(
            read(&format!("{head}no line\n")),
            Err(SignedError::Broken(_))
        ));
        let none = Signed::read(b"untrusted comment: peerless records\nx\ny\nz\n", &[]);
        assert!(matches!(none, Err(SignedError::NotABundle)));
    }

    proptest! {
        /// Wherever it is cut, and whichever bit is turned, it is refused.
        #[test]
        fn what_was_cut_or_changed_is_refused(place: prop::sample::Index, bit in 0..8_u32) {
            let keys = keys();
            let bundle = keys.bundle();
            let at = place.index(bundle.len());
            prop_assert!(Signed::read(&bundle[..at], std::slice::from_ref(&keys.verify)).is_err());
            let mut changed = bundle.clone();
            changed[at] ^= 1 << bit;
            let comment = BEGINNING.len()..bundle.iter().position(|byte| *byte == b'\n').unwrap();
            // The first line is not signed, and says nothing.
            if !comment.contains(&at) {
                // Padding of base64 may be written otherwise; what is signed is the same then.
                if let Ok(read) = Signed::read(&changed, std::slice::from_ref(&keys.verify)) {
                    let as_made = Signed::read(&bundle, std::slice::from_ref(&keys.verify)).unwrap();
                    prop_assert_eq!((read.head, read.lines), (as_made.head, as_made.lines), "byte {}, bit {}", at, bit);
                }
            }
        }
    }
}
