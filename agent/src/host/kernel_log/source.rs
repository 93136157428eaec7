//! Where the kernel log is read: `/dev/kmsg`, else the files that syslog keeps.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};

use kb_core::report::Fact;
use kb_core::text::Sha256;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::super::{HostRoot, root::unread};
use super::aside;
use super::origin::Origin;
use super::record::Record;
use crate::files::last_bytes;

const DEVICE: &str = "dev/kmsg";
/// Files that syslog writes, best first, and what `dmesg > /var/log/dmesg` leaves.
const FILES: [&str; 4] = ["var/log/kern.log", "var/log/syslog", "var/log/messages", SNAPSHOT];
/// Written once at boot; nobody adds to it.
const SNAPSHOT: &str = "var/log/dmesg";
/// More than one record of the device has: 8 KiB since Linux 3.5, less before.
const RECORD_BYTES: usize = 16 * 1024;
/// How much of the end of a file is read: some ten thousand lines.
const TAIL_BYTES: u64 = 1024 * 1024;
/// Records taken in one go. The kernel's buffer holds fewer (`log_buf_len` of 16 MiB has some hundred thousand); one
/// that is written to as fast as it is read must not hold up the agent.
const MOST_RECORDS: usize = 400_000;

pub(super) enum Source {
    /// The device: one record a read, and the kernel remembers the place.
    Device(File),
    Lines {
        file: BufReader<File>,
        /// Whether its lines are records of the device, as in a tree that stands for a machine.
        is_kmsg: bool,
        is_added_to: bool,
        origin: Origin,
        passed_over: PassedOver,
    },
}

/// Lines of a file of syslog's that were read and are no records.
#[derive(Debug, Clone, Default)]
pub(super) struct PassedOver {
    /// Some were other hosts'.
    pub(super) has_others: bool,
    /// The names of another host that wrote in this boot, and of this one.
    pub(super) of_this_boot: Option<(String, String)>,
    /// Some look like the kernel's, in a form that is not known.
    pub(super) is_unknown: bool,
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

    /// The end of a file of syslog's that was put aside.
    pub(super) fn tail(root: &HostRoot, file: File) -> io::Result<Self> {
        Ok(Self::of_lines(root, at_tail(file)?))
    }

    fn of_lines(root: &HostRoot, file: File) -> Self {
        Self::Lines {
            file: BufReader::new(file),
            is_kmsg: false,
            is_added_to: true,
            origin: Origin::of(root),
            passed_over: PassedOver::default(),
        }
    }

    fn of(root: &HostRoot, file: File, path: &str) -> Self {
        let is_device = file
            .metadata()
            .is_ok_and(|data| data.file_type().is_char_device());
        if is_device {
            return Self::Device(file);
        }
        Self::Lines {
            file: BufReader::new(file),
            is_kmsg: path == DEVICE,
            is_added_to: path != SNAPSHOT,
            origin: Origin::of(root),
            passed_over: PassedOver::default(),
        }
    }

    /// Whether it shows what the kernel writes after it was opened.
    pub(super) fn shows_the_window(&self) -> bool {
        !matches!(
            self,
            Self::Lines {
                is_added_to: false,
                ..
            }
        )
    }

    pub(super) fn passed_over(&self) -> PassedOver {
        match self {
            Self::Device(_) => PassedOver::default(),
            Self::Lines { passed_over, .. } => passed_over.clone(),
        }
    }

    /// The kernel's own log holds one boot, a file of syslog's any number.
    pub(super) fn holds_several_boots(&self) -> bool {
        matches!(self, Self::Lines { is_kmsg: false, .. })
    }

