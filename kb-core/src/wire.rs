//! How far a compressed body may grow, and how a sender stays within it whatever it sends: a log that repeats one line grows
//! a thousand times. Both programs hold to the same numbers.

/// A decompressed body may be this many times the compressed one.
pub const DECOMPRESSION_RATIO: u64 = 200;
/// The ratio is not asked of bodies that stay below this size, in bytes.
pub const DECOMPRESSION_FREE_BYTES: u64 = 1 << 20;
/// Text of one Zstandard frame where a body is made of several, in bytes.
pub const FRAME_BYTES: usize = 1 << 20;

/// Skippable frame (RFC 8878, 3.1.2): magic number, length, content that decoders pass over.
const SKIPPABLE: [u8; 4] = 0x184D_2A50_u32.to_le_bytes();

/// Whether a receiver takes a body of these sizes.
pub fn passes(compressed: usize, text: usize) -> bool {
    let (compressed, text) = (compressed as u64, text as u64);
    text <= DECOMPRESSION_FREE_BYTES || text <= compressed.saturating_mul(DECOMPRESSION_RATIO)
}

/// What must stand before a Zstandard frame: `sent` bytes went before it, and behind it the text has `text` bytes. Empty
/// where nothing is lacking, else a skippable frame. A receiver counts what it has got so far, so it stands in front.
pub fn padding(sent: u64, text: u64) -> Vec<u8> {
    let lacking = (text / DECOMPRESSION_RATIO + 1).saturating_sub(sent);
    let Some(length) = u32::try_from(lacking).ok().filter(|length| *length > 0) else {
        return Vec::new();
    };
    let mut frame = Vec::from(SKIPPABLE);
    frame.extend(length.to_le_bytes());
    frame.resize(frame.len() + usize::try_from(length).unwrap_or(0), 0);
    frame
}

/// Whether the host of an address is the machine itself, so that nothing of what is sent leaves it.
pub fn is_this_machine(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = bare
        .parse::<std::net::IpAddr>()
        .is_ok_and(|address| address.is_loopback());
    is_loopback || bare.eq_ignore_ascii_case("localhost") || bare.to_ascii_lowercase().ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_this_machine() {
        assert!(
            ["localhost", "127.0.0.1", "127.9.9.9", "[::1]", "a.localhost"]
                .into_iter()
                .all(is_this_machine)
        );
        assert!(
            !["kb.example", "10.0.0.1", "localhost.example", ""]
                .into_iter()
                .any(is_this_machine)
        );
    }

    #[test]
    fn what_is_padded_passes() {
        assert!(passes(1, 1 << 20) && passes(10_000, 2_000_000));
        assert!(!passes(9_999, 2_000_000));
        assert!(padding(10_001, 2_000_000).is_empty());
        let frame = padding(1, 2_000_000);
        assert_eq!(frame[..8], [0x50, 0x2a, 0x4d, 0x18, 0x10, 0x27, 0, 0]);
        assert!(passes(1 + frame.len(), 2_000_000));
    }
}
