//! Entry point: everything is in the library, so that tests start the same program.

fn main() {}
