//! How request bodies are read: bounded in size, in time and in what they may grow to. Decompression writes small
//! pieces into a [`Sink`], so that no body, however made, is ever in memory beyond its limit.

mod budget;
mod decode;
mod fair;
mod fields;
mod once;
mod pace;
mod read;
mod sniff;
mod timed;
mod weigh;

pub use budget::{Budget, Budgets, Share};
pub use decode::{Decoder, Encoding, Sink};
pub use fields::fields;
pub use once::each_once;
pub use pace::{Pace, Patience};
pub use read::{
    check_head, is_json, json, json_needed, json_text, parse_json, raw, report, stream, stream_with, text,
};
pub use weigh::{Bound, Weigher};

use actix_web::http::header::{self, HeaderValue};

use super::compute::NotComputed;
use super::error::{Code, Problem};

/// Why a body was not read to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    #[error("the body is over the limit of {0} bytes")]
    TooLarge(u64),
    /// JSON that makes far more in memory than its bytes.
    #[error("the body has more than {0} JSON values")]
    TooManyValues(usize),
    #[error("a form has at most {0} fields")]
    TooManyFields(usize),
    #[error("a batch has at most {0} items: send several batches")]
    TooManyItems(usize),
    #[error(
        "the body decompresses to more than {0} times its size: send it in smaller pieces or uncompressed"
    )]
    Ratio(u64),
    #[error("the compressed body is damaged: {0}")]
    Damaged(String),
    #[error("content-encoding {0:?} is not supported: send gzip, zstd or none")]
    Encoding(String),
    #[error("the server holds too many large bodies: try again in a few seconds")]
    Busy,
    #[error("the server waits for too many unfinished bodies: try again in a few seconds")]
    Crowded,
    #[error("the body arrives too slowly")]
    Slow,
    #[error("the body ended before it was complete")]
    Broken,
    #[error("the text takes too much processor time for its size: send it in parts")]
    TooMuchWork,
    /// What comes of the body is not computed.
    #[error(transparent)]
    NotComputed(#[from] NotComputed),
    #[error("nobody reads the answer")]
    Unread,
    #[error("the body is not UTF-8 from byte {0} on")]
    NotUtf8(usize),
}

impl From<BodyError> for Problem {
    fn from(error: BodyError) -> Self {
        let code = match error {
            BodyError::TooLarge(_)
            | BodyError::Ratio(_)
            | BodyError::TooManyValues(_)
            | BodyError::TooManyFields(_)
            | BodyError::TooManyItems(_) => Code::TooLarge,
            BodyError::Damaged(_) => Code::BadEncoding,
            BodyError::Encoding(_) => Code::UnsupportedEncoding,
            BodyError::Busy | BodyError::Crowded => {
                return Self::new(Code::Unavailable, error.to_string())
                    .with_header(header::RETRY_AFTER, HeaderValue::from_static("5"));
            }
            BodyError::NotComputed(error) => return error.into(),
            BodyError::TooMuchWork => Code::TooMuchWork,
            BodyError::Slow => Code::RequestTimeout,
            BodyError::Broken | BodyError::Unread | BodyError::NotUtf8(_) => Code::MalformedBody,
        };
        Self::new(code, error.to_string())
    }
}
