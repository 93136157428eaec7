//! What an export wrote into a folder: a file of lines beside the records, made to be read in a `git diff`.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use kb_core::ids::{RecordId, Revision};
use kb_core::text::Sha256;

use super::FolderError;
use super::write::write_file;

const FILE: &str = "peerless.manifest";
const HEAD: &str = "# Written by `peerless export`, read by `peerless import`: what folder and database had in common last.\n\
    # Keep it with the records. After a merge of two branches take either side of it.\n";
const FORMAT: &str = "format 1";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    pub scope: Scope,
    pub records: BTreeMap<RecordId, Written>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Scope {
    #[default]
    All,
    /// Those whose ids begin with this segment.
    Namespace(String),
    /// Those whose documents have this `domain`.
    Domain(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub revision: Revision,
    /// [`crate::store::SeedRecord::sha256`] of its texts.
    pub sha256: String,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ManifestError {
    #[error("line {0} is no line of a manifest; after a merge in git take either side of the file")]
    Line(usize),
    #[error("it does not begin with \"{FORMAT}\": another version of peerless wrote it")]
    Format,
}

impl Manifest {
    /// The manifest of a folder; `None` where no export wrote one.
    pub fn read(folder: &Path) -> Result<Option<Self>, FolderError> {
        let path = folder.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            // The path may be a file: then it is not a folder that was exported.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(None);
            }
            Err(source) => return Err(FolderError::Read { path, source }),
        };
        match Self::parse(&text) {
            Ok(manifest) => Ok(Some(manifest)),
            Err(source) => Err(FolderError::Manifest { path, source }),
        }
    }

    pub fn write(&self, folder: &Path) -> io::Result<()> {
        write_file(&folder.join(FILE), &self.to_string())
    }

    /// Notes what folder and database have in common now. The same texts keep their line: numbers differ between databases.
    pub fn note(&mut self, id: &RecordId, written: Written) {
        let known = self.records.get(id);
        if known.is_none_or(|known| known.sha256 != written.sha256) {
            self.records.insert(id.clone(), written);
        }
    }

    fn parse(text: &str) -> Result<Self, ManifestError> {
        let mut lines = text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line.trim()))
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        if lines.next().is_none_or(|(_, line)| line != FORMAT) {
            return Err(ManifestError::Format);
        }
        let mut manifest = Self::default();
        for (number, line) in lines {
            // No id has a blank, so that a name of several words is told from the line of a record.
            if let Some(name) = line.strip_prefix("namespace ") {
                manifest.scope = Scope::Namespace(name.to_owned());
                continue;
            }
            if let Some(name) = line.strip_prefix("domain ") {
                manifest.scope = Scope::Domain(name.to_owned());
                continue;
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                [id, revision, sha256] => {
                    let (id, written) = record(id, revision, sha256).ok_or(ManifestError::Line(number))?;
                    manifest.records.insert(id, written);
                }
                _ => return Err(ManifestError::Line(number)),
            }
        }
        Ok(manifest)
    }
}

fn record(id: &str, revision: &str, sha256: &str) -> Option<(RecordId, Written)> {
    let revision = revision.strip_prefix('r')?.parse().ok().map(Revision)?;
    let sha256: Sha256 = sha256.parse().ok()?;
    let sha256 = sha256.as_str().to_owned();
    Some((id.parse().ok()?, Written { revision, sha256 }))
}

impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}{FORMAT}")?;
        match &self.scope {
            Scope::All => {}
            Scope::Namespace(name) => writeln!(f, "namespace {name}")?,
            Scope::Domain(name) => writeln!(f, "domain {name}")?,
        }
        for (id, Written { revision, sha256 }) in &self.records {
            writeln!(f, "{id} {revision} {sha256}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all records"),
            Self::Namespace(name) => write!(f, "the namespace {name}"),
            Self::Domain(name) => write!(f, "the domain {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(number: u32, digit: char) -> Written {
        Written {
            revision: Revision(number),
            sha256: digit.to_string().repeat(64),
        }
    }

    #[test]
    fn a_manifest_comes_back_as_it_was_written() {
        for scope in [
            Scope::All,
            Scope::Namespace("local".to_owned()),
            Scope::Domain("nccl".to_owned()),
        ] {
            let records = [("local/b", written(12, 'a')), ("local/a/linux", written(1, '0'))];
            let records = records.map(|(id, written)| (id.parse().unwrap(), written));
            let manifest = Manifest {
                scope,
                records: records.into(),
            };
            assert_eq!(Manifest::parse(&manifest.to_string()), Ok(manifest));
        }
    }

    #[test]
    fn what_git_left_of_a_merge_is_named_by_its_line() {
        let conflict = format!("{FORMAT}\n<<<<<<< HEAD\n");
        assert_eq!(Manifest::parse(&conflict), Err(ManifestError::Line(2)));
        for line in ["local/a r1", "local/a 1 00", "local/a r1 XY", "LOCAL/a r1 00"] {
            let text = format!("# a comment\n{FORMAT}\n\n{line}\n");
            assert_eq!(Manifest::parse(&text), Err(ManifestError::Line(4)), "{line}");
        }
        assert_eq!(Manifest::parse("format 2\n"), Err(ManifestError::Format));
        assert_eq!(Manifest::parse(""), Err(ManifestError::Format));
    }

    #[test]
    fn the_same_texts_keep_their_line() {
        let mut manifest = Manifest::default();
        let id: RecordId = "local/a".parse().unwrap();
        manifest.note(&id, written(3, 'a'));
        manifest.note(&id, written(7, 'a'));
        assert_eq!(manifest.records[&id], written(3, 'a'));
        manifest.note(&id, written(8, 'b'));
        assert_eq!(manifest.records[&id], written(8, 'b'));
    }
}
