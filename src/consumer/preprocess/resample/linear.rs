use crate::consumer::preprocess::pixels::Pixels;

/// The weight of a sample that stands alone, as OpenCV's `INTER_RESIZE_COEF_SCALE`.
const WHOLE: u16 = 1 << 11;
/// Bits dropped between the horizontal and the vertical pass, so that a sum fits 16 bits.
const DROPPED_BITS: u32 = 4;
/// Distance, in bits, of the two factors in [`Column::weights`] and of the samples they multiply.
const LANE_BITS: u32 = 24;

/// OpenCV's `INTER_LINEAR` on 8 bits, bit for bit: two neighbours per axis whatever the reduction,
/// in its fixed-point arithmetic.
#[derive(Debug, Default)]
pub(super) struct Linear {
    columns: Vec<Column>,
    /// The source rows used last, at the output's width.
    rows: [InterpolatedRow; 2],
    out: Vec<u8>,
}

/// The two neighbours of an output column.
#[derive(Debug, Clone, Copy)]
struct Column {
    /// First byte of the left pixel in its row.
    left: usize,
    /// Weight of the right pixel, and above [`LANE_BITS`] that of the left one: one multiplication
    /// by `left | right << LANE_BITS` then has the weighted sum in its middle lane.
    weights: u64,
}

/// A source row at the output's width, in units of 1/128 of a level.
#[derive(Debug, Default)]
struct InterpolatedRow {
    source: Option<usize>,
    samples: Vec<u16>,
}

impl Linear {
    pub(super) fn run(
        &mut self,
        pixels: &Pixels<'_>,
        width: usize,
        height: usize,
        mut emit: impl FnMut(usize, &[u8]),
    ) {
        let channels = pixels.order().channels();
        self.columns.clear();
        let columns = (0..width).map(|x| Column::new(x, width, pixels.width(), channels));
        self.columns.extend(columns);
        self.out.resize(width * channels, 0);
        for row in &mut self.rows {
            row.source = None;
            row.samples.resize(width * channels, 0);
        }
        let last = pixels.height() - 1;
        // Cameras' sizes are often an odd multiple of the input's, as 1920 of 640: then every place
        // is the middle of a pixel.
        let columns_are_whole = self.columns.iter().all(Column::is_whole);
        for y in 0..height {
            let (above, weights) = neighbours(y, height, pixels.height());
            if columns_are_whole && weights == [WHOLE, 0] {
                pick(
                    pixels.row(above as usize),
                    &self.columns,
                    &mut self.out,
                    channels,
                );
                emit(y, &self.out);
                continue;
            }
            let first = above.clamp(0, last as i64) as usize;
            let second = (above + 1).clamp(0, last as i64) as usize;
            let first_row = self.interpolated(pixels, first, second);
            let second_row = match weights {
                [_, 0] => first_row,
                _ => self.interpolated(pixels, second, first),
            };
            let rows = [first_row, second_row].map(|row| self.rows[row].samples.as_slice());
            blend(rows, weights, &mut self.out);
            emit(y, &self.out);
        }
    }

    /// Which of `rows` holds source row `y`, interpolated now if need be, but not in the place of
    /// row `keep`.
    fn interpolated(&mut self, pixels: &Pixels<'_>, y: usize, keep: usize) -> usize {
        if let Some(row) = self.rows.iter().position(|row| row.source == Some(y)) {
            return row;
        }
        let place = usize::from(self.rows[0].source == Some(keep));
        let row = &mut self.rows[place];
        row.source = Some(y);
        if pixels.order().channels() == 1 {
            interpolate::<1>(pixels.row(y), &self.columns, &mut row.samples);
        } else {
            interpolate::<3>(pixels.row(y), &self.columns, &mut row.samples);
        }
        place
    }
}

impl Column {
    fn new(x: usize, width: usize, source_width: usize, channels: usize) -> Self {
        let last = source_width - 1;
        let (left, [left_weight, right_weight]) = match neighbours(x, width, source_width) {
            (..0, _) => (0, [WHOLE, 0]),
            (left, weights) if (left as usize) < last => (left as usize, weights),
            _ => (last, [WHOLE, 0]),
        };
        Self {
            left: left * channels,
            weights: u64::from(right_weight) | u64::from(left_weight) << LANE_BITS,
        }
    }

    /// Whether the left pixel stands alone.
    fn is_whole(&self) -> bool {
        self.weights == u64::from(WHOLE) << LANE_BITS
    }
}

/// The sample before output sample `index` of `len` (-1 or the last one at the edges), and the
/// weights of it and of the one after it.
fn neighbours(index: usize, len: usize, source_len: usize) -> (i64, [u16; 2]) {
    // In OpenCV's order of operations and types, whose rounding shows in the weights.
    let step = 1.0 / (len as f64 / source_len as f64);
    let place = ((index as f64 + 0.5) * step - 0.5) as f32;
    let before = place.floor();
    let fraction = place - before;
    let weight = |share: f32| (share * f32::from(WHOLE)).round_ties_even() as u16;
    (before as i64, [weight(1.0 - fraction), weight(fraction)])
}

/// Interpolates a row of pixels of `N` channels.
fn interpolate<const N: usize>(row: &[u8], columns: &[Column], out: &mut [u16]) {
    for (column, out) in columns.iter().zip(out.as_chunks_mut::<N>().0) {
        let both = load(row, column.left);
        for (channel, out) in out.iter_mut().enumerate() {
            let left = both >> (8 * channel) & 0xff;
            let right = both >> (8 * (channel + N)) & 0xff;
            let pair = left | right << LANE_BITS;
            // The highest lane overflows and is not needed; `as` cuts off what is left of it.
            *out = (pair.wrapping_mul(column.weights) >> (LANE_BITS + DROPPED_BITS)) as u16;
        }
    }
}

/// Takes the left pixel of every column.
fn pick(row: &[u8], columns: &[Column], out: &mut [u8], channels: usize) {
    if channels == 1 {
        for (column, out) in columns.iter().zip(out) {
            *out = row[column.left];
        }
    } else {
        for (column, out) in columns.iter().zip(out.as_chunks_mut::<3>().0) {
            out.copy_from_slice(&row[column.left..][..3]);
        }
    }
}

/// Eight bytes from `start`, zeros after the row's end: two pixels and what follows them.
fn load(row: &[u8], start: usize) -> u64 {
    let rest = &row[start..];
    match rest.first_chunk::<8>() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => {
            let mut bytes = [0; 8];
            bytes[..rest.len()].copy_from_slice(rest);
            u64::from_le_bytes(bytes)
        }
    }
}

fn blend([first, second]: [&[u16]; 2], weights: [u16; 2], out: &mut [u8]) {
    let share = |sample: u16, weight: u16| ((u32::from(sample) * u32::from(weight)) >> 16) as u16;
    for ((out, &first), &second) in out.iter_mut().zip(first).zip(second) {
        let sum = share(first, weights[0]) + share(second, weights[1]);
        *out = ((sum + 2) >> 2) as u8;
    }
}
