use std::collections::BTreeMap;

use half::f16;

use super::PreprocessError;

/// Order of the dimensions of an image tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Batch, channels, height, width: one plane per channel.
    Nchw,
    /// Batch, height, width, channels: the channels of a pixel together.
    Nhwc,
}

impl Layout {
    /// The layout that a model's `layout` metadata names, if any.
    pub fn from_metadata(metadata: &BTreeMap<String, String>) -> Option<Self> {
        match metadata.get("layout")?.trim().to_ascii_uppercase().as_str() {
            "NCHW" | "CHW" => Some(Self::Nchw),
            "NHWC" | "HWC" => Some(Self::Nhwc),
            _ => None,
        }
    }
}

/// Element type of an image tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputType {
    /// 32-bit float.
    F32,
    /// 16-bit float.
    F16,
    /// 8-bit unsigned integer.
    U8,
    /// 32-bit signed integer.
    I32,
}

impl InputType {
    /// Whether values are whole numbers, and so 0..=255 unless somebody says otherwise.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::U8 | Self::I32)
    }
}

/// The image input of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputTensor {
    /// Order of the dimensions.
    pub layout: Layout,
    /// Element type.
    pub dtype: InputType,
    /// 1 (grey) or 3.
    pub channels: u32,
    /// Pixels; `None`: open.
    pub height: Option<u32>,
    /// Pixels; `None`: open.
    pub width: Option<u32>,
}

impl InputTensor {
    /// The image input with this shape; dimensions below 1 are open. Where both layouts fit the
    /// shape, `layout` decides, else NCHW is taken. An open number of channels is 3.
    ///
    /// # Errors
    /// [`PreprocessError::NotAnImage`].
    pub fn from_shape(
        shape: &[i64],
        dtype: InputType,
        layout: Option<Layout>,
    ) -> Result<Self, PreprocessError> {
        let not_an_image = || PreprocessError::NotAnImage {
            shape: shape
                .iter()
                .map(dimension_text)
                .collect::<Vec<_>>()
                .join(","),
        };
        let &[_, second, third, fourth] = shape else {
            return Err(not_an_image());
        };
        let fits = |channels: i64| channels <= 1 || channels == 3;
        let layout = match (fits(second), fits(fourth)) {
            (true, true) if second < 1 && fourth >= 1 => layout.unwrap_or(Layout::Nhwc),
            (true, true) => layout.unwrap_or(Layout::Nchw),
            (true, false) => Layout::Nchw,
            (false, true) => Layout::Nhwc,
            (false, false) => return Err(not_an_image()),
        };
        let (channels, height, width) = match layout {
            Layout::Nchw => (second, third, fourth),
            Layout::Nhwc => (fourth, second, third),
        };
        let side = |side: i64| match side {
            ..1 => Ok(None),
            side => u32::try_from(side).ok().ok_or_else(not_an_image).map(Some),
        };
        Ok(Self {
            layout,
            dtype,
            channels: if channels == 1 { 1 } else { 3 },
            height: side(height)?,
            width: side(width)?,
        })
    }

    /// Values of one image of this size.
    pub const fn image_len(&self, height: u32, width: u32) -> usize {
        self.channels as usize * height as usize * width as usize
    }
}

fn dimension_text(dimension: &i64) -> String {
    if *dimension < 1 {
        "?".to_owned()
    } else {
        dimension.to_string()
    }
}

/// The place of one image in an input tensor.
#[derive(Debug)]
pub enum TensorSlice<'a> {
    /// 32-bit floats.
    F32(&'a mut [f32]),
    /// 16-bit floats.
    F16(&'a mut [f16]),
    /// 8-bit unsigned integers.
    U8(&'a mut [u8]),
    /// 32-bit signed integers.
    I32(&'a mut [i32]),
}

impl TensorSlice<'_> {
    /// Type of the values.
    pub const fn dtype(&self) -> InputType {
        match self {
            Self::F32(_) => InputType::F32,
            Self::F16(_) => InputType::F16,
            Self::U8(_) => InputType::U8,
            Self::I32(_) => InputType::I32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(shape: &[i64], layout: Option<Layout>) -> Option<(Layout, u32, [Option<u32>; 2])> {
        let input = InputTensor::from_shape(shape, InputType::F32, layout).ok()?;
        Some((input.layout, input.channels, [input.height, input.width]))
    }

    #[test]
    fn the_channels_tell_the_layout() {
        let sides = [Some(48), Some(80)];
        assert_eq!(read(&[1, 3, 48, 80], None), Some((Layout::Nchw, 3, sides)));
        assert_eq!(read(&[-1, 48, 80, 3], None), Some((Layout::Nhwc, 3, sides)));
        assert_eq!(read(&[4, 1, 48, 80], None), Some((Layout::Nchw, 1, sides)));
        let open = [None, None];
        assert_eq!(read(&[-1, 3, -1, -1], None), Some((Layout::Nchw, 3, open)));
        assert_eq!(read(&[-1, -1, -1, 3], None), Some((Layout::Nhwc, 3, open)));
        assert_eq!(read(&[-1, -1, -1, -1], None), Some((Layout::Nchw, 3, open)));
    }

    #[test]
    fn metadata_decides_where_both_layouts_fit() {
        assert_eq!(
            read(&[1, 3, 8, 3], Some(Layout::Nhwc)),
            Some((Layout::Nhwc, 3, [Some(3), Some(8)]))
        );
        assert_eq!(
            read(&[1, 8, 8, 3], Some(Layout::Nchw)),
            Some((Layout::Nhwc, 3, [Some(8), Some(8)]))
        );
    }

    #[test]
    fn what_is_not_an_image_is_refused_with_its_shape() {
        for shape in [&[1, 4][..], &[-1, 6, 8, 8], &[1, 3, 4, 8, 8], &[]] {
            assert_eq!(read(shape, None), None, "{shape:?}");
        }
        let refused = InputTensor::from_shape(&[-1, 6, 8, 8], InputType::F32, None);
        assert!(
            refused.is_err_and(|error| error.to_string().contains("[?,6,8,8]")),
            "the message names the shape"
        );
    }
}
