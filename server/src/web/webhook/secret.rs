//! The secret that signs, as it stands in its file.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Shortest secret, in bytes.
const SHORTEST: usize = 24;
/// Longest file, in bytes: what is longer is another file.
const LONGEST: u64 = 4096;
/// What stands before a secret that is written in base64.
const ENCODED: &str = "whsec_";

/// Reads a secret; the error never holds it.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    let read = file.take(LONGEST + 1).read_to_string(&mut text);
    if read.map_err(|error| error.to_string())? as u64 > LONGEST {
        return Err(format!(
            "the file has more than {LONGEST} bytes: name the file of the secret"
        ));
    }
    let text = text.trim();
    let secret = match text.strip_prefix(ENCODED) {
        Some(encoded) => STANDARD
            .decode(encoded)
            .map_err(|_| format!("what stands after {ENCODED} is no base64"))?,
        None => text.as_bytes().to_vec(),
    };
    if secret.len() < SHORTEST {
        return Err(format!(
            "the secret has less than {SHORTEST} bytes: make one with openssl rand -base64 32"
        ));
    }
    Ok(secret)
}
