//! The ring between real processes: this test binary runs itself again as writer, reader or session.
//!
//! `RINGSIDE_SOAK=1` runs the long forms (hundreds of kills).

#![allow(clippy::unwrap_used)] // A test that cannot go on fails.

mod children;
mod damage;
mod delivery;
mod frames;
mod generations;
mod kills;
mod neighbours;
mod opening;
mod question;
mod roles;
mod space;
mod turns;

/// Not a test of its own: what the tests start as another process.
#[test]
fn child() {
    children::run_child(roles::ROLES);
}
