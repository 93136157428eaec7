//! Whether nobody but root can have written a file. Opening a library runs its code, as root where the agent is root.

use std::collections::VecDeque;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// As many links as the kernel follows (`path_resolution(7)`).
const MOST_LINKS: usize = 40;
/// Write permission of group and others. With an access control list the group's bits are its mask.
const WRITABLE: u32 = 0o022;
/// In such a folder a file is renamed and removed by its owner and the folder's only.
const STICKY: u32 = 0o1000;

#[derive(Debug, thiserror::Error)]
pub(super) enum Distrust {
    #[error("{} belongs to user {owner}", .path.display())]
    Owner { path: PathBuf, owner: u32 },
    #[error("{} can be written by others than its owner (mode {mode:o})", .path.display())]
    Mode { path: PathBuf, mode: u32 },
    #[error("{}: {source}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} leads through more than {MOST_LINKS} links", .0.display())]
    Links(PathBuf),
}

/// Looks at the file, at every link on the way and at every folder above each of them: who can write to a folder can
/// put another file in the place of the one that is there.
///
/// A sticky folder that all can write to, such as /tmp, passes: there only the owner of an entry, or of the folder,
/// can replace it, and both are looked at. A `path` that is relative is taken from `/`.
pub(super) fn check(path: &Path, is_trusted: &dyn Fn(u32) -> bool) -> Result<(), Distrust> {
    let mut here = PathBuf::from("/");
    judge(&here, &look(&here)?, is_trusted)?;
    let mut ahead = parts(path);
    let mut links = 0;
    while let Some(part) = ahead.pop_front() {
        if part.as_os_str() == ".." {
            here.pop();
            continue;
        }
        let entry = here.join(&part);
        let data = look(&entry)?;
        judge(&entry, &data, is_trusted)?;
        if !data.is_symlink() {
            here = entry;
            continue;
        }
        links += 1;
        if links > MOST_LINKS {
            return Err(Distrust::Links(path.to_owned()));
        }
        let target =
            std::fs::read_link(&entry).map_err(|source| Distrust::Unreadable { path: entry, source })?;
        if target.is_absolute() {
            here = PathBuf::from("/");
        }
        let mut through = parts(&target);
        through.append(&mut ahead);
        ahead = through;
    }
    Ok(())
}

fn look(path: &Path) -> Result<Metadata, Distrust> {
    std::fs::symlink_metadata(path).map_err(|source| Distrust::Unreadable {
        path: path.to_owned(),
        source,
    })
}

fn judge(path: &Path, data: &Metadata, is_trusted: &dyn Fn(u32) -> bool) -> Result<(), Distrust> {
    if !is_trusted(data.uid()) {
        return Err(Distrust::Owner {
            path: path.to_owned(),
            owner: data.uid(),
        });
    }
    // The mode of a link means nothing.
    let is_sticky_folder = data.is_dir() && data.mode() & STICKY != 0;
    if !data.is_symlink() && !is_sticky_folder && data.mode() & WRITABLE != 0 {
        return Err(Distrust::Mode {
            path: path.to_owned(),
            mode: data.mode() & 0o7777,
        });
    }
    Ok(())
}

fn parts(path: &Path) -> VecDeque<PathBuf> {
    let kept = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(PathBuf::from(name)),
        Component::ParentDir => Some(PathBuf::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A library in a folder in the folder for temporary files, which is sticky and writable by all.
    fn library() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("lib");
        fs::create_dir(&inner).unwrap();
        let file = inner.join("libcuda.so.1");
        fs::write(&file, "x").unwrap();
        set_mode(&inner, 0o755);
        set_mode(&file, 0o644);
        (folder, file)
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    fn trusted(path: &Path) -> Result<(), Distrust> {
        let own = rustix::process::geteuid().as_raw();
        check(path, &|owner| owner == 0 || owner == own)
    }

    #[test]
    fn a_file_that_only_its_owner_can_write_passes() {
        let (folder, file) = library();
        trusted(&file).unwrap();
        let link = folder.path().join("link");
        symlink("lib/../lib/libcuda.so.1", &link).unwrap();
        trusted(&link).unwrap();
    }

    #[test]
    fn what_others_can_write_is_refused() {
        for mode in [0o664, 0o646, 0o666] {
            let (_folder, file) = library();
            set_mode(&file, mode);
            assert!(matches!(trusted(&file), Err(Distrust::Mode { mode: found, .. }) if found == mode));
        }
        for mode in [0o775, 0o757, 0o777] {
            let (_folder, file) = library();
            let inner = file.parent().unwrap();
            set_mode(inner, mode);
            let text = trusted(&file).unwrap_err().to_string();
            assert!(
                text.contains("can be written by others") && text.contains("lib "),
                "{text}"
            );
            // Sticky: an entry that is not its owner's cannot be replaced by another user.
            set_mode(inner, mode | STICKY);
            trusted(&file).unwrap();
        }
    }

    #[test]
    fn links_are_judged_by_where_they_lead() {
        let (folder, file) = library();
        let (_other, writable) = library();
        set_mode(writable.parent().unwrap(), 0o777);
        fs::remove_file(&file).unwrap();
        symlink(&writable, &file).unwrap();
        assert!(matches!(trusted(&file), Err(Distrust::Mode { .. })));

        let circle = folder.path().join("circle");
        symlink("circle", &circle).unwrap();
        assert!(matches!(trusted(&circle), Err(Distrust::Links(_))));
        assert!(matches!(
            trusted(&folder.path().join("nothing")),
            Err(Distrust::Unreadable { .. })
        ));
    }

    #[test]
    fn a_file_of_another_user_is_refused() {
        let (_folder, file) = library();
        // Whoever runs this test is the other user here.
        let own = fs::metadata(&file).unwrap().uid();
        let refused = check(&file, &|owner| owner != own || owner == u32::MAX).unwrap_err();
        assert!(
            matches!(refused, Distrust::Owner { owner, .. } if owner == own),
            "{refused}"
        );
    }
}
