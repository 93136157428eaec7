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
    crc: u32,
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
    refuse_more_behind(&mut file, length)?;
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
    let mut begins = length;
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index)?;
        begins = begins.min(entry.header_start());
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
            crc: entry.crc32(),
            packing,
        });
    }
    if begins > 0 {
        return Err(io::Error::other(format!(
            "{begins} bytes stand before what the archive names, as where several archives stand one behind the other: unpack \
             each by itself"
        )));
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
        let checked = |plain: Text| Checked {
            plain,
            sum: flate2::Crc::new(),
            left: self.size,
            crc: self.crc,
        };
        unpack::unpacked(if self.packing == Packing::Stored {
            checked(Box::new(packed))
        } else {
            checked(Box::new(flate2::bufread::DeflateDecoder::new(packed)))
        })
    }
}

/// Refuses an archive behind whose end something stands: nobody would read it. Zeros fill up a block of a tape or a disk.
fn refuse_more_behind(file: &mut File, length: u64) -> io::Result<()> {
    // The end of central directory (APPNOTE 4.3.16) with its longest comment.
    const END_BYTES: usize = 22;
    let from = length.saturating_sub((END_BYTES + usize::from(u16::MAX)) as u64);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.by_ref().take(length - from).read_to_end(&mut tail)?;
    let ends = |place: usize| {
        let comment = tail.get(place + END_BYTES - 2..place + END_BYTES)?;
        let comment = usize::from(u16::from_le_bytes(comment.try_into().ok()?));
        tail.get(place + END_BYTES + comment..)
    };
    let mut behind = memchr::memmem::rfind_iter(&tail, b"PK\x05\x06").filter_map(ends);
    if behind.any(|rest| rest.iter().all(|byte| *byte == 0)) {
        return Ok(());
    }
    Err(io::Error::other(
        "something stands behind the archive, or it is cut: unpack it, and send what stands behind it by itself",
    ))
}

/// A file of an archive, which has to be what the archive says: damaged data would be no log, and hide what was in it.
struct Checked {
    plain: Text,
    sum: flate2::Crc,
    left: u64,
    crc: u32,
}

impl io::Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let read = self.plain.read(buffer)?;
        let taken = buffer.get(..read).unwrap_or_default();
        self.sum.update(taken);
        let left = self.left.checked_sub(read as u64);
        self.left =
            left.ok_or_else(|| io::Error::other("it is longer than the archive says: it is damaged"))?;
        if read == 0 && (self.left > 0 || self.sum.sum() != self.crc) {
            return Err(io::Error::other(
                "its checksum is not that of the archive: it is damaged",
            ));
        }
        Ok(read)
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
    fn damaged_data_is_no_text() {
        let text = b"all is well\n".repeat(100);
        for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
            let file = zipped(&[("a.log", &text, method)]);
            let whole = std::fs::read(file.path()).unwrap();
            let read = |bytes: &[u8]| {
                std::fs::write(file.path(), bytes).unwrap();
                let member = members(Some(file.path()))?.unwrap().remove(0);
                io::copy(&mut member.open(file.path())?, &mut io::sink())
            };
            assert_eq!(read(&whole).unwrap(), text.len() as u64);
            let entry = whole.windows(4).rposition(|four| four == b"PK\x01\x02").unwrap();
            // Checksum and size in the central directory (APPNOTE 4.3.12).
            for (place, why) in [(16, "checksum"), (24, "damaged")] {
                let mut damaged = whole.clone();
                damaged[entry + place] ^= 1;
                let error = read(&damaged).unwrap_err().to_string();
                assert!(error.contains(why), "{error}");
            }
            if method == CompressionMethod::Stored {
                let mut damaged = whole.clone();
                let place = whole.windows(4).position(|four| four == b"well").unwrap();
                damaged[place] = b'W';
                assert!(read(&damaged).unwrap_err().to_string().contains("checksum"));
            }
        }
    }

    #[test]
    fn what_stands_before_or_behind_an_archive_is_not_passed_over() {
        let one = zipped(&[("a.log", b"NVRM: Xid 79\n", CompressionMethod::Stored)]);
        let other = zipped(&[("b.log", b"all is well\n", CompressionMethod::Stored)]);
        let (one, two) = (
            std::fs::read(one.path()).unwrap(),
            std::fs::read(other.path()).unwrap(),
        );
        let read = |bytes: &[u8]| {
            std::fs::write(other.path(), bytes).unwrap();
            members(Some(other.path()))
        };
        assert!(
            read(&[&one[..], &two].concat())
                .unwrap_err()
                .to_string()
                .contains("one behind the other")
        );
        let behind = read(&[&one[..], b"NVRM: Xid 79\n"].concat());
        assert!(behind.unwrap_err().to_string().contains("behind the archive"));
        assert_eq!(read(&[&one[..], &[0; 512]].concat()).unwrap().unwrap().len(), 1);
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
