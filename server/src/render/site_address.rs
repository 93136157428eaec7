//! Where the pages of a server stand on a site of files. Links lead from file to file, so that the site may stand below any address.

use super::i18n::Language;

/// Where a page stands on its site: how many folders below the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place(pub u8);

impl Place {
    /// What leads from the page to the root of the site.
    pub fn up(self) -> String {
        "../".repeat(usize::from(self.0))
    }
}

/// The link from a page to what a server has at this address. A site has no page for what only a server can do: such a link leads to
/// the nearest that it has. `second` is the language of the page where it is not the site's first.
pub(super) fn of(address: &str, place: Place, second: Option<Language>) -> String {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let parameter = |name: &str| {
        let mut parts = query.split('&').filter_map(|part| part.split_once('='));
        parts.find_map(|(key, value)| (key == name).then_some(value))
    };
    let up = place.up();
    if let Some(id) = path.strip_prefix("/r/") {
        let id = id.split("/-/").next().unwrap_or_default();
        return format!("{up}{}", record(id, second));
    }
    let domain = parameter(if path == "/search" { "domain" } else { "from" });
    let (name, end) = match (path, domain) {
        ("/search", Some(domain)) => (domain_name(domain), String::new()),
        ("/search", None) => match parameter("q") {
            Some(words) => ("search".to_owned(), format!("?q={words}")),
            None => ("records".to_owned(), String::new()),
        },
        ("/graph/between", Some(domain)) => {
            let other = parameter("to").map_or_else(String::new, |to| format!("#to-{to}"));
            (domain_name(domain), other)
        }
        ("/graph" | "/graph/between" | "/graph/path", _) => ("graph".to_owned(), String::new()),
        ("/match" | "/tab", _) => ("log".to_owned(), String::new()),
        _ => ("index".to_owned(), String::new()),
    };
    format!("{up}{}{end}", file(&name, second))
}

/// The file of a page that the site has in each of its languages.
pub fn file(name: &str, second: Option<Language>) -> String {
    match second {
        Some(language) => format!("{name}.{}.html", language.word()),
        None => format!("{name}.html"),
    }
}

/// The name of a domain's page. Other characters than those of names in use are not for files.
pub fn domain_name(domain: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '-'
        }
    };
    format!("domains/{}", domain.chars().map(plain).collect::<String>())
}

/// The page of a record. It is one file: its second language is put into it by a script.
fn record(id: &str, second: Option<Language>) -> String {
    match second {
        Some(language) => format!("r/{id}.html?lang={}", language.word()),
        None => format!("r/{id}.html"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_of_a_page_leads_to_a_file() {
        let cases = [
            ("/", "../../index.html", "index.zh.html"),
            (
                "/r/nccl/timeout",
                "../../r/nccl/timeout.html",
                "r/nccl/timeout.html?lang=zh",
            ),
            (
                "/r/nccl/timeout/-/graph",
                "../../r/nccl/timeout.html",
                "r/nccl/timeout.html?lang=zh",
            ),
            ("/search", "../../records.html", "records.zh.html"),
            (
                "/search?q=Xid%2079",
                "../../search.html?q=Xid%2079",
                "search.zh.html?q=Xid%2079",
            ),
            (
                "/search?domain=nccl",
                "../../domains/nccl.html",
                "domains/nccl.zh.html",
            ),
            ("/graph", "../../graph.html", "graph.zh.html"),
            (
                "/graph/between?from=nccl&to=cuda&kind=causal",
                "../../domains/nccl.html#to-cuda",
                "domains/nccl.zh.html#to-cuda",
            ),
            ("/nodes", "../../index.html", "index.zh.html"),
        ];
        for (address, of_record, of_root) in cases {
            assert_eq!(of(address, Place(2), None), of_record);
            assert_eq!(of(address, Place(0), Some(Language::Chinese)), of_root);
        }
    }

    #[test]
    fn a_domain_never_leads_out_of_its_folder() {
        assert_eq!(domain_name("../../etc/x"), "domains/..-..-etc-x");
    }
}
