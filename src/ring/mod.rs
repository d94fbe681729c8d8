//! The shared-memory ring: layout, mapping, locks, writer, reader.
