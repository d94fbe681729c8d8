use crate::protocol::{Preprocess, Resize};

/// Guards a product of ratios, such as 292 · 260/292, from falling just below a whole number.
const FLOOR_GUARD: f64 = 1e-6;

/// A rectangle of whole pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rect {
    /// Left edge.
    pub left: u32,
    /// Upper edge.
    pub top: u32,
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
}

/// Which part of a frame lies where in a model's input.
///
/// Both parts are whole pixels, and the same ones are used for preparing the input and for mapping
/// predictions back, so that nothing shifts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// Part of the frame, in frame pixels.
    pub crop: Rect,
    /// Where that part lies in the input, in input pixels; padding is around it.
    pub target: Rect,
    /// Height and width of the whole input.
    pub input_size: [u32; 2],
}

impl Placement {
    /// The placement of a frame of `width` × `height` pixels, each at least 1.
    pub(super) fn new(preprocess: &Preprocess, width: u32, height: u32) -> Self {
        let whole = Rect {
            left: 0,
            top: 0,
            width,
            height,
        };
        let [input_height, input_width] = preprocess.size.unwrap_or_else(|| {
            let own = match preprocess.resize {
                Resize::ShortestCrop => {
                    let side = width.min(height);
                    centre_crop(whole, [side, side], preprocess.crop_pct)
                }
                Resize::Stretch | Resize::Letterbox | Resize::LetterboxTopleft => whole,
            };
            [own.height, own.width]
        });
        let input = Rect {
            left: 0,
            top: 0,
            width: input_width,
            height: input_height,
        };
        let (crop, target) = match preprocess.resize {
            Resize::Stretch => (whole, input),
            Resize::Letterbox => (whole, letterbox(whole, input)),
            Resize::LetterboxTopleft => (whole, letterbox_topleft(whole, input)),
            Resize::ShortestCrop => {
                let size = [input_height, input_width];
                (centre_crop(whole, size, preprocess.crop_pct), input)
            }
        };
        Self {
            crop,
            target,
            input_size: [input_height, input_width],
        }
    }

    /// A point of the input (in pixels; 0 is the left or upper edge of the first one), in frame
    /// pixels. Points of the padding lie outside the frame.
    pub fn to_frame(&self, x: f64, y: f64) -> [f64; 2] {
        [
            map(
                x,
                self.target.left,
                self.target.width,
                self.crop.left,
                self.crop.width,
            ),
            map(
                y,
                self.target.top,
                self.target.height,
                self.crop.top,
                self.crop.height,
            ),
        ]
    }

    /// A point of the frame, in input pixels.
    pub fn to_input(&self, x: f64, y: f64) -> [f64; 2] {
        [
            map(
                x,
                self.crop.left,
                self.crop.width,
                self.target.left,
                self.target.width,
            ),
            map(
                y,
                self.crop.top,
                self.crop.height,
                self.target.top,
                self.target.height,
            ),
        ]
    }
}

/// Multiplies before it divides, so that both edges map exactly.
fn map(value: f64, from: u32, from_len: u32, to: u32, to_len: u32) -> f64 {
    (value - f64::from(from)) * f64::from(to_len) / f64::from(from_len) + f64::from(to)
}

/// The largest centred rectangle of the input's shape, reduced to `crop_pct`, as TensorFlow's and
/// timm's evaluation crops: its sides are rounded down, its place up.
fn centre_crop(frame: Rect, [input_height, input_width]: [u32; 2], crop_pct: f64) -> Rect {
    let [frame_width, frame_height] = [f64::from(frame.width), f64::from(frame.height)];
    let [input_width, input_height] = [f64::from(input_width), f64::from(input_height)];
    let across = frame_width.min(frame_height * input_width / input_height);
    let down = frame_height.min(frame_width * input_height / input_width);
    let side = |side: f64, limit: u32| {
        let side = (side * crop_pct + FLOOR_GUARD).floor();
        (side as u32).clamp(1, limit)
    };
    let width = side(across, frame.width);
    let height = side(down, frame.height);
    Rect {
        left: (frame.width - width).div_ceil(2),
        top: (frame.height - height).div_ceil(2),
        width,
        height,
    }
}

/// As Ultralytics' `LetterBox`: sides rounded half to even, padding by `round(d/2 - 0.1)`.
fn letterbox(frame: Rect, input: Rect) -> Rect {
    let ratio = fitting_ratio(frame, input);
    let side = |side: u32, limit: u32| {
        let side = (f64::from(side) * ratio).round_ties_even();
        (side as u32).clamp(1, limit)
    };
    let width = side(frame.width, input.width);
    let height = side(frame.height, input.height);
    let before = |outer: u32, inner: u32| {
        // Negative only before rounding: -0.1.
        (f64::from(outer - inner) / 2.0 - 0.1).round_ties_even() as u32
    };
    Rect {
        left: before(input.width, width),
        top: before(input.height, height),
        width,
        height,
    }
}

/// As YOLOX' `preproc`: sides rounded down, padding to the right and below.
fn letterbox_topleft(frame: Rect, input: Rect) -> Rect {
    let ratio = fitting_ratio(frame, input);
    let side = |side: u32, limit: u32| ((f64::from(side) * ratio) as u32).clamp(1, limit);
    Rect {
        left: 0,
        top: 0,
        width: side(frame.width, input.width),
        height: side(frame.height, input.height),
    }
}

fn fitting_ratio(frame: Rect, input: Rect) -> f64 {
    let across = f64::from(input.width) / f64::from(frame.width);
    let down = f64::from(input.height) / f64::from(frame.height);
    across.min(down)
}
