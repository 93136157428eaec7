//! What a form carries to show that it is of its session: the session's secret, written anew each time, so that answers that are
//! compressed tell nothing of it.

use subtle::ConstantTimeEq as _;

use crate::clock::{Random, RandomError};

pub const BYTES: usize = 32;

/// A token of the secret: a random pad, and the secret under it.
pub fn token(secret: &str, random: &dyn Random) -> Result<String, RandomError> {
    let mut pad = [0; BYTES];
    random.fill(&mut pad)?;
    let hidden: Vec<u8> = hex::decode(secret)
        .unwrap_or_default()
        .iter()
        .zip(pad)
        .map(|(byte, pad)| byte ^ pad)
        .collect();
    Ok(hex::encode(pad) + &hex::encode(hidden))
}

pub fn matches(secret: &str, token: &str) -> bool {
    let (Ok(secret), Ok(token)) = (hex::decode(secret), hex::decode(token)) else {
        return false;
    };
    if secret.len() != BYTES || token.len() != 2 * BYTES {
        return false;
    }
    let (pad, hidden) = token.split_at(BYTES);
    let shown: Vec<u8> = pad.iter().zip(hidden).map(|(pad, byte)| pad ^ byte).collect();
    shown.ct_eq(&secret).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemRandom;

    #[test]
    fn a_token_is_of_its_session_and_never_the_same() {
        let secret = "ab".repeat(BYTES);
        let one = token(&secret, &SystemRandom).unwrap();
        let other = token(&secret, &SystemRandom).unwrap();
        assert_ne!(one, other);
        assert!(matches(&secret, &one) && matches(&secret, &other));
        assert!(!matches(&"ac".repeat(BYTES), &one));
        for bad in [
            "",
            "x",
            &secret,
            &one[2..],
            &format!("{one}00"),
            &"é".repeat(64),
            &"0".repeat(128),
        ] {
            assert!(!matches(&secret, bad), "{bad}");
        }
        assert!(!matches("", ""));
    }
}
