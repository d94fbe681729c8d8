use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crossbeam::channel::Receiver;

use super::row_order::RowOrder;
use super::row_writer::{RowWriter, SinkFailure};
use super::view::{LogLevel, LogLine};
use crate::protocol::{FrameEvent, Problem};
use crate::recording::{AtNanos, FrameRow, ProblemRow, Row, RowSink};

/// Log lines that are kept.
const LOG_LINES: usize = 500;

/// How long a notice that comes often is not said again.
const SAY_AGAIN_NANOS: u64 = 60_000_000_000;

/// What a session says about itself: its rows, and its log.
pub(super) struct Journal {
    started_nanos: u64,
    writer: RowWriter,
    order: RowOrder,
    /// Set by a user who does not want to wait for slow outputs.
    interrupted: Arc<AtomicBool>,
    lines: VecDeque<LogLine>,
    /// When a notice (about, code) that comes often was said last.
    said: BTreeMap<(String, String), u64>,
    snapshot: Arc<[LogLine]>,
    snapshot_is_old: bool,
}

impl Journal {
    /// A journal that writes to `sinks`; the second value reports those that fail.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub(super) fn start(
        sinks: Vec<Box<dyn RowSink>>,
        started_nanos: u64,
        interrupted: Arc<AtomicBool>,
    ) -> io::Result<(Self, Receiver<SinkFailure>)> {
        let (writer, failures) = RowWriter::start(sinks)?;
        let journal = Self {
            started_nanos,
            writer,
            order: RowOrder::default(),
            interrupted,
            lines: VecDeque::new(),
            said: BTreeMap::new(),
            snapshot: Arc::default(),
            snapshot_is_old: false,
        };
        Ok((journal, failures))
    }

    /// A monotonic time relative to the session's start.
    pub(super) fn relative(&self, nanos: u64) -> i64 {
        nanos.wrapping_sub(self.started_nanos).cast_signed()
    }

    /// Writes a row.
    pub(super) fn row(&mut self, row: Row) {
        self.writer.write(row, &self.interrupted);
    }

    /// Frames up to this sequence have been written, or will never be.
    pub(super) fn frames_written(&self) -> u64 {
        self.order.written_up_to()
    }

    /// Writes the row of a frame, and those that waited for it. Frames come in order.
    pub(super) fn frame(&mut self, event: &FrameEvent) {
        let row = FrameRow {
            seq: event.seq,
            path: event.position.path.clone(),
            source_index: event.position.source_index,
            pass: event.position.pass,
            width: event.description.width,
            height: event.description.height,
            stored: event.position.stored,
            orientation: event.position.orientation,
            media_seconds: event.position.media_seconds,
            captured_from: event.position.captured_from,
            at_nanos: AtNanos {
                captured: self.relative(event.position.captured_nanos),
                published: self.relative(event.published_nanos),
            },
            xxh3: event.xxh3.clone(),
        };
        self.row(Row::Frame(row));
        self.frames_known_to(event.seq);
    }

    /// Lets rows about frames up to `seq` wait no longer.
    pub(super) fn frames_known_to(&mut self, seq: u64) {
        for row in self.order.frame_written(seq) {
            self.row(row);
        }
    }

    /// Writes a row about frame `seq` behind that frame's.
    pub(super) fn about_frame(&mut self, seq: u64, row: Row) {
        if let Some(row) = self.order.about_frame(seq, row) {
            self.row(row);
        }
    }

    /// The frame up to which rows should no longer wait, when too many do.
    pub(super) fn overdue(&self) -> Option<u64> {
        self.order.overdue()
    }

    /// Says something in the log and as a row.
    pub(super) fn notice(&mut self, now_nanos: u64, level: LogLevel, about: &str, what: Problem) {
        self.log(now_nanos, level, about, &what.message, what.hint.clone());
        self.row(Row::Notice(problem_row(about, what)));
    }

    /// Says something that may come and go often: again only after a while.
    pub(super) fn notice_rarely(
        &mut self,
        now_nanos: u64,
        level: LogLevel,
        about: &str,
        what: Problem,
    ) {
        let key = (about.to_owned(), what.code.clone());
        let said = self.said.get(&key);
        if said.is_none_or(|&at| now_nanos >= at + SAY_AGAIN_NANOS) {
            self.said.insert(key, now_nanos);
            self.notice(now_nanos, level, about, what);
        }
    }

    /// Says that something gave up.
    pub(super) fn failed(&mut self, now_nanos: u64, about: &str, what: Problem) {
        self.log(
            now_nanos,
            LogLevel::Error,
            about,
            &what.message,
            what.hint.clone(),
        );
        self.row(Row::Failed(problem_row(about, what)));
    }

    /// Says something in the log.
    pub(super) fn log(
        &mut self,
        now_nanos: u64,
        level: LogLevel,
        about: &str,
        message: &str,
        hint: Option<String>,
    ) {
        let hinted = hint
            .as_ref()
            .map(|hint| format!(" ({hint})"))
            .unwrap_or_default();
        match level {
            LogLevel::Info => tracing::info!("{about}: {message}{hinted}"),
            LogLevel::Warning => tracing::warn!("{about}: {message}{hinted}"),
            LogLevel::Error => tracing::error!("{about}: {message}{hinted}"),
        }
        if self.lines.len() == LOG_LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(LogLine {
            at_nanos: now_nanos,
            level,
            about: about.to_owned(),
            message: message.to_owned(),
            hint,
        });
        self.snapshot_is_old = true;
    }

    /// The log, oldest line first.
    pub(super) fn lines(&mut self) -> Arc<[LogLine]> {
        if self.snapshot_is_old {
            self.snapshot = self.lines.iter().cloned().collect();
            self.snapshot_is_old = false;
        }
        Arc::clone(&self.snapshot)
    }

    /// Waits until all rows are written.
    pub(super) fn finish(&mut self) {
        self.writer.finish(&self.interrupted);
    }
}

/// A problem made of its parts.
pub(super) fn problem(code: &str, message: String, hint: Option<&str>) -> Problem {
    Problem {
        code: code.to_owned(),
        message,
        hint: hint.map(str::to_owned),
    }
}

fn problem_row(about: &str, what: Problem) -> ProblemRow {
    ProblemRow {
        about: about.to_owned(),
        code: what.code,
        message: what.message,
        hint: what.hint,
    }
}
