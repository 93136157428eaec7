//! Decompression with a hard limit on what comes out, as a length and as a multiple of what went in.

use std::io::{self, Write};

use actix_web::http::header::{self, HeaderMap};
use flate2::write::MultiGzDecoder;
use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, get_error_name};

use super::BodyError;
use crate::web::limits;

/// Takes the decompressed bytes, piece by piece.
pub trait Sink {
    /// Takes a piece; an error stops the reading.
    fn take(&mut self, piece: &[u8]) -> Result<(), BodyError>;

    /// Estimated memory of what was found so far, in bytes; for sinks that compute.
    fn memory_usage(&self) -> usize {
        0
    }
}

impl Sink for Vec<u8> {
    fn take(&mut self, piece: &[u8]) -> Result<(), BodyError> {
        self.extend_from_slice(piece);
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Identity,
    Gzip,
    Zstd,
}

impl Encoding {
    pub fn of(headers: &HeaderMap) -> Result<Self, BodyError> {
        let Some(value) = headers.get(header::CONTENT_ENCODING) else {
            return Ok(Self::Identity);
        };
        let text = String::from_utf8_lossy(value.as_bytes())
            .trim()
            .to_ascii_lowercase();
        match text.as_str() {
            "" | "identity" => Ok(Self::Identity),
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            "zstd" => Ok(Self::Zstd),
            _ => Err(BodyError::Encoding(text)),
        }
    }
}

/// Compressed bytes in, decompressed ones into the sink.
pub struct Decoder<S: Sink>(Inner<S>);

enum Inner<S: Sink> {
    Identity(Meter<S>),
    /// Apart, since it is much larger than the others.
    Gzip(Box<MultiGzDecoder<Meter<S>>>),
    Zstd(Frames<S>),
}

impl<S: Sink> Decoder<S> {
    /// A decoder that lets `limit` bytes out.
    pub fn new(encoding: Encoding, limit: u64, sink: S) -> Result<Self, BodyError> {
        Self::bounded(encoding, limit, limits::DECOMPRESSION_FREE_BYTES, sink)
    }

    /// A decoder for a body whose limit is bound enough: the ratio is not asked of it.
    pub fn within_limit(encoding: Encoding, limit: u64, sink: S) -> Result<Self, BodyError> {
        Self::bounded(encoding, limit, limit, sink)
    }

    fn bounded(encoding: Encoding, limit: u64, free: u64, sink: S) -> Result<Self, BodyError> {
        let meter = Meter {
            sink,
            limit,
            free,
            went_in: 0,
            came_out: 0,
            refusal: None,
        };
        let inner = match encoding {
            Encoding::Identity => Inner::Identity(meter),
            Encoding::Gzip => Inner::Gzip(Box::new(MultiGzDecoder::new(meter))),
            Encoding::Zstd => {
                let frames = Frames::new(meter).map_err(|error| BodyError::Damaged(error.to_string()))?;
                Inner::Zstd(frames)
            }
        };
        Ok(Self(inner))
    }

    /// Takes a piece as it was sent.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), BodyError> {
        self.meter().went_in += piece.len() as u64;
        let written = match &mut self.0 {
            Inner::Identity(meter) => meter.write_all(piece),
            Inner::Gzip(decoder) => decoder.write_all(piece),
            Inner::Zstd(frames) => frames.push(piece),
        };
        written.map_err(|error| self.explain(&error))
    }

    /// Ends the body; gives the sink back when it was complete.
    pub fn finish(mut self) -> Result<S, BodyError> {
        let ended = match &mut self.0 {
            Inner::Identity(_) => Ok(()),
            Inner::Gzip(decoder) => decoder.try_finish(),
            Inner::Zstd(frames) => frames.check_end(),
        };
        ended.map_err(|error| self.explain(&error))?;
        let meter = match self.0 {
            Inner::Identity(meter) => meter,
            Inner::Gzip(decoder) => decoder
                .finish()
                .map_err(|error| BodyError::Damaged(error.to_string()))?,
            Inner::Zstd(frames) => frames.meter,
        };
        Ok(meter.sink)
    }

    /// Memory of the decompressor, in bytes: the window of zstd is as large as the sender says.
    pub fn memory_usage(&self) -> usize {
        match &self.0 {
            Inner::Identity(_) => 0,
            Inner::Gzip(_) => GZIP_BYTES,
            Inner::Zstd(frames) => frames.memory_usage(),
        }
    }

    /// The sink, to take out what it has so far.
    pub fn sink(&mut self) -> &mut S {
        &mut self.meter().sink
    }

    fn meter(&mut self) -> &mut Meter<S> {
        match &mut self.0 {
            Inner::Identity(meter) => meter,
            Inner::Gzip(decoder) => decoder.get_mut(),
            Inner::Zstd(frames) => &mut frames.meter,
        }
    }

    /// Our own refusal where there is one, for the decoder only knows that a write failed.
    fn explain(&mut self, error: &io::Error) -> BodyError {
        let refusal = self.meter().refusal.take();
        refusal.unwrap_or_else(|| BodyError::Damaged(error.to_string()))
    }
}

/// About what inflating takes: its window of 32 KiB (RFC 1951), its tables and its buffer.
const GZIP_BYTES: usize = 128 << 10;

/// Zstandard frames, one after the other. Unlike zstd's own writer it notices a body that ends within a frame.
struct Frames<S> {
    decoder: DCtx<'static>,
    buffer: Vec<u8>,
    within_frame: bool,
    meter: Meter<S>,
}

