use std::collections::BTreeMap;

use crate::prediction::Output;
use crate::recording::Comparison;

/// Frames for which answers are kept to be compared. A model that answers later than this many
/// frames after another is not compared with it on that frame.
const WINDOW: usize = 4096;

/// Identifies a model in a session for good, also when its name is used again.
pub(super) type ModelKey = u64;

/// Joins the answers of all models by frame and counts how often they agree.
#[derive(Debug, Default)]
pub(super) struct Pairing {
    models: Vec<ModelKey>,
    window: BTreeMap<u64, Answers>,
    pairs: BTreeMap<(ModelKey, ModelKey), PairCounts>,
}

/// The models that answered a frame, with the best class of each where it has one.
type Answers = Vec<(ModelKey, Option<String>)>;

/// What two models said about the frames that left the window or that both answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PairCounts {
    /// Frames that both answered.
    pub(super) frames: u64,
    /// Frames of these with a best class of both.
    pub(super) comparable: u64,
    /// Frames of these with the same best class.
    pub(super) same: u64,
    /// Frames that only one answered.
    pub(super) unmatched: u64,
}

impl Pairing {
    /// Adds a model behind the others.
    pub(super) fn add(&mut self, model: ModelKey) {
        for &other in &self.models {
            self.pairs.insert((other, model), PairCounts::default());
        }
        self.models.push(model);
    }

    /// Forgets a model.
    pub(super) fn remove(&mut self, model: ModelKey) {
        self.models.retain(|&other| other != model);
        self.pairs.retain(|&(a, b), _| a != model && b != model);
    }

    /// Notes an answer. Answers that cannot be used, and second answers, are left out.
    pub(super) fn answered(&mut self, model: ModelKey, seq: u64, output: &Output) {
        if matches!(output, Output::Invalid { .. }) {
            return;
        }
        let class = output.top_class().map(|class| class.name.clone());
        let answers = self.window.entry(seq).or_default();
        if answers.iter().any(|&(other, _)| other == model) {
            return;
        }
        for (other, other_class) in &*answers {
            let pair = (model.min(*other), model.max(*other));
            let Some(counts) = self.pairs.get_mut(&pair) else {
                continue;
            };
            counts.frames += 1;
            if let (Some(class), Some(other_class)) = (&class, other_class) {
                counts.comparable += 1;
                counts.same += u64::from(class == other_class);
            }
        }
        answers.push((model, class));
        if self.window.len() > WINDOW
            && let Some((_, answers)) = self.window.pop_first()
        {
            count_unmatched(&mut self.pairs, &answers);
        }
    }

    /// What each pair of models has said about frames that both answered.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (ModelKey, ModelKey, PairCounts)> {
        self.pairs.iter().map(|(&(a, b), &counts)| (a, b, counts))
    }

    /// What each pair of models has said, in the order in which they were added.
    pub(super) fn counts(&self) -> BTreeMap<(ModelKey, ModelKey), PairCounts> {
        let mut pairs = self.pairs.clone();
        for answers in self.window.values() {
            count_unmatched(&mut pairs, answers);
        }
        pairs
    }
}

/// Counts a frame for every pair of which only one has answered.
fn count_unmatched(
    pairs: &mut BTreeMap<(ModelKey, ModelKey), PairCounts>,
    answers: &[(ModelKey, Option<String>)],
) {
    let has_answered = |model| answers.iter().any(|&(other, _)| other == model);
    for (&(a, b), counts) in pairs {
        counts.unmatched += u64::from(has_answered(a) != has_answered(b));
    }
}

impl PairCounts {
    /// The row of two models with these names.
    pub(super) fn row(&self, a: &str, b: &str) -> Comparison {
        Comparison {
            a: a.to_owned(),
            b: b.to_owned(),
            frames: self.frames,
            unmatched: self.unmatched,
            agreement: (self.comparable > 0).then(|| self.same as f64 / self.comparable as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prediction::{Class, ScoreKind};

    fn says(name: &str) -> Output {
        Output::Classes {
            scores: ScoreKind::Probability,
            classes: vec![Class {
                id: 0,
                name: name.to_owned(),
                score: 1.0,
                value: 1.0,
            }],
        }
    }

    #[test]
    fn agreement_is_by_name_on_the_frames_that_both_answered() {
        let mut pairing = Pairing::default();
        for model in [1, 2, 3] {
            pairing.add(model);
        }
        for (model, seq, name) in [
            (1, 1, "cat"),
            (2, 1, "cat"),
            (2, 2, "dog"),
            (1, 2, "cat"),
            (1, 3, "cat"),
            (2, 4, "cat"),
            (2, 4, "dog"),
            (3, 1, "cat"),
        ] {
            pairing.answered(model, seq, &says(name));
        }
        pairing.answered(
            1,
            4,
            &Output::Invalid {
                reason: "NaN".to_owned(),
            },
        );
        let counts = pairing.counts();
        // Frames 1 and 2 by both, 1 the same; 3 only by model 1, 4 only by model 2.
        let row = counts[&(1, 2)].row("a", "b");
        assert_eq!(
            (row.frames, row.unmatched, row.agreement),
            (2, 2, Some(0.5))
        );
        let row = counts[&(1, 3)].row("a", "c");
        assert_eq!(
            (row.frames, row.unmatched, row.agreement),
            (1, 2, Some(1.0))
        );
    }

    #[test]
    fn models_without_classes_are_joined_and_not_compared() {
        let mut pairing = Pairing::default();
        pairing.add(1);
        pairing.add(2);
        pairing.answered(
            1,
            1,
            &Output::Raw {
                tensors: Vec::new(),
            },
        );
        pairing.answered(2, 1, &says("cat"));
        let row = pairing.counts()[&(1, 2)].row("a", "b");
        assert_eq!((row.frames, row.agreement), (1, None));
    }

    #[test]
    fn a_long_session_keeps_a_bounded_window_and_exact_counts() {
        let mut pairing = Pairing::default();
        pairing.add(1);
        pairing.add(2);
        for seq in 1..=100_000 {
            pairing.answered(1, seq, &says("cat"));
            if seq % 4 != 0 {
                pairing.answered(2, seq, &says(if seq % 4 == 1 { "dog" } else { "cat" }));
            }
        }
        assert!(pairing.window.len() <= WINDOW);
        let expected = PairCounts {
            frames: 75_000,
            comparable: 75_000,
            same: 50_000,
            unmatched: 25_000,
        };
        assert_eq!(pairing.counts()[&(1, 2)], expected);
    }
}
