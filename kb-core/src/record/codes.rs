//! Telling a code that vendors print from a label that someone made up.

/// Shortest code that is told from a word by its form.
const SHORTEST: usize = 4;

/// Whether a text looks like a code as vendors write it: `cudaErrorPeerAccessUnsupported`,
/// `CUDA_ERROR_INVALID_VALUE`, `Xid 79`, `error 217`, `ENOMEM`, `SIGSEGV`.
///
/// It must hold a sign of a code (a digit, an underscore, a capital after a small letter, or be an errno or signal
/// name) beside letters: a bare number means something else in every program, and `GPA` names nothing.
pub fn is_real_code(text: &str) -> bool {
    let printable = text.bytes().all(|b| b.is_ascii_graphic() || b == b' ');
    let has_letter = text.bytes().any(|b| b.is_ascii_alphabetic());
    if !printable || !has_letter || text.len() < SHORTEST || text.trim() != text {
        return false;
    }
    let has_mark = text.bytes().any(|b| b.is_ascii_digit() || b == b'_');
    let has_inner_capital = text
        .as_bytes()
        .windows(2)
        .any(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
    let all_capitals = text.bytes().all(|b| b.is_ascii_uppercase());
    let is_errno_or_signal = all_capitals && (text.starts_with('E') || text.starts_with("SIG"));
    has_mark || has_inner_capital || is_errno_or_signal
}
