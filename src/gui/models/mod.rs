//! The models in the panel: the list, the options of each, and what is known of it.

mod card;
mod draft;
mod list;
mod options;
mod values;
mod words;

pub(super) use list::{ModelForms, models_ui};

/// All that this module says to people.
mod strings {
    pub(super) const MODELS: &str = "Models";
    pub(super) const ADD: &str = "Add…";
    pub(super) const ADD_TIP: &str = "Choose an ONNX file";
    pub(super) const PATH: &str = "Path of a model";
    pub(super) const PATH_HINT: &str = "Path of an ONNX file";
    pub(super) const NONE: &str = "No model yet.";
    pub(super) const PAUSE: &str = "Pause";
    pub(super) const RESUME: &str = "Resume";
    pub(super) const RESTART: &str = "Restart";
    pub(super) const RENAME: &str = "Rename";
    pub(super) const DUPLICATE: &str = "Duplicate";
    pub(super) const REMOVE: &str = "Remove";
    pub(super) const NEW_NAME: &str = "New name";
    pub(super) const NAME_TAKEN: &str = "Another model has this name.";
    pub(super) const OPTIONS: &str = "Options";
    pub(super) const CARD: &str = "What is known of it";
    pub(super) const AT_ONCE: &str = "These act at once:";
    pub(super) const RESTARTS: &str = "These restart this model:";
    pub(super) const PREPROCESSING: &str = "Preprocessing";
    pub(super) const APPLY: &str = "Apply";
    pub(super) const APPLY_TIP: &str = "Start this model anew with these options";
    pub(super) const REVERT: &str = "Revert";
    pub(super) const REVERT_TIP: &str = "Back to the options in force";
    pub(super) const RESET_TIP: &str = "Leave this to the model and its files";
    pub(super) const BROWSE: &str = "Choose a file of labels";
    pub(super) const NO_CARD: &str = "It is told when the model is loaded.";
    pub(super) const COPY: &str = "Copy";
    pub(super) const THRESHOLD: &str = "threshold";
    pub(super) const TOP: &str = "top";
    pub(super) const FILE: &str = "File";
    pub(super) const INPUTS: &str = "Inputs";
    pub(super) const OUTPUTS: &str = "Outputs";
    pub(super) const PROVIDER: &str = "Provider";
    pub(super) const TASK: &str = "Task";
    pub(super) const SCORES: &str = "Scores";
    pub(super) const LABELS: &str = "Labels";
    pub(super) const LOADING: &str = "Loading";
    pub(super) const METADATA: &str = "Metadata";
    pub(super) const THREADS: &str = "Threads";

    pub(super) fn menu_of(name: &str) -> String {
        format!("Model menu of {name}")
    }

    pub(super) fn model(name: &str) -> String {
        format!("Model {name}")
    }

    pub(super) fn reset(key: &str) -> String {
        format!("Reset {key}")
    }

    pub(super) const STATES: [&str; 8] = [
        "waiting",
        "starting",
        "running",
        "paused",
        "silent",
        "restarting",
        "failed",
        "stopped",
    ];

    /// Who chose a value, in the order of `Origin`.
    pub(super) const ORIGINS: [&str; 7] = [
        "you",
        "sidecar",
        "metadata",
        "shape",
        "graph",
        "answers",
        "family default",
    ];
    pub(super) const DEFAULT: &str = "default";
}
