//! Pages about people: logging in, one's own account, the audit.

pub mod account;
pub mod audit;
pub mod first_admin;
pub mod login;
pub mod openid;
pub mod people;
mod told;

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse};

use crate::domain::accounts::sessions::Browser;
use crate::web::error::{Code, Problem};
use crate::web::session::{self, Way};
use crate::web::state::AppState;

fn see_other(address: &str) -> HttpResponse {
    HttpResponse::SeeOther()
        .insert_header((header::LOCATION, address))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .finish()
}

fn browser(request: &HttpRequest, state: &AppState) -> (Browser, Way) {
    let headers = request.headers();
    let way = Way::of(request.peer_addr(), headers, state);
    let agent = headers.get(header::USER_AGENT);
    let browser = Browser {
        address: state.limiter.address(request.peer_addr(), headers),
        user_agent: agent.map(|agent| String::from_utf8_lossy(agent.as_bytes()).into_owned()),
        secret: session::secret(headers, way, state.settings.insecure_login),
    };
    (browser, way)
}

/// True where a password would be readable on its way here.
fn is_open_way(way: Way, state: &AppState) -> bool {
    way == Way::Plain && !state.settings.insecure_login
}

/// Refuses a secret that came over a way on which others can read it, so that nobody gets used to it.
fn refuse_open_way(way: Way, state: &AppState) -> Result<(), Problem> {
    if is_open_way(way, state) {
        return Err(Problem::new(
            Code::Forbidden,
            "this came over plain http from another machine, where others can read the password: reach the server over \
             https (behind a proxy of --trusted-proxies that sends X-Forwarded-Proto, or with --public-url https://…), \
             from the machine itself, or start it with --insecure-login",
        ));
    }
    Ok(())
}

/// An address of this site that somebody came from, else the look-up page. Browsers read `//host` and `/\host` as other sites.
fn own_address(text: &str) -> &str {
    let mut rest = text.chars();
    let is_own = rest.next() == Some('/')
        && !matches!(rest.next(), Some('/' | '\\'))
        && !text.chars().any(|c| c.is_control() || c == '\\' || !c.is_ascii());
    if is_own { text } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::own_address;

    #[test]
    fn a_login_leads_back_into_this_site_only() {
        for own in [
            "/",
            "/nodes",
            "/search?q=a%20b&lang=zh",
            "/r/cuda/x#y",
            "/?u=https://x",
        ] {
            assert_eq!(own_address(own), own);
        }
        for other in [
            "",
            "nodes",
            "//evil.example",
            "/\\evil.example",
            "/a\\..\\b",
            "https://evil.example",
            "javascript:alert(1)",
            "/\n/evil.example",
            "/\t/evil.example",
            "/ä",
            " /nodes",
            "/x\r\nSet-Cookie: a=b",
        ] {
            assert_eq!(own_address(other), "/", "{other:?}");
        }
    }
}
