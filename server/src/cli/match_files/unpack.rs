//! Takes compression off a text as it is read, with a bound on memory and on what comes out.

use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kb_core::intake::Form;
use lzma_rust2::XzReader;

pub(super) type Text = Box<dyn Read + Send>;

/// A packed text may grow to this size whatever its ratio: as long a text as a server takes.
const FREE_BYTES: u64 = 1 << 30;
/// Beyond that it may be this many times what is packed. Logs that repeat one line come near it with zstd and xz.
const MOST_TIMES: u64 = 1000;
/// Memory for unpacking xz, in KiB: `xz -9` needs 65 MiB.
const XZ_KIB: u32 = 128 << 10;
/// Largest zstd window, as a power of two: what `zstd -19` uses; `--long` more.
const ZSTD_WINDOW_LOG: u32 = 27;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Plain,
    /// As this program does not know: the intake names it.
    Foreign,
    Gzip,
    Zstd,
    Xz,
}

/// Reads through decompression if the first bytes say so.
pub(super) fn unpacked(raw: impl Read + Send + 'static) -> io::Result<Text> {
    bounded(raw, FREE_BYTES, XZ_KIB)
}

pub(super) fn check_growth(packed: u64, unpacked: u64) -> io::Result<()> {
    check(packed, unpacked, FREE_BYTES)
}

fn check(packed: u64, unpacked: u64, free: u64) -> io::Result<()> {
    if unpacked <= free || unpacked <= packed.saturating_mul(MOST_TIMES) {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "it unpacks to more than {MOST_TIMES} times its size: unpack it, and look at what it is"
    )))
}

fn bounded(mut raw: impl Read + Send + 'static, free: u64, xz_kib: u32) -> io::Result<Text> {
    let (packing, head) = sniff(&mut raw)?;
    let packed = Arc::new(AtomicU64::new(0));
    let counted = Counted {
        raw: Cursor::new(head).chain(raw),
        bytes: Arc::clone(&packed),
    };
    let all = BufReader::new(counted);
    let text: Text = match packing {
        Packing::Plain | Packing::Foreign => return Ok(Box::new(all)),
        Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(all)),
        Packing::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(all)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG)?;
            Box::new(decoder)
        }
        Packing::Xz => Box::new(XzReader::new_mem_limit(all, true, xz_kib)),
    };
    Ok(Box::new(Bounded {
        text,
        packed,
        unpacked: 0,
        free,
    }))
}

/// Reads the first bytes, and tells by them.
pub(super) fn sniff(raw: &mut impl Read) -> io::Result<(Packing, Vec<u8>)> {
    let mut head = Vec::new();
    raw.take(Form::HEAD_BYTES as u64).read_to_end(&mut head)?;
    let packing = match Form::of(&head) {
        Some(Form::Gzip) => Packing::Gzip,
        Some(Form::Zstd) => Packing::Zstd,
        Some(Form::Xz) => Packing::Xz,
        Some(_) => Packing::Foreign,
        None => Packing::Plain,
    };
    Ok((packing, head))
}

struct Counted<R> {
    raw: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.raw.read(buffer)?;
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Ends a text that grows too much.
struct Bounded {
    text: Text,
    packed: Arc<AtomicU64>,
    unpacked: u64,
    free: u64,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(buffer)?;
        self.unpacked = self.unpacked.saturating_add(read as u64);
        check(self.packed.load(Ordering::Relaxed), self.unpacked, self.free)?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use lzma_rust2::{XzOptions, XzWriter};

    use super::*;

    fn read(raw: Vec<u8>) -> io::Result<String> {
        let mut text = String::new();
        unpacked(Cursor::new(raw))?.read_to_string(&mut text)?;
        Ok(text)
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn xz(text: &[u8]) -> Vec<u8> {
        let mut encoder = XzWriter::new(Vec::new(), XzOptions::with_preset(1)).unwrap();
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_text_is_the_same_however_it_is_packed() {
        let text = "NVRM: Xid 79\n".repeat(1000);
        let (gzip, xz) = (gzip(text.as_bytes()), xz(text.as_bytes()));
        let zstd = zstd::encode_all(text.as_bytes(), 1).unwrap();
        // Rotated logs are often packed one after the other.
        for (packed, times) in [
            (text.clone().into_bytes(), 1),
            (gzip.clone(), 1),
            (zstd.clone(), 1),
            (xz.clone(), 1),
            ([gzip.clone(), gzip.clone()].concat(), 2),
            ([zstd.clone(), zstd.clone()].concat(), 2),
            ([xz.clone(), xz.clone()].concat(), 2),
        ] {
            assert_eq!(read(packed).unwrap(), text.repeat(times));
        }
        for short in ["", "a", "abc"] {
            assert_eq!(read(short.into()).unwrap(), short);
        }
        for packed in [gzip, zstd, xz] {
            assert!(read(packed[..packed.len() / 2].to_vec()).is_err());
        }
    }

    #[test]
    fn bombs_are_ended_early_and_small_files_may_grow() {
        let zeros = vec![0; 4 << 20];
        let twice = zstd::encode_all(zeros.as_slice(), 19).unwrap();
        for packed in [gzip(&zeros), xz(&zeros), twice] {
            let all = |free| {
                let mut text = bounded(Cursor::new(packed.clone()), free, XZ_KIB)?;
                io::copy(&mut text, &mut io::sink())
            };
            assert_eq!(all(4 << 20).unwrap(), 4 << 20);
            let times = zeros.len() / packed.len();
            let ended = all(1 << 20);
            assert_eq!(ended.is_err(), times > 1000, "{times} to 1");
        }
    }

    #[test]
    fn xz_that_asks_for_much_memory_is_refused() {
        let mut text = bounded(Cursor::new(xz(b"NVRM: Xid 79\n")), FREE_BYTES, 512).unwrap();
        assert!(text.read(&mut [0; 10]).is_err());
    }
}
