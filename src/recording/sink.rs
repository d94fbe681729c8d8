use std::io::{self, Write};

use super::Row;

/// Takes the rows of a run in order.
pub trait RowSink: Send {
    /// Writes a row.
    ///
    /// # Errors
    /// The output failed; the session stops writing to this sink and says so once.
    fn write_row(&mut self, row: &Row) -> io::Result<()>;

    /// Makes everything written so far visible to readers of the output.
    ///
    /// # Errors
    /// As [`Self::write_row`].
    fn flush(&mut self) -> io::Result<()>;
}

/// Rows as JSON lines; each line is written whole.
#[derive(Debug)]
pub struct JsonLines<W> {
    output: W,
    line: Vec<u8>,
}

impl<W: Write> JsonLines<W> {
    /// Writes to `output`.
    pub fn new(output: W) -> Self {
        Self {
            output,
            line: Vec::new(),
        }
    }
}

impl<W: Write + Send> RowSink for JsonLines<W> {
    fn write_row(&mut self, row: &Row) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, row)?;
        self.line.push(b'\n');
        self.output.write_all(&self.line)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
