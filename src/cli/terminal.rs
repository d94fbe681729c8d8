use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::base::LatencyStats;
use crate::prediction::{Output, ScoreKind};
use crate::recording::{
    ModelSummary, PredictionRow, ProblemRow, Row, RowSink, SessionRow, SummaryRow,
};

/// Rows for people: answers and the summary on stdout, troubles and a progress bar on stderr.
pub(super) struct Terminal {
    bar: ProgressBar,
    answers: bool,
    name_width: usize,
    /// What has been said of each model; a session row repeats what is known.
    introduced: BTreeMap<String, String>,
}

impl Terminal {
    /// Prints answers unless `quiet`; the bar is drawn where stderr is a terminal.
    pub(super) fn new(quiet: bool) -> Self {
        let target = if io::stderr().is_terminal() {
            ProgressDrawTarget::stderr_with_hz(10)
        } else {
            ProgressDrawTarget::hidden()
        };
        let style =
            ProgressStyle::with_template("{spinner} {human_pos} frames · {per_sec} · {elapsed}");
        let bar = ProgressBar::with_draw_target(None, target)
            .with_style(style.unwrap_or_else(|_default| ProgressStyle::default_bar()));
        Self {
            bar,
            answers: !quiet,
            name_width: 0,
            introduced: BTreeMap::new(),
        }
    }

    fn print(&self, text: &str) -> io::Result<()> {
        self.bar.suspend(|| writeln!(io::stdout().lock(), "{text}"))
    }

    fn warn(&self, kind: &str, about: &str, message: &str, hint: Option<&str>) {
        self.bar.suspend(|| {
            let hint = hint.map(|hint| format!("\n  {hint}")).unwrap_or_default();
            // stderr is closed: there is nobody left to tell.
            let line = match message.starts_with(about) {
                true => format!("{kind}: {message}{hint}"),
                false => format!("{kind}: {about}: {message}{hint}"),
            };
            drop(writeln!(io::stderr(), "{line}"));
        });
    }

    fn session(&mut self, row: &SessionRow) -> io::Result<()> {
        for model in &row.models {
            self.name_width = self.name_width.max(model.name.chars().count());
            let provider = model.provider.as_deref().unwrap_or("not loaded");
            let fallback = match &model.reason {
                Some(reason) if model.asked == "auto" => format!(" ({reason})"),
                Some(reason) => format!(" (asked for {}: {reason})", model.asked),
                None => String::new(),
            };
            let threads = match model.threads {
                1 => "1 thread".to_owned(),
                threads => format!("{threads} threads"),
            };
            let line = format!(
                "{}: {provider}{fallback}, {threads}, {}, labels: {}",
                model.name, model.task, model.labels
            );
            if self.introduced.get(&model.name) != Some(&line) {
                self.print(&line)?;
                self.introduced.insert(model.name.clone(), line);
            }
        }
        Ok(())
    }

    fn prediction(&self, row: &PredictionRow) -> io::Result<()> {
        let frame = row.path.as_deref().unwrap_or("");
        let warmup = if row.warmup { " (warm-up)" } else { "" };
        self.print(&format!(
            "{:>6}  {frame:24}  {:name$}  {:>9}{warmup}  {}",
            row.seq,
            row.model,
            milliseconds(row.micros.inference),
            answer(&row.output),
            name = self.name_width,
        ))
    }

    fn problem(&self, kind: &str, row: &ProblemRow) {
        self.warn(kind, &row.about, &row.message, row.hint.as_deref());
    }
}

