use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::base::monotonic_nanos;
use crate::frame::{FrameDescription, PixelOrder, SampleType};
use crate::source::picture;

/// Longest time that headers are read for. A larger picture that is found later gets a larger ring.
const PROBE_TIME: Duration = Duration::from_millis(500);

/// The largest picture that the headers of the files promise; one pixel where none can be read.
pub(super) fn largest(root: &Path, pictures: &[PathBuf], max_bytes: u64) -> FrameDescription {
    let deadline = monotonic_nanos() + PROBE_TIME.as_nanos() as u64;
    let one_pixel = FrameDescription {
        width: 1,
        height: 1,
        sample: SampleType::U8,
        order: PixelOrder::Rgb,
        stride_bytes: 3,
    };
    pictures
        .iter()
        .take_while(|_| monotonic_nanos() < deadline)
        .filter_map(|path| picture::describe(&root.join(path), max_bytes).ok())
        .max_by_key(FrameDescription::pixel_bytes)
        .unwrap_or(one_pixel)
}
