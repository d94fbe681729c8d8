//! Preprocessing and provider in words.

use super::values::{decimal, triple};
use crate::protocol::{Filter, Preprocess, ProviderReport, Resize};

/// What happens to a frame before the model sees it.
pub(super) fn preprocessing(preprocess: &Preprocess) -> String {
    let Preprocess {
        size,
        crop_pct,
        order,
        scale,
        mean,
        std,
        pad,
        ..
    } = preprocess;
    let input = size.map_or_else(
        || "the frame's own size".to_owned(),
        |[height, width]| format!("{width} wide and {height} high"),
    );
    let fitted = match preprocess.resize {
        Resize::Stretch => format!("The whole frame is stretched to {input}"),
        Resize::Letterbox => {
            format!("The whole frame is fitted into {input}, centred and padded with {pad}")
        }
        Resize::LetterboxTopleft => {
            format!("The whole frame is fitted into {input}, at the top left and padded with {pad}")
        }
        Resize::ShortestCrop => format!(
            "The centre of the frame, {} % of its shorter side, is brought to {input}",
            decimal((crop_pct * 1e5).round() / 1e3)
        ),
    };
    let filter = match preprocess.filter {
        Filter::PilBilinear => "Pillow's bilinear filter",
        Filter::PilBicubic => "Pillow's bicubic filter",
        Filter::CvLinear => "OpenCV's linear filter",
        Filter::Nearest => "the nearest pixels",
    };
    let colours = match order.as_str() {
        "rgb" => "Red, green and blue, in this order",
        "bgr" => "Blue, green and red, in this order",
        "gray" => "Grey levels",
        other => other,
    };
    format!(
        "{fitted}, with {filter}. {colours}; each value x becomes (x · {} − mean) / std, with mean {} and std {}.",
        decimal(*scale),
        triple(*mean),
        triple(*std),
    )
}

/// What was asked, what was registered, what ran: a line each.
pub(super) fn provider(report: &ProviderReport) -> Vec<String> {
    let device = report
        .device
        .map_or_else(String::new, |device| format!(", device {device}"));
    let mut lines = vec![
        format!("asked: {}", report.asked),
        format!("registered: {}{device}", report.provider),
    ];
    if let Some(reason) = &report.reason {
        lines.push(format!("because: {reason}"));
    }
    for (name, nodes) in &report.assigned {
        lines.push(format!("assigned to {name}: {nodes} nodes"));
    }
    for (name, executed) in &report.executed {
        lines.push(format!(
            "ran on {name}: {} kernels, {}",
            executed.kernels,
            crate::gui::format::latency(executed.micros)
        ));
    }
    if report.copies > 0 {
        lines.push(format!("copies between devices: {}", report.copies));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preprocessing_is_told_in_the_order_in_which_it_happens() {
        let preprocess = Preprocess {
            resize: Resize::ShortestCrop,
            filter: Filter::PilBicubic,
            size: Some([224, 320]),
            crop_pct: 0.875,
            order: "rgb".to_owned(),
            scale: 1.0,
            mean: [127.0; 3],
            std: [128.0; 3],
            pad: 114,
        };
        assert_eq!(
            preprocessing(&preprocess),
            "The centre of the frame, 87.5 % of its shorter side, is brought to 320 wide and 224 high, with Pillow's bicubic filter. Red, green and blue, in this order; each value x becomes (x · 1 − mean) / std, with mean 127, 127, 127 and std 128, 128, 128."
        );
        let letterbox = Preprocess {
            resize: Resize::Letterbox,
            scale: 1.0 / 255.0,
            ..preprocess
        };
        let text = preprocessing(&letterbox);
        assert!(text.contains("padded with 114"), "{text}");
        assert!(text.contains("(x · 1/255 − mean)"), "{text}");
    }
}
