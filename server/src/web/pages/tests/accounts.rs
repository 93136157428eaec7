//! Chinese pages about people say nothing in English.

use askama::Template as _;
use time::OffsetDateTime;

use super::chinese::assert_nothing_is_english;
use crate::render::i18n::{Language, Locale};
use crate::store::{
    AuditEntry, Bounds, By, NewSession, NewToken, Person, Role, Scope, Standing, StoredToken,
};
use crate::web::pages::accounts::{account, audit, first_admin, login, people};
use crate::web::session::Session;

const AT: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

fn session() -> Session {
    let standing = Standing {
        role: Role::Admin,
        operator: true,
    };
    let person = Person {
        id: "1".to_owned(),
        login: "1".to_owned(),
        name: "1".to_owned(),
        standing,
        password_hash: Some("1".to_owned()),
        subject: None,
        created_at: AT,
        disabled_at: None,
    };
    let session = NewSession {
        id: "1".to_owned(),
        person: "1".to_owned(),
        csrf: "1".to_owned(),
        standing,
        made_at: AT,
        seen_at: AT,
        idle_ends_at: AT,
        ends_at: AT,
        address: None,
        user_agent: None,
    };
    Session::of(person, session, "1".to_owned(), Locale::from(Language::Chinese))
}

fn token(revoked_at: Option<OffsetDateTime>) -> StoredToken {
    StoredToken {
        token: NewToken {
            id: "1".to_owned(),
            secret_sha256: String::new(),
            name: "1".to_owned(),
            scopes: Scope::ALL.into(),
            created_at: AT,
            expires_at: None,
            bounds: Bounds::default(),
            person: None,
        },
        owner: None,
        revoked_at,
    }
}

#[test]
fn chinese_pages_of_accounts_say_nothing_in_english() {
    let locale = Locale::from(Language::Chinese);
    for is_open_way in [false, true] {
        let mut page = login::LoginPage::new(locale, "/");
        page.is_open_way = is_open_way;
        page.refusal = Some(page.words.wait(2));
        assert_nothing_is_english("login", &page.render().unwrap());
    }
    for key in [None, Some("1".to_owned())] {
        let page = first_admin::FirstAdminPage::new(locale, key);
        assert_nothing_is_english("first-admin", &page.render().unwrap());
    }
    let session = session();
    let sessions = [session.session.clone()];
    let mut page = account::page(&session, &sessions, &[token(None), token(Some(AT))], AT);
    page.made = Some("1".to_owned());
    assert_nothing_is_english("account", &page.render().unwrap());
    let shut_out = Person {
        disabled_at: Some(AT),
        ..session.person.clone()
    };
    let page = people::page(vec![session.person.clone(), shut_out], "1".to_owned(), locale);
    assert_nothing_is_english("people", &page.render().unwrap());
    let entry = AuditEntry {
        n: 1,
        at: AT,
        by: By::system("1"),
        action: "1".to_owned(),
        subject: "1".to_owned(),
        from_revision: None,
        to_revision: None,
        detail: serde_json::json!({}),
    };
    for entries in [Vec::new(), vec![entry; 60]] {
        let page = audit::page(entries, audit::AuditParams::default(), locale);
        assert_nothing_is_english("audit", &page.render().unwrap());
    }
}
