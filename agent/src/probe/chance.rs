//! What is random about a run, from random bytes that the caller brings.

use kb_core::ids::{IdError, ReportId};

pub(crate) struct Chance {
    pub(crate) report_id: ReportId,
    pub(crate) nonce: u64,
}

pub(crate) const RANDOM_BYTES: usize = 24;

impl Chance {
    pub(crate) fn from_random(random: [u8; RANDOM_BYTES]) -> Result<Self, IdError> {
        let mut id = [0; 16];
        let mut nonce = [0; 8];
        for (to, from) in id.iter_mut().chain(&mut nonce).zip(random) {
            *to = from;
        }
        Ok(Self {
            report_id: random_id(id)?,
            nonce: u64::from_ne_bytes(nonce),
        })
    }
}

/// A random UUID (version 4, RFC 9562) from 16 random bytes.
fn random_id(random: [u8; 16]) -> Result<ReportId, IdError> {
    let mut number = u128::from_be_bytes(random);
    number = (number & !(0xf << 76)) | (0x4 << 76);
    number = (number & !(0x3 << 62)) | (0x2 << 62);
    let hex = format!("{number:032x}");
    let mut text = String::with_capacity(36);
    for (position, digit) in hex.chars().enumerate() {
        if matches!(position, 8 | 12 | 16 | 20) {
            text.push('-');
        }
        text.push(digit);
    }
    text.parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_ids_are_uuids_of_version_4() {
        let id = random_id([0xff; 16]).unwrap();
        assert_eq!(id.as_str(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        let id = random_id([0; 16]).unwrap();
        assert_eq!(id.as_str(), "00000000-0000-4000-8000-000000000000");
    }
}
