//! Archives whose bytes depend on what is in them alone: sorted, of one time, of named users.

use std::collections::BTreeMap;
use std::io::Write as _;

use anyhow::Result;
use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

enum What {
    File(Vec<u8>),
    Folder,
    Link(String),
}

struct Entry {
    what: What,
    mode: u32,
    user: u32,
}

/// The files of an image.
pub(super) struct Layer {
    entries: BTreeMap<String, Entry>,
    epoch: u32,
}

impl Layer {
    pub(super) fn new(epoch: u32) -> Self {
        Self {
            entries: BTreeMap::new(),
            epoch,
        }
    }

    /// A file of root's, with the folders above it.
    pub(super) fn file(&mut self, path: &str, bytes: Vec<u8>, mode: u32) {
        self.add(path, What::File(bytes), mode, 0);
    }

    pub(super) fn folder(&mut self, path: &str, mode: u32, user: u32) {
        self.add(path, What::Folder, mode, user);
    }

    pub(super) fn link(&mut self, path: &str, to: &str) {
        self.add(path, What::Link(to.to_owned()), 0o777, 0);
    }

    fn add(&mut self, path: &str, what: What, mode: u32, user: u32) {
        for (end, _) in path.match_indices('/') {
            let above = path.get(..end).unwrap_or_default().to_owned();
            self.entries.entry(above).or_insert(Entry {
                what: What::Folder,
                mode: 0o755,
                user: 0,
            });
        }
        self.entries.insert(path.to_owned(), Entry { what, mode, user });
    }

    /// The packed layer, and the digest of its archive before it was packed.
    pub(super) fn finish(self) -> Result<(Vec<u8>, String)> {
        let mut archive = Builder::new(Vec::new());
        for (path, entry) in self.entries {
            let mut header = Header::new_ustar();
            header.set_mode(entry.mode);
            header.set_mtime(self.epoch.into());
            header.set_uid(entry.user.into());
            header.set_gid(entry.user.into());
            match entry.what {
                What::File(bytes) => {
                    header.set_size(bytes.len() as u64);
                    archive.append_data(&mut header, path, bytes.as_slice())?;
                }
                What::Folder => {
                    header.set_entry_type(EntryType::Directory);
                    header.set_size(0);
                    archive.append_data(&mut header, format!("{path}/"), std::io::empty())?;
                }
                What::Link(to) => {
                    header.set_entry_type(EntryType::Symlink);
                    header.set_size(0);
                    archive.append_link(&mut header, path, to)?;
                }
            }
        }
        let archive = archive.into_inner()?;
        let mut packed = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
        packed.write_all(&archive)?;
        Ok((packed.finish()?, super::digest(&archive)))
    }
}

/// An archive of files, in the order of their names.
pub(super) fn pack(mut files: Vec<(String, Vec<u8>)>, epoch: u32) -> Result<Vec<u8>> {
    files.sort();
    let mut archive = Builder::new(Vec::new());
    for (path, bytes) in files {
        let mut header = Header::new_ustar();
        header.set_mode(0o644);
        header.set_mtime(epoch.into());
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, path, bytes.as_slice())?;
    }
    Ok(archive.into_inner()?)
}
