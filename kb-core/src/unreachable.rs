//! A server that does not answer: what failed, and what to do about it, in one sentence for both programs.

use std::error::Error;
use std::io;

/// Why no answer came and what to do, from an HTTP client's error with all causes: its text says only that sending failed.
pub fn why(error: &(dyn Error + 'static), is_timeout: bool) -> String {
    let mut causes = Vec::new();
    let mut next = Some(error);
    while let Some(cause) = next {
        causes.push(cause);
        next = cause.source();
    }
    let innermost = causes.last().map(ToString::to_string).unwrap_or_default();
    let kind = causes
        .iter()
        .rev()
        .find_map(|cause| cause.downcast_ref::<io::Error>().map(io::Error::kind));
    let says = |words: &[&str]| {
        causes
            .iter()
            .map(ToString::to_string)
            .any(|text| words.iter().any(|word| text.contains(word)))
    };
    let (what, advice) = if says(&["dns error", "lookup address"]) {
        (
            "its name cannot be found",
            "check how the name is spelt, and the resolver of this machine",
        )
    } else if says(&["certificate", "UnknownIssuer"]) {
        (
            "its certificate is not trusted (TLS)",
            "give the CA's certificate with --ca-file, and check name and date",
        )
    } else if says(&["corrupt message", "wrong version number", "InvalidContentType"]) {
        (
            "what answers there speaks no TLS",
            "write http:// if it is meant to",
        )
    } else {
        match kind {
            Some(io::ErrorKind::ConnectionRefused) => (
                "the connection was refused",
                "nothing listens there: check the port, and whether the server runs",
            ),
            Some(io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable) => {
                ("there is no way to it", "check the network and the address")
            }
            Some(
                io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::UnexpectedEof,
            ) => (
                "the connection was ended before an answer came",
                "the server or a proxy before it may have the reason in its log",
            ),
            Some(io::ErrorKind::TimedOut) => (TIMED_OUT, TIMED_OUT_ADVICE),
            _ if is_timeout => (TIMED_OUT, TIMED_OUT_ADVICE),
            _ => return innermost,
        }
    };
    if innermost == what || innermost.is_empty() {
        format!("{what}; {advice}")
    } else {
        format!("{what} ({innermost}); {advice}")
    }
}

const TIMED_OUT: &str = "it did not answer in time";
const TIMED_OUT_ADVICE: &str = "check address and port; a firewall may drop what is sent";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_what_failed_and_what_to_do() {
        let refused = io::Error::from_raw_os_error(111);
        let told = why(&refused, false);
        assert!(
            told.starts_with("the connection was refused (Connection refused"),
            "{told}"
        );
        assert!(told.contains("check the port"), "{told}");
        for (text, part) in [
            ("dns error: failed to lookup address information", "resolver"),
            ("invalid peer certificate: UnknownIssuer", "--ca-file"),
            ("received corrupt message of type InvalidContentType", "http://"),
        ] {
            let told = why(&io::Error::other(text), false);
            assert!(told.contains(part) && told.contains(text), "{told}");
        }
        assert!(why(&io::Error::other("operation timed out"), true).contains("firewall"));
        assert_eq!(why(&io::Error::other("something new"), false), "something new");
    }
}
