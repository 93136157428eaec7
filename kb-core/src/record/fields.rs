//! The document's keys and types, as a table. `null` is admitted where the seeds and their kin have it.

use crate::text::checks::{day, record_id, url};
use crate::text::shape::{Field, Shape};

/// More items than any record of the kind has; a guard against nonsense, not a style rule.
const MOST: usize = 1_000;
/// Most `evidence_count` that is read.
const MOST_EVIDENCE: u32 = 1_000_000_000;

const TEXT_OR_NULL: Shape = Shape::OrNull(&Shape::Text);
const SHARE_OR_NULL: Shape = Shape::OrNull(&Shape::Share);
const DAY_OR_NULL: Shape = Shape::OrNull(&Shape::Checked("day", day));
const TEXTS: Shape = Shape::List(MOST, &Shape::Text);

pub(super) static DOCUMENT: Shape = Shape::Object(&[
    Field::required("id", Shape::Checked("id", record_id)),
    Field::required("signature", Shape::FilledText),
    Field::expected("signature_zh", TEXT_OR_NULL),
    Field::expected("regex", TEXT_OR_NULL),
    Field::required("domain", Shape::FilledText),
    Field::required("category", Shape::FilledText),
    Field::expected("subcategory", TEXT_OR_NULL),
    Field::required("root_cause", Shape::FilledText),
    Field::expected("root_cause_type", TEXT_OR_NULL),
    Field::expected("root_cause_zh", TEXT_OR_NULL),
    Field::expected("versions", Shape::List(MOST, &VERSION)),
    Field::expected("os_specific", Shape::AnyObject),
    Field::expected("dead_ends", Shape::List(MOST, &DEAD_END)),
    Field::expected("workarounds", Shape::List(MOST, &WORKAROUND)),
    Field::expected("workarounds_zh", TEXTS),
    Field::expected("transition_graph", GRAPH),
    Field::expected("official_doc_url", Shape::OrNull(&Shape::Checked("url", url))),
    Field::expected("official_doc_section", TEXT_OR_NULL),
    Field::expected("error_code", TEXT_OR_NULL),
    Field::expected("verification_tier", TEXT_OR_NULL),
    Field::expected("confidence", SHARE_OR_NULL),
    Field::expected("fix_success_rate", SHARE_OR_NULL),
    Field::expected("resolvable", TEXT_OR_NULL),
    Field::expected("first_seen", DAY_OR_NULL),
    Field::expected("last_confirmed", DAY_OR_NULL),
    Field::expected("last_updated", DAY_OR_NULL),
    Field::expected("evidence_count", Shape::OrNull(&Shape::Whole(MOST_EVIDENCE))),
    Field::expected("tags", TEXTS),
    Field::expected("locale", TEXT_OR_NULL),
    Field::expected("aliases", Shape::List(MOST, &Shape::Checked("alias", record_id))),
]);

static VERSION: Shape = Shape::Object(&[
    Field::required("version", Shape::Text),
    Field::optional("introduced", TEXT_OR_NULL),
    Field::optional("deprecated", TEXT_OR_NULL),
    Field::optional("removed", TEXT_OR_NULL),
    Field::optional("behavior_change", TEXT_OR_NULL),
    Field::optional("status", TEXT_OR_NULL),
]);

static DEAD_END: Shape = Shape::Object(&[
    Field::required("action", Shape::Text),
    Field::optional("why_fails", TEXT_OR_NULL),
    Field::optional("fail_rate", SHARE_OR_NULL),
    Field::optional("condition", TEXT_OR_NULL),
    Field::optional("sources", TEXTS),
]);

static WORKAROUND: Shape = Shape::Object(&[
    Field::required("action", Shape::Text),
    Field::optional("success_rate", SHARE_OR_NULL),
    Field::optional("how", TEXT_OR_NULL),
    Field::optional("condition", TEXT_OR_NULL),
    Field::optional("sources", TEXTS),
]);

const GRAPH: Shape = Shape::Object(&[
    Field::optional("leads_to", Shape::List(MOST, &FOLLOWED_BY)),
    Field::optional("preceded_by", Shape::List(MOST, &PRECEDED_BY)),
    Field::optional("frequently_confused_with", Shape::List(MOST, &CONFUSED_WITH)),
]);

static FOLLOWED_BY: Shape = Shape::Object(&[
    Field::required("error_id", Shape::FilledText),
    Field::optional("probability", SHARE_OR_NULL),
    Field::optional("condition", TEXT_OR_NULL),
    Field::optional("typical_delay", TEXT_OR_NULL),
]);

static PRECEDED_BY: Shape = Shape::Object(&[
    Field::required("error_id", Shape::FilledText),
    Field::optional("probability", SHARE_OR_NULL),
    Field::optional("condition", TEXT_OR_NULL),
]);

static CONFUSED_WITH: Shape = Shape::Object(&[
    Field::required("error_id", Shape::FilledText),
    Field::optional("distinction", TEXT_OR_NULL),
]);
