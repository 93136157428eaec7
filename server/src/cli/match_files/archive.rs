//! Zip archives: each file in one is a text of its own.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use kb_core::intake::Form;
use zip::{CompressionMethod, ZipArchive};

use super::input::open_file;
use super::unpack::{self, Text};

/// Files that are read of one archive.
const MOST_FILES: usize = 10_000;

#[derive(Debug, Clone)]
pub(super) struct Member {
    name: String,
    start: u64,
    packed: u64,
    size: u64,
    packing: Packing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Stored,
    Deflated,
    /// With a method that this program does not know, or under a password.
    Foreign,
}

/// The files in an archive; `None` where it is none. One that names more than it holds is refused.
pub(super) fn members(path: Option<&Path>) -> io::Result<Option<Vec<Member>>> {
    // Only a file can be read from its end, where an archive says what it holds; a pipe is refused as it is read.
    let Some(path) = path.filter(|path| path.is_file()) else {
        return Ok(None);
    };
    let mut file = open_file(path)?;
    let mut head = Vec::new();
    file.by_ref()
        .take(Form::HEAD_BYTES as u64)
        .read_to_end(&mut head)?;
    if Form::of(&head) != Some(Form::Zip) {
        return Ok(None);
    }
    let length = file.metadata()?.len();
    let mut archive = ZipArchive::new(file)?;
    if archive.len() > MOST_FILES {
        return Err(io::Error::other(format!(
            "the archive names {} files, at most {MOST_FILES} are read: unpack it",
            archive.len()
        )));
    }
    if archive.has_overlapping_entries()? {
        return Err(io::Error::other(
            "files in the archive lie one over the other, as in a zip bomb",
        ));
    }
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index)?;
        if !entry.is_file() {
            continue;
        }
        let packing = match entry.compression() {
            _ if entry.encrypted() => Packing::Foreign,
            CompressionMethod::Stored => Packing::Stored,
            CompressionMethod::Deflated => Packing::Deflated,
            _ => Packing::Foreign,
        };
        members.push(Member {
            name: entry.name()?.into_owned(),
            start: entry.data_start().unwrap_or_default(),
            packed: entry.compressed_size(),
            size: entry.size(),
            packing,
        });
    }
    if members.is_empty() {
        return Err(io::Error::other("the archive holds no file"));
    }
    let sizes = members.iter().map(|member| member.size);
    unpack::check_growth(length, sizes.fold(0, u64::saturating_add))?;
    Ok(Some(members))
}

impl Member {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Opens it, to be read as plain text. It gives no more than the archive says that it holds.
    pub(super) fn open(&self, archive: &Path) -> io::Result<Text> {
        if self.packing == Packing::Foreign {
            return Err(io::Error::other(
                "it is packed by a method that this program does not know, or under a password: unpack it",
            ));
        }
        let mut file = File::open(archive)?;
        file.seek(SeekFrom::Start(self.start))?;
        let packed = io::BufReader::new(file).take(self.packed);
        if self.packing == Packing::Stored {
            return unpack::unpacked(packed);
        }
        let plain = flate2::bufread::DeflateDecoder::new(packed);
        unpack::unpacked(plain.take(self.size))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn zipped(files: &[(&str, &[u8], CompressionMethod)]) -> tempfile::NamedTempFile {
        let mut archive = ZipWriter::new(io::Cursor::new(Vec::new()));
        archive
            .add_directory("logs", SimpleFileOptions::default())
            .unwrap();
        for (name, text, method) in files {
            let options = SimpleFileOptions::default().compression_method(*method);
            archive.start_file(*name, options).unwrap();
            archive.write_all(text).unwrap();
        }
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&archive.finish().unwrap().into_inner()).unwrap();
        file
    }

    #[test]
    fn each_file_of_an_archive_is_a_text() {
        let text = "NVRM: Xid 79\n".repeat(1000).into_bytes();
        let packed = zstd::encode_all(text.as_slice(), 1).unwrap();
        let file = zipped(&[
            ("logs/a.log", &text, CompressionMethod::Deflated),
            ("logs/b.log", b"all is well\n", CompressionMethod::Stored),
            ("logs/c.zst", &packed, CompressionMethod::Stored),
        ]);
        let members = members(Some(file.path())).unwrap().unwrap();
        let read = |member: &Member| {
            let mut bytes = Vec::new();
            member.open(file.path()).unwrap().read_to_end(&mut bytes).unwrap();
            (member.name().to_owned(), bytes)
        };
        let read: Vec<_> = members.iter().map(read).collect();
        let expected = [
            ("logs/a.log", text.clone()),
            ("logs/b.log", b"all is well\n".to_vec()),
            ("logs/c.zst", text),
        ];
        assert!(read == expected.map(|(name, text)| (name.to_owned(), text)));
    }

    #[test]
    fn what_is_no_archive_is_left_alone_and_a_damaged_one_refused() {
        let write = |bytes: &[u8]| {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(bytes).unwrap();
            file
        };
        assert!(members(None).unwrap().is_none());
        assert!(
            members(Some(write(b"PK is short for pack\n").path()))
                .unwrap()
                .is_none()
        );
        assert!(members(Some(write(b"PK\x03\x04 and no more").path())).is_err());
        assert!(members(Some(zipped(&[]).path())).is_err(), "a folder only");
    }

    #[test]
    fn an_archive_that_says_it_grows_without_measure_is_refused_before_it_is_read() {
        let zeros = vec![0; 2 << 20];
        let file = zipped(&[("zeros", &zeros, CompressionMethod::Deflated)]);
        let bytes = std::fs::read(file.path()).unwrap();
        // The size in the central directory (APPNOTE 4.3.12): 3 GB of a file of 2 kB.
        let entry = bytes.windows(4).rposition(|four| four == b"PK\x01\x02").unwrap();
        let mut grown = bytes;
        grown[entry + 24..entry + 28].copy_from_slice(&3_000_000_000_u32.to_le_bytes());
        std::fs::write(file.path(), grown).unwrap();
        let refused = members(Some(file.path())).unwrap_err().to_string();
        assert!(refused.contains("1000 times"), "{refused}");
    }
}