impl RowSink for Terminal {
    fn write_row(&mut self, row: &Row) -> io::Result<()> {
        match row {
            Row::Session(row) => self.session(row)?,
            Row::Frame(_) => self.bar.inc(1),
            Row::Prediction(row) if self.answers => self.prediction(row)?,
            Row::Prediction(_) => {}
            Row::Skipped(row) => {
                let about = row
                    .path
                    .clone()
                    .unwrap_or_else(|| format!("entry {}", row.source_index));
                self.warn("skipped", &about, &row.reason, None);
            }
            Row::Lost(row) => {
                let frame = format!("frame {} was lost: {}", row.seq, row.reason);
                self.warn("lost", &row.model, &frame, None);
            }
            Row::Gap(row) => self.warn("gap", "source", &row.reason, None),
            Row::Notice(row) => self.problem("notice", row),
            Row::Failed(row) => self.problem("failed", row),
            Row::Summary(row) => {
                self.bar.finish_and_clear();
                self.print(&summary(row))?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

fn milliseconds(micros: u64) -> String {
    format!("{:.2} ms", micros as f64 / 1000.0)
}

fn answer(output: &Output) -> String {
    match output {
        Output::Classes { scores, classes } => {
            let shown = classes.iter().take(3).map(|class| match scores {
                ScoreKind::Probability => format!("{} {:.1} %", class.name, class.score * 100.0),
                ScoreKind::Score => format!("{} {:.3}", class.name, class.score),
            });
            shown.collect::<Vec<_>>().join(" · ")
        }
        Output::Detections { detections } => format!("{} objects", detections.len()),
        Output::Raw { tensors } => {
            let shown = tensors.iter().map(|tensor| {
                let shape: Vec<String> = tensor.shape.iter().map(u64::to_string).collect();
                let range = match (tensor.min, tensor.max) {
                    (Some(min), Some(max)) => format!("{min:.3} to {max:.3}"),
                    _ => "no finite value".to_owned(),
                };
                format!(
                    "{} {}[{}] {range}",
                    tensor.name,
                    tensor.dtype,
                    shape.join(",")
                )
            });
            shown.collect::<Vec<_>>().join(" · ")
        }
        Output::Invalid { reason } => format!("invalid: {reason}"),
    }
}

/// The summary as a table.
fn summary(row: &SummaryRow) -> String {
    let width = row
        .models
        .iter()
        .map(|model| model.name.chars().count())
        .max()
        .unwrap_or(0)
        .max(5);
    let mut lines = vec![
        format!(
            "{} frames published, {} skipped, {:.1} s",
            row.frames.published, row.frames.skipped, row.seconds
        ),
        format!(
            "{:width$}  {:>9} {:>7} {:>5} {:>7}  {:>9}  {:>11} {:>11} {:>11}",
            "model", "predicted", "dropped", "lost", "invalid", "frames/s", "p50", "p90", "p99"
        ),
    ];
    lines.extend(row.models.iter().map(|model| model_line(model, width)));
    for pair in &row.comparison {
        let agreement = match pair.agreement {
            Some(share) => format!(
                "{:.1} % same top-1 on {} frames",
                share * 100.0,
                pair.frames
            ),
            None => "no frame that both classified".to_owned(),
        };
        let unmatched = match pair.unmatched {
            0 => String::new(),
            count => format!(" ({count} seen by one only)"),
        };
        lines.push(format!("{} and {}: {agreement}{unmatched}", pair.a, pair.b));
    }
    lines.join("\n")
}

fn model_line(model: &ModelSummary, width: usize) -> String {
    let inference = model.micros.get("inference").copied();
    let percentile = |pick: fn(&LatencyStats) -> u64| {
        inference
            .as_ref()
            .map_or_else(|| "–".to_owned(), |stats| milliseconds(pick(stats)))
    };
    format!(
        "{:width$}  {:>9} {:>7} {:>5} {:>7}  {:>9}  {:>11} {:>11} {:>11}",
        model.name,
        model.predicted,
        model.dropped,
        model.lost,
        model.invalid,
        model
            .frames_per_second
            .map_or_else(|| "–".to_owned(), |fps| format!("{fps:.1}")),
        percentile(|stats| stats.p50),
        percentile(|stats| stats.p90),
        percentile(|stats| stats.p99),
    )
}
