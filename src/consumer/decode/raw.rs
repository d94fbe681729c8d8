use super::{Decoder, Tuning, fault};
use crate::consumer::tensor::OutputView;
use crate::prediction::{Output, SMALL_TENSOR, TensorSummary};

/// Describes outputs whose meaning is not known.
#[derive(Debug)]
pub(super) struct RawDecoder;

impl Decoder for RawDecoder {
    fn layout(&self) -> &'static str {
        "raw"
    }

    fn decode(&self, outputs: &[OutputView<'_>], index: usize, batch: usize, _: Tuning) -> Output {
        let mut tensors = Vec::with_capacity(outputs.len());
        for output in outputs {
            let statistics = Statistics::of(output, index, batch);
            // Infinities can be meant, as in a mask; a NaN never is.
            if let Some(reason) = fault(output.name, statistics.nan, 0) {
                return Output::Invalid { reason };
            }
            tensors.push(statistics.summary);
        }
        Output::Raw { tensors }
    }
}

struct Statistics {
    summary: TensorSummary,
    nan: u64,
}

impl Statistics {
    fn of(output: &OutputView<'_>, index: usize, batch: usize) -> Self {
        let part = output.part(index, batch);
        let (mut min, mut max, mut sum) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        let (mut finite, mut nan, mut infinite) = (0_u64, 0_u64, 0_u64);
        let mut listed = Vec::new();
        part.for_each(|value| {
            if listed.len() <= SMALL_TENSOR {
                listed.push(value.is_finite().then_some(value));
            }
            if value.is_finite() {
                finite += 1;
                min = min.min(value);
                max = max.max(value);
                sum += value;
            } else if value.is_nan() {
                nan += 1;
            } else {
                infinite += 1;
            }
        });
        let some = |value: f64| (finite > 0).then_some(value);
        let batched = part.shape().len() < output.values.shape().len();
        Self {
            summary: TensorSummary {
                name: output.name.to_owned(),
                dtype: output.dtype.to_owned(),
                shape: batched
                    .then_some(1)
                    .into_iter()
                    .chain(part.shape().iter().map(|&side| side as u64))
                    .collect(),
                min: some(min),
                max: some(max),
                mean: some(sum / finite as f64),
                nan: nan + infinite,
                values: (listed.len() <= SMALL_TENSOR).then_some(listed),
            },
            nan,
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{aview1, aview2};

    use super::*;
    use crate::consumer::tensor::Values;

    const TUNING: Tuning = Tuning {
        threshold: 0.25,
        top: 5,
    };

    #[test]
    fn tensors_are_described_frame_by_frame() {
        let outputs = [
            OutputView {
                name: "a",
                dtype: "f32",
                values: Values::F32(aview2(&[[1.0, f32::INFINITY], [3.0, 5.0]]).into_dyn()),
            },
            OutputView {
                name: "b",
                dtype: "i64",
                values: Values::I64(aview1(&[-1, 0, 4]).into_dyn()),
            },
        ];
        let Output::Raw { tensors } = RawDecoder.decode(&outputs, 0, 2, TUNING) else {
            panic!("raw");
        };
        let numbers = |tensor: &TensorSummary| (tensor.min, tensor.max, tensor.mean, tensor.nan);
        assert_eq!(tensors[0].shape, [1, 2]);
        assert_eq!(numbers(&tensors[0]), (Some(1.0), Some(1.0), Some(1.0), 1));
        assert_eq!(tensors[1].shape, [3]);
        assert_eq!(tensors[0].values, Some(vec![Some(1.0), None]));
        assert_eq!(numbers(&tensors[1]), (Some(-1.0), Some(4.0), Some(1.0), 0));
        let Output::Raw { tensors } = RawDecoder.decode(&outputs, 1, 2, TUNING) else {
            panic!("raw");
        };
        assert_eq!(numbers(&tensors[0]), (Some(3.0), Some(5.0), Some(4.0), 0));
    }

    #[test]
    fn nan_makes_the_answer_invalid() {
        let output = OutputView {
            name: "boxes",
            dtype: "f32",
            values: Values::F32(aview2(&[[f32::NAN, 1.0]]).into_dyn()),
        };
        assert_eq!(
            RawDecoder.decode(&[output], 0, 1, TUNING),
            Output::Invalid {
                reason: "1 NaN in output `boxes`".to_owned()
            }
        );
    }
}
