use serde::{Deserialize, Serialize};

/// The EXIF orientation tag: what was done to the upright picture to get the stored one.
///
/// Source: Exif 2.32, tag 0x0112.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
#[repr(u8)]
pub enum Orientation {
    /// Stored upright.
    #[default]
    Upright = 1,
    /// Mirrored left to right.
    MirrorHorizontal = 2,
    /// Turned by 180°.
    Rotate180 = 3,
    /// Mirrored top to bottom.
    MirrorVertical = 4,
    /// Mirrored along the main diagonal.
    Transpose = 5,
    /// To be turned clockwise by 90° for display.
    Rotate90 = 6,
    /// Mirrored along the other diagonal.
    Transverse = 7,
    /// To be turned clockwise by 270° for display.
    Rotate270 = 8,
}

impl Orientation {
    /// The orientation of tag value `code` (1..=8), if it is one.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Upright),
            2 => Some(Self::MirrorHorizontal),
            3 => Some(Self::Rotate180),
            4 => Some(Self::MirrorVertical),
            5 => Some(Self::Transpose),
            6 => Some(Self::Rotate90),
            7 => Some(Self::Transverse),
            8 => Some(Self::Rotate270),
            _ => None,
        }
    }

    /// Whether width and height change places.
    pub const fn swaps_sides(self) -> bool {
        matches!(
            self,
            Self::Transpose | Self::Rotate90 | Self::Transverse | Self::Rotate270
        )
    }

    /// Size of the upright picture for one stored as `width` x `height`.
    pub const fn upright_size(self, width: u32, height: u32) -> (u32, u32) {
        if self.swaps_sides() {
            (height, width)
        } else {
            (width, height)
        }
    }

    /// Makes a packed picture of `width` x `height` pixels of `pixel_bytes` bytes upright.
    ///
    /// # Panics
    /// `pixels` is shorter than the size says.
    pub fn make_upright(
        self,
        pixels: Vec<u8>,
        width: u32,
        height: u32,
        pixel_bytes: usize,
    ) -> Vec<u8> {
        if self == Self::Upright {
            return pixels;
        }
        let (width, height) = (width as usize, height as usize);
        let (upright_width, upright_height) = if self.swaps_sides() {
            (height, width)
        } else {
            (width, height)
        };
        let mut upright = Vec::with_capacity(width * height * pixel_bytes);
        for y in 0..upright_height {
            for x in 0..upright_width {
                let (stored_x, stored_y) = match self {
                    Self::Upright => (x, y),
                    Self::MirrorHorizontal => (width - 1 - x, y),
                    Self::Rotate180 => (width - 1 - x, height - 1 - y),
                    Self::MirrorVertical => (x, height - 1 - y),
                    Self::Transpose => (y, x),
                    Self::Rotate90 => (y, height - 1 - x),
                    Self::Transverse => (width - 1 - y, height - 1 - x),
                    Self::Rotate270 => (width - 1 - y, x),
                };
                let start = (stored_y * width + stored_x) * pixel_bytes;
                upright.extend_from_slice(&pixels[start..start + pixel_bytes]);
            }
        }
        upright
    }
}

impl From<Orientation> for u8 {
    fn from(orientation: Orientation) -> Self {
        orientation as Self
    }
}

impl TryFrom<u8> for Orientation {
    type Error = String;

    fn try_from(code: u8) -> Result<Self, String> {
        Self::from_code(code).ok_or_else(|| format!("orientation {code} is not 1 to 8"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected pictures drawn by hand from the tag's definition ("row 0 is the visual …, column 0
    // the visual …"): each is what is stored for the upright picture
    //   1 2 3
    //   4 5 6
    #[test]
    fn every_orientation_gives_the_upright_picture() {
        let upright = vec![1, 2, 3, 4, 5, 6];
        for (code, stored, width, height) in [
            (1, vec![1, 2, 3, 4, 5, 6], 3, 2),
            (2, vec![3, 2, 1, 6, 5, 4], 3, 2),
            (3, vec![6, 5, 4, 3, 2, 1], 3, 2),
            (4, vec![4, 5, 6, 1, 2, 3], 3, 2),
            (5, vec![1, 4, 2, 5, 3, 6], 2, 3),
            (6, vec![3, 6, 2, 5, 1, 4], 2, 3),
            (7, vec![6, 3, 5, 2, 4, 1], 2, 3),
            (8, vec![4, 1, 5, 2, 6, 3], 2, 3),
        ] {
            let orientation = Orientation::from_code(code).expect("1 to 8");
            assert_eq!(orientation.upright_size(width, height), (3, 2));
            assert_eq!(
                orientation.make_upright(stored, width, height, 1),
                upright,
                "tag {code}"
            );
        }
    }
}
