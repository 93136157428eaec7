//! Where the kernel log is read: `/dev/kmsg`, else the files that syslog keeps.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

use kb_core::report::Fact;
use rustix::io::Errno;

use super::super::{HostRoot, root::unread};
use super::aside;
use super::files::{MOST_RECORDS, at_tail, boot_second, open};
use super::lines::{Kind, Lines, PassedOver};
use super::record::Record;

const DEVICE: &str = "dev/kmsg";
/// Files that syslog writes, best first, and what `dmesg > /var/log/dmesg` leaves.
const FILES: [&str; 4] = ["var/log/kern.log", "var/log/syslog", "var/log/messages", SNAPSHOT];
/// Written once at boot; nobody adds to it.
const SNAPSHOT: &str = "var/log/dmesg";
/// More than one record of the device has: 8 KiB since Linux 3.5, less before.
const RECORD_BYTES: usize = 16 * 1024;

pub(super) enum Source {
    /// The device: one record a read, and the kernel remembers the place.
    Device(File),
    Lines(Box<Lines>),
}

impl Source {
    /// Opens the best one that can be read, with the name that the report gives it. The gap is that of the device.
    pub(super) fn open(root: &HostRoot) -> Result<(String, Self), Fact<bool>> {
        let refused = match open(root, DEVICE).and_then(with_record) {
            // Opened again: the check has taken the first record.
            Ok(()) => match open(root, DEVICE) {
                Ok(file) => return Ok(("kmsg".to_owned(), Self::of(root, file, DEVICE))),
                Err(error) => error,
            },
            Err(error) => error,
        };
        let booted = boot_second(root);
        let is_old = |written: i64| booted.is_some_and(|booted| written < booted);
        let (mut stale, mut empty, mut begun) = (None, None, None);
        for path in FILES {
            if path == SNAPSHOT && begun.is_some() {
                break;
            }
            let opened = open(root, path).and_then(|file| {
                let data = file.metadata()?;
                Ok((at_tail(file)?, data))
            });
            match opened {
                // Whoever wrote it writes no more: that nothing stands in it says nothing of this boot.
                Ok((_, data)) if is_old(data.mtime()) => stale = stale.or(Some(path)),
                // Begun anew, if this boot's lines were put aside; else nobody writes to it.
                Ok((file, data)) if data.is_file() && data.len() == 0 => {
                    if path != SNAPSHOT && aside::has_some_of_this_boot(root, path) {
                        begun = begun.or(Some((path, file)));
                    } else {
                        empty = empty.or(Some(path));
                    }
                }
                Ok((file, _)) => return Ok((format!("/{path}"), Self::of(root, file, path))),
                Err(_) => {}
            }
        }
        if let Some((path, file)) = begun {
            return Ok((format!("/{path}"), Self::of(root, file, path)));
        }
        Err(match (stale, empty) {
            (Some(path), _) => unread(
                path,
                &io::Error::other("nothing was written to it since the boot"),
            ),
            (None, Some(path)) => unread(path, &io::Error::other("it is empty")),
            (None, None) => unread(DEVICE, &refused),
        })
    }

    fn of(root: &HostRoot, file: File, path: &str) -> Self {
        let is_device = file
            .metadata()
            .is_ok_and(|data| data.file_type().is_char_device());
        if is_device {
            return Self::Device(file);
        }
        let kind = match path {
            DEVICE => Kind::Kmsg,
            SNAPSHOT => Kind::Snapshot,
            _ => Kind::Syslog,
        };
        Self::Lines(Box::new(Lines::of(root, file, kind)))
    }

    /// The log as a file of lines.
    pub(super) fn lines(&mut self) -> Option<&mut Lines> {
        match self {
            Self::Device(_) => None,
            Self::Lines(lines) => Some(lines),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Device(_) => Kind::Kmsg,
            Self::Lines(lines) => lines.kind(),
        }
    }

    /// Whether it shows what the kernel writes after it was opened.
    pub(super) fn shows_the_window(&self) -> bool {
        self.kind() != Kind::Snapshot
    }

    /// The kernel's own log holds one boot and numbers its records, a file of syslog's may hold any number of boots.
    pub(super) fn is_numbered(&self) -> bool {
        self.kind() == Kind::Kmsg
    }

    pub(super) fn passed_over(&self) -> PassedOver {
        match self {
            Self::Device(_) => PassedOver::default(),
            Self::Lines(lines) => lines.passed_over(),
        }
    }

    /// What was written since the last call, oldest first; at the first call what there is.
    pub(super) fn read(&mut self) -> io::Result<Vec<Record>> {
        match self {
            Self::Device(file) => read_device(file),
            Self::Lines(lines) => lines.read(),
        }
    }
}

fn read_device(file: &mut File) -> io::Result<Vec<Record>> {
    let mut records = Vec::new();
    let mut record = vec![0; RECORD_BYTES];
    while records.len() < MOST_RECORDS {
        match file.read(&mut record) {
            Ok(0) => break,
            Ok(bytes) => {
                let text = String::from_utf8_lossy(record.get(..bytes).unwrap_or_default());
                records.extend(Record::from_kmsg(&text).into_iter().flat_map(Record::split));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Records were overwritten before they were read; the next read has the oldest there is.
            Err(error) if Errno::from_io_error(&error) == Some(Errno::PIPE) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(records)
}

/// The kernel's own log always has records. A stand-in for it, such as `/dev/null` in a container, has none.
fn with_record(mut file: File) -> io::Result<()> {
    let mut first = vec![0; RECORD_BYTES];
    let read = match file.read(&mut first) {
        Ok(bytes) => bytes,
        // The oldest was overwritten meanwhile, so that there are others.
        Err(error) if Errno::from_io_error(&error) == Some(Errno::PIPE) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
        Err(error) => return Err(error),
    };
    let text = String::from_utf8_lossy(first.get(..read).unwrap_or_default());
    if text.lines().any(Record::has_form) {
        return Ok(());
    }
    Err(io::Error::other(
        "it has no record, so that it is not the kernel's log",
    ))
}
