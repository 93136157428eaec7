//! Settings of the server that have a form: where users reach it, and its threads.

const MOST_WORKERS: usize = 1024;

pub(super) fn workers(text: &str) -> Result<usize, String> {
    let told = || format!("give 1 to {MOST_WORKERS} threads, or leave it out for one for each processor");
    let count: usize = text.trim().parse().map_err(|_| told())?;
    if (1..=MOST_WORKERS).contains(&count) {
        Ok(count)
    } else {
        Err(told())
    }
}

/// An address with scheme and host, perhaps a port and a path.
pub(super) fn public_url(text: &str) -> Result<String, String> {
    let told = "write scheme and host as users type them, such as https://peerless.example.org, perhaps with a port and a path";
    let (scheme, rest) = text.split_once("://").ok_or(told)?;
    let is_http = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let authority = rest.split('/').next().unwrap_or_default();
    let strange = |c: char| c.is_whitespace() || c.is_control() || "?#\\\"<>@".contains(c);
    if is_http && is_authority(authority) && !rest.contains(strange) {
        Ok(text.to_owned())
    } else {
        Err(told.to_owned())
    }
}

fn is_authority(authority: &str) -> bool {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let is_name = |c: char| c.is_alphanumeric() || ".-_".contains(c);
    let is_host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => host.starts_with(char::is_alphanumeric) && host.chars().all(is_name),
    };
    is_host && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_counted_within_reason() {
        assert_eq!(workers("1"), Ok(1));
        assert_eq!(workers("1024"), Ok(1024));
        for wrong in ["0", "1025", "100000", "-1", "", "two"] {
            assert!(workers(wrong).unwrap_err().contains("1 to 1024"), "{wrong}");
        }
    }

    #[test]
    fn an_address_has_a_scheme_and_a_host() {
        for right in [
            "https://peerless.example.org",
            "http://peerless:8080/",
            "https://gpu.example.org/peerless/",
            "http://[::1]:8080",
            "HTTP://10.0.0.1",
        ] {
            assert_eq!(public_url(right), Ok(right.to_owned()));
        }
        for wrong in [
            "",
            "foo",
            "foo:8080",
            "peerless.example.org",
            "ftp://x",
            "https://",
            "https:///x",
            "https://:80",
            "https://x:port",
            "https://x:0",
            "https://me:secret@x",
            "https://x?y",
            "https://x#y",
            "https://x y",
            "https://x:1:2",
        ] {
            let told = public_url(wrong).unwrap_err();
            assert!(told.contains("https://peerless.example.org"), "{wrong}");
            assert!(!told.contains("secret"));
        }
    }
}
