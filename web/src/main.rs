//! The Taintlab playground.

fn main() {}
