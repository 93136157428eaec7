//! Writing records as files. A file is there whole or as it was: it is written beside its place and moved there.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use kb_core::annex;
use kb_core::ids::RecordId;

use super::{ANNEX_END, DOCUMENT_END};
use crate::store::SeedRecord;

/// Writes document and annex below a folder, which is made where it is missing.
pub fn write_record(folder: &Path, record: &SeedRecord) -> io::Result<()> {
    let [document, annex] = files(folder, &record.id);
    write_file(&document, &record.document)?;
    write_file(&annex, &record.annex)
}

/// Removes both files, and the folders that are empty then. What is not there is removed already. The annex goes first: a
/// document may stand alone, an annex may not.
pub fn remove_record(folder: &Path, id: &RecordId) -> io::Result<()> {
    let files = files(folder, id);
    for file in files.iter().rev() {
        match fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    let [document, _] = files;
    let above = document.ancestors().skip(1);
    for above in above.take_while(|above| *above != folder) {
        // One that holds anything else stays.
        if fs::remove_dir(above).is_err() {
            break;
        }
    }
    Ok(())
}

/// Whether the files of a record are as they were read: with these texts, or not there.
pub fn is_as_read(folder: &Path, id: &RecordId, as_read: Option<&SeedRecord>) -> io::Result<bool> {
    let read = |file: &Path| match fs::read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        there => there.map(Some),
    };
    let [document, annex] = files(folder, id);
    let (document, annex) = (read(&document)?, read(&annex)?);
    let Some(as_read) = as_read else {
        return Ok(document.is_none() && annex.is_none());
    };
    let annex = annex.as_deref().unwrap_or(annex::EMPTY.as_bytes());
    Ok(
        document.is_some_and(|document| document == as_read.document.as_bytes())
            && annex == as_read.annex.as_bytes(),
    )
}

fn files(folder: &Path, id: &RecordId) -> [PathBuf; 2] {
    [DOCUMENT_END, ANNEX_END].map(|end| folder.join(format!("{id}{end}")))
}

/// Writes a file whole; one that has these bytes already is left as it is.
pub(super) fn write_file(path: &Path, text: &str) -> io::Result<()> {
    if fs::read(path).is_ok_and(|there| there == text.as_bytes()) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // With the rights that the user's files have; a temporary file is for its owner alone.
    let rights = fs::Permissions::from_mode(0o666);
    let mut file = tempfile::Builder::new()
        .prefix(".peerless-")
        .permissions(rights)
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_record_leaves_no_empty_folder_and_nothing_else_goes() {
        let folder = tempfile::TempDir::new().unwrap();
        let folder = folder.path();
        let record = |id: &str| SeedRecord {
            id: id.parse().unwrap(),
            document: "{}\r\n".to_owned(),
            annex: "[]".to_owned(),
        };
        let (one, other) = (record("local/a/linux"), record("local/b"));
        write_record(folder, &one).unwrap();
        write_record(folder, &other).unwrap();
        assert_eq!(
            fs::read_to_string(folder.join("local/a/linux.json")).unwrap(),
            "{}\r\n"
        );
        assert!(is_as_read(folder, &one.id, Some(&one)).unwrap());
        let changed = SeedRecord {
            annex: String::new(),
            ..one.clone()
        };
        assert!(!is_as_read(folder, &one.id, Some(&changed)).unwrap());
        assert!(!is_as_read(folder, &one.id, None).unwrap());
        remove_record(folder, &one.id).unwrap();
        assert!(
            is_as_read(folder, &one.id, None).unwrap() && !is_as_read(folder, &one.id, Some(&one)).unwrap()
        );
        assert!(!folder.join("local/a").is_dir() && folder.join("local/b.ext.json").is_file());
        remove_record(folder, &one.id).unwrap();
        remove_record(folder, &other.id).unwrap();
        assert!(folder.is_dir() && !folder.join("local").is_dir());
    }
}
