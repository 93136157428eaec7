//! The table of all fields.

use crate::annex::{ProbeScope, WorkaroundKind, WorkaroundScope};
use crate::severity::{Action, Blame, Severity};
use crate::text::Part;

/// Fields that stand together under one heading.
#[derive(Debug)]
pub struct Section {
    /// Stable name of the heading.
    pub key: &'static str,
    /// Its fields.
    pub fields: &'static [Field],
}

/// A value of a record that is put in at one place.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Which of the two texts.
    pub part: Part,
    /// JSON pointer to it.
    pub pointer: &'static str,
    /// How it is put in.
    pub input: Input,
    /// True where a record without it is refused.
    pub required: bool,
}

impl Field {
    /// Stable name of its label: the pointer's keys, `transition_graph.leads_to`.
    pub fn key(&self) -> String {
        self.pointer.trim_start_matches('/').replace('/', ".")
    }
}

/// How a value is put in.
#[derive(Debug, Clone, Copy)]
pub enum Input {
    /// A text of one line.
    Line,
    /// A text of several lines.
    Paragraph,
    /// An array of texts, one on each line.
    Lines,
    /// The same with ids of records.
    Ids,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A number.
    Number,
    /// An array of objects with these keys.
    Rows(&'static [Column]),
    /// JSON.
    Json,
}

/// A key of the objects of [`Input::Rows`].
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// The key.
    pub key: &'static str,
    /// How it is put in; never rows again.
    pub input: Input,
    /// True where an object without it is refused.
    pub required: bool,
}

const fn document(pointer: &'static str, input: Input) -> Field {
    Field {
        part: Part::Document,
        pointer,
        input,
        required: false,
    }
}

const fn annex(pointer: &'static str, input: Input) -> Field {
    Field {
        part: Part::Annex,
        pointer,
        input,
        required: false,
    }
}

const fn needed(field: Field) -> Field {
    Field {
        required: true,
        ..field
    }
}

const fn column(key: &'static str, input: Input) -> Column {
    Column {
        key,
        input,
        required: false,
    }
}

const fn must(key: &'static str, input: Input) -> Column {
    Column {
        key,
        input,
        required: true,
    }
}

const TIERS: &[&str] = &[
    "ai_generated",
    "documented",
    "reproduced",
    "community_verified",
    "human_reviewed",
];
const RESOLVABLE: &[&str] = &["true", "partial", "false"];

