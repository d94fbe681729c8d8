use serde::{Deserialize, Serialize};

/// Which frames a consumer gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// The newest; what a model was too slow for is counted, never queued.
    Live,
    /// Every one, the same for all models; the producer waits for the slowest.
    Every,
}

/// How models that share a device take it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// One inference at a time per device, so that latencies compare fairly.
    #[default]
    Turns,
    /// All at once; they contend, and latencies say so.
    Together,
}
