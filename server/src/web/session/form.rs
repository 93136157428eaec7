//! Fields of a form that changes something. Only [`crate::web::gate`] reads them, so no handler sees another page's form.

use std::future::{Ready, ready};

use actix_web::dev::{Payload, ServiceRequest};
use actix_web::http::header;
use actix_web::{FromRequest, HttpMessage as _, HttpRequest};

use crate::web::body;
use crate::web::error::{Code, Problem};
use crate::web::limits;

/// The field with the proof of the session.
pub(super) const CSRF: &str = "csrf";
/// What forms send along for the language of the answer.
const LANG: &str = "lang";

#[derive(Debug, Clone, Default)]
pub struct Form(Vec<(String, String)>);

impl Form {
    pub fn get(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(field, _)| field == name);
        found.map_or("", |(_, value)| value)
    }

    pub fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        let found = self.0.iter().filter(move |(field, _)| field == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Refuses a field that the form does not have, and one that comes twice unless its name ends with `[]`.
    pub fn only(&self, names: &[&str]) -> Result<(), Problem> {
        for (index, (name, _)) in self.0.iter().enumerate() {
            let known = names
                .iter()
                .find(|known| known.strip_suffix("[]").unwrap_or(known) == name);
            let is_frame = name == CSRF || name == LANG;
            let before = self.0.get(..index).unwrap_or_default();
            let may_repeat = known.is_some_and(|known| known.ends_with("[]"));
            if known.is_none() && !is_frame {
                return Err(Problem::new(
                    Code::MalformedBody,
                    format!("the form has no field {name:?}"),
                ));
            }
            if !may_repeat && before.iter().any(|(other, _)| other == name) {
                return Err(Problem::new(
                    Code::MalformedBody,
                    format!("the field {name:?} comes twice"),
                ));
            }
        }
        Ok(())
    }

    pub(super) fn proof(&self) -> Option<&str> {
        Some(self.get(CSRF)).filter(|proof| !proof.is_empty())
    }
}

/// Reads the form of a request, which has no body afterwards.
pub(in crate::web) async fn read_form(request: &mut ServiceRequest) -> Result<Form, Problem> {
    let kind = request.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(Problem::new(
            Code::UnsupportedType,
            "send this form with content-type: application/x-www-form-urlencoded",
        ));
    }
    let payload =
        actix_web::web::Payload::from_request(&request.request().clone(), &mut request.take_payload());
    let payload = payload.into_inner().map_err(|_| broken())?;
    let text = body::text(request.request(), payload, limits::FORM_BYTES).await?;
    Ok(Form(body::fields(&text)?))
}

fn broken() -> Problem {
    Problem::new(Code::MalformedBody, "the form cannot be read")
}

impl FromRequest for Form {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let form = request.extensions().get::<Self>().cloned();
        ready(form.ok_or_else(|| Problem::new(Code::Undeclared, "this route was not declared as a form")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(fields: &[(&str, &str)]) -> Form {
        let owned = fields
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Form(owned.collect())
    }

    #[test]
    fn a_form_has_the_fields_of_its_page() {
        let login = form(&[
            ("csrf", "x"),
            ("lang", "zh"),
            ("login", "ada"),
            ("scope", "a"),
            ("scope", "b"),
        ]);
        assert!(login.only(&["login", "scope[]"]).is_ok());
        assert!(login.only(&["login", "scope"]).is_err());
        assert!(login.only(&["scope[]"]).is_err());
        assert_eq!(login.get("login"), "ada");
        assert_eq!(login.get("role"), "");
        assert_eq!(login.all("scope").collect::<Vec<_>>(), ["a", "b"]);
        assert!(form(&[("csrf", "a"), ("csrf", "b")]).only(&[]).is_err());
    }
}
