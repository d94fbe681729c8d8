//! The `ringside` program; see [`ringside::cli`].

fn main() -> ringside::cli::Exit {
    ringside::cli::main()
}
