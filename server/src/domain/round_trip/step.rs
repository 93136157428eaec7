//! What an import does with one record, decided from three hashes.

use std::collections::BTreeSet;

use kb_core::ids::{RecordId, Revision};

use super::stands::{Head, Published, Stands};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Folder,
    Database,
}

#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// Records of which the folder is right, whatever the database says.
    pub folder: BTreeSet<RecordId>,
    pub database: BTreeSet<RecordId>,
    /// Withdraw records whose files were removed.
    pub prune: bool,
}

impl Wishes {
    pub(super) fn side(&self, id: &RecordId) -> Option<Side> {
        if self.folder.contains(id) {
            Some(Side::Folder)
        } else {
            self.database.contains(id).then_some(Side::Database)
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conflict {
    Both,
    /// Both added a record of this id.
    Added,
    /// The folder changed it or added it, and the database has a draft that readers do not see yet.
    Draft(Revision),
    /// The folder changed it, and in the database it was withdrawn.
    Withdrawn,
    /// Its files were removed, and the database changed it or has a draft that readers do not see yet.
    Removed,
    /// The database is to be right, and has nothing of it.
    Absent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Nobody changed anything.
    Nothing,
    /// Folder and database say the same, which they did not when the folder was written.
    Same,
    /// Neither has it any more.
    Forget,
    /// The database changed it, the folder did not: the next export brings it.
    Changed,
    /// The database withdrew it, the folder did not change it: the next export removes the files.
    Gone,
    /// Its files were removed, and it stays published.
    Removed,
    /// The folder's texts are published.
    Publish,
    Withdraw,
    /// Both changed it: to be put together field by field, or a conflict.
    Merge,
    Conflict(Conflict),
    /// The folder gets what the database has.
    Write,
    /// The folder loses what the database has no more.
    Remove,
}

/// Decides by what both had in common last, what the folder has, and where the record stands.
pub(super) fn step(
    base: Option<&str>,
    folder: Option<&str>,
    stands: Option<&Stands>,
    (side, prune): (Option<Side>, bool),
) -> Step {
    let published = stands.and_then(Stands::published);
    let database = published.map(|published| published.sha256.as_str());
    // Both say the same: nothing is left to decide, whatever was asked for.
    match (folder, database) {
        (Some(folder), Some(database)) if folder == database => {
            return if base == Some(folder) {
                Step::Nothing
            } else {
                Step::Same
            };
        }
        (None, None) => {
            return if base.is_some() {
                Step::Forget
            } else {
                Step::Nothing
            };
        }
        _ => {}
    }
    match (side, folder, database) {
        // A record of the database alone is no matter of this folder.
        (Some(_), None, _) if base.is_none() => return Step::Nothing,
        (Some(Side::Folder), Some(_), _) => return Step::Publish,
        (Some(Side::Folder), None, _) => return Step::Withdraw,
        (Some(Side::Database), _, Some(_)) => return Step::Write,
        (Some(Side::Database), _, None) => return unpublished(stands),
        (None, ..) => {}
    }
    match (base, folder, database) {
        (None, None, _) => Step::Nothing,
        (None, Some(_), Some(_)) => Step::Conflict(Conflict::Added),
        (base, Some(folder), None) => absent(base, folder, stands),
        (Some(base), None, Some(database)) if base == database => {
            let is_drafted =
                |published: &Published| published.head.sha256 != database && !published.head.imported;
            if prune && published.is_some_and(is_drafted) {
                Step::Conflict(Conflict::Removed)
            } else if prune {
                Step::Withdraw
            } else {
                Step::Removed
            }
        }
        (Some(_), None, _) => Step::Conflict(Conflict::Removed),
        (Some(base), Some(folder), Some(_)) if base == folder => Step::Changed,
        (Some(base), Some(folder), Some(database)) => {
            let draft = published
                .map(|published| &published.head)
                .filter(|head| head.sha256 != database && stands_in_the_way(head, folder));
            match draft {
                Some(head) => Step::Conflict(Conflict::Draft(head.revision)),
                None if base == database => Step::Publish,
                None => Step::Merge,
            }
        }
    }
}

/// The database is right, and readers of it do not see the record. Files are removed only where it was withdrawn.
fn unpublished(stands: Option<&Stands>) -> Step {
    match stands {
        Some(Stands::Withdrawn { .. }) => Step::Remove,
        Some(Stands::Draft(head)) => Step::Conflict(Conflict::Draft(head.revision)),
        Some(Stands::Published(_)) | None => Step::Conflict(Conflict::Absent),
    }
}

/// A draft that somebody would look for in vain.
fn stands_in_the_way(head: &Head, folder: &str) -> bool {
    head.sha256 != folder && !head.imported
}

fn absent(base: Option<&str>, folder: &str, stands: Option<&Stands>) -> Step {
    match stands {
        Some(Stands::Draft(head)) if stands_in_the_way(head, folder) => {
            Step::Conflict(Conflict::Draft(head.revision))
        }
        Some(Stands::Withdrawn { .. }) if base == Some(folder) => Step::Gone,
        Some(Stands::Withdrawn { .. }) => Step::Conflict(Conflict::Withdrawn),
        _ => Step::Publish,
    }
}

#[cfg(test)]
mod tests {
    use proptest::option;
    use proptest::prelude::*;

    use super::*;
    use crate::store::SeedRecord;

    fn draft(number: u32, sha256: &str) -> Head {
        Head {
            revision: Revision(number),
            sha256: sha256.to_owned(),
            imported: false,
        }
    }

    fn published(sha256: &str, head: &str) -> Stands {
        Stands::Published(Published {
            revision: Revision(2),
            texts: SeedRecord {
                id: "t/a".parse().unwrap(),
                document: String::new(),
                annex: String::new(),
            },
            sha256: sha256.to_owned(),
            head: draft(if head == sha256 { 2 } else { 3 }, head),
        })
    }

    fn decide(base: &str, folder: &str, stands: Option<&Stands>) -> Step {
        let some = |word| Some(word).filter(|word| *word != "-");
        step(some(base), some(folder), stands, (None, false))
    }

    #[test]
    fn each_change_on_either_side_has_its_step() {
        let now = |word| published(word, word);
        let never_published = Stands::Draft(draft(1, "d"));
        let refused = Stands::Draft(Head {
            imported: true,
            ..draft(1, "d")
        });
        let gone = Stands::Withdrawn { head: Revision(4) };
        for (base, folder, stands, expected) in [
            ("a", "a", Some(now("a")), Step::Nothing),
            ("a", "b", Some(now("a")), Step::Publish),
            ("a", "a", Some(now("b")), Step::Changed),
            ("a", "b", Some(now("b")), Step::Same),
            ("a", "b", Some(now("c")), Step::Merge),
            ("-", "a", Some(now("a")), Step::Same),
            ("-", "a", Some(now("b")), Step::Conflict(Conflict::Added)),
            ("-", "a", None, Step::Publish),
            // Another database than the folder was exported from.
            ("a", "a", None, Step::Publish),
            ("a", "-", Some(now("a")), Step::Removed),
            ("a", "-", Some(now("b")), Step::Conflict(Conflict::Removed)),
            ("a", "-", None, Step::Forget),
            ("-", "-", Some(now("a")), Step::Nothing),
            ("a", "a", Some(gone.clone()), Step::Gone),
            ("a", "b", Some(gone.clone()), Step::Conflict(Conflict::Withdrawn)),
            ("-", "b", Some(gone.clone()), Step::Conflict(Conflict::Withdrawn)),
            ("a", "-", Some(gone), Step::Forget),
            ("-", "d", Some(never_published.clone()), Step::Publish),
            (
                "-",
                "a",
                Some(never_published),
                Step::Conflict(Conflict::Draft(Revision(1))),
            ),
            ("-", "a", Some(refused), Step::Publish),
            ("a", "a", Some(published("a", "d")), Step::Nothing),
            ("a", "d", Some(published("a", "d")), Step::Publish),
            (
                "a",
                "b",
                Some(published("a", "d")),
                Step::Conflict(Conflict::Draft(Revision(3))),
            ),
        ] {
            let decided = decide(base, folder, stands.as_ref());
            assert_eq!(decided, expected, "{base} {folder} {stands:?}");
        }
    }

    #[test]
    fn who_says_which_side_is_right_gets_it() {
        let stands = published("b", "d");
        let taken = |folder, side| step(Some("a"), folder, Some(&stands), (Some(side), false));
        assert_eq!(taken(Some("c"), Side::Folder), Step::Publish);
        assert_eq!(taken(None, Side::Folder), Step::Withdraw);
        assert_eq!(taken(Some("c"), Side::Database), Step::Write);
        assert_eq!(taken(None, Side::Database), Step::Write);
        let gone = Stands::Withdrawn { head: Revision(4) };
        let removed = step(Some("a"), Some("b"), Some(&gone), (Some(Side::Database), false));
        assert_eq!(removed, Step::Remove);
        let unpublished = |stands| step(Some("a"), Some("a"), stands, (Some(Side::Database), false));
        let drafted = Stands::Draft(draft(1, "d"));
        let conflict = Step::Conflict(Conflict::Draft(Revision(1)));
        assert_eq!(unpublished(Some(&drafted)), conflict);
        assert_eq!(unpublished(None), Step::Conflict(Conflict::Absent));
    }

    #[test]
    fn what_has_a_draft_of_somebody_is_not_withdrawn_for_want_of_files() {
        let pruned = |stands| step(Some("b"), None, Some(&stands), (None, true));
        assert_eq!(pruned(published("b", "b")), Step::Withdraw);
        assert_eq!(pruned(published("b", "d")), Step::Conflict(Conflict::Removed));
        let Stands::Published(mut of_import) = published("b", "d") else {
            unreachable!();
        };
        of_import.head.imported = true;
        assert_eq!(pruned(Stands::Published(of_import)), Step::Withdraw);
    }

    proptest! {
        /// Whatever the three sides are: what only the database changed is never written over, and what was asked of nobody is
        /// never withdrawn.
        #[test]
        fn no_change_of_the_database_is_written_over(
            base in option::of("[abc]"), folder in option::of("[abc]"),
            database in option::of("[abc]"), head in option::of("[abcd]"), prune: bool,
        ) {
            let stands = database
                .as_deref()
                .map(|now| published(now, head.as_deref().unwrap_or(now)));
            let step = step(base.as_deref(), folder.as_deref(), stands.as_ref(), (None, prune));
            match step {
                Step::Publish => {
                    prop_assert!(folder.is_some() && folder != database);
                    prop_assert!(database.is_none() || database == base);
                    if let (Some(_), Some(head)) = (&database, &head) {
                        prop_assert!(Some(head) == database.as_ref() || Some(head) == folder.as_ref());
                    }
                }
                Step::Withdraw => {
                    prop_assert!(prune && folder.is_none() && database == base && base.is_some());
                    prop_assert!(head.is_none() || head == database, "a draft would be lost");
                }
                Step::Nothing | Step::Same => {
                    prop_assert!(folder == database || (base.is_none() && folder.is_none()));
                }
                Step::Write | Step::Remove => prop_assert!(false, "nobody asked for it"),
                _ => {}
            }
        }
    }
}
