use std::io::Cursor;

use exif::{In, Reader, Tag};
use image::{ImageDecoder, ImageFormat};

use super::format::PictureFormat;
use crate::frame::Orientation;

/// The orientation tag of a picture; upright where there is none, or none that is valid.
pub(super) fn orientation(
    format: PictureFormat,
    bytes: &[u8],
    decoder: &mut impl ImageDecoder,
) -> Orientation {
    match format.0 {
        // The decoder has read the tag already; the reader of EXIF would copy the whole file.
        ImageFormat::Tiff => decoder
            .orientation()
            .ok()
            .and_then(|orientation| Orientation::from_code(orientation.to_exif())),
        // Read from the container, as PNG has the tag also behind the pixels.
        ImageFormat::Jpeg | ImageFormat::Png | ImageFormat::WebP => from_exif(bytes),
        _ => None,
    }
    .unwrap_or_default()
}

fn from_exif(bytes: &[u8]) -> Option<Orientation> {
    let exif = Reader::new()
        .continue_on_error(true)
        .read_from_container(&mut Cursor::new(bytes))
        // Damage elsewhere in the EXIF data does not turn the picture.
        .or_else(|error| error.distill_partial_result(|_| {}))
        .ok()?;
    let code = exif
        .get_field(Tag::Orientation, In::PRIMARY)?
        .value
        .get_uint(0)?;
    Orientation::from_code(u8::try_from(code).ok()?)
}
