use half::f16;
use ort::session::SessionOutputs;
use ort::value::{DynValue, Outlet, TensorElementType, ValueType};

use crate::protocol::TensorInfo;

/// Elements of an output, by type.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// 32-bit floats.
    F32(&'a [f32]),
    /// 16-bit floats.
    F16(&'a [f16]),
    /// 64-bit floats.
    F64(&'a [f64]),
    /// Bytes.
    U8(&'a [u8]),
    /// Signed bytes.
    I8(&'a [i8]),
    /// 32-bit integers.
    I32(&'a [i32]),
    /// 64-bit integers.
    I64(&'a [i64]),
    /// Truth values.
    Bool(&'a [bool]),
    /// Something that is not read: text, sequences, rare types.
    Other,
}

/// One output of a run.
#[derive(Debug, Clone)]
pub struct OutputView<'a> {
    /// Its name.
    pub name: &'a str,
    /// Element type, as `f32`.
    pub dtype: &'static str,
    /// Its shape, batch included; empty for what is no tensor.
    pub shape: Vec<usize>,
    /// Its elements, in row-major order.
    pub values: Values<'a>,
}

impl<'a> OutputView<'a> {
    /// Views of all outputs of a run, in the model's order.
    pub fn all(outputs: &'a SessionOutputs<'_>) -> Vec<Self> {
        outputs
            .keys()
            .enumerate()
            .map(|(index, name)| Self::new(name, &outputs[index]))
            .collect()
    }

    fn new(name: &'a str, value: &'a DynValue) -> Self {
        let ValueType::Tensor { ty, shape, .. } = value.dtype() else {
            return Self {
                name,
                dtype: "other",
                shape: vec![],
                values: Values::Other,
            };
        };
        Self {
            name,
            dtype: dtype_name(*ty),
            // Shapes of values are never negative.
            shape: shape.iter().map(|&side| side.max(0) as usize).collect(),
            values: values(value, *ty),
        }
    }

    /// The part that belongs to frame `index` of `batch` frames: shape without the batch, elements.
    ///
    /// An output whose first dimension is not the batch belongs to every frame whole.
    pub fn part(&self, index: usize, batch: usize) -> (&[usize], Values<'a>) {
        match self.shape.split_first() {
            Some((&first, rest)) if first == batch && index < batch => {
                let length = rest.iter().product();
                (rest, self.values.part(index * length, length))
            }
            _ => (&self.shape, self.values),
        }
    }
}

impl<'a> Values<'a> {
    fn part(self, start: usize, length: usize) -> Self {
        fn cut<T>(all: &[T], start: usize, length: usize) -> &[T] {
            all.get(start..start + length).unwrap_or_default()
        }
        match self {
            Self::F32(all) => Self::F32(cut(all, start, length)),
            Self::F16(all) => Self::F16(cut(all, start, length)),
            Self::F64(all) => Self::F64(cut(all, start, length)),
            Self::U8(all) => Self::U8(cut(all, start, length)),
            Self::I8(all) => Self::I8(cut(all, start, length)),
            Self::I32(all) => Self::I32(cut(all, start, length)),
            Self::I64(all) => Self::I64(cut(all, start, length)),
            Self::Bool(all) => Self::Bool(cut(all, start, length)),
            Self::Other => Self::Other,
        }
    }

    /// The elements as floats, for score outputs; `None` where the type holds no scores.
    pub fn scores(self) -> Option<Vec<f32>> {
        match self {
            Self::F32(all) => Some(all.to_vec()),
            Self::F16(all) => Some(all.iter().map(|value| value.to_f32()).collect()),
            Self::F64(all) => Some(all.iter().map(|&value| value as f32).collect()),
            Self::U8(all) => Some(all.iter().map(|&value| f32::from(value)).collect()),
            Self::I8(all) => Some(all.iter().map(|&value| f32::from(value)).collect()),
            Self::I32(_) | Self::I64(_) | Self::Bool(_) | Self::Other => None,
        }
    }

    /// Calls `visit` with every element as a 64-bit float.
    pub fn for_each(self, mut visit: impl FnMut(f64)) {
        match self {
            Self::F32(all) => all.iter().for_each(|&value| visit(f64::from(value))),
            Self::F16(all) => all.iter().for_each(|value| visit(value.to_f64())),
            Self::F64(all) => all.iter().for_each(|&value| visit(value)),
            Self::U8(all) => all.iter().for_each(|&value| visit(f64::from(value))),
            Self::I8(all) => all.iter().for_each(|&value| visit(f64::from(value))),
            Self::I32(all) => all.iter().for_each(|&value| visit(f64::from(value))),
            Self::I64(all) => all.iter().for_each(|&value| visit(value as f64)),
            Self::Bool(all) => all
                .iter()
                .for_each(|&value| visit(f64::from(u8::from(value)))),
            Self::Other => {}
        }
    }
}

fn values(value: &DynValue, element: TensorElementType) -> Values<'_> {
    fn typed<'a, T: ort::value::PrimitiveTensorElementType + 'static>(
        value: &'a DynValue,
        wrap: impl FnOnce(&'a [T]) -> Values<'a>,
    ) -> Values<'a> {
        // Fails only for a tensor that is not in the host's memory; outputs of a plain run are.
        value
            .try_extract_tensor::<T>()
            .map_or(Values::Other, |(_, elements)| wrap(elements))
    }
    match element {
        TensorElementType::Float32 => typed(value, Values::F32),
        TensorElementType::Float16 => typed(value, Values::F16),
        TensorElementType::Float64 => typed(value, Values::F64),
        TensorElementType::Uint8 => typed(value, Values::U8),
        TensorElementType::Int8 => typed(value, Values::I8),
        TensorElementType::Int32 => typed(value, Values::I32),
        TensorElementType::Int64 => typed(value, Values::I64),
        TensorElementType::Bool => typed(value, Values::Bool),
        _ => Values::Other,
    }
}

/// Short name of an element type.
pub(super) fn dtype_name(element: TensorElementType) -> &'static str {
    match element {
        TensorElementType::Float32 => "f32",
        TensorElementType::Float16 => "f16",
        TensorElementType::Float64 => "f64",
        TensorElementType::Bfloat16 => "bf16",
        TensorElementType::Uint8 => "u8",
        TensorElementType::Int8 => "i8",
        TensorElementType::Uint16 => "u16",
        TensorElementType::Int16 => "i16",
        TensorElementType::Uint32 => "u32",
        TensorElementType::Int32 => "i32",
        TensorElementType::Uint64 => "u64",
        TensorElementType::Int64 => "i64",
        TensorElementType::Bool => "bool",
        TensorElementType::String => "text",
        _ => "other",
    }
}

/// What a card says about an input or output.
pub(super) fn tensor_info(outlet: &Outlet) -> TensorInfo {
    let name = outlet.name().to_owned();
    let ValueType::Tensor {
        ty,
        shape,
        dimension_symbols,
    } = outlet.dtype()
    else {
        return TensorInfo {
            name,
            dtype: outlet.dtype().to_string(),
            shape: vec![],
        };
    };
    let symbols = dimension_symbols.iter().map(String::as_str);
    let symbols = symbols.chain(std::iter::repeat(""));
    let side = |(&side, symbol): (&i64, &str)| match (side, symbol) {
        (0.., _) => side.to_string(),
        (_, "") => "?".to_owned(),
        (_, symbol) => symbol.to_owned(),
    };
    TensorInfo {
        name,
        dtype: dtype_name(*ty).to_owned(),
        shape: shape.iter().zip(symbols).map(side).collect(),
    }
}
