//! Where texts come from: files and standard input, plain or packed, told apart by their first bytes.

use std::fs::File;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::archive::{self, Member};
use super::unpack::{Text, unpacked};

/// Name of standard input on the command line.
const STDIN: &str = "-";
/// Name of a text that stands on the command line.
const GIVEN: &str = "(text)";

/// A text to explain: a file, standard input, or a file within a zip archive.
#[derive(Debug, Clone)]
pub(super) struct Input {
    path: PathBuf,
    member: Option<Member>,
    /// What stands on the command line itself.
    given: Option<Arc<str>>,
}

impl Input {
    /// The text that was given, the texts that were named, or standard input.
    pub(super) fn all(given: Option<&str>, files: &[PathBuf]) -> Vec<Self> {
        let of = |path: PathBuf| Self {
            path,
            member: None,
            given: None,
        };
        if let Some(given) = given {
            return vec![Self {
                given: Some(given.into()),
                ..of(GIVEN.into())
            }];
        }
        if files.is_empty() {
            return vec![of(STDIN.into())];
        }
        files.iter().cloned().map(of).collect()
    }

    /// The texts in it: itself, or the files of a zip archive.
    pub(super) fn texts(&self) -> io::Result<Vec<Self>> {
        let Some(members) = archive::members(self.path())? else {
            return Ok(vec![self.clone()]);
        };
        let of = |member: Member| Self {
            path: self.path.clone(),
            member: Some(member),
            given: None,
        };
        Ok(members.into_iter().map(of).collect())
    }

    /// Its file; `None` for standard input and for what was given.
    pub(super) fn path(&self) -> Option<&Path> {
        (self.path.as_os_str() != STDIN && self.given.is_none()).then_some(self.path.as_path())
    }

    /// Its name for programs: as given, and behind `!/` the name within the archive.
    pub(super) fn name(&self) -> String {
        self.within(&self.path.to_string_lossy())
    }

    pub(super) fn shown(&self) -> String {
        match self.path() {
            None if self.given.is_some() => GIVEN.to_owned(),
            None => self.within("(standard input)"),
            Some(path) => self.within(&path.to_string_lossy()),
        }
    }

    fn within(&self, file: &str) -> String {
        match &self.member {
            None => file.to_owned(),
            Some(member) => format!("{file}!/{}", member.name()),
        }
    }

    pub(super) fn open(&self) -> io::Result<Text> {
        if let Some(given) = &self.given {
            return unpacked(Cursor::new(given.as_bytes().to_vec()));
        }
        match (self.path(), &self.member) {
            (Some(path), Some(member)) => member.open(path),
            (Some(path), None) => unpacked(open_file(path)?),
            (None, _) => unpacked(io::stdin()),
        }
    }
}

/// A text in the place of a file is taken for a name that does not exist.
fn told(path: &Path, error: io::Error) -> io::Error {
    let looks_like_text = path.to_string_lossy().contains(char::is_whitespace);
    if error.kind() == io::ErrorKind::NotFound && looks_like_text {
        return io::Error::other(format!(
            "{error}; if it is a text and no file, write --text before it, or give it on standard input"
        ));
    }
    error
}

/// Opens a file that can be read; a folder is refused here and not at its first byte.
pub(super) fn open_file(path: &Path) -> io::Result<File> {
    let file = File::open(path).map_err(|error| told(path, error))?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::other("it is a folder: name the files in it"));
    }
    Ok(file)
}
