//! Every limit of the HTTP side in one table; `docs/API-DESIGN.md` shows the same numbers, and a test compares.

use std::time::Duration;

use kb_core::wire;

pub use crate::config::RATE_PER_SECOND;
use crate::domain::{anonymous, ingest, join_tokens, lookup, workbench};
use peerless_search::MAX_LIMIT;

#[derive(Debug, Clone, Copy)]
pub struct Limit {
    pub what: &'static str,
    pub value: u64,
    pub unit: &'static str,
}

/// Streamed text of `POST /match`, after decompression, in bytes.
pub const STREAM_BYTES: u64 = 1 << 30;
/// A JSON body, after decompression, in bytes.
pub const JSON_BYTES: u64 = 8 << 20;
pub const BATCH_ITEMS: usize = lookup::MAX_ITEMS;
/// Text of one batch item, in bytes.
pub const BATCH_ITEM_BYTES: usize = lookup::MAX_ITEM_BYTES;
/// A batch body, after decompression, in bytes: all items full, and one in four bytes of text takes two in JSON.
pub const BATCH_BYTES: u64 = 80 << 20;
/// Document or annex, in bytes.
pub const RECORD_BYTES: u64 = 256 << 10;
/// A body of `PUT /records/{id}`: document and annex, as JSON.
pub const PUT_BYTES: u64 = 2 * RECORD_BYTES + 4096;
/// A body of `POST /workbench`.
pub const WORKBENCH_BYTES: u64 = 1 << 20;
pub const WORKBENCH_LINES: usize = workbench::MOST_LINES;
/// Pasted lines of a question to the workbench, together, in bytes.
pub const WORKBENCH_LINE_BYTES: usize = workbench::MOST_BYTES;
pub const NOTE_CHARACTERS: usize = 500;
/// A form of a page that changes something, in bytes. That of a record has its two texts twice and as fields, each byte as three.
pub const FORM_BYTES: u64 = 3 * 5 * RECORD_BYTES + JSON_SLACK;
/// Fields of a form. That of a record has one for each of its texts.
pub const FORM_FIELDS: usize = 4_096;
/// A step of a review or a comment, in bytes.
pub const REVIEW_BYTES: u64 = 32 << 10;
/// What a form may hold besides.
const JSON_SLACK: u64 = 64 << 10;
/// A message of the Model Context Protocol, after decompression, in bytes.
pub const MCP_BYTES: u64 = JSON_BYTES;
/// An account to make or to change, in bytes.
pub const PEOPLE_BYTES: u64 = 8 << 10;
pub const ENROL_BYTES: u64 = 4 << 10;
pub const JOIN_TOKEN_BYTES: u64 = 16 << 10;
pub const JOIN_TOKENS: u32 = join_tokens::MAX_AT_ONCE;
/// A vote on what a record advises, in bytes.
pub const OUTCOME_BYTES: u64 = 16 << 10;
/// A suggestion, or a decision on feedback, in bytes.
pub const FEEDBACK_BYTES: u64 = 32 << 10;
/// A report, after decompression, in bytes.
pub const REPORT_BYTES: u64 = ingest::MAX_BODY_BYTES as u64;
/// Values of a JSON body: members of lists and objects, and these themselves.
pub const JSON_VALUES: usize = 100_000;
/// Values of a report. A full bench of four GPUs has 23,000.
pub const REPORT_VALUES: usize = 400_000;
/// Processor time of a request that is no streamed text.
pub const WORK_TIME: Duration = Duration::from_secs(2);
/// Processor time of a streamed text for each megabyte of it, beside [`WORK_TIME`]. A log of nothing but errors takes a tenth.
pub const MEGABYTE_TIME: Duration = Duration::from_millis(500);
/// Answers of a batch, together, in bytes.
pub const BATCH_ANSWER_BYTES: usize = 16 << 20;
/// Memory for answers that are made whole and not yet read, for what is found in texts until they are answered, and for what tools
/// of assistants compute, together, in bytes.
pub const ANSWERS_BYTES: usize = 96 << 20;
/// Share of it that a `match` of an assistant holds while it is computed.
pub const MCP_MATCH_BYTES: usize = 16 << 20;
/// Memory for all bodies that are read whole and what is made of their JSON, together, in bytes.
pub const BODIES_BYTES: usize = 80 << 20;
/// Memory for small bodies where others hold all of that, together, in bytes.
pub const SMALL_BODIES_BYTES: usize = 8 << 20;
/// A small body with what is made of its JSON, in bytes: text of 64 KiB, with room.
pub const SMALL_BODY_BYTES: usize = 128 << 10;
/// [`ANSWERS_BYTES`], [`BODIES_BYTES`] and [`WINDOWS_BYTES`] share this bound, in bytes: what a server may hold for requests under way.
pub const HELD_BYTES: usize = 96 << 20;
/// Start of each of these answers that is not counted there, in bytes.
pub const ANSWER_FREE_BYTES: usize = 32 << 10;
/// An answer goes to its connection in pieces of this size, the next when the one before was taken.
pub const ANSWER_PIECE_BYTES: usize = 16 << 10;
/// Exports of records to one client that are under way at once.
pub const EXPORTS_OF_CLIENT: usize = 4;
/// Exports of records to all clients that are under way at once.
pub const EXPORTS: usize = 64;
/// Texts of one client that have come in part.
pub const TEXTS_OF_CLIENT: usize = 16;
/// Texts of all clients that have come in part; each holds up to a megabyte beside what is found in it.
pub const TEXTS: usize = 64;
/// Memory for what the decompressors of streamed texts look back on, together, in bytes.
pub const WINDOWS_BYTES: usize = 32 << 20;
/// Start of each of these that is not counted there, in bytes.
pub const WINDOW_FREE_BYTES: usize = 256 << 10;
/// Start of each body that is not counted against it, in bytes.
pub const BODY_FREE_BYTES: usize = 4 << 10;
/// A decompressed body may be this many times the compressed one.
pub const DECOMPRESSION_RATIO: u64 = wire::DECOMPRESSION_RATIO;
/// The ratio is not asked of bodies that stay below this size, in bytes; nor of a report, whose own limit is near.
pub const DECOMPRESSION_FREE_BYTES: u64 = wire::DECOMPRESSION_FREE_BYTES;
/// Largest zstd window accepted, as a power of two (RFC 9659 wants 8 MiB of every HTTP client and server).
pub const ZSTD_WINDOW_LOG: u32 = 23;
/// Request line and headers together, in bytes (fixed by actix-http).
pub const HEADER_BYTES: u64 = 128 << 10;
/// Requests of one client that wait for their turn to be computed.
pub const WAITING_OF_CLIENT: usize = 128;
/// Requests of all clients that wait for it.
pub const WAITING: usize = 1024;
/// Number of headers (fixed by actix-http).
pub const HEADERS: u64 = 96;
/// `q` of the search, in bytes.
pub const QUERY_BYTES: usize = 4096;
/// Entries of a page that may be asked for.
pub const PAGE_MAX: u32 = 200;
/// Entries of a page when nothing is asked for.
pub const PAGE_DEFAULT: u32 = 50;
pub const FEED_ENTRIES: usize = 50;
/// Requests of one client that are let through at once, as a multiple of the rate.
pub const RATE_BURST: u32 = 4;
/// Time a client has for its request line and headers.
pub const HEADER_TIME: Duration = Duration::from_secs(10);
/// Time a body has before [`BODY_RATE`] is asked of it, and the longest pause in it.
pub const BODY_GRACE: Duration = Duration::from_secs(30);
/// The same while more than a quarter of all connections that there can be wait for the rest of a body; and of a body that is
/// read whole, while such bodies fill half of [`BODIES_BYTES`], or all that share [`HELD_BYTES`] fill half of that.
pub const CROWDED_GRACE: Duration = Duration::from_secs(3);
/// The same while more than half of them do, or three quarters of either bound are full.
pub const FULL_GRACE: Duration = Duration::from_millis(500);
/// Bytes per second that a body must keep up on average after [`BODY_GRACE`].
pub const BODY_RATE: u64 = 1024;
pub const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// Time that requests under way get on SIGTERM.
pub const DRAIN: Duration = Duration::from_secs(20);

