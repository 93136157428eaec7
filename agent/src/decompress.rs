//! Reads zstd. The agent's build of the library has no error texts, so they stand here.

use std::io::{self, BufRead, Read};

use zstd::stream::read::Decoder;

pub(crate) struct Decompressed<R: BufRead>(Decoder<'static, R>);

impl<R: BufRead> Decompressed<R> {
    pub(crate) fn new(compressed: R) -> io::Result<Self> {
        Ok(Self(Decoder::with_buffer(compressed)?))
    }
}

impl<R: BufRead> Read for Decompressed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            // What the library itself refuses.
            io::ErrorKind::Other => io::Error::new(io::ErrorKind::InvalidData, "damaged zstd data"),
            _ => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(compressed: &[u8]) -> String {
        let mut text = Vec::new();
        let mut reader = Decompressed::new(compressed).unwrap();
        reader.read_to_end(&mut text).unwrap_err().to_string()
    }

    #[test]
    fn damage_is_told_from_a_cut() {
        let whole = zstd::stream::encode_all(&b"Xid 79 ".repeat(100)[..], 0).unwrap();
        assert_eq!(refusal(&whole[..whole.len() - 1]), "incomplete frame");
        let mut damaged = whole;
        damaged[4] ^= 0xff;
        assert_eq!(refusal(&damaged), "damaged zstd data");
    }
}
