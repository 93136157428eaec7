//! People: who they are, how they log in, what their role lets them do.

mod common;
pub mod csrf;
mod limiter;
mod names;
pub mod own_tokens;
mod password;
pub mod people;
pub mod roles;
pub mod sessions;
pub mod vouched;

pub use limiter::{Attempt, LoginLimiter};
pub use names::{Wrong, check_login, check_name};
pub use password::{MAX_PASSWORD_BYTES, MIN_PASSWORD_CHARACTERS, PasswordError, Passwords, WeakPassword};
