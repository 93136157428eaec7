//! Browsers of people who are logged in: the cookie, and what shows that a form is of its page.

mod claimed;
mod cookie;
mod form;
mod origin;
mod signed_in;
pub(super) mod visitor;
mod way;

pub(super) use claimed::claimed;
pub use cookie::{cleared, set};
pub(super) use cookie::{pending, secret, set_pending};
pub use form::Form;
pub(super) use form::read_form;
pub(super) use origin::is_own as is_own_origin;
pub use signed_in::Session;
pub(super) use signed_in::{SignedIn, proves};
pub(super) use way::Way;
