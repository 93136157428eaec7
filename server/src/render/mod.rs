//! Texts for readers, made of what `domain` and `feed` know: an answer, hits and the graph as text. Pages, MCP and the command
//! line show them; nothing here knows of requests.

pub mod answer_text;
pub mod graph_text;
pub mod search_text;
