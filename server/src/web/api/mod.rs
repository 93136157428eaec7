//! The REST interface, version 1: one file for each call or small group of calls.

pub mod health;

use super::auth::Access;
use super::routes::Routes;

/// Declares every route of the interface.
pub fn declare(routes: &mut Routes) {
    routes.get("/healthz", Access::Anyone, health::healthz);
    routes.get("/readyz", Access::Anyone, health::readyz);
}
