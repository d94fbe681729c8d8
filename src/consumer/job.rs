use super::input::{ImageInput, InputBuffer};
use super::preprocess::{InputType, Preprocessor};
use crate::base::monotonic_nanos;
use crate::frame::Frame;
use crate::protocol::ReportTimes;

/// A frame on its way through a consumer. Its buffers are reused from frame to frame.
#[derive(Debug)]
pub struct Job {
    /// Sequence of the frame.
    pub seq: u64,
    /// The frame, copied out of the ring.
    pub frame: Frame,
    /// The frame as input of a run of one.
    pub input: InputBuffer,
    /// Height and width of that input.
    pub size: (u32, u32),
    /// When each stage ended.
    pub times: ReportTimes,
    /// Why there is no input, if there is none.
    pub failed: Option<String>,
}

impl Job {
    /// A job without a frame, for a model's input.
    pub fn new(dtype: InputType) -> Self {
        Self {
            seq: 0,
            frame: Frame::empty(),
            input: InputBuffer::new(dtype),
            size: (0, 0),
            times: ReportTimes::default(),
            failed: None,
        }
    }

    /// Makes the input out of the frame.
    pub fn prepare(&mut self, preprocessor: &mut Preprocessor, input: &ImageInput) {
        let description = &self.frame.description;
        self.size = preprocessor.output_size(description.width, description.height);
        self.input.resize(input, 1, self.size);
        self.failed = preprocessor
            .run(&self.frame, &mut self.input.image(0))
            .err()
            .map(|error| error.to_string());
        self.times.preprocessed = monotonic_nanos();
    }
}
