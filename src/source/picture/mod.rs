//! One picture file → upright pixels, or a precise reason why not.

mod error;
mod file;
mod format;
mod jpeg;
mod layout;
mod orientation;

use std::error::Error;
use std::io::{self, Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use image::{ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};

pub use error::PictureError;
pub(super) use file::FileStamp;
pub use format::PictureFormat;
use format::{MAGIC_BYTES, recognise};
pub(super) use format::{begins_as_picture, is_named_as_picture};
use layout::Layout;

use crate::base::monotonic_nanos;
use crate::frame::{FrameDescription, Orientation, PixelOrder, SampleType};

/// Bytes of a JPEG's beginning in which its size is looked for without reading all of it: EXIF
/// data, thumbnails and colour profiles stand before it.
const JPEG_HEADER_BYTES: u64 = 1 << 20;

/// Buffers for compressed files that are larger than this are given back after use.
const KEPT_FILE_BYTES: usize = 16 << 20;

/// Memory that decoders may use beside their output, as a multiple of the accepted pixels.
const DECODER_MEMORY_FACTOR: u64 = 2;

/// A decoded picture.
#[derive(Debug)]
pub(super) struct Picture {
    /// Upright.
    pub(super) description: FrameDescription,
    /// Packed rows.
    pub(super) pixels: Vec<u8>,
    /// Width and height in the file.
    pub(super) stored: [u32; 2],
    /// What made it upright.
    pub(super) orientation: Orientation,
    /// Monotonic time at which the file was opened.
    pub(super) opened_nanos: u64,
    /// The file that was read.
    pub(super) stamp: FileStamp,
}

/// What is known of a file before it is decoded.
#[derive(Debug, Clone, Copy)]
struct Opened {
    format: PictureFormat,
    opened_nanos: u64,
    stamp: FileStamp,
}

/// The first bytes of a file, which tell its format.
pub(super) fn beginning(path: &Path) -> Result<Vec<u8>, PictureError> {
    file::read_beginning(path, MAGIC_BYTES as u64)
}

/// The description of the picture in a file, as stored, from its header alone.
///
/// # Errors
/// It cannot be decoded, as far as the header shows.
pub(super) fn describe(path: &Path, max_bytes: u64) -> Result<FrameDescription, PictureError> {
    let format = recognise(&beginning(path)?, path)?;
    let (width, height, layout) = if format.0 == ImageFormat::Jpeg {
        let header = jpeg_header(path, format, max_bytes)?;
        let layout = if header.components == 1 {
            Layout::direct(SampleType::U8, PixelOrder::Gray)
        } else {
            Layout::direct(SampleType::U8, PixelOrder::Rgb)
        };
        (u32::from(header.width), u32::from(header.height), layout)
    } else {
        let (file, metadata) = file::open(path)?;
        guarded(format, || {
            let decoder = decoder(io::BufReader::new(file), format, metadata.len(), max_bytes)?;
            let (width, height) = decoder.dimensions();
            Ok((width, height, Layout::of(decoder.color_type(), format)?))
        })?
    };
    description(width, height, layout, format, max_bytes)
}

/// The frame header of a JPEG file.
fn jpeg_header(
    path: &Path,
    format: PictureFormat,
    max_bytes: u64,
) -> Result<jpeg::FrameHeader, PictureError> {
    let mut read = 0;
    for length in [JPEG_HEADER_BYTES, max_bytes] {
        let bytes = file::read_beginning(path, length)?;
        if let Some(header) = jpeg::outline(&bytes).frame {
            return Ok(header);
        }
        read = bytes.len() as u64;
        if read < length {
            break;
        }
    }
    Err(PictureError::Truncated {
        format,
        bytes: read,
    })
}

/// Decodes pictures, one after the other, with reused buffers.
#[derive(Debug, Default)]
pub(super) struct PictureReader {
    file: Vec<u8>,
    unexpanded: Vec<u8>,
}

impl PictureReader {
    /// Decodes the file at `path`. `pixels` is a buffer to reuse. `reserve` is told the bytes of
    /// the file and of the pixels before memory for the latter is taken; what it returns is handed
    /// back with the picture.
    ///
    /// # Errors
    /// See [`PictureError`]. A decoder that panics is one of them.
    pub(super) fn read<R>(
        &mut self,
        path: &Path,
        max_bytes: u64,
        pixels: Vec<u8>,
        reserve: impl FnOnce(u64) -> R,
    ) -> Result<(Picture, R), PictureError> {
        let opened_nanos = monotonic_nanos();
        let (file, metadata) = file::open(path)?;
        if metadata.len() > max_bytes {
            return Err(PictureError::FileTooLarge {
                bytes: metadata.len(),
                limit: max_bytes,
            });
        }
        self.file.clear();
        file.take(max_bytes).read_to_end(&mut self.file)?;
        let opened = Opened {
            format: recognise(&self.file[..self.file.len().min(MAGIC_BYTES)], path)?,
            opened_nanos,
            stamp: FileStamp::of(&metadata),
        };
        let result = guarded(opened.format, || {
            self.decode(opened, max_bytes, pixels, reserve)
        });
        if self.file.capacity() > KEPT_FILE_BYTES {
            self.file = Vec::new();
        }
        result
    }

    /// Decodes the file that has been read.
    fn decode<R>(
        &mut self,
        opened: Opened,
        max_bytes: u64,
        mut pixels: Vec<u8>,
        reserve: impl FnOnce(u64) -> R,
    ) -> Result<(Picture, R), PictureError> {
        let format = opened.format;
        let file_bytes = self.file.len() as u64;
        match format.0 {
            ImageFormat::Jpeg => check_jpeg(&self.file, format, max_bytes)?,
            ImageFormat::WebP => check_webp(&self.file, format)?,
            _ => {}
        }
        let mut decoder = decoder(Cursor::new(&self.file[..]), format, file_bytes, max_bytes)?;
        let (width, height) = decoder.dimensions();
        let layout = Layout::of(decoder.color_type(), format)?;
        let stored = description(width, height, layout, format, max_bytes)?;
        let orientation = orientation::orientation(format, &self.file, &mut decoder);
        let reserved = reserve(file_bytes + stored.pixel_bytes() as u64);

        // Checked above against the accepted bytes; an unexpanded picture is smaller.
        let decoded_bytes = decoder.total_bytes() as usize;
        let decoded = if layout.expands() {
            &mut self.unexpanded
        } else {
            &mut pixels
        };
        decoded.resize(decoded_bytes, 0);
        decoder
            .read_image(decoded)
            .map_err(|error| picture_error(error, format, file_bytes, max_bytes))?;
        if layout.expands() {
            layout.expand(&self.unexpanded, &mut pixels);
        }
        layout.tame(&mut pixels);

        let (upright_width, upright_height) = orientation.upright_size(width, height);
        let picture = Picture {
            description: description(upright_width, upright_height, layout, format, max_bytes)?,
            pixels: orientation.make_upright(pixels, width, height, layout.pixel_bytes()),
            stored: [width, height],
            orientation,
            opened_nanos: opened.opened_nanos,
            stamp: opened.stamp,
        };
        Ok((picture, reserved))
    }
}

/// Refuses a JPEG that is cut off, and sizes that would make the decoder take too much memory.
fn check_jpeg(bytes: &[u8], format: PictureFormat, max_bytes: u64) -> Result<(), PictureError> {
    let outline = jpeg::outline(bytes);
    if let Some(header) = outline.frame {
        let layout = Layout::direct(SampleType::U8, PixelOrder::Rgb);
        let (width, height) = (u32::from(header.width), u32::from(header.height));
        if header.components > 1 {
            description(width, height, layout, format, max_bytes)?;
        }
    }
    if !outline.is_complete {
        return Err(PictureError::Truncated {
            format,
            bytes: bytes.len() as u64,
        });
    }
    if outline.frame.is_none() || !outline.has_scan {
        return Err(PictureError::Damaged {
            format,
            detail: "it has no picture data".to_owned(),
        });
    }
    Ok(())
}

/// Refuses a WebP that is shorter than its RIFF header says: what is missing may be the orientation,
/// which stands behind the pixels.
fn check_webp(bytes: &[u8], format: PictureFormat) -> Result<(), PictureError> {
    let size = bytes.get(4..).and_then(<[u8]>::first_chunk).copied();
    let needed = size.map_or(u64::MAX, |size| 8 + u64::from(u32::from_le_bytes(size)));
    if (bytes.len() as u64) < needed {
        return Err(PictureError::Truncated {
            format,
            bytes: bytes.len() as u64,
        });
    }
    Ok(())
}

fn decoder<'a, R: io::BufRead + io::Seek + 'a>(
    input: R,
    format: PictureFormat,
    file_bytes: u64,
    max_bytes: u64,
) -> Result<impl ImageDecoder + 'a, PictureError> {
    let mut reader = ImageReader::with_format(input, format.0);
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(max_bytes.saturating_mul(DECODER_MEMORY_FACTOR));
    reader.limits(limits);
    reader
        .into_decoder()
        .map_err(|error| picture_error(error, format, file_bytes, max_bytes))
}

