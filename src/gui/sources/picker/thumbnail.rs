use std::path::Path;

use egui::ColorImage;
use image::{DynamicImage, ImageDecoder, ImageReader, Limits};

/// Longest side of a thumbnail, in pixels.
const SIDE: u32 = 96;
/// A picture that takes more than this when decoded has no thumbnail, in bytes.
const MOST_BYTES: u64 = 256 << 20;

/// A small picture of a picture file, upright; `None` where it cannot be read.
pub(in crate::gui::sources) fn thumbnail(path: &Path) -> Option<ColorImage> {
    let mut reader = ImageReader::open(path).ok()?.with_guessed_format().ok()?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MOST_BYTES);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().ok()?;
    if decoder.total_bytes() > MOST_BYTES {
        return None;
    }
    let orientation = decoder.orientation().ok()?;
    let whole = DynamicImage::from_decoder(decoder).ok()?;
    let mut small = whole.thumbnail(SIDE, SIDE);
    small.apply_orientation(orientation);
    let pixels = small.into_rgba8();
    let size = [pixels.width() as usize, pixels.height() as usize];
    Some(ColorImage::from_rgba_unmultiplied(size, pixels.as_raw()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thumbnail_is_small_and_a_broken_picture_has_none() {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/samples");
        // 451 × 300.
        let image = thumbnail(&samples.join("cat.jpg")).expect("a picture");
        assert_eq!(image.size, [96, 64]);
        assert!(thumbnail(Path::new(env!("CARGO_MANIFEST_PATH"))).is_none());
    }
}
