//! What an export does to the files of one record.

use super::stands::Published;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outward {
    /// The files say what the database says.
    Same,
    /// They are written, or written over: nobody changed them since they were written last.
    Write,
    /// The record was withdrawn and nobody changed its files: they are removed.
    Remove,
    /// Neither has it any more.
    Forget,
    /// The files were changed or added, and the database was not changed or never published it: an import takes the files.
    Edited,
    /// The files were removed: an import with `--prune` withdraws the record.
    Removed,
    /// The files were changed or removed, and the database was changed: an import puts both together or tells the conflict.
    Both,
}

/// Decides by what both had in common last, what the folder has, and what is published. Only what was withdrawn is removed: a
/// database that never published the record, a new one say, is no reason to.
pub fn to_write(
    base: Option<&str>,
    folder: Option<&str>,
    (published, is_withdrawn): (Option<&Published>, bool),
    overwrite: bool,
) -> Outward {
    let database = published.map(|published| published.sha256.as_str());
    match (base, folder, database) {
        (_, None, None) => Outward::Forget,
        (_, Some(_), None) if !is_withdrawn => Outward::Edited,
        (_, Some(folder), Some(database)) if folder == database => Outward::Same,
        (None, None, Some(_)) => Outward::Write,
        (Some(base), Some(folder), Some(_)) if base == folder => Outward::Write,
        (_, _, Some(_)) if overwrite => Outward::Write,
        (Some(base), Some(folder), None) if base == folder => Outward::Remove,
        (Some(_), Some(_), None) if overwrite => Outward::Remove,
        // A record of the folder's own that the database does not have yet.
        (None, Some(_), None) => Outward::Edited,
        (Some(base), Some(_), Some(database)) if base == database => Outward::Edited,
        (Some(base), None, Some(database)) if base == database => Outward::Removed,
        _ => Outward::Both,
    }
}

#[cfg(test)]
mod tests {
    use kb_core::ids::Revision;
    use proptest::option;
    use proptest::prelude::*;

    use super::*;
    use crate::domain::round_trip::Head;
    use crate::store::SeedRecord;

    fn published(sha256: &str) -> Published {
        Published {
            revision: Revision(2),
            texts: SeedRecord {
                id: "t/a".parse().unwrap(),
                document: String::new(),
                annex: String::new(),
            },
            sha256: sha256.to_owned(),
            head: Head {
                revision: Revision(2),
                sha256: sha256.to_owned(),
                imported: false,
            },
        }
    }

    #[test]
    fn what_nobody_changed_is_written_and_what_somebody_changed_is_kept() {
        let some = |word| Some(word).filter(|word| *word != "-");
        for (base, folder, database, expected) in [
            ("-", "-", "a", Outward::Write),
            ("a", "a", "a", Outward::Same),
            ("-", "a", "a", Outward::Same),
            ("a", "a", "b", Outward::Write),
            ("a", "b", "a", Outward::Edited),
            ("-", "b", "-", Outward::Edited),
            ("a", "b", "c", Outward::Both),
            ("-", "b", "c", Outward::Both),
            ("a", "-", "a", Outward::Removed),
            ("a", "-", "b", Outward::Both),
            ("a", "a", "-", Outward::Remove),
            ("a", "b", "-", Outward::Both),
            ("a", "-", "-", Outward::Forget),
        ] {
            let now = some(database).map(published);
            let decided = to_write(some(base), some(folder), (now.as_ref(), now.is_none()), false);
            assert_eq!(decided, expected, "{base} {folder} {database}");
        }
        // Never published here: a draft, or a new database.
        for (base, folder) in [("a", "a"), ("a", "b"), ("-", "b")] {
            for overwrite in [false, true] {
                let decided = to_write(some(base), some(folder), (None, false), overwrite);
                assert_eq!(decided, Outward::Edited, "{base} {folder} {overwrite}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_file_that_somebody_changed_is_written_over_only_when_asked(
            base in option::of("[abc]"), folder in option::of("[abc]"), database in option::of("[abc]"),
        ) {
            let now = database.as_deref().map(published);
            let sides = (now.as_ref(), now.is_none());
            let decided = to_write(base.as_deref(), folder.as_deref(), sides, false);
            if folder != base && folder != database {
                prop_assert!(!matches!(decided, Outward::Write | Outward::Remove | Outward::Forget));
            }
            let asked = to_write(base.as_deref(), folder.as_deref(), sides, true);
            if folder != database && database.is_some() {
                prop_assert_eq!(asked, Outward::Write);
            }
        }
    }
}
