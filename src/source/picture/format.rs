use std::fmt;
use std::path::Path;

use image::ImageFormat;

use super::PictureError;

/// Bytes of a file's beginning that its format is recognised by.
pub(super) const MAGIC_BYTES: usize = 64;

/// A picture format that can be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureFormat(pub(super) ImageFormat);

impl fmt::Display for PictureFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.0 {
            ImageFormat::Png => "PNG",
            ImageFormat::Jpeg => "JPEG",
            ImageFormat::Gif => "GIF",
            ImageFormat::WebP => "WebP",
            ImageFormat::Pnm => "PNM",
            ImageFormat::Tiff => "TIFF",
            ImageFormat::Tga => "TGA",
            ImageFormat::Dds => "DDS",
            ImageFormat::Bmp => "BMP",
            ImageFormat::Ico => "ICO",
            ImageFormat::Hdr => "Radiance HDR",
            ImageFormat::OpenExr => "OpenEXR",
            ImageFormat::Farbfeld => "farbfeld",
            ImageFormat::Qoi => "QOI",
            _ => "picture",
        })
    }
}

/// Extensions (lower case) of files that are taken for pictures whatever they contain, so that a
/// fake or unsupported one is named instead of overlooked.
const PICTURE_EXTENSIONS: [&str; 43] = [
    "avif", "bmp", "dds", "dib", "exr", "ff", "gif", "hdr", "heic", "heif", "ico", "j2k", "jfif",
    "jp2", "jpe", "jpeg", "jpg", "jxl", "pam", "pbm", "pgm", "pic", "png", "apng", "pnm", "ppm",
    "psd", "qoi", "tga", "icb", "vda", "vst", "tif", "tiff", "webp", "arw", "cr2", "dng", "nef",
    "orf", "pef", "rw2", "srw",
];

/// Extensions of formats without a recognisable beginning.
const TGA_EXTENSIONS: [&str; 4] = ["tga", "icb", "vda", "vst"];

/// Raw files of cameras are TIFFs whose first page is a thumbnail.
const RAW_EXTENSIONS: [&str; 8] = ["arw", "cr2", "dng", "nef", "orf", "pef", "rw2", "srw"];

/// Formats known by their beginning and nothing more: offset, bytes, name.
const UNSUPPORTED: [(usize, &[u8], &str); 15] = [
    (4, b"ftypavif", "AVIF"),
    (4, b"ftypavis", "AVIF"),
    (4, b"ftypheic", "HEIC"),
    (4, b"ftypheix", "HEIC"),
    (4, b"ftypheim", "HEIC"),
    (4, b"ftyphevc", "HEIC"),
    (4, b"ftypmif1", "HEIF"),
    (4, b"ftypmsf1", "HEIF"),
    (0, b"\0\0\0\x0cJXL ", "JPEG XL"),
    (0, b"\xff\x0a", "JPEG XL"),
    (0, b"\0\0\0\x0cjP  ", "JPEG 2000"),
    (0, b"\xff\x4f\xff\x51", "JPEG 2000"),
    (0, b"8BPS", "Photoshop"),
    (0, b"II+\0", "BigTIFF"),
    (0, b"MM\0+", "BigTIFF"),
];

fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

fn extension_is_one_of(path: &Path, extensions: &[&str]) -> bool {
    extension(path).is_some_and(|extension| extensions.contains(&extension.as_str()))
}

/// Whether the name says that a file is a picture.
pub(crate) fn is_named_as_picture(path: &Path) -> bool {
    extension_is_one_of(path, &PICTURE_EXTENSIONS)
}

/// Whether a file that is not named as a picture certainly begins as one. Beginnings of two or four
/// plain bytes (BMP, PNM, ICO) prove nothing.
pub(crate) fn begins_as_picture(beginning: &[u8]) -> bool {
    image::guess_format(beginning).is_ok_and(|format| {
        !matches!(
            format,
            ImageFormat::Bmp | ImageFormat::Pnm | ImageFormat::Ico
        )
    })
}

/// The format of a file that begins with `beginning` (all of it, or [`MAGIC_BYTES`]). The content
/// decides; the name only where the format has no recognisable beginning.
///
/// # Errors
/// It is of no format that can be decoded.
pub(super) fn recognise(beginning: &[u8], path: &Path) -> Result<PictureFormat, PictureError> {
    if beginning.is_empty() {
        return Err(PictureError::Empty);
    }
    for (offset, bytes, name) in UNSUPPORTED {
        if beginning
            .get(offset..)
            .is_some_and(|rest| rest.starts_with(bytes))
        {
            return Err(PictureError::Format(name));
        }
    }
    match image::guess_format(beginning) {
        Ok(ImageFormat::Tiff) if extension_is_one_of(path, &RAW_EXTENSIONS) => {
            Err(PictureError::Format("raw camera"))
        }
        Ok(format) => Ok(PictureFormat(format)),
        Err(_) if extension_is_one_of(path, &TGA_EXTENSIONS) => Ok(PictureFormat(ImageFormat::Tga)),
        Err(_) => Err(PictureError::NotAPicture {
            beginning: printable(beginning),
        }),
    }
}

/// The first bytes, quoted where they are text and in hexadecimal where not.
fn printable(beginning: &[u8]) -> String {
    let start = &beginning[..beginning.len().min(16)];
    let text = String::from_utf8_lossy(start);
    if text.chars().all(|c| !c.is_control() || c.is_whitespace()) && !text.contains('\u{fffd}') {
        format!("the text {text:?}")
    } else {
        let bytes: Vec<String> = start.iter().map(|byte| format!("{byte:02X}")).collect();
        format!("the bytes {}", bytes.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_decides_and_not_the_name() {
        let png = b"\x89PNG\r\n\x1a\n....";
        let format = recognise(png, Path::new("photo.jpg")).expect("a PNG");
        assert_eq!(format, PictureFormat(ImageFormat::Png));
        assert!(begins_as_picture(png));
    }

    #[test]
    fn what_is_no_picture_is_described() {
        for (content, name, reason) in [
            (&b""[..], "a.jpg", "the file is empty (0 bytes)"),
            (
                b"<html><body>404",
                "a.jpg",
                "is not a picture: it begins with the text \"<html><body>404\"",
            ),
            (
                b"\0\x05\x16\x07",
                "a.jpg",
                "is not a picture: it begins with the bytes 00 05 16 07",
            ),
            (
                b"\0\0\0\x20ftypavif\0\0",
                "a.png",
                "AVIF pictures are not supported; convert it to PNG or JPEG",
            ),
            (
                b"II*\0....",
                "a.NEF",
                "raw camera pictures are not supported; convert it to PNG or JPEG",
            ),
        ] {
            let error = recognise(content, Path::new(name)).expect_err(name);
            assert_eq!(error.to_string(), reason);
        }
    }

    #[test]
    fn a_text_that_begins_like_a_bitmap_is_not_taken_for_one() {
        assert!(!begins_as_picture(b"BMW and other cars"));
        assert!(!begins_as_picture(b"P1 tasks for today"));
    }
}
