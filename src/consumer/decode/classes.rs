use super::meaning::Meaning;
use super::{Decoder, Tuning, fault};
use crate::consumer::labels::Labels;
use crate::consumer::tensor::OutputView;
use crate::prediction::{Class, Output, ScoreKind};
use crate::protocol::{ClassScores, ScoreMeaning};

/// Decodes the scores of a classifier: its first output, one score a class.
#[derive(Debug)]
pub(super) struct ClassesDecoder {
    labels: Labels,
    layout: &'static str,
    meaning: Meaning,
}

impl ClassesDecoder {
    /// Names classes by `labels`, and reads the model's numbers as `meaning` says.
    pub(super) fn new(labels: Labels, layout: &'static str, meaning: Meaning) -> Self {
        Self {
            labels,
            layout,
            meaning,
        }
    }
}

/// The class scores of frame `index`, all finite, or why there are none.
fn row(outputs: &[OutputView<'_>], index: usize, batch: usize) -> Result<Vec<f32>, String> {
    let Some(output) = outputs.first() else {
        return Err("the model gave no output".to_owned());
    };
    let part = output.part(index, batch);
    let Some(values) = part.scores().filter(|values| !values.is_empty()) else {
        return Err(format!(
            "output `{}` of type {} and shape {:?} holds no class scores",
            output.name,
            output.dtype,
            part.shape()
        ));
    };
    let nan = values.iter().filter(|value| value.is_nan()).count();
    let infinite = values.iter().filter(|value| value.is_infinite()).count();
    match fault(output.name, nan as u64, infinite as u64) {
        Some(reason) => Err(reason),
        None => Ok(values),
    }
}

impl Decoder for ClassesDecoder {
    fn layout(&self) -> &'static str {
        self.layout
    }

    fn learn(&mut self, outputs: &[OutputView<'_>], count: usize, batch: usize) {
        let rows = (0..count).filter_map(|index| row(outputs, index, batch).ok());
        rows.for_each(|row| self.meaning.learn(&row));
    }

    fn scores(&self) -> Option<&ClassScores> {
        self.meaning.found()
    }

    fn decode(
        &self,
        outputs: &[OutputView<'_>],
        index: usize,
        batch: usize,
        tuning: Tuning,
    ) -> Output {
        let values = match row(outputs, index, batch) {
            Ok(values) => values,
            Err(reason) => return Output::Invalid { reason },
        };
        let mut scores = values.clone();
        let kind = match self.meaning.found().map(|found| found.are) {
            Some(ScoreMeaning::Logits) => {
                softmax(&mut scores);
                ScoreKind::Probability
            }
            Some(ScoreMeaning::Probabilities) => ScoreKind::Probability,
            Some(ScoreMeaning::Scores) | None => ScoreKind::Score,
        };
        Output::Classes {
            scores: kind,
            classes: best(&scores, tuning.top as usize)
                .into_iter()
                .map(|class| Class {
                    id: u32::try_from(class).unwrap_or(u32::MAX),
                    name: self.labels.name(class),
                    score: scores[class],
                    value: values[class],
                })
                .collect(),
        }
    }
}

/// exp(x − max) over its sum, in 64 bits.
fn softmax(scores: &mut [f32]) {
    let max = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exponential = |score: f32| (f64::from(score) - f64::from(max)).exp();
    let sum: f64 = scores.iter().map(|&score| exponential(score)).sum();
    for score in scores {
        *score = (exponential(*score) / sum) as f32;
    }
}

/// Indices of the `count` highest scores, highest first, the lower index first among equals.
fn best(scores: &[f32], count: usize) -> Vec<usize> {
    let order = |&a: &usize, &b: &usize| scores[b].total_cmp(&scores[a]).then(a.cmp(&b));
    let mut indices: Vec<usize> = (0..scores.len()).collect();
    let count = count.min(indices.len());
    if count == 0 {
        return vec![];
    }
    indices.select_nth_unstable_by(count - 1, order);
    indices.truncate(count);
    indices.sort_unstable_by(order);
    indices
}

#[cfg(test)]
mod tests {
    use ndarray::ArrayView;

    use super::*;
    use crate::consumer::tensor::Values;
    use crate::protocol::Origin;

    const TUNING: Tuning = Tuning {
        threshold: 0.25,
        top: 5,
    };

    fn decode(are: ScoreMeaning, shape: &[usize], values: &[f32], index: usize) -> Output {
        let output = OutputView {
            name: "logits",
            dtype: "f32",
            values: Values::F32(ArrayView::from_shape(shape, values).expect("as many")),
        };
        let meaning = Meaning::wished(are, Origin::You, "");
        ClassesDecoder::new(Labels::default(), "classes", meaning).decode(
            &[output],
            index,
            shape[0],
            TUNING,
        )
    }

    fn scores_of(output: Output) -> Vec<(u32, f32)> {
        match output {
            Output::Classes { classes, .. } => classes
                .iter()
                .map(|class| (class.id, class.score))
                .collect(),
            other => panic!("{other:?}"),
        }
    }

    // scipy.special.softmax([10, 0, 5]) = [0.99326, 4.509e-05, 0.0066925]
    #[test]
    fn logits_get_a_softmax_and_probabilities_do_not_get_another() {
        let logits = decode(ScoreMeaning::Logits, &[1, 3], &[10.0, 0.0, 5.0], 0);
        let classes = scores_of(logits);
        assert_eq!([classes[0].0, classes[1].0, classes[2].0], [0, 2, 1]);
        for ((_, score), expected) in classes.iter().zip([0.993_262_4, 0.006_692_5, 4.509e-5]) {
            assert!((score - expected).abs() < 1e-6, "{score} {expected}");
        }
        let already = decode(ScoreMeaning::Probabilities, &[1, 3], &[0.1, 0.7, 0.2], 0);
        assert_eq!(scores_of(already), [(1, 0.7), (2, 0.2), (0, 0.1)]);
        let unchanged = decode(ScoreMeaning::Scores, &[1, 3], &[10.0, 0.0, 5.0], 0);
        assert_eq!(scores_of(unchanged), [(0, 10.0), (2, 5.0), (1, 0.0)]);
    }

    #[test]
    fn the_models_own_numbers_are_kept_beside_the_probabilities() {
        let Output::Classes { classes, .. } =
            decode(ScoreMeaning::Logits, &[1, 3], &[10.0, 0.0, 5.0], 0)
        else {
            panic!("classes");
        };
        let values: Vec<f32> = classes.iter().map(|class| class.value).collect();
        assert_eq!(values, [10.0, 5.0, 0.0]);
    }

    #[test]
    fn every_frame_of_a_batch_gets_its_own_row() {
        let values = [0.0, 1.0, 2.0, 1.0, 0.0, 0.0];
        for (index, best) in [(0, 2), (1, 0)] {
            let output = decode(ScoreMeaning::Scores, &[2, 3], &values, index);
            assert_eq!(scores_of(output)[0].0, best);
        }
    }

    #[test]
    fn values_that_are_no_numbers_make_the_answer_invalid() {
        for (values, reason) in [
            ([f32::NAN, 1.0, f32::NAN], "2 NaN in output `logits`"),
            (
                [f32::INFINITY, 1.0, 0.0],
                "1 infinite values in output `logits`",
            ),
        ] {
            assert_eq!(
                decode(ScoreMeaning::Logits, &[1, 3], &values, 0),
                Output::Invalid {
                    reason: reason.to_owned()
                }
            );
        }
    }

    #[test]
    fn equal_scores_keep_the_order_of_classes() {
        assert_eq!(best(&[1.0, 3.0, 3.0, 2.0], 3), [1, 2, 3]);
        assert_eq!(best(&[1.0], 5), [0]);
        assert_eq!(best(&[1.0, 2.0], 0), Vec::<usize>::new());
    }
}