const fn limit(what: &'static str, value: u64, unit: &'static str) -> Limit {
    Limit { what, value, unit }
}

pub const LIMITS: &[Limit] = &[
    limit("text of POST /match, after decompression", STREAM_BYTES, "bytes"),
    limit("JSON body, after decompression", JSON_BYTES, "bytes"),
    limit("items of a batch", BATCH_ITEMS as u64, "items"),
    limit(
        "text of an item of POST /match/batch",
        BATCH_ITEM_BYTES as u64,
        "bytes",
    ),
    limit("batch body, after decompression", BATCH_BYTES, "bytes"),
    limit("document, and annex, of a record", RECORD_BYTES, "bytes"),
    limit("body of PUT with view=full", PUT_BYTES, "bytes"),
    limit("body of POST /workbench", WORKBENCH_BYTES, "bytes"),
    limit("pasted lines of POST /workbench", WORKBENCH_LINES as u64, "lines"),
    limit(
        "pasted lines of POST /workbench, together",
        WORKBENCH_LINE_BYTES as u64,
        "bytes",
    ),
    limit("note of a change", NOTE_CHARACTERS as u64, "characters"),
    limit("form of a page that changes something", FORM_BYTES, "bytes"),
    limit("fields of a form", FORM_FIELDS as u64, "fields"),
    limit("step of a review, comment, and split", REVIEW_BYTES, "bytes"),
    limit("message of POST /mcp, after decompression", MCP_BYTES, "bytes"),
    limit("order of POST /people", PEOPLE_BYTES, "bytes"),
    limit("enrolment of POST /enrol", ENROL_BYTES, "bytes"),
    limit("order of POST /join-tokens", JOIN_TOKEN_BYTES, "bytes"),
    limit("tokens of POST /join-tokens", JOIN_TOKENS as u64, "tokens"),
    limit("vote of POST …/-/outcomes", OUTCOME_BYTES, "bytes"),
    limit("suggestion, and decision on feedback", FEEDBACK_BYTES, "bytes"),
    limit(
        "entry that is written without a login",
        anonymous::ENTRY_BYTES as u64,
        "bytes",
    ),
    limit(
        "such entries from an address on a day",
        anonymous::A_DAY as u64,
        "entries",
    ),
    limit("such entries together", anonymous::ROOM_BYTES, "bytes"),
    limit("report, after decompression", REPORT_BYTES, "bytes"),
    limit("values of a JSON body", JSON_VALUES as u64, "values"),
    limit("values of a report", REPORT_VALUES as u64, "values"),
    limit(
        "processor time of a request that is no streamed text",
        WORK_TIME.as_secs(),
        "seconds",
    ),
    limit(
        "the same of a streamed text, for each of its megabytes more",
        500,
        "milliseconds",
    ),
    limit(
        "exports of records to a client, at once",
        EXPORTS_OF_CLIENT as u64,
        "exports",
    ),
    limit(
        "exports of records to all clients, at once",
        EXPORTS as u64,
        "exports",
    ),
    limit(
        "texts of a client that have come in part, at once",
        TEXTS_OF_CLIENT as u64,
        "texts",
    ),
    limit(
        "texts of all clients that have come in part, at once",
        TEXTS as u64,
        "texts",
    ),
    limit(
        "memory of the decompressors of streamed texts, together",
        WINDOWS_BYTES as u64,
        "bytes",
    ),
    limit("answers of a batch, together", BATCH_ANSWER_BYTES as u64, "bytes"),
    limit(
        "answers that are made whole and not yet read, and what is found for answers, together",
        ANSWERS_BYTES as u64,
        "bytes",
    ),
    limit(
        "start of each answer that is not counted there",
        ANSWER_FREE_BYTES as u64,
        "bytes",
    ),
    limit(
        "bodies in memory with their JSON values, together",
        BODIES_BYTES as u64,
        "bytes",
    ),
    limit(
        "the same of a client that has several",
        BODIES_BYTES as u64 / 2,
        "bytes",
    ),
    limit(
        "small bodies beside that, together",
        SMALL_BODIES_BYTES as u64,
        "bytes",
    ),
    limit("small body in memory", SMALL_BODY_BYTES as u64, "bytes"),
    limit(
        "start of each body that is not counted there",
        BODY_FREE_BYTES as u64,
        "bytes",
    ),
    limit(
        "bodies, answers and decompressors in memory, all together",
        HELD_BYTES as u64,
        "bytes",
    ),
    limit("decompressed to compressed body", DECOMPRESSION_RATIO, "to 1"),
    limit(
        "body below which the ratio is not asked (of reports it is not)",
        DECOMPRESSION_FREE_BYTES,
        "bytes",
    ),
    limit("zstd window", 1 << ZSTD_WINDOW_LOG, "bytes"),
    limit("request line and headers", HEADER_BYTES, "bytes"),
    limit("number of headers", HEADERS, "headers"),
    limit("search query", QUERY_BYTES as u64, "bytes"),
    limit("entries of a page", PAGE_MAX as u64, "entries"),
    limit("hits of a page of search", MAX_LIMIT as u64, "hits"),
    limit("entries of /feed.atom", FEED_ENTRIES as u64, "entries"),
    limit(
        "requests per client, long run",
        RATE_PER_SECOND as u64,
        "per second",
    ),
    limit(
        "requests per client, at once",
        (RATE_PER_SECOND * RATE_BURST) as u64,
        "requests",
    ),
    limit(
        "requests of a client that wait to be computed",
        WAITING_OF_CLIENT as u64,
        "requests",
    ),
    limit(
        "requests of all clients that wait to be computed",
        WAITING as u64,
        "requests",
    ),
    limit(
        "time for request line and headers",
        HEADER_TIME.as_secs(),
        "seconds",
    ),
    limit(
        "pause in a body, and grace before its rate is asked",
        BODY_GRACE.as_secs(),
        "seconds",
    ),
    limit(
        "the same while a quarter of all connections wait for a body, or bodies fill half of their memory",
        CROWDED_GRACE.as_secs(),
        "seconds",
    ),
    limit(
        "the same while half of them do, or bodies fill three quarters",
        500,
        "milliseconds",
    ),
    limit("rate of a body after that", BODY_RATE, "bytes per second"),
    limit(
        "answer of which nothing is taken",
        BODY_GRACE.as_secs(),
        "seconds",
    ),
    limit("idle connection", KEEP_ALIVE.as_secs(), "seconds"),
    limit("requests under way at SIGTERM", DRAIN.as_secs(), "seconds"),
];
