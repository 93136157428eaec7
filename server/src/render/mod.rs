//! Texts for readers, made of what `domain` and `feed` know: the words of the interface in two languages, a record, an
//! answer, hits and the graph as text. Pages, MCP and the command line show them; nothing here knows of requests.

pub mod advice;
pub mod answer;
pub mod answer_text;
pub mod case_text;
pub mod command;
pub mod graph_text;
pub mod i18n;
pub mod record;
pub mod search_text;
pub mod site_address;
pub mod words;
pub mod workbench_text;
