use crate::consumer::model_file::{LastOperator, Makes};
use crate::protocol::{ClassScores, Origin, ScoreMeaning};

/// What a classifier's numbers are: decided once for a model, never for a frame, so that a row that
/// sums to 1 by accident is read like its neighbours.
#[derive(Debug, Clone)]
pub(super) struct Meaning {
    found: Option<ClassScores>,
    /// Nothing that the model answers changes it any more.
    settled: bool,
}

/// How far from 1 the sum of a row may be that is taken for probabilities; a softmax in 16-bit floats
/// over 1000 classes strays by a few thousandths.
const SUM_TOLERANCE: f64 = 0.01;

impl Meaning {
    /// As somebody wishes.
    pub(super) fn wished(are: ScoreMeaning, origin: Origin, layout: &str) -> Self {
        Self::settled(are, origin, format!("layout `{layout}`"))
    }

    /// As the graph tells; else its answers will.
    pub(super) fn of_graph(last: &LastOperator) -> Self {
        let are = match last.makes {
            Makes::Probabilities => ScoreMeaning::Probabilities,
            Makes::LogProbabilities | Makes::Sums => ScoreMeaning::Logits,
            Makes::Independent => ScoreMeaning::Scores,
            Makes::Unknown => {
                return Self {
                    found: None,
                    settled: false,
                };
            }
        };
        let evidence = format!("{} makes output `{}`", last.operator, last.output);
        Self::settled(are, Origin::Graph, evidence)
    }

    /// Numbers of an integer type, whose scale is not known: never a share of 1.
    pub(super) fn of_integers(dtype: &str) -> Self {
        let evidence = format!("the output is {dtype}");
        Self::settled(ScoreMeaning::Scores, Origin::Shape, evidence)
    }

    fn settled(are: ScoreMeaning, origin: Origin, evidence: String) -> Self {
        Self {
            found: Some(ClassScores {
                are,
                origin,
                evidence,
            }),
            settled: true,
        }
    }

    /// What is known.
    pub(super) fn found(&self) -> Option<&ClassScores> {
        self.found.as_ref()
    }

    /// Learns from the numbers of one frame, all finite.
    ///
    /// Rows of a softmax always sum to 1: rows that do are taken for probabilities until one does not.
    /// Then the numbers are no softmax, and are read as logits, which most such models give; scores of
    /// each class by itself cannot be told from these and have to be named by the layout.
    pub(super) fn learn(&mut self, row: &[f32]) {
        if self.settled {
            return;
        }
        let sum: f64 = row.iter().map(|&score| f64::from(score)).sum();
        let outside = row.iter().find(|score| !(0.0..=1.0).contains(*score));
        let proof = match outside {
            Some(score) => Some(format!("an answer holds {score}")),
            None if (sum - 1.0).abs() > SUM_TOLERANCE => {
                Some(format!("an answer sums to {sum:.3}"))
            }
            None => None,
        };
        match proof {
            Some(evidence) => {
                *self = Self::settled(ScoreMeaning::Logits, Origin::Answers, evidence)
            }
            None => {
                self.found.get_or_insert_with(|| ClassScores {
                    are: ScoreMeaning::Probabilities,
                    origin: Origin::Answers,
                    evidence: "its answers lie between 0 and 1 and sum to 1".to_owned(),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown() -> Meaning {
        Meaning::of_graph(&LastOperator {
            makes: Makes::Unknown,
            operator: String::new(),
            output: "y".to_owned(),
        })
    }

    fn are(meaning: &Meaning) -> Option<ScoreMeaning> {
        meaning.found().map(|found| found.are)
    }

    #[test]
    fn one_answer_that_is_no_softmax_settles_it() {
        for row in [[0.2, 0.3, 0.6], [0.0, 0.0, 0.0], [-0.5, 1.2, 0.3]] {
            let mut meaning = unknown();
            assert_eq!(are(&meaning), None);
            meaning.learn(&row);
            assert_eq!(are(&meaning), Some(ScoreMeaning::Logits), "{row:?}");
            // By accident.
            meaning.learn(&[0.2, 0.3, 0.5]);
            assert_eq!(are(&meaning), Some(ScoreMeaning::Logits));
        }
    }

    #[test]
    fn answers_that_sum_to_one_are_probabilities_until_one_does_not() {
        let mut meaning = unknown();
        meaning.learn(&[0.2, 0.3, 0.5]);
        // 1000 halves of a 16-bit softmax.
        meaning.learn(&[0.996, 0.0, 0.0]);
        assert_eq!(are(&meaning), Some(ScoreMeaning::Probabilities));
        meaning.learn(&[3.0, 0.0, 0.5]);
        assert_eq!(are(&meaning), Some(ScoreMeaning::Logits));
        let found = meaning.found().expect("it");
        assert_eq!(
            (found.origin, found.evidence.as_str()),
            (Origin::Answers, "an answer holds 3")
        );
    }

    #[test]
    fn what_the_graph_or_somebody_says_is_not_changed_by_answers() {
        let last = LastOperator {
            makes: Makes::Sums,
            operator: "Gemm".to_owned(),
            output: "y".to_owned(),
        };
        let mut meaning = Meaning::of_graph(&last);
        meaning.learn(&[0.2, 0.3, 0.5]);
        assert_eq!(are(&meaning), Some(ScoreMeaning::Logits));
        assert_eq!(
            meaning.found().expect("it").evidence,
            "Gemm makes output `y`"
        );
        let mut meaning =
            Meaning::wished(ScoreMeaning::Probabilities, Origin::You, "probabilities");
        meaning.learn(&[7.0, 0.3]);
        assert_eq!(are(&meaning), Some(ScoreMeaning::Probabilities));
    }
}