/// The description of a packed picture, if it is accepted.
fn description(
    width: u32,
    height: u32,
    layout: Layout,
    format: PictureFormat,
    max_bytes: u64,
) -> Result<FrameDescription, PictureError> {
    let needed = u64::from(width)
        .saturating_mul(u64::from(height))
        .saturating_mul(layout.pixel_bytes() as u64);
    if needed > max_bytes {
        return Err(PictureError::TooLarge {
            width,
            height,
            needed,
            limit: max_bytes,
        });
    }
    FrameDescription::packed(width, height, layout.sample, layout.order).map_err(|error| {
        PictureError::Damaged {
            format,
            detail: error.to_string(),
        }
    })
}

/// Runs a decoder; its panic is an error of the picture.
fn guarded<T>(
    format: PictureFormat,
    decode: impl FnOnce() -> Result<T, PictureError>,
) -> Result<T, PictureError> {
    // The buffers that a panic leaves half-written are cleared or dropped before their next use.
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or(Err(PictureError::Decoder { format }))
}

fn picture_error(
    error: ImageError,
    format: PictureFormat,
    file_bytes: u64,
    max_bytes: u64,
) -> PictureError {
    if ends_early(&error) {
        return PictureError::Truncated {
            format,
            bytes: file_bytes,
        };
    }
    match error {
        ImageError::IoError(error) => PictureError::from(error),
        ImageError::Limits(_) => PictureError::DecoderMemory {
            format,
            limit: max_bytes.saturating_mul(DECODER_MEMORY_FACTOR),
        },
        ImageError::Unsupported(error) => PictureError::Variant {
            format,
            detail: error.to_string(),
        },
        error => PictureError::Damaged {
            format,
            detail: innermost(&error),
        },
    }
}

/// The errors that led to this one, from the outermost on.
fn chain(error: &ImageError) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    std::iter::from_fn(move || {
        let error = next?;
        next = error.source();
        Some(error)
    })
}

fn ends_early(error: &ImageError) -> bool {
    let is_end = |error: &io::Error| error.kind() == io::ErrorKind::UnexpectedEof;
    match error {
        ImageError::IoError(error) => is_end(error),
        error => chain(error).any(|error| error.downcast_ref().is_some_and(is_end)),
    }
}

fn innermost(error: &ImageError) -> String {
    chain(error)
        .last()
        .map_or_else(|| error.to_string(), ToString::to_string)
}
