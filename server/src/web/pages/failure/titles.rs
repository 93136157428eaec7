//! The titles of the codes of problems, in the language of the page.

use crate::render::i18n::failure::Words;
use crate::web::error::Code;

pub(super) fn title(code: Code, words: &Words) -> &'static str {
    match code {
        Code::MalformedBody => words.malformed_body,
        Code::BadQuery => words.bad_query,
        Code::BadHeader => words.bad_header,
        Code::BadId => words.bad_id,
        Code::BadEncoding => words.bad_encoding,
        Code::Unauthorized => words.unauthorized,
        Code::Forbidden => words.forbidden,
        Code::OtherNode => words.other_node,
        Code::Csrf => words.csrf,
        Code::Undeclared => words.undeclared_route,
        Code::NotFound => words.not_found,
        Code::MethodNotAllowed => words.method_not_allowed,
        Code::NotAcceptable => words.not_acceptable,
        Code::RequestTimeout => words.request_timeout,
        Code::ReportConflict => words.report_conflict,
        Code::AmbiguousReport => words.ambiguous_report,
        Code::NodeTaken => words.node_taken,
        Code::JoinTokenUsedUp => words.join_token_used_up,
        Code::AliasTaken => words.alias_taken,
        Code::LoginTaken => words.login_taken,
        Code::LastAdmin => words.last_admin,
        Code::WrongState => words.wrong_state,
        Code::Overtaken => words.overtaken,
        Code::SecondPerson => words.second_person_needed,
        Code::Stale => words.stale_revision,
        Code::TooLarge => words.too_large,
        Code::TooMuchWork => words.too_much_work,
        Code::UnsupportedType => words.unsupported_media_type,
        Code::UnsupportedEncoding => words.unsupported_encoding,
        Code::NotText => words.not_text,
        Code::GateRefused => words.gate_refused,
        Code::ReasonNeeded => words.reason_needed,
        Code::InvalidRecord => words.invalid_record,
        Code::InvalidReport => words.invalid_report,
        Code::NewerReport => words.newer_report,
        Code::PreconditionRequired => words.precondition_required,
        Code::RateLimited => words.rate_limited,
        Code::Internal => words.internal,
        Code::Unavailable => words.unavailable,
        Code::ReadOnly => words.read_only,
        Code::StorageFull => words.storage_full,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::i18n::Language;

    #[test]
    fn the_english_page_has_the_titles_that_programs_get() {
        for code in Code::ALL {
            assert_eq!(title(*code, Words::of(Language::English)), code.title());
        }
    }
}
