//! The window: a view of a session.
