use half::f16;
use ndarray::{ArrayViewD, Axis};
use ort::session::SessionOutputs;
use ort::value::{DynValue, Outlet, PrimitiveTensorElementType, TensorElementType, ValueType};

use crate::protocol::TensorInfo;

/// An output tensor by element type, in the memory of ONNX Runtime.
#[derive(Debug, Clone)]
pub enum Values<'a> {
    /// 32-bit floats.
    F32(ArrayViewD<'a, f32>),
    /// 16-bit floats.
    F16(ArrayViewD<'a, f16>),
    /// 64-bit floats.
    F64(ArrayViewD<'a, f64>),
    /// Bytes.
    U8(ArrayViewD<'a, u8>),
    /// Signed bytes.
    I8(ArrayViewD<'a, i8>),
    /// 32-bit integers.
    I32(ArrayViewD<'a, i32>),
    /// 64-bit integers.
    I64(ArrayViewD<'a, i64>),
    /// Truth values.
    Bool(ArrayViewD<'a, bool>),
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
    /// Its tensor, batch included.
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
        let ValueType::Tensor { ty, .. } = value.dtype() else {
            return Self {
                name,
                dtype: "other",
                values: Values::Other,
            };
        };
        Self {
            name,
            dtype: dtype_name(*ty),
            values: values(value, *ty),
        }
    }

    /// The part that belongs to frame `index` of `batch` frames, without the batch's dimension.
    ///
    /// An output whose first dimension is not the batch belongs to every frame whole.
    pub fn part(&self, index: usize, batch: usize) -> Values<'a> {
        match self.values.shape().first() {
            Some(&first) if first == batch && index < batch => self.values.clone().at(index),
            _ => self.values.clone(),
        }
    }
}

impl Values<'_> {
    /// Its shape; empty for what is no tensor that is read.
    pub fn shape(&self) -> &[usize] {
        match self {
            Self::F32(array) => array.shape(),
            Self::F16(array) => array.shape(),
            Self::F64(array) => array.shape(),
            Self::U8(array) => array.shape(),
            Self::I8(array) => array.shape(),
            Self::I32(array) => array.shape(),
            Self::I64(array) => array.shape(),
            Self::Bool(array) => array.shape(),
            Self::Other => &[],
        }
    }

    /// Entry `index` of the first dimension, which must have it.
    fn at(self, index: usize) -> Self {
        match self {
            Self::F32(array) => Self::F32(array.index_axis_move(Axis(0), index)),
            Self::F16(array) => Self::F16(array.index_axis_move(Axis(0), index)),
            Self::F64(array) => Self::F64(array.index_axis_move(Axis(0), index)),
            Self::U8(array) => Self::U8(array.index_axis_move(Axis(0), index)),
            Self::I8(array) => Self::I8(array.index_axis_move(Axis(0), index)),
            Self::I32(array) => Self::I32(array.index_axis_move(Axis(0), index)),
            Self::I64(array) => Self::I64(array.index_axis_move(Axis(0), index)),
            Self::Bool(array) => Self::Bool(array.index_axis_move(Axis(0), index)),
            Self::Other => Self::Other,
        }
    }

    /// The elements as floats, for score outputs; `None` where the type holds no scores.
    pub fn scores(&self) -> Option<Vec<f32>> {
        match self {
            Self::F32(array) => Some(array.iter().copied().collect()),
            Self::F16(array) => Some(array.iter().map(|value| value.to_f32()).collect()),
            Self::F64(array) => Some(array.iter().map(|&value| value as f32).collect()),
            Self::U8(array) => Some(array.iter().map(|&value| f32::from(value)).collect()),
            Self::I8(array) => Some(array.iter().map(|&value| f32::from(value)).collect()),
            Self::I32(_) | Self::I64(_) | Self::Bool(_) | Self::Other => None,
        }
    }

    /// Calls `visit` with every element, in row-major order, as a 64-bit float.
    pub fn for_each(&self, mut visit: impl FnMut(f64)) {
        match self {
            Self::F32(array) => array.iter().for_each(|&value| visit(f64::from(value))),
            Self::F16(array) => array.iter().for_each(|value| visit(value.to_f64())),
            Self::F64(array) => array.iter().for_each(|&value| visit(value)),
            Self::U8(array) => array.iter().for_each(|&value| visit(f64::from(value))),
            Self::I8(array) => array.iter().for_each(|&value| visit(f64::from(value))),
            Self::I32(array) => array.iter().for_each(|&value| visit(f64::from(value))),
            Self::I64(array) => array.iter().for_each(|&value| visit(value as f64)),
            Self::Bool(array) => array
                .iter()
                .for_each(|&value| visit(f64::from(u8::from(value)))),
            Self::Other => {}
        }
    }
}

fn values(value: &DynValue, element: TensorElementType) -> Values<'_> {
    fn typed<'a, T: PrimitiveTensorElementType + 'static>(
        value: &'a DynValue,
        wrap: impl FnOnce(ArrayViewD<'a, T>) -> Values<'a>,
    ) -> Values<'a> {
        // Fails only for a tensor that is not in the host's memory; outputs of a plain run are.
        value.try_extract_array::<T>().map_or(Values::Other, wrap)
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
