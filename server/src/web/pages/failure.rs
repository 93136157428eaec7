//! The page for an error, with a way on.

use actix_web::http::StatusCode;
use askama::Template;

use super::layout::{Layout, Section};

#[derive(Debug, Template)]
#[template(path = "pages/failure.html")]
pub struct FailurePage {
    layout: Layout,
    status: u16,
    code: &'static str,
    title: &'static str,
    detail: String,
    /// Where to log in, where that may help.
    login: Option<String>,
    ways_on: Vec<WayOn>,
}

/// Something the reader can do; `code` is set in monospace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WayOn {
    pub before: &'static str,
    pub code: &'static str,
    pub after: &'static str,
}

pub fn page(status: StatusCode, code: &'static str, title: &'static str, detail: &str) -> FailurePage {
    let layout = Layout::new(format!("{title} · Peerless"), Section::Elsewhere);
    let may_help = status == StatusCode::UNAUTHORIZED && layout.visitor.name.is_none();
    FailurePage {
        login: may_help.then(|| layout.visitor.login_href.clone()),
        layout,
        status: status.as_u16(),
        code,
        title,
        detail: sentence(detail),
        ways_on: ways_on(status),
    }
}

/// Details are written for programs, lower case and without a full stop.
fn sentence(detail: &str) -> String {
    let mut chars = detail.chars();
    let Some(first) = chars.next() else {
        return String::new();
    };
    let mut text: String = first.to_uppercase().chain(chars).collect();
    if !text.ends_with(['.', '?', '!', '…', '`']) {
        text.push('.');
    }
    text
}

fn ways_on(status: StatusCode) -> Vec<WayOn> {
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => vec![
            WayOn {
                before: "Nodes and reports are for operators on this server. An administrator gives the role; whoever runs the server \
                         can open them to all readers with ",
                code: "peerless serve --public-fleet",
                after: ".",
            },
            WayOn {
                before: "Programs send a token: ",
                code: "curl -H 'Authorization: Bearer TOKEN' …/api/v1/nodes",
                after: "",
            },
        ],
        StatusCode::NOT_FOUND => vec![WayOn {
            before: "A record keeps its id for ever, so a wrong letter is more likely than a lost page. Search for a part of it.",
            code: "",
            after: "",
        }],
        StatusCode::PAYLOAD_TOO_LARGE => vec![WayOn {
            before: "Send a large log as a file, here or from a shell: ",
            code: "curl --data-binary @train.log -H 'Content-Type: text/plain' …/api/v1/match",
            after: "",
        }],
        status if status.is_server_error() => vec![WayOn {
            before: "Try again in a few seconds. If it stays, tell whoever runs this server the time and the address.",
            code: "",
            after: "",
        }],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn details_become_sentences() {
        assert_eq!(sentence("there is no such record"), "There is no such record.");
        assert_eq!(sentence(""), "");
        assert_eq!(sentence("what?"), "What?");
    }
}