/// All fields, as a reader meets them.
pub static SECTIONS: &[Section] = &[
    Section {
        key: "what",
        fields: &[
            annex("/title", Input::Line),
            annex("/title_zh", Input::Line),
            needed(document("/signature", Input::Paragraph)),
            document("/signature_zh", Input::Paragraph),
            needed(document("/domain", Input::Line)),
            needed(document("/category", Input::Line)),
            document("/subcategory", Input::Line),
            annex("/severity", Input::Choice(Severity::WORDS)),
            annex("/action", Input::Choice(Action::WORDS)),
            annex("/at_fault/who", Input::Choice(Blame::WORDS)),
            annex("/at_fault/source", Input::Line),
            annex("/at_fault/note", Input::Paragraph),
            annex("/harmless/unless", Input::Line),
            annex("/harmless/unless_zh", Input::Line),
        ],
    },
    Section {
        key: "cause",
        fields: &[
            needed(document("/root_cause", Input::Paragraph)),
            document("/root_cause_zh", Input::Paragraph),
            document("/root_cause_type", Input::Line),
        ],
    },
    Section {
        key: "works",
        fields: &[
            document(
                "/workarounds",
                Input::Rows(&[
                    must("action", Input::Paragraph),
                    column("how", Input::Paragraph),
                    column("condition", Input::Line),
                    column("success_rate", Input::Number),
                    column("sources", Input::Lines),
                ]),
            ),
            document("/workarounds_zh", Input::Lines),
            annex(
                "/workarounds_zh",
                Input::Rows(&[
                    column("action", Input::Paragraph),
                    column("how", Input::Paragraph),
                ]),
            ),
            annex(
                "/workaround_notes",
                Input::Rows(&[
                    must("kind", Input::Choice(WorkaroundKind::WORDS)),
                    must("scope", Input::Choice(WorkaroundScope::WORDS)),
                    column("cost", Input::Line),
                    column("cost_zh", Input::Line),
                    column("stop_first", Input::Line),
                    column("stop_first_zh", Input::Line),
                ]),
            ),
            document("/resolvable", Input::Choice(RESOLVABLE)),
            document("/fix_success_rate", Input::Number),
        ],
    },
    Section {
        key: "wastes",
        fields: &[
            document(
                "/dead_ends",
                Input::Rows(&[
                    must("action", Input::Paragraph),
                    column("why_fails", Input::Paragraph),
                    column("condition", Input::Line),
                    column("fail_rate", Input::Number),
                    column("sources", Input::Lines),
                ]),
            ),
            annex(
                "/dead_ends_zh",
                Input::Rows(&[
                    column("action", Input::Paragraph),
                    column("why_fails", Input::Paragraph),
                ]),
            ),
        ],
    },
    Section {
        key: "environment",
        fields: &[
            annex(
                "/applies_to",
                Input::Rows(&[
                    must("component", Input::Line),
                    column("introduced", Input::Line),
                    column("fixed", Input::Line),
                    column("last_affected", Input::Line),
                    column("any_of", Input::Lines),
                ]),
            ),
            document(
                "/versions",
                Input::Rows(&[
                    must("version", Input::Line),
                    column("introduced", Input::Line),
                    column("deprecated", Input::Line),
                    column("removed", Input::Line),
                    column("behavior_change", Input::Line),
                    column("status", Input::Line),
                ]),
            ),
            document("/os_specific", Input::Json),
            annex("/hardware", Input::Json),
        ],
    },
    Section {
        key: "edges",
        fields: &[
            document(
                "/transition_graph/leads_to",
                Input::Rows(&[
                    must("error_id", Input::Ids),
                    column("condition", Input::Line),
                    column("probability", Input::Number),
                    column("typical_delay", Input::Line),
                ]),
            ),
            document(
                "/transition_graph/preceded_by",
                Input::Rows(&[
                    must("error_id", Input::Ids),
                    column("condition", Input::Line),
                    column("probability", Input::Number),
                ]),
            ),
            document(
                "/transition_graph/frequently_confused_with",
                Input::Rows(&[
                    must("error_id", Input::Ids),
                    column("distinction", Input::Paragraph),
                ]),
            ),
            annex("/relations/cancels", Input::Ids),
            annex("/relations/only_alone", Input::Flag),
            annex("/relations/wraps_others", Input::Flag),
            annex("/relations/only_with", Input::Ids),
            annex("/relations/window_seconds", Input::Number),
            annex("/relations/of_gpu", Input::Lines),
            annex("/relations/not_of_others", Input::Lines),
            annex("/superseded_by", Input::Line),
        ],
    },
    Section {
        key: "sources",
        fields: &[
            annex(
                "/sources",
                Input::Rows(&[
                    must("url", Input::Line),
                    must("read_on", Input::Line),
                    column("supports", Input::Lines),
                    column("note", Input::Paragraph),
                ]),
            ),
            document("/official_doc_url", Input::Line),
            document("/official_doc_section", Input::Line),
            annex(
                "/reproduced",
                Input::Rows(&[
                    must("report", Input::Line),
                    must("on", Input::Line),
                    must("hardware", Input::Line),
                    column("output", Input::Line),
                    column("supports", Input::Lines),
                    column("note", Input::Paragraph),
                ]),
            ),
            annex(
                "/disputes",
                Input::Rows(&[
                    must("pointer", Input::Line),
                    must("why", Input::Paragraph),
                    column("why_zh", Input::Paragraph),
                    must("source", Input::Line),
                ]),
            ),
            document("/verification_tier", Input::Choice(TIERS)),
            document("/confidence", Input::Number),
            document("/evidence_count", Input::Number),
            document("/first_seen", Input::Line),
            document("/last_confirmed", Input::Line),
            document("/last_updated", Input::Line),
        ],
    },
    Section {
        key: "recognised",
        fields: &[
            annex(
                "/examples",
                Input::Rows(&[
                    must("text", Input::Paragraph),
                    column("source", Input::Line),
                    column("captures", Input::Json),
                ]),
            ),
            annex(
                "/near_misses",
                Input::Rows(&[
                    must("text", Input::Paragraph),
                    column("why", Input::Line),
                    column("source", Input::Line),
                ]),
            ),
            document("/regex", Input::Line),
            annex(
                "/patterns",
                Input::Rows(&[
                    must("id", Input::Line),
                    must("regex", Input::Paragraph),
                    column("flags", Input::Line),
                    column("captures", Input::Lines),
                ]),
            ),
            annex(
                "/phrases",
                Input::Rows(&[
                    must("id", Input::Line),
                    must("context", Input::Line),
                    column("text", Input::Line),
                    column("numbers", Input::Json),
                ]),
            ),
            annex("/codes", Input::Lines),
            document("/error_code", Input::Line),
        ],
    },
    Section {
        key: "rules",
        fields: &[annex(
            "/probe",
            Input::Rows(&[
                must("id", Input::Line),
                must("scope", Input::Choice(ProbeScope::WORDS)),
                must("when", Input::Paragraph),
                column("evidence", Input::Lines),
            ]),
        )],
    },
    Section {
        key: "found",
        fields: &[
            annex("/asked_as", Input::Lines),
            document("/tags", Input::Lines),
            document("/aliases", Input::Ids),
            document("/locale", Input::Line),
            annex("/origin", Input::Json),
            annex("/provenance", Input::Json),
        ],
    },
];

/// The field at a pointer.
pub fn field(part: Part, pointer: &str) -> Option<&'static Field> {
    SECTIONS
        .iter()
        .flat_map(|section| section.fields)
        .find(|field| field.part == part && field.pointer == pointer)
}
