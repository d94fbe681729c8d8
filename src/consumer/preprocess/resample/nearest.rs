use crate::consumer::preprocess::pixels::Pixels;

/// OpenCV's `INTER_NEAREST`.
#[derive(Debug, Default)]
pub(super) struct Nearest {
    columns: Vec<usize>,
    row: Vec<u8>,
}

impl Nearest {
    pub(super) fn run(
        &mut self,
        pixels: &Pixels<'_>,
        width: usize,
        height: usize,
        mut emit: impl FnMut(usize, &[u8]),
    ) {
        let columns = (0..width).map(|x| neighbour(x, width, pixels.width()));
        self.columns.clear();
        self.columns.extend(columns);
        let channels = pixels.order().channels();
        self.row.resize(width * channels, 0);
        for y in 0..height {
            let source = pixels.row(neighbour(y, height, pixels.height()));
            for (out, &column) in self.row.chunks_exact_mut(channels).zip(&self.columns) {
                out.copy_from_slice(&source[column * channels..][..channels]);
            }
            emit(y, &self.row);
        }
    }
}

/// The sample of `source_len` that becomes sample `index` of `len`.
fn neighbour(index: usize, len: usize, source_len: usize) -> usize {
    // In OpenCV's order of operations, whose rounding decides at whole numbers.
    let step = 1.0 / (len as f64 / source_len as f64);
    ((index as f64 * step).floor() as usize).min(source_len - 1)
}
