//! Ground.

fn main() {}
