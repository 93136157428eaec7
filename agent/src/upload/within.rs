//! A body that is read within a time: the client's own limit begins anew with each piece, so that a server that sends a byte now
//! and then would hold the daemon, or a job that waits.

use std::io::{self, Read};
use std::time::{Duration, Instant};

/// For one answer, from its first byte on.
pub(super) const BODY_LIMIT: Duration = Duration::from_mins(1);

/// Reads to the end, but at most `most` bytes.
pub(super) fn read(body: impl Read, most: u64, limit: Duration) -> io::Result<Vec<u8>> {
    const PIECE: usize = 64 << 10;
    let began = Instant::now();
    let mut body = body.take(most);
    let mut bytes = Vec::new();
    let mut piece = vec![0; PIECE];
    loop {
        let read = match body.read(&mut piece) {
            Ok(0) => return Ok(bytes),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(error) => return Err(error),
        };
        bytes.extend_from_slice(piece.get(..read).unwrap_or_default());
        if began.elapsed() > limit {
            let why = format!("it took longer than {} s", limit.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// Sends a byte with each read, without end.
    struct Dripping;

    impl Read for Dripping {
        fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
            piece.first_mut().map_or(Ok(0), |byte| {
                *byte = b' ';
                Ok(1)
            })
        }
    }

    #[test]
    fn a_body_that_drips_ends_with_its_time_or_its_size() {
        assert_eq!(read(Dripping, 10, BODY_LIMIT).unwrap().len(), 10);
        let error = read(Dripping, u64::MAX, Duration::ZERO).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(read(b"whole".as_slice(), 10, BODY_LIMIT).unwrap(), b"whole");
    }
}
