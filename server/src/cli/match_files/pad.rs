//! Compression that a server accepts whatever the text: it refuses bodies that grow too much, and a log that repeats
//! itself grows a thousand times. Frames are padded until they stay below the ratio.

use std::io::{self, Read};

use kb_core::wire::{self, FRAME_BYTES};

use super::unpack::Text;

/// Fast: the network is rarely the slower side.
const LEVEL: i32 = 1;

pub(super) struct Padded {
    text: Text,
    frame: Vec<u8>,
    ready: Vec<u8>,
    sent: usize,
}

impl Padded {
    pub(super) fn new(text: Text) -> Self {
        Self {
            text,
            frame: Vec::with_capacity(FRAME_BYTES),
            ready: Vec::new(),
            sent: 0,
        }
    }

    /// Makes the next frame of what there is to read; it does not wait until a frame is full.
    fn fill(&mut self) -> io::Result<()> {
        self.frame.resize(FRAME_BYTES, 0);
        let read = self.text.read(&mut self.frame)?;
        self.frame.truncate(read);
        self.sent = 0;
        self.ready.clear();
        if read == 0 {
            return Ok(());
        }
        let packed = zstd::bulk::compress(&self.frame, LEVEL)?;
        self.ready.extend(wire::padding(packed.len() as u64, read as u64));
        self.ready.extend(packed);
        Ok(())
    }
}

impl Read for Padded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.sent == self.ready.len() {
            self.fill()?;
        }
        let mut rest = self.ready.get(self.sent..).unwrap_or_default();
        let read = rest.read(buffer)?;
        self.sent += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::web::body::{Decoder, Encoding};

    #[test]
    fn what_repeats_itself_is_accepted() {
        let text = "the same line again\n".repeat(1 << 20).into_bytes();
        let mut padded = Vec::new();
        Padded::new(Box::new(Cursor::new(text.clone())))
            .read_to_end(&mut padded)
            .unwrap();
        assert!(padded.len() < text.len() / 100, "{} bytes", padded.len());
        let mut decoder = Decoder::new(Encoding::Zstd, 1 << 30, Vec::new()).unwrap();
        for piece in padded.chunks(1000) {
            decoder.push(piece).unwrap();
        }
        assert!(decoder.finish().unwrap() == text);

        let bare = zstd::encode_all(text.as_slice(), LEVEL).unwrap();
        let mut decoder = Decoder::new(Encoding::Zstd, 1 << 30, Vec::new()).unwrap();
        assert!(decoder.push(&bare).is_err(), "without padding it is refused");
    }
}