    /// What was written since the last call, oldest first; at the first call what there is.
    pub(super) fn read(&mut self) -> io::Result<Vec<Record>> {
        let mut records = Vec::new();
        match self {
            Self::Device(file) => {
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
            }
            Self::Lines {
                file,
                is_kmsg,
                origin,
                passed_over,
                ..
            } => {
                let mut line = Vec::new();
                while records.len() < MOST_RECORDS && file.read_until(b'\n', &mut line)? > 0 {
                    if line.last() != Some(&b'\n') {
                        // Still being written: it is read whole the next time.
                        file.seek_relative(-i64::try_from(line.len()).unwrap_or(0))?;
                        break;
                    }
                    let text = String::from_utf8_lossy(&line);
                    if *is_kmsg {
                        records.extend(Record::from_kmsg(&text).into_iter().flat_map(Record::split));
                    } else if let Some(other) = origin.other_host(&text) {
                        passed_over.has_others = true;
                        if passed_over.of_this_boot.is_none() && !origin.is_of_an_earlier_boot(&text) {
                            passed_over.of_this_boot = Some((other.to_owned(), origin.own().to_owned()));
                        }
                    } else {
                        passed_over.is_unknown |=
                            origin.is_in_unknown_form(&text) && !origin.is_of_an_earlier_boot(&text);
                        let record = Record::from_text(&text).map(|record| Record {
                            is_old: origin.is_of_an_earlier_boot(&text),
                            ..record
                        });
                        records.extend(record.into_iter().flat_map(Record::split));
                    }
                    line.clear();
                }
            }
        }
        Ok(records)
    }
}

pub(super) struct Earlier {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) offset: u64,
    pub(super) last_bytes: Option<Sha256>,
}

impl Source {
    pub(super) fn is_numbered(&self) -> bool {
        !matches!(self, Self::Lines { is_kmsg: false, .. })
    }

    /// Goes on behind the place, or at the beginning of a file that took the place of that one; what was added to that
    /// one meanwhile, and whether lines may be lost.
    pub(super) fn go_on_from(
        &mut self,
        root: &HostRoot,
        name: &str,
        earlier: &Earlier,
    ) -> io::Result<(Vec<Record>, bool)> {
        let Self::Lines { file, .. } = self else {
            return Ok((Vec::new(), false));
        };
        let data = file.get_ref().metadata()?;
        let is_same = (data.dev(), data.ino()) == (earlier.device, earlier.inode);
        let goes_on = is_same && data.len() >= earlier.offset && {
            let now = last_bytes(file.get_ref(), earlier.offset);
            let known = earlier.last_bytes.as_ref();
            known.is_none_or(|known| now.is_ok_and(|now| now == *known))
        };
        if goes_on {
            file.seek(SeekFrom::Start(earlier.offset))?;
            return Ok((Vec::new(), false));
        }
        let is_whole = data.len() <= TAIL_BYTES;
        if is_same {
            // Emptied while we did not look, and filled again perhaps.
            return Ok((Vec::new(), true));
        }
        let rotated = aside::newest(root, name, (earlier.device, earlier.inode));
        let Some(mut old) = rotated else {
            return Ok((Vec::new(), true));
        };
        old.seek(SeekFrom::Start(earlier.offset))?;
        let mut old = Self::of_lines(root, old);
        let records = old.read()?;
        if data.len() == 0 {
            // Begun anew, and its writer still has the old one.
            *self = old;
        }
        Ok((records, !is_whole))
    }

    /// Whether nothing lies before what is read next, of a file.
    pub(super) fn is_at_beginning(&mut self) -> io::Result<bool> {
        match self {
            Self::Device(_) => Ok(false),
            Self::Lines { file, .. } => Ok(file.stream_position()? == 0),
        }
    }

    /// Behind what was read, of a file whose records have no numbers.
    pub(super) fn place(&mut self) -> io::Result<Option<Earlier>> {
        let Self::Lines { file, .. } = self else {
            return Ok(None);
        };
        let data = file.get_ref().metadata()?;
        let offset = file.stream_position()?;
        Ok(Some(Earlier {
            device: data.dev(),
            inode: data.ino(),
            offset,
            // Emptied meanwhile: no place behind the beginning has the digest of nothing.
            last_bytes: Some(last_bytes(file.get_ref(), offset).unwrap_or_else(|_| Sha256::of([]))),
        }))
    }
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

fn at_tail(mut file: File) -> io::Result<File> {
    let bytes = file.metadata()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL_BYTES)))?;
    Ok(file)
}

/// When the machine was booted, in seconds since 1970.
pub(super) fn boot_second(root: &HostRoot) -> Option<i64> {
    let stat = root.text("proc/stat").value?;
    let second = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    second.trim().parse().ok()
}

/// Never waits: neither for a writer nor for a record.
pub(super) fn open(root: &HostRoot, path: &str) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    File::options()
        .read(true)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or(0))
        .open(root.path(path)?)
}
