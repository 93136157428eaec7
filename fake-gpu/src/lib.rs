//! Ground.
