//! Secrets in the files that the settings name.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Longest file, in bytes: what is longer is another file.
const LONGEST: u64 = 4096;

/// Reads a secret without the blanks around it; the error never holds it.
pub(super) fn read(path: &Path) -> Result<String, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    let read = file.take(LONGEST + 1).read_to_string(&mut text);
    if read.map_err(|error| error.to_string())? as u64 > LONGEST {
        return Err(format!(
            "the file has more than {LONGEST} bytes: name the file of the secret"
        ));
    }
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_end_is_refused() {
        let told = read(Path::new("/dev/zero")).unwrap_err();
        assert!(told.contains("4096 bytes"), "{told}");
    }
}
