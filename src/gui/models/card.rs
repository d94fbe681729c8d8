use egui::{Label, RichText, Ui};

use super::{strings, words};
use crate::gui::format;
use crate::gui::theme::Palette;
use crate::protocol::{ModelCard, TensorInfo};
use crate::session::ModelView;

/// Letters of a digest that are shown; all of them are copied.
const DIGEST_LETTERS: usize = 12;

/// What is known of a loaded model.
pub(super) fn card_ui(ui: &mut Ui, model: &ModelView) {
    let Some(card) = &model.card else {
        ui.label(RichText::new(strings::NO_CARD).color(Palette::of(ui).weak));
        return;
    };
    file_ui(ui, card);
    let tensors = |tensors: &[TensorInfo]| tensors.iter().map(tensor).collect::<Vec<_>>();
    lines_ui(ui, strings::INPUTS, tensors(&card.inputs));
    lines_ui(ui, strings::OUTPUTS, tensors(&card.outputs));
    lines_ui(ui, strings::PROVIDER, words::provider(&card.provider));
    let runtime = format!(
        "ONNX Runtime {}, {} × batch {}",
        card.onnxruntime, card.threads, card.batch
    );
    lines_ui(ui, strings::THREADS, vec![runtime]);
    lines_ui(
        ui,
        strings::TASK,
        vec![format!("{}, {}", card.task.value, card.layout)],
    );
    if let Some(scores) = &card.scores {
        lines_ui(
            ui,
            strings::SCORES,
            vec![format!("{:?}: {}", scores.are, scores.evidence)],
        );
    }
    let labels = format!("{}, from {}", card.label_count, card.labels);
    lines_ui(ui, strings::LABELS, vec![labels]);
    let preprocessing = words::preprocessing(&card.preprocess);
    lines_ui(ui, strings::PREPROCESSING, vec![preprocessing]);
    let loading = card
        .load_micros
        .iter()
        .map(|(step, micros)| format!("{step}: {}", format::latency(*micros)))
        .collect();
    lines_ui(ui, strings::LOADING, loading);
    let metadata = card
        .metadata
        .iter()
        .map(|(key, value)| format!("{key}: {value}"))
        .collect();
    lines_ui(ui, strings::METADATA, metadata);
}

fn file_ui(ui: &mut Ui, card: &ModelCard) {
    let path = card.path.display().to_string();
    lines_ui(ui, strings::FILE, vec![path, format::bytes(card.bytes)]);
    ui.horizontal(|ui| {
        let short: String = card.sha256.chars().take(DIGEST_LETTERS).collect();
        let digest = RichText::new(format!("SHA-256 {short}…"))
            .monospace()
            .size(11.0);
        ui.label(digest).on_hover_text(&card.sha256);
        if ui.small_button(strings::COPY).clicked() {
            ui.ctx().copy_text(card.sha256.clone());
        }
    });
}

/// `input  f32 [1 × 3 × 224 × 224]`.
fn tensor(info: &TensorInfo) -> String {
    format!("{}  {} [{}]", info.name, info.dtype, info.shape.join(" × "))
}

fn lines_ui(ui: &mut Ui, title: &str, lines: Vec<String>) {
    if lines.is_empty() {
        return;
    }
    ui.add_space(4.0);
    ui.label(RichText::new(title).small().color(Palette::of(ui).weak));
    for line in lines {
        ui.add(Label::new(line).wrap().selectable(true));
    }
}
