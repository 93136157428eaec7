//! Addresses of the settings. An error says how to write one and never shows it: it may hold a key.

/// Takes an address with scheme and host, perhaps a port, a path and a query.
pub(super) fn check(text: &str) -> Result<(), String> {
    let told =
        "write an address such as https://chat.example.org/hooks/1, without a user name, a password or a #";
    let parsed: http::Uri = text.parse().map_err(|_| told)?;
    let is_http = matches!(parsed.scheme_str(), Some("http" | "https"));
    let has_host = parsed.host().is_some_and(|host| !host.is_empty());
    let has_user = parsed
        .authority()
        .is_some_and(|authority| authority.as_str().contains('@'));
    if is_http && has_host && !has_user && !text.contains('#') {
        Ok(())
    } else {
        Err(told.to_owned())
    }
}

/// Takes an address without a query, to which a path is added.
pub(super) fn check_plain(text: &str) -> Result<(), String> {
    if text.contains('?') {
        return Err(
            "write the address of Alertmanager, such as http://alertmanager:9093, without a ?".to_owned(),
        );
    }
    check(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_and_a_host_and_no_user() {
        for right in [
            "https://chat.example.org/hooks/1",
            "http://127.0.0.1:9000",
            "https://[::1]:1/x?key=1",
        ] {
            assert_eq!(check(right), Ok(()));
        }
        for wrong in [
            "",
            "chat.example.org/x",
            "ftp://x/",
            "https://",
            "https://me:secret@x/",
            "https://x/#y",
            "https://x y/",
        ] {
            let told = check(wrong).unwrap_err();
            assert!(
                told.contains("https://chat.example.org") && !told.contains("secret"),
                "{wrong}: {told}"
            );
        }
        assert!(check_plain("http://alertmanager:9093/?x").is_err());
    }
}
