//! Where texts come from: files and standard input, plain or packed, told apart by their first bytes.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::archive::{self, Member};
use super::unpack::{Text, unpacked};

/// Name of standard input on the command line.
const STDIN: &str = "-";

/// A text to explain: a file, standard input, or a file within a zip archive.
#[derive(Debug, Clone)]
pub(super) struct Input {
    path: PathBuf,
    member: Option<Member>,
}

impl Input {
    /// The texts that were named, or standard input.
    pub(super) fn all(files: &[PathBuf]) -> Vec<Self> {
        let of = |path: PathBuf| Self { path, member: None };
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
        };
        Ok(members.into_iter().map(of).collect())
    }

    /// Its file; `None` for standard input.
    pub(super) fn path(&self) -> Option<&Path> {
        (self.path.as_os_str() != STDIN).then_some(self.path.as_path())
    }

    /// Its name for programs: as given, and behind `!/` the name within the archive.
    pub(super) fn name(&self) -> String {
        self.within(&self.path.to_string_lossy())
    }

    /// Its name for people.
    pub(super) fn shown(&self) -> String {
        match self.path() {
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

    /// Opens it, to be read as plain text.
    pub(super) fn open(&self) -> io::Result<Text> {
        match (self.path(), &self.member) {
            (Some(path), Some(member)) => member.open(path),
            (Some(path), None) => unpacked(open_file(path)?),
            (None, _) => unpacked(io::stdin()),
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
