//! The Model Context Protocol, for coding assistants: the same use cases as the REST interface, as tools. Over HTTP at
//! `/mcp` (streamable HTTP, without sessions, so that any replica may answer any call), and by `peerless mcp` over
//! standard input and output.

mod answer;
mod arguments;
mod bridge;
mod schemas;
mod tools;

pub use bridge::mcp;
pub use tools::{Source, Tools};

use super::auth::Access;
use super::routes::Routes;

/// Declares the route. `GET` and `DELETE`, which sessions need, answer 405 as the protocol wants it.
pub fn declare(routes: &mut Routes) {
    routes.post("/mcp", Access::Anyone, mcp);
}
