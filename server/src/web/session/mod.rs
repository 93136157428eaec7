//! Browsers of people who are logged in: the cookie, and what shows that a form is of its page.

mod cookie;
mod form;
mod origin;
mod signed_in;
pub(super) mod visitor;
mod way;

pub(super) use cookie::secret;
pub use cookie::{cleared, set};
pub use form::Form;
pub(super) use form::read_form;
pub(super) use origin::is_own as is_own_origin;
pub use signed_in::Session;
pub(super) use signed_in::{SignedIn, proves};
pub(super) use way::Way;
