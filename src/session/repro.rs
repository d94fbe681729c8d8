use std::path::PathBuf;

use super::spec::{SessionSpec, SpecError};
use crate::frame::Frame;
use crate::protocol::{
    Delivery, ModelCard, ModelSpec, Origin, PredictionEvent, PreprocessSpec, ScoreMeaning,
};

/// Name of the picture in a `repro/` folder.
pub const REPRO_FRAME: &str = "frame.png";

/// All that is needed to repeat a prediction: the very frame, which model, and how the frame was
/// made its input.
#[derive(Debug, Clone)]
pub struct ReproCapture {
    /// Sequence of the frame.
    pub seq: u64,
    /// The frame that the model had.
    pub frame: Frame,
    /// The model and its options.
    pub model: ModelSpec,
    /// What is known of it, if it was loaded.
    pub card: Option<ModelCard>,
    /// Its answer; `None` where it died instead.
    pub prediction: Option<PredictionEvent>,
    /// How its process ended, if it did.
    pub death: Option<String>,
}

impl ReproCapture {
    /// A session that feeds the frame, saved as [`REPRO_FRAME`] in `folder`, to the model with the
    /// preprocessing that was in force.
    pub fn session(&self, folder: &std::path::Path) -> SessionSpec {
        let mut model = self.model.clone();
        if let Some(card) = &self.card {
            let preprocess = &card.preprocess;
            model.preprocess = PreprocessSpec {
                preset: model.preprocess.preset,
                resize: Some(preprocess.resize),
                filter: Some(preprocess.filter),
                size: preprocess.size,
                crop_pct: Some(preprocess.crop_pct),
                // A model with one channel takes grey whatever the order.
                order: Some(preprocess.order.clone()).filter(|order| order != "gray"),
                scale: Some(preprocess.scale),
                mean: Some(preprocess.mean),
                std: Some(preprocess.std),
                pad: Some(preprocess.pad),
            };
            model.task = card.task.value.clone();
            // One frame may not tell what many did.
            if let Some(scores) = &card.scores
                && scores.origin == Origin::Answers
            {
                model.layout = match scores.are {
                    ScoreMeaning::Logits => "logits",
                    ScoreMeaning::Probabilities => "probabilities",
                    ScoreMeaning::Scores => "scores",
                }
                .to_owned();
            }
        }
        let frame: PathBuf = folder.join(REPRO_FRAME);
        SessionSpec {
            source: format!("image:{}", crate::base::escape_path(&frame)),
            delivery: Some(Delivery::Every),
            models: vec![model],
            ..SessionSpec::default()
        }
    }

    /// The session file of [`Self::session`].
    ///
    /// # Errors
    /// As [`SessionSpec::to_toml`].
    pub fn session_toml(&self, folder: &std::path::Path) -> Result<String, SpecError> {
        self.session(folder).to_toml()
    }
}
