//! The `ringside` program; see [`ringside::cli`].

fn main() {}
