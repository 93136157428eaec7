//! The secret that signs, as it stands in its file.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::web::secret_file;

/// Shortest secret, in bytes.
const SHORTEST: usize = 24;
/// What stands before a secret that is written in base64.
const ENCODED: &str = "whsec_";

/// Reads a secret; the error never holds it.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    let text = secret_file::read(path)?;
    let secret = match text.strip_prefix(ENCODED) {
        Some(encoded) => STANDARD
            .decode(encoded)
            .map_err(|_| format!("what stands after {ENCODED} is no base64"))?,
        None => text.into_bytes(),
    };
    if secret.len() < SHORTEST {
        return Err(format!(
            "the secret has less than {SHORTEST} bytes: make one with openssl rand -base64 32"
        ));
    }
    Ok(secret)
}
