//! Kinds of files that are no text, told by their first bytes.

/// A kind of file that people take for a log, or keep logs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
    /// xz.
    Xz,
    /// bzip2.
    Bzip2,
    /// lzip.
    Lzip,
    /// LZ4 frames.
    Lz4,
    /// A zip archive.
    Zip,
    /// A 7-Zip archive.
    SevenZip,
    /// A file of systemd's journal.
    Journal,
    /// An `SQLite` database.
    Sqlite,
    /// A program, library or core file.
    Elf,
    /// A PDF document.
    Pdf,
    /// A picture.
    Image,
    /// Text in UTF-32. It has no magic but its mark.
    Utf32,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sniffed {
    Form(Form),
    /// They are the beginning of what would say it.
    More,
    Nothing,
}

/// First bytes: RFC 1952 (2.3.1, with the only method there is), RFC 8878 (3.1.1, 3.1.2), the .xz file format (2.1.1.1),
/// bzip2 (`BZh`, a digit and the first block's number), the lzip and LZ4 frame formats, APPNOTE (4.3.7, 4.3.16),
/// 7zFormat.txt, systemd's journal file format, the `SQLite` database header, the ELF, PDF, PNG, JPEG and GIF formats.
const MAGICS: [(&[u8], Form); 25] = [
    (&[0x1f, 0x8b, 8], Form::Gzip),
    (&[0x28, 0xb5, 0x2f, 0xfd], Form::Zstd),
    (b"\x50\x2a\x4d\x18", Form::Zstd),
    (b"\xfd7zXZ\0", Form::Xz),
    (b"BZh11AY&SY", Form::Bzip2),
    (b"BZh21AY&SY", Form::Bzip2),
    (b"BZh31AY&SY", Form::Bzip2),
    (b"BZh41AY&SY", Form::Bzip2),
    (b"BZh51AY&SY", Form::Bzip2),
    (b"BZh61AY&SY", Form::Bzip2),
    (b"BZh71AY&SY", Form::Bzip2),
    (b"BZh81AY&SY", Form::Bzip2),
    (b"BZh91AY&SY", Form::Bzip2),
    (b"LZIP\x01", Form::Lzip),
    (&[0x04, 0x22, 0x4d, 0x18], Form::Lz4),
    (b"PK\x03\x04", Form::Zip),
    (b"PK\x05\x06", Form::Zip),
    (b"7z\xbc\xaf\x27\x1c", Form::SevenZip),
    (b"LPKSHHRH", Form::Journal),
    (b"SQLite format 3\0", Form::Sqlite),
    (b"\x7fELF", Form::Elf),
    (b"%PDF-", Form::Pdf),
    (b"\x89PNG\r\n\x1a\n", Form::Image),
    (&[0xff, 0xd8, 0xff], Form::Image),
    (b"GIF8", Form::Image),
];

impl Form {
    /// The most bytes that [`Form::of`] asks for.
    pub const HEAD_BYTES: usize = 16;

    /// The form of what begins so; none where it may be text. [`Form::HEAD_BYTES`] of them say it for sure.
    pub fn of(head: &[u8]) -> Option<Self> {
        match Self::sniff(head) {
            Sniffed::Form(form) => Some(form),
            Sniffed::More | Sniffed::Nothing => None,
        }
    }

    pub(super) fn sniff(head: &[u8]) -> Sniffed {
        if let Some((_, form)) = MAGICS.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Sniffed::Form(*form);
        }
        if MAGICS.iter().any(|(magic, _)| magic.starts_with(head)) {
            return Sniffed::More;
        }
        Sniffed::Nothing
    }

    /// What it is, with its article.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "a gzip file",
            Self::Zstd => "a zstd file",
            Self::Xz => "an xz file",
            Self::Bzip2 => "a bzip2 file",
            Self::Lzip => "an lzip file",
            Self::Lz4 => "an LZ4 file",
            Self::Zip => "a zip archive",
            Self::SevenZip => "a 7-Zip archive",
            Self::Journal => "a file of systemd's journal",
            Self::Sqlite => "an SQLite database",
            Self::Elf => "a program or a core file",
            Self::Pdf => "a PDF document",
            Self::Image => "a picture",
            Self::Utf32 => "text in UTF-32",
        }
    }

    /// How to get at the text in it.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Gzip => "send what `zcat FILE` prints",
            Self::Zstd => "send what `zstdcat FILE` prints",
            Self::Xz => "send what `xzcat FILE` prints",
            Self::Bzip2 => "send what `bzcat FILE` prints",
            Self::Lzip => "send what `lzip -dc FILE` prints",
            Self::Lz4 => "send what `lz4cat FILE` prints",
            Self::Zip => "send what `unzip -p FILE` prints",
            Self::SevenZip => "send what `7z x -so FILE` prints",
            Self::Journal => "send what `journalctl --file FILE` prints",
            Self::Sqlite | Self::Elf => "send the log that the program wrote",
            Self::Pdf => "send what `pdftotext FILE -` prints",
            Self::Image => "copy the text out of it and send that",
            Self::Utf32 => "send what `iconv -f UTF-32LE -t UTF-8 FILE` prints",
        }
    }
}
