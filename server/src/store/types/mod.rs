//! What goes into the store and what comes out, in domain words.

mod events;
mod feed;
mod findings;
mod fleet;
mod outcomes;
mod records;
mod reports;
mod seed;
mod tokens;

pub use events::*;
pub use feed::*;
pub use findings::*;
pub use fleet::*;
pub use outcomes::*;
pub use records::*;
pub use reports::*;
pub use seed::*;
pub use tokens::*;
