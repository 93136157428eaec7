//! The codes that a problem can have: stable names that programs may compare, each with its status and title.
//! `docs/API-DESIGN.md` explains each one; a test holds the two together.

use actix_web::http::StatusCode;

macro_rules! codes {
    ($(#[doc = $doc:literal] $variant:ident = $name:literal, $status:ident, $title:literal;)*) => {
        /// What went wrong, as a stable name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = $doc] $variant,)*
        }

        impl Code {
            pub const ALL: &[Code] = &[$(Code::$variant,)*];

            /// The name in the body's `code`.
            pub fn name(self) -> &'static str {
                match self { $(Code::$variant => $name,)* }
            }

            pub fn status(self) -> StatusCode {
                match self { $(Code::$variant => StatusCode::$status,)* }
            }

            /// The same short text for every problem of this code.
            pub fn title(self) -> &'static str {
                match self { $(Code::$variant => $title,)* }
            }

            /// What it means, one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $doc.trim_ascii(),)* }
            }
        }
    };
}

codes! {
    /// The body is not JSON, or not of the expected form.
    MalformedBody = "malformed_body", BAD_REQUEST, "The body cannot be read";
    /// A query parameter is missing, unknown or of the wrong form.
    BadQuery = "bad_query", BAD_REQUEST, "A query parameter is wrong";
    /// A header has a value that means nothing.
    BadHeader = "bad_header", BAD_REQUEST, "A header is wrong";
    /// An id in the path or the query is not an id.
    BadId = "bad_id", BAD_REQUEST, "This is not an id";
    /// The compressed body is damaged.
    BadEncoding = "bad_encoding", BAD_REQUEST, "The compressed body is damaged";
    /// Not logged in, no token, or one that is not accepted.
    Unauthorized = "unauthorized", UNAUTHORIZED, "Log in, or send a token";
    /// The token or the role may not do this.
    Forbidden = "forbidden", FORBIDDEN, "This is not allowed";
    /// The node's credential writes reports of its own node alone.
    OtherNode = "other_node", FORBIDDEN, "The report is of another node";
    /// A browser that is logged in sent this without the proof that it comes from a page of this server.
    Csrf = "csrf", FORBIDDEN, "This does not come from a page of this server";
    /// The route exists but has not been opened to anyone.
    Undeclared = "undeclared_route", FORBIDDEN, "This route is not open";
    /// Nothing is here.
    NotFound = "not_found", NOT_FOUND, "Nothing is here";
    /// The path exists, the method does not.
    MethodNotAllowed = "method_not_allowed", METHOD_NOT_ALLOWED, "The method is not allowed here";
    /// `Accept` or `Accept-Encoding` forbids every form that the answer has.
    NotAcceptable = "not_acceptable", NOT_ACCEPTABLE, "No form of the answer is accepted";
    /// The client took too long to send its request.
    RequestTimeout = "request_timeout", REQUEST_TIMEOUT, "The request took too long to arrive";
    /// The report id was used for another body.
    ReportConflict = "report_conflict", CONFLICT, "Another report has this id";
    /// Several nodes used the report id.
    AmbiguousReport = "ambiguous_report", CONFLICT, "Several nodes used this report id";
    /// Another machine is enrolled with this node's id.
    NodeTaken = "node_taken", CONFLICT, "The node's id belongs to another machine";
    /// The join token was for so many nodes, and they are enrolled.
    JoinTokenUsedUp = "join_token_used_up", CONFLICT, "The join token has no enrolment left";
    /// The alias belongs to another record.
    AliasTaken = "alias_taken", CONFLICT, "An alias belongs to another record";
    /// Another account has the login.
    LoginTaken = "login_taken", CONFLICT, "The login belongs to another account";
    /// Nobody would be left who may administer.
    LastAdmin = "last_admin", CONFLICT, "This is the last administrator";
    /// The record is not in a state that allows this.
    WrongState = "wrong_state", CONFLICT, "The record's state does not allow this";
    /// Somebody else was faster; nothing was published. A revision that came with the request is saved.
    Overtaken = "overtaken", CONFLICT, "Somebody else was faster";
    /// What decides a node's verdict is not published by the one who wrote it, nor taken away by one person.
    SecondPerson = "second_person_needed", CONFLICT, "A second person is needed";
    /// The record was changed since the client read it, or exists already.
    Stale = "stale_revision", PRECONDITION_FAILED, "The record was changed in the meantime";
    /// The body is over its limit, before or after decompression.
    TooLarge = "too_large", PAYLOAD_TOO_LARGE, "The body is too large";
    /// The text takes more processor time than a request may.
    TooMuchWork = "too_much_work", PAYLOAD_TOO_LARGE, "The text takes too much work";
    /// The body has a type this route does not read.
    UnsupportedType = "unsupported_media_type", UNSUPPORTED_MEDIA_TYPE, "The body's type is not supported";
    /// The body has an encoding this server does not read.
    UnsupportedEncoding = "unsupported_encoding", UNSUPPORTED_MEDIA_TYPE, "The body's encoding is not supported";
    /// The text is none: a packed file, a picture, bytes that cannot be printed.
    NotText = "not_text", UNSUPPORTED_MEDIA_TYPE, "This is not text";
    /// The record would match lines of healthy runs, or take another record's examples; `violations` lists them.
    GateRefused = "gate_refused", UNPROCESSABLE_ENTITY, "The record may not be published";
    /// The check has warnings, listed in `violations`, and no reason was given to publish in spite of them.
    ReasonNeeded = "reason_needed", UNPROCESSABLE_ENTITY, "Warnings need a reason";
    /// The record breaks rules; `violations` lists them.
    InvalidRecord = "invalid_record", UNPROCESSABLE_ENTITY, "The record breaks rules";
    /// The report breaks the format.
    InvalidReport = "invalid_report", UNPROCESSABLE_ENTITY, "The report cannot be read";
    /// The report is of a newer major version than this server reads.
    NewerReport = "newer_report", UNPROCESSABLE_ENTITY, "The report's format is newer than this server";
    /// A change needs `If-Match` or `If-None-Match: *`.
    PreconditionRequired = "precondition_required", PRECONDITION_REQUIRED, "A precondition is needed";
    /// The client asks too often.
    RateLimited = "rate_limited", TOO_MANY_REQUESTS, "Too many requests";
    /// Something broke in the server.
    Internal = "internal", INTERNAL_SERVER_ERROR, "Something broke in the server";
    /// The database does not answer, or the server is busy or going down.
    Unavailable = "unavailable", SERVICE_UNAVAILABLE, "The server cannot answer now";
    /// The database may not be written.
    ReadOnly = "read_only", SERVICE_UNAVAILABLE, "The database cannot be written";
    /// The disk is full, or a limit on size was reached.
    StorageFull = "storage_full", INSUFFICIENT_STORAGE, "The database cannot grow";
}
