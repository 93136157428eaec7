//! Why a record is an answer to a text, or is none, as data. [`crate::render`] makes sentences of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::RecordId;
use crate::signature::AppliesTo;

/// Why a record was chosen, held back or not chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// It stands in the text.
    Found(Box<Found>),
    /// Its words or number stand there, and nothing on the line says that its subject is meant.
    OtherSubject {
        /// What stands there.
        sign: Sign,
        /// Where.
        line: u64,
        /// What the line does not name: `xid`.
        subject: String,
    },
    /// It counts for GPUs only, and the text does not say that its device is one.
    NoGpuNamed {
        /// What stands there.
        sign: Sign,
        /// Where.
        line: u64,
    },
    /// Another match takes it away.
    TakenAway {
        /// The other record.
        by: RecordId,
        /// Where that stands first.
        line: u64,
    },
    /// It matters only together with other errors, and none of them is here.
    OnlyWithOthers {
        /// How far apart they may be, in seconds; `None` for the whole text.
        window: Option<u32>,
    },
    /// It matters only alone, and another record is here.
    OnlyAlone {
        /// The other record.
        beside: RecordId,
        /// Where that stands first.
        line: u64,
        /// How far apart they may be, in seconds; `None` for the whole text.
        window: Option<u32>,
    },
    /// No pattern of it matches, and the text shares words with it.
    SharedWords {
        /// The words.
        words: Vec<String>,
    },
}

/// How a record stands in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What stands there.
    pub sign: Sign,
    /// How much of the line it covers, in percent.
    pub percent: u8,
    /// The line that it explains best.
    pub line: u64,
    /// Whether that line holds the whole signature.
    pub whole_signature: bool,
    /// Captured values there.
    pub captures: BTreeMap<String, String>,
    /// The match that this one only wraps.
    pub wraps: Option<RecordId>,
    /// What decided whether it applies to the environment, where the record has a condition.
    pub condition: Option<Condition>,
}

/// How much of a message stands where, for a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing<'a> {
    /// The line is the message.
    Line,
    /// The line has the whole message, and more.
    Whole,
    /// Most of the line is the message.
    Most,
    /// The line has the message, and more of something else.
    Part,
    /// It stands on several lines.
    OverLines {
        /// All of it.
        whole: bool,
    },
    /// The line has its code.
    Code {
        /// `Xid 79`.
        code: &'a str,
        /// The whole message, too.
        whole: bool,
    },
}

/// From this share of a line on, in percent, the line is the message.
const ALL: u8 = 90;
/// From this share of a line on, in percent, most of the line is the message.
const MOST: u8 = 50;

impl Found {
    /// How it stands there.
    pub fn standing(&self) -> Standing<'_> {
        let whole = self.whole_signature;
        match &self.sign {
            Sign::Code(code) => Standing::Code { code, whole },
            Sign::PatternOverLines => Standing::OverLines { whole },
            Sign::SignatureOverLines => Standing::OverLines { whole: true },
            Sign::Pattern | Sign::Signature if self.percent >= ALL => Standing::Line,
            Sign::Signature => Standing::Whole,
            Sign::Pattern if whole => Standing::Whole,
            Sign::Pattern if self.percent >= MOST => Standing::Most,
            Sign::Pattern => Standing::Part,
        }
    }
}

/// What of a record stands in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sign {
    /// One of its patterns.
    Pattern,
    /// A pattern of several lines.
    PatternOverLines,
    /// The signature, word for word.
    Signature,
    /// A signature of several lines.
    SignatureOverLines,
    /// One of its codes: `Xid 79`.
    Code(String),
}

/// A condition of a record on the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The condition.
    pub about: AppliesTo,
    /// What is known of that here.
    pub here: Here,
}

/// What is known of a component where a text was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Here {
    /// Its version or name is one that the record is about.
    Meets(Known),
    /// It is another one.
    Fails(Known),
    /// It is not known, or cannot be compared.
    Untold,
}

/// A version or name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// As it was given or read.
    pub value: String,
    /// The line that says so; `None` where it was given.
    pub line: Option<u64>,
}

/// What a first cause led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedTo {
    /// The first of what follows, each with its line.
    pub named: Vec<(RecordId, u64)>,
    /// How many follow beside these.
    pub more: usize,
    /// Whether only the graph tells what came first, because no common clock does.
    pub by_graph: bool,
}

/// Why a record was chosen, held back or not chosen, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum WhyCode {
    /// It stands in the text.
    Found,
    /// Nothing on the line says that its subject is meant.
    OtherSubject,
    /// The text does not say that its device is a GPU.
    NoGpuNamed,
    /// Another match takes it away.
    TakenAway,
    /// It matters only together with others that are not here.
    OnlyWithOthers,
    /// It matters only alone, and another is here.
    OnlyAlone,
    /// The text shares words with it, and no pattern matches.
    SharedWords,
    /// A value of a newer version.
    #[serde(other)]
    Unrecognised,
}

impl Why {
    /// Its kind.
    pub fn code(&self) -> WhyCode {
        match self {
            Self::Found(_) => WhyCode::Found,
            Self::OtherSubject { .. } => WhyCode::OtherSubject,
            Self::NoGpuNamed { .. } => WhyCode::NoGpuNamed,
            Self::TakenAway { .. } => WhyCode::TakenAway,
            Self::OnlyWithOthers { .. } => WhyCode::OnlyWithOthers,
            Self::OnlyAlone { .. } => WhyCode::OnlyAlone,
            Self::SharedWords { .. } => WhyCode::SharedWords,
        }
    }
}
