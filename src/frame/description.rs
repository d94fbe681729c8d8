use serde::{Deserialize, Serialize};

use super::Orientation;

/// Type of one sample of a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum SampleType {
    /// 8-bit unsigned, 0..=255.
    U8 = 1,
    /// 16-bit unsigned, 0..=65535, native endianness.
    U16 = 2,
    /// 32-bit unsigned that holds 8-bit values, as Python's `array('I')` of an image does.
    U32 = 3,
    /// 32-bit float, 0..=1.
    F32 = 4,
}

impl SampleType {
    /// Size of a sample.
    pub const fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// The type whose discriminant is `code`, if any.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::U8),
            2 => Some(Self::U16),
            3 => Some(Self::U32),
            4 => Some(Self::F32),
            _ => None,
        }
    }
}

/// Order of the channels of a pixel; it also says how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum PixelOrder {
    /// One channel.
    Gray = 1,
    /// Red, green, blue.
    Rgb = 2,
    /// Blue, green, red.
    Bgr = 3,
    /// Red, green, blue, alpha (not premultiplied).
    Rgba = 4,
    /// Blue, green, red, alpha (not premultiplied).
    Bgra = 5,
}

impl PixelOrder {
    /// Number of channels: 1, 3 or 4.
    pub const fn channels(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::Rgb | Self::Bgr => 3,
            Self::Rgba | Self::Bgra => 4,
        }
    }

    /// The order whose discriminant is `code`, if any.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Gray),
            2 => Some(Self::Rgb),
            3 => Some(Self::Bgr),
            4 => Some(Self::Rgba),
            5 => Some(Self::Bgra),
            _ => None,
        }
    }
}

/// Shape and layout of a frame's pixels: `height` rows of `stride_bytes`, each beginning with
/// `width` pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FrameDescription {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Type of each sample.
    pub sample: SampleType,
    /// Order of the channels.
    pub order: PixelOrder,
    /// Bytes from the start of a row to the start of the next one.
    pub stride_bytes: u32,
}

/// Why a description cannot be of a frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Width or height is zero.
    #[error("a frame of {width}x{height} pixels has no pixel")]
    Empty {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// A row does not fit its stride, or the frame does not fit the address space.
    #[error(
        "a row of {width} pixels ({needed} bytes) does not fit a stride of {stride_bytes} bytes"
    )]
    Stride {
        /// Pixels in a row.
        width: u32,
        /// Bytes of a row's pixels.
        needed: u64,
        /// Bytes from row to row.
        stride_bytes: u32,
    },
    /// The pixel buffer is shorter than the description says.
    #[error("the frame needs {needed} bytes of pixels and has {actual}")]
    Short {
        /// Bytes described.
        needed: usize,
        /// Bytes there.
        actual: usize,
    },
}

impl FrameDescription {
    /// A description without padding between rows.
    ///
    /// # Errors
    /// A side is zero, or a row is longer than 4 GiB.
    pub fn packed(
        width: u32,
        height: u32,
        sample: SampleType,
        order: PixelOrder,
    ) -> Result<Self, FrameError> {
        let needed = u64::from(width) * (sample.bytes() * order.channels()) as u64;
        let stride_bytes = u32::try_from(needed).ok().ok_or(FrameError::Stride {
            width,
            needed,
            stride_bytes: u32::MAX,
        })?;
        let description = Self {
            width,
            height,
            sample,
            order,
            stride_bytes,
        };
        description.check()?;
        Ok(description)
    }

    /// Checks that there is a pixel and that a row fits its stride.
    ///
    /// # Errors
    /// See [`FrameError`].
    pub fn check(&self) -> Result<(), FrameError> {
        if self.width == 0 || self.height == 0 {
            return Err(FrameError::Empty {
                width: self.width,
                height: self.height,
            });
        }
        let needed = self.row_bytes() as u64;
        if needed > u64::from(self.stride_bytes) {
            return Err(FrameError::Stride {
                width: self.width,
                needed,
                stride_bytes: self.stride_bytes,
            });
        }
        Ok(())
    }

    /// Bytes of a row's pixels, without padding.
    pub const fn row_bytes(&self) -> usize {
        self.width as usize * self.sample.bytes() * self.order.channels()
    }

    /// Bytes of all rows, the padding after each included.
    pub const fn pixel_bytes(&self) -> usize {
        self.stride_bytes as usize * self.height as usize
    }
}

/// What a frame's captured time means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum CapturedFrom {
    /// The capture driver's own time stamp.
    Driver = 1,
    /// When the frame was taken from the driver's queue.
    Dequeue = 2,
    /// When the frame arrived from a network or a pipe.
    Arrival = 3,
    /// When the file was opened, or asked for if it had been read ahead; when the frame was made.
    #[default]
    File = 4,
}

impl CapturedFrom {
    /// The value whose discriminant is `code`, if any.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Driver),
            2 => Some(Self::Dequeue),
            3 => Some(Self::Arrival),
            4 => Some(Self::File),
            _ => None,
        }
    }
}

/// Where in its source a frame comes from, and when.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FramePosition {
    /// Position in the source: file number of a folder, frame number of a video, from 0. Skipped
    /// entries keep their numbers.
    pub source_index: u64,
    /// How often the source had been played whole before, from 0.
    pub pass: u32,
    /// Path relative to the source's root, escaped by [`escape_path`](crate::base::escape_path);
    /// `None` where a frame is not a file.
    pub path: Option<String>,
    /// Time in a video, in seconds.
    pub media_seconds: Option<f64>,
    /// Monotonic time at which the frame was captured, in nanoseconds.
    pub captured_nanos: u64,
    /// What `captured_nanos` means.
    pub captured_from: CapturedFrom,
    /// Width and height as stored, before `orientation` made the frame upright.
    pub stored: [u32; 2],
    /// The orientation tag that has been applied.
    pub orientation: Orientation,
}

/// An upright frame with its pixels, owned by this process.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Shape and layout of `pixels`.
    pub description: FrameDescription,
    /// Where it comes from.
    pub position: FramePosition,
    /// [`FrameDescription::pixel_bytes`] bytes.
    pub pixels: Vec<u8>,
}

impl Frame {
    /// A frame without pixels, to be filled.
    pub fn empty() -> Self {
        Self {
            description: FrameDescription {
                width: 0,
                height: 0,
                sample: SampleType::U8,
                order: PixelOrder::Rgb,
                stride_bytes: 0,
            },
            position: FramePosition::default(),
            pixels: Vec::new(),
        }
    }
}

impl Frame {
    /// Checks that the pixels are all there.
    ///
    /// # Errors
    /// See [`FrameError`].
    pub fn check(&self) -> Result<(), FrameError> {
        self.description.check()?;
        let needed = self.description.pixel_bytes();
        if self.pixels.len() < needed {
            return Err(FrameError::Short {
                needed,
                actual: self.pixels.len(),
            });
        }
        Ok(())
    }
}
