//! Commands and exit codes.
