use half::f16;
use ort::session::SessionInputValue;
use ort::value::TensorRef;

use super::model_file::{Cause, DeclaredTensor, ModelFile};
use super::preprocess::{InputTensor, InputType, Layout, TensorSlice};

/// The picture that a model takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageInput {
    /// Name of the input.
    pub name: String,
    /// Layout, type and size.
    pub tensor: InputTensor,
    /// Frames of a run; `None` where the model leaves it open.
    pub batch: Option<u32>,
    /// Whether the shape has a dimension for the batch; without one it is [C,H,W] or [H,W,C].
    has_batch: bool,
}

impl ImageInput {
    /// The one picture that the model takes.
    ///
    /// # Errors
    /// It takes several inputs, none, or something that is no picture of a type that is known.
    pub fn of(file: &ModelFile) -> Result<Self, Cause> {
        let [input] = file.inputs.as_slice() else {
            let names: Vec<String> = file.inputs.iter().map(describe).collect();
            return Err(Cause::Input(match names.len() {
                0 => "it takes no input".to_owned(),
                count => format!("it takes {count} inputs: {}", names.join(", ")),
            }));
        };
        let refuse = |why: String| Cause::Input(format!("input {}: {why}", describe(input)));
        let dtype = match input.element {
            1 => InputType::F32,
            2 => InputType::U8,
            6 => InputType::I32,
            10 => InputType::F16,
            _ => return Err(refuse("its type is none of f32, f16, u8, i32".to_owned())),
        };
        let Some(shape) = &input.shape else {
            return Err(refuse("its shape is not known".to_owned()));
        };
        let has_batch = shape.len() != 3;
        let mut with_batch = shape.clone();
        if !has_batch {
            with_batch.insert(0, 1);
        }
        let layout = Layout::from_metadata(&file.metadata);
        let tensor = InputTensor::from_shape(&with_batch, dtype, layout)
            .map_err(|error| refuse(error.to_string()))?;
        let batch = match with_batch[0] {
            ..1 => None,
            frames => Some(
                u32::try_from(frames)
                    .ok()
                    .ok_or_else(|| refuse(format!("a batch of {frames} frames is too large")))?,
            ),
        };
        Ok(Self {
            name: input.name.clone(),
            tensor,
            batch,
            has_batch,
        })
    }

    fn shape(&self, batch: u32, height: u32, width: u32) -> Vec<i64> {
        let channels = self.tensor.channels;
        let image = match self.tensor.layout {
            Layout::Nchw => [channels, height, width],
            Layout::Nhwc => [height, width, channels],
        };
        let batch = self.has_batch.then_some(batch);
        batch.into_iter().chain(image).map(i64::from).collect()
    }
}

/// `` `images` f32 [?,3,224,224] ``.
fn describe(input: &DeclaredTensor) -> String {
    let info = input.info();
    format!("`{}` {} [{}]", info.name, info.dtype, info.shape.join(","))
}

/// Input values of the frames of a run, one after the other; reused from run to run.
#[derive(Debug)]
pub struct InputBuffer {
    values: Numbers,
    shape: Vec<i64>,
    image_len: usize,
}

#[derive(Debug)]
enum Numbers {
    F32(Vec<f32>),
    F16(Vec<f16>),
    U8(Vec<u8>),
    I32(Vec<i32>),
}

impl InputBuffer {
    /// A buffer without a value.
    pub fn new(dtype: InputType) -> Self {
        Self {
            values: match dtype {
                InputType::F32 => Numbers::F32(vec![]),
                InputType::F16 => Numbers::F16(vec![]),
                InputType::U8 => Numbers::U8(vec![]),
                InputType::I32 => Numbers::I32(vec![]),
            },
            shape: vec![],
            image_len: 0,
        }
    }

    /// Makes room for `batch` frames of `size` (height, width). Values keep whatever they were, or
    /// are 0 where they are new.
    pub fn resize(&mut self, input: &ImageInput, batch: u32, (height, width): (u32, u32)) {
        self.shape = input.shape(batch, height, width);
        self.image_len = input.tensor.image_len(height, width);
        let length = self.image_len * batch as usize;
        match &mut self.values {
            Numbers::F32(values) => values.resize(length, 0.0),
            Numbers::F16(values) => values.resize(length, f16::ZERO),
            Numbers::U8(values) => values.resize(length, 0),
            Numbers::I32(values) => values.resize(length, 0),
        }
    }

    /// Shape of the whole input.
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// The values of frame `index`.
    ///
    /// # Panics
    /// There is no room for that many frames.
    pub fn image(&mut self, index: usize) -> TensorSlice<'_> {
        let range = index * self.image_len..(index + 1) * self.image_len;
        match &mut self.values {
            Numbers::F32(values) => TensorSlice::F32(&mut values[range]),
            Numbers::F16(values) => TensorSlice::F16(&mut values[range]),
            Numbers::U8(values) => TensorSlice::U8(&mut values[range]),
            Numbers::I32(values) => TensorSlice::I32(&mut values[range]),
        }
    }

    /// Copies the only frame of `other`, a buffer of the same type and size, to frame `index`.
    ///
    /// # Panics
    /// There is no room for that many frames, or the sizes differ.
    pub fn copy_image(&mut self, index: usize, other: &Self) {
        let range = index * self.image_len..(index + 1) * self.image_len;
        match (&mut self.values, &other.values) {
            (Numbers::F32(to), Numbers::F32(from)) => to[range].copy_from_slice(from),
            (Numbers::F16(to), Numbers::F16(from)) => to[range].copy_from_slice(from),
            (Numbers::U8(to), Numbers::U8(from)) => to[range].copy_from_slice(from),
            (Numbers::I32(to), Numbers::I32(from)) => to[range].copy_from_slice(from),
            _ => unreachable!("all buffers of a model are made for its input's type"),
        }
    }

    /// Sets the frames from `index` on to 0: the rest of a batch that is not full.
    pub fn clear_from(&mut self, index: usize) {
        let range = index * self.image_len..;
        match &mut self.values {
            Numbers::F32(values) => values[range].fill(0.0),
            Numbers::F16(values) => values[range].fill(f16::ZERO),
            Numbers::U8(values) => values[range].fill(0),
            Numbers::I32(values) => values[range].fill(0),
        }
    }

    /// The input for ONNX Runtime, without a copy.
    pub fn value(&self) -> ort::Result<SessionInputValue<'_>> {
        let shape = self.shape.as_slice();
        Ok(match &self.values {
            Numbers::F32(values) => TensorRef::from_array_view((shape, values.as_slice()))?.into(),
            Numbers::F16(values) => TensorRef::from_array_view((shape, values.as_slice()))?.into(),
            Numbers::U8(values) => TensorRef::from_array_view((shape, values.as_slice()))?.into(),
            Numbers::I32(values) => TensorRef::from_array_view((shape, values.as_slice()))?.into(),
        })
    }
}
