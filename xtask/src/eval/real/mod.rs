//! The collected items, judged.

pub(crate) mod clean;
pub(crate) mod logs;
pub(crate) mod messages;
pub(crate) mod negatives;
pub(crate) mod queries;
