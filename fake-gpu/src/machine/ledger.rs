//! Who holds what on each GPU, across processes: one small file under a lock. What a dead process held is free again.

use crate::driver::Code;
use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File, OpenOptions},
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

/// Allocations begin at multiples of this, as `cuMemAlloc` documents for its addresses.
const GRANULE: u64 = 512;

pub(crate) struct Ledger {
    state: PathBuf,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Block {
    /// Never used twice; names the file.
    pub(crate) id: u64,
    pub(crate) gpu: usize,
    /// First byte in the GPU's physical memory.
    pub(crate) physical: u64,
    pub(crate) bytes: u64,
    /// The process that took it.
    owner: u32,
    /// Processes that keep it, once for each hold.
    pids: Vec<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Holder {
    gpu: usize,
    pid: u32,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Book {
    next_id: u64,
    blocks: Vec<Block>,
    holders: Vec<Holder>,
}

impl Ledger {
    pub(crate) fn new(state: &Path) -> Self {
        Self {
            state: state.to_path_buf(),
        }
    }

    pub(crate) fn messages(&self, communicator: &str) -> PathBuf {
        self.state.join(format!("nccl-{communicator}"))
    }

    pub(crate) fn file(&self, id: u64) -> PathBuf {
        self.state.join(format!("memory-{id}"))
    }

    /// Zeros that stand for what `initiator` reaches in place of a block.
    pub(crate) fn mirror(&self, id: u64, initiator: usize) -> PathBuf {
        self.state.join(format!("memory-{id}-mirror-{initiator}"))
    }

    /// Takes `bytes` of a GPU of `capacity` bytes, the last `reserved` of which are never given out. Error 2: no gap is wide enough.
    pub(crate) fn take(&self, gpu: usize, bytes: u64, capacity: u64, reserved: u64) -> Result<Block, Code> {
        let room = capacity.saturating_sub(reserved);
        let block = self.change(|book| {
            let physical = book.first_gap(gpu, bytes, room)?;
            book.next_id += 1;
            let block = Block {
                id: book.next_id,
                gpu,
                physical,
                bytes,
                owner: std::process::id(),
                pids: vec![std::process::id()],
            };
            book.blocks.push(block.clone());
            Some(block)
        })?;
        let block = block.ok_or(Code::OUT_OF_MEMORY)?;
        let file = self.file(block.id);
        // Whole words, so that the last bytes can be touched as one.
        let made = File::create(&file).and_then(|file| file.set_len(bytes.next_multiple_of(8)));
        made.map_err(|why| complain(&why))?;
        Ok(block)
    }

    /// Gives this process's hold on a block back; the last one frees it.
    pub(crate) fn give_back(&self, id: u64) {
        let own = std::process::id();
        // What goes wrong has been said.
        let _ = self.change(|book| {
            for block in book.blocks.iter_mut().filter(|block| block.id == id) {
                if let Some(place) = block.pids.iter().position(|pid| *pid == own) {
                    block.pids.remove(place);
                }
            }
            self.drop_unheld(book);
        });
    }

    /// A descriptor of a block, which holds it for as long as it is open in any process: it has a lock on the file.
    pub(crate) fn descriptor(&self, id: u64) -> Result<OwnedFd, Code> {
        let file = OpenOptions::new().read(true).write(true).open(self.file(id));
        let locked = file.and_then(|file| {
            flock(&file, FlockOperation::LockShared)?;
            Ok(file.into())
        });
        locked.map_err(|why| complain(&why))
    }

    /// Whether a descriptor of it is open somewhere.
    fn has_descriptor(&self, id: u64) -> bool {
        let lock = |file| flock(&file, FlockOperation::NonBlockingLockExclusive);
        File::open(self.file(id)).is_ok_and(|file| lock(file) == Err(Errno::WOULDBLOCK))
    }

    /// Forgets the blocks that nobody holds, and removes their files.
    fn drop_unheld(&self, book: &mut Book) {
        let held = |block: &mut Block| !block.pids.is_empty() || self.has_descriptor(block.id);
        for block in book.blocks.extract_if(.., |block| !held(block)) {
            self.remove_files(block.id);
        }
    }

    pub(crate) fn find(&self, id: u64) -> Result<Option<Block>, Code> {
        self.change(|book| book.blocks.iter().find(|block| block.id == id).cloned())
    }

    /// As [`Self::find`]; this process then holds it too, until it gives it back.
    pub(crate) fn share(&self, id: u64) -> Result<Option<Block>, Code> {
        self.change(|book| {
            let block = book.blocks.iter_mut().find(|block| block.id == id)?;
            block.pids.push(std::process::id());
            Some(block.clone())
        })
    }

    /// Whether this process has taken it.
    pub(crate) fn is_own(block: &Block) -> bool {
        block.owner == std::process::id()
    }

    /// The block whose file this is; `None` for a file that is none.
    pub(crate) fn id_of(&self, file: &Path) -> Option<u64> {
        let name = file.strip_prefix(&self.state).ok()?.to_str()?;
        name.strip_prefix("memory-")?.parse().ok()
    }

    pub(crate) fn used(&self, gpu: usize) -> Result<u64, Code> {
        self.change(|book| {
            book.blocks
                .iter()
                .filter(|block| block.gpu == gpu)
                .map(|block| block.bytes)
                .sum()
        })
    }

    /// Processes with a context on a GPU, and the bytes each has taken.
    pub(crate) fn processes(&self, gpu: usize) -> Result<Vec<(u32, u64)>, Code> {
        self.change(|book| {
            let pids = book
                .holders
                .iter()
                .filter(|holder| holder.gpu == gpu)
                .map(|holder| holder.pid);
            pids.map(|pid| {
                let own = book
                    .blocks
                    .iter()
                    .filter(|block| block.gpu == gpu && block.pids.first() == Some(&pid));
                (pid, own.map(|block| block.bytes).sum())
            })
            .collect()
        })
    }

    /// Notes that this process has a context; false when `alone` and another process has one.
    pub(crate) fn enter(&self, gpu: usize, alone: bool) -> Result<bool, Code> {
        let pid = std::process::id();
        self.change(|book| {
            if alone
                && book
                    .holders
                    .iter()
                    .any(|holder| holder.gpu == gpu && holder.pid != pid)
            {
                return false;
            }
            book.holders.push(Holder { gpu, pid });
            true
        })
    }

    pub(crate) fn leave(&self, gpu: usize) {
        let pid = std::process::id();
        let _ = self.change(|book| {
            book.holders
                .retain(|holder| holder.gpu != gpu || holder.pid != pid);
        });
    }

    /// Reads the book, drops the dead, lets `body` work on it and writes it, all under the lock.
    fn change<T>(&self, body: impl FnOnce(&mut Book) -> T) -> Result<T, Code> {
        self.try_change(body).map_err(|why| complain(&why))
    }

    fn try_change<T>(&self, body: impl FnOnce(&mut Book) -> T) -> io::Result<T> {
        let lock = File::create(self.state.join("ledger.lock"))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        let path = self.state.join("ledger.json");
        let before = match fs::read(&path) {
            Ok(text) => text,
            Err(why) if why.kind() == io::ErrorKind::NotFound => b"{}".to_vec(),
            Err(why) => return Err(why),
        };
        let mut book: Book = serde_json::from_slice(&before)?;
        book.drop_dead();
        self.drop_unheld(&mut book);
        let result = body(&mut book);
        let after = serde_json::to_vec(&book)?;
        if after != before {
            // Renamed into place: a process killed in between leaves the old book, never half of one.
            let new = self.state.join("ledger.new");
            fs::write(&new, after)?;
            fs::rename(new, path)?;
        }
        Ok(result)
    }

    fn remove_files(&self, id: u64) {
        let Ok(entries) = fs::read_dir(&self.state) else {
            return;
        };
        let own = format!("memory-{id}");
        let mirrors = format!("memory-{id}-");
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name == own || name.starts_with(&mirrors) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

impl Book {
    /// The lowest place where `bytes` fit.
    fn first_gap(&self, gpu: usize, bytes: u64, room: u64) -> Option<u64> {
        let mut taken: Vec<_> = self.blocks.iter().filter(|block| block.gpu == gpu).collect();
        taken.sort_by_key(|block| block.physical);
        let mut place = 0;
        for block in taken {
            if block.physical.checked_sub(place)? >= bytes {
                break;
            }
            place = block.physical + block.bytes.next_multiple_of(GRANULE);
        }
        (place.checked_add(bytes)? <= room).then_some(place)
    }

    fn drop_dead(&mut self) {
        self.holders.retain(|holder| is_alive(holder.pid));
        for block in &mut self.blocks {
            block.pids.retain(|pid| is_alive(*pid));
        }
    }
}

/// A zombie has given everything back already, although its id is still taken.
fn is_alive(pid: u32) -> bool {
    if pid == std::process::id() {
        return true;
    }
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    !matches!(state, Some('Z' | 'X'))
}

fn complain(why: &io::Error) -> Code {
    eprintln!("fake-gpu: state folder: {why}");
    Code::UNKNOWN
}
