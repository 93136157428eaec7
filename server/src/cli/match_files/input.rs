//! Where texts come from: files and standard input, plain or compressed, told apart by their first bytes.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// Name of standard input on the command line.
const STDIN: &str = "-";

/// A text to explain.
#[derive(Debug, Clone)]
pub(super) struct Input(PathBuf);

/// A text being read, decompressed.
pub(super) type Text = Box<dyn Read + Send>;

/// How a text is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Plain,
    Gzip,
    Zstd,
}

impl Input {
    /// The texts that were named, or standard input.
    pub(super) fn all(files: &[PathBuf]) -> Vec<Self> {
        if files.is_empty() {
            return vec![Self(STDIN.into())];
        }
        files.iter().cloned().map(Self).collect()
    }

    /// Its file; `None` for standard input.
    pub(super) fn path(&self) -> Option<&Path> {
        (self.0.as_os_str() != STDIN).then_some(self.0.as_path())
    }

    /// Its name for programs: as given.
    pub(super) fn name(&self) -> String {
        self.0.to_string_lossy().into_owned()
    }

    /// Its name for people.
    pub(super) fn shown(&self) -> String {
        self.path().map_or_else(
            || "(standard input)".to_owned(),
            |path| path.display().to_string(),
        )
    }

    /// Opens it, to be read as plain text.
    pub(super) fn open(&self) -> io::Result<Text> {
        match self.path() {
            Some(path) => unpacked(open_file(path)?),
            None => unpacked(io::stdin()),
        }
    }
}

/// Opens a file that can be read; a folder is refused here and not at its first byte.
pub(super) fn open_file(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::other("it is a folder: name the files in it"));
    }
    Ok(file)
}

/// Reads through decompression if the first bytes say so.
fn unpacked(mut raw: impl Read + Send + 'static) -> io::Result<Text> {
    let (packing, head) = sniff(&mut raw)?;
    let all = BufReader::new(Cursor::new(head).chain(raw));
    Ok(match packing {
        Packing::Plain => Box::new(all),
        Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(all)),
        Packing::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(all)?),
    })
}

/// Reads the first bytes, and tells by them.
pub(super) fn sniff(raw: &mut impl Read) -> io::Result<(Packing, Vec<u8>)> {
    /// RFC 1952: identification and the only method there is.
    const GZIP: [u8; 3] = [0x1f, 0x8b, 8];
    /// RFC 8878, 3.1.1.
    const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let mut head = Vec::new();
    raw.take(ZSTD.len() as u64).read_to_end(&mut head)?;
    let packing = if head.starts_with(&GZIP) {
        Packing::Gzip
    } else if head == ZSTD {
        Packing::Zstd
    } else {
        Packing::Plain
    };
    Ok((packing, head))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn read(raw: Vec<u8>) -> io::Result<String> {
        let mut text = String::new();
        unpacked(Cursor::new(raw))?.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn a_text_is_the_same_however_it_is_packed() {
        let text = "NVRM: Xid 79\n".repeat(1000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        let gzip = gzip.finish().unwrap();
        let zstd = zstd::encode_all(text.as_bytes(), 1).unwrap();
        // Rotated logs are often packed one after the other.
        for (packed, times) in [
            (text.clone().into_bytes(), 1),
            (gzip.clone(), 1),
            (zstd.clone(), 1),
            ([gzip.clone(), gzip.clone()].concat(), 2),
            ([zstd.clone(), zstd].concat(), 2),
        ] {
            assert_eq!(read(packed).unwrap(), text.repeat(times));
        }
        for short in ["", "a", "abc"] {
            assert_eq!(read(short.into()).unwrap(), short);
        }
        assert!(read(gzip[..gzip.len() / 2].to_vec()).is_err());
    }
}