const ZSTD_PIECE: usize = 128 << 10;

impl<S: Sink> Frames<S> {
    fn new(meter: Meter<S>) -> io::Result<Self> {
        let mut decoder = DCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?;
        decoder
            .set_parameter(DParameter::WindowLogMax(limits::ZSTD_WINDOW_LOG))
            .map_err(named)?;
        Ok(Self {
            decoder,
            buffer: vec![0; ZSTD_PIECE],
            within_frame: false,
            meter,
        })
    }

    fn push(&mut self, piece: &[u8]) -> io::Result<()> {
        let mut input = InBuffer::around(piece);
        loop {
            let read_before = input.pos();
            let mut output = OutBuffer::around(self.buffer.as_mut_slice());
            let wanted = self
                .decoder
                .decompress_stream(&mut output, &mut input)
                .map_err(named)?;
            let written = output.as_slice();
            // Without progress the decoder asks for the next frame's head, which says nothing of this one.
            if input.pos() > read_before || !written.is_empty() {
                self.within_frame = wanted != 0;
            }
            let is_full = written.len() == ZSTD_PIECE;
            self.meter.write_all(written)?;
            if input.pos() == piece.len() && !is_full {
                return Ok(());
            }
        }
    }

    fn memory_usage(&self) -> usize {
        self.decoder.sizeof() + ZSTD_PIECE
    }

    fn check_end(&self) -> io::Result<()> {
        if self.within_frame {
            return Err(io::Error::other("it ends in the middle"));
        }
        Ok(())
    }
}

fn named(code: usize) -> io::Error {
    io::Error::other(get_error_name(code))
}

/// Counts what went in and came out, and stops a body that grows too much.
struct Meter<S> {
    sink: S,
    limit: u64,
    /// Bytes that may come out whatever went in.
    free: u64,
    went_in: u64,
    came_out: u64,
    refusal: Option<BodyError>,
}

impl<S: Sink> Meter<S> {
    fn take(&mut self, piece: &[u8]) -> Result<(), BodyError> {
        let came_out = self.came_out + piece.len() as u64;
        if came_out > self.limit {
            return Err(BodyError::TooLarge(self.limit));
        }
        let most = self.went_in.saturating_mul(limits::DECOMPRESSION_RATIO);
        if came_out > self.free && came_out > most {
            return Err(BodyError::Ratio(limits::DECOMPRESSION_RATIO));
        }
        self.came_out = came_out;
        self.sink.take(piece)
    }
}

impl<S: Sink> Write for Meter<S> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if let Err(refusal) = self.take(piece) {
            self.refusal = Some(refusal);
            return Err(io::Error::other("refused"));
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(encoding: Encoding, limit: u64, sent: &[u8]) -> Result<Vec<u8>, BodyError> {
        let mut decoder = Decoder::new(encoding, limit, Vec::new())?;
        for piece in sent.chunks(1000) {
            decoder.push(piece)?;
        }
        decoder.finish()
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn what_was_compressed_comes_out_as_it_was() {
        let text = b"NVRM: Xid 79\n".repeat(5000);
        assert_eq!(decode(Encoding::Identity, 1 << 20, &text).unwrap(), text);
        assert_eq!(decode(Encoding::Gzip, 1 << 20, &gzip(&text)).unwrap(), text);
        let two_members = [gzip(b"a"), gzip(b"b")].concat();
        assert_eq!(decode(Encoding::Gzip, 10, &two_members).unwrap(), b"ab");
        let zstd = zstd::encode_all(text.as_slice(), 3).unwrap();
        assert_eq!(decode(Encoding::Zstd, 1 << 20, &zstd).unwrap(), text);
        assert_eq!(decode(Encoding::Zstd, 1 << 20, b"").unwrap(), b"");
    }

    #[test]
    fn bombs_are_stopped_before_they_are_in_memory() {
        let zeros = vec![0; 64 << 20];
        let limit = 1 << 30;
        let ratio = Err(BodyError::Ratio(limits::DECOMPRESSION_RATIO));
        assert_eq!(decode(Encoding::Gzip, limit, &gzip(&zeros)), ratio);
        assert_eq!(
            decode(
                Encoding::Zstd,
                limit,
                &zstd::encode_all(zeros.as_slice(), 19).unwrap()
            ),
            ratio
        );
        assert_eq!(
            decode(Encoding::Identity, 10, b"01234567890"),
            Err(BodyError::TooLarge(10))
        );
    }

    #[test]
    fn damaged_and_cut_bodies_are_refused() {
        let whole = gzip(b"some text that is compressed");
        assert!(matches!(
            decode(Encoding::Gzip, 1000, &whole[..whole.len() - 3]),
            Err(BodyError::Damaged(_))
        ));
        assert!(matches!(
            decode(Encoding::Gzip, 1000, b"not gzip at all"),
            Err(BodyError::Damaged(_))
        ));
        let whole = zstd::encode_all(b"some text that is compressed".as_slice(), 3).unwrap();
        assert!(matches!(
            decode(Encoding::Zstd, 1000, &whole[..whole.len() - 3]),
            Err(BodyError::Damaged(_))
        ));
        assert!(matches!(
            decode(Encoding::Zstd, 1000, b"not zstd at all"),
            Err(BodyError::Damaged(_))
        ));
    }
}
