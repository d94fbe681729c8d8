//! Numbers and times as text, in fixed widths where they change often.

use super::text::text;
use crate::base::monotonic_nanos;

/// A latency with its unit: `0.84 ms`, `10.3 ms`, `312 ms`, `4.21 s`.
pub(super) fn latency(micros: u64) -> String {
    let (number, unit) = latency_parts(micros);
    format!("{number} {unit}")
}

/// Number and unit of a latency, three digits.
pub(super) fn latency_parts(micros: u64) -> (String, &'static str) {
    let millis = micros as f64 / 1000.0;
    // The limits are those at which rounding would give a fourth digit.
    if millis < 9.995 {
        (format!("{millis:.2}"), "ms")
    } else if millis < 99.95 {
        (format!("{millis:.1}"), "ms")
    } else if millis < 999.5 {
        (format!("{millis:.0}"), "ms")
    } else {
        (format!("{:.2}", millis / 1000.0), "s")
    }
}

/// A number with a thin gap between thousands: `1 234 567`.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}

/// A rate: `29.8`, `124`.
pub(super) fn rate(per_second: f64) -> String {
    if per_second < 99.95 {
        format!("{per_second:.1}")
    } else {
        format!("{per_second:.0}")
    }
}

/// A share of 1: `61.2 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// The time since a moment of the monotonic clock: `3.2 s`, `2 min 5 s`, `1 h 12 min`.
pub(super) fn since(nanos: u64) -> String {
    duration(monotonic_nanos().saturating_sub(nanos))
}

/// The time until a moment of the monotonic clock, in whole seconds, rounded up.
pub(super) fn seconds_until(nanos: u64) -> u64 {
    nanos
        .saturating_sub(monotonic_nanos())
        .div_ceil(1_000_000_000)
}

/// A duration: `3.2 s`, `2 min 5 s`.
pub(super) fn seconds(nanos: u64) -> String {
    duration(nanos)
}

fn duration(nanos: u64) -> String {
    let seconds = nanos / 1_000_000_000;
    let words = &text().time;
    match seconds {
        0..60 => format!("{:.1} s", nanos as f64 / 1e9),
        60..3600 => (words.minutes)(seconds / 60, seconds % 60),
        _ => (words.hours)(seconds / 3600, seconds % 3600 / 60),
    }
}

/// Bytes in powers of 1000: `18.6 MB`.
pub(super) fn bytes(bytes: u64) -> String {
    let number = bytes as f64;
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", number / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", number / 1e6),
        _ => format!("{:.2} GB", number / 1e9),
    }
}

/// Text with a capital first letter.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Shortens `text` in its middle to at most `most` characters, so that the end of a path stays.
pub(super) fn elide_middle(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most || most < 3 {
        return text.to_owned();
    }
    let tail = (most - 1) * 2 / 3;
    let head = most - 1 - tail;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{start}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_have_three_digits() {
        for (micros, text) in [
            (0, "0.00 ms"),
            (840, "0.84 ms"),
            (9_994, "9.99 ms"),
            (9_996, "10.0 ms"),
            (99_960, "100 ms"),
            (312_400, "312 ms"),
            (999_600, "1.00 s"),
            (4_210_000, "4.21 s"),
        ] {
            assert_eq!(latency(micros), text);
        }
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1\u{2009}234\u{2009}567");
    }

    #[test]
    fn durations_grow_with_their_unit() {
        assert_eq!(duration(3_240_000_000), "3.2 s");
        assert_eq!(duration(125_000_000_000), "2 min 5 s");
        assert_eq!(duration(4_320_000_000_000), "1 h 12 min");
    }

    #[test]
    fn a_long_path_keeps_its_end() {
        assert_eq!(elide_middle("folder:/a/b/c.jpg", 10), "fol…/c.jpg");
        assert_eq!(elide_middle("猫猫猫猫猫猫", 4), "猫…猫猫");
        assert_eq!(elide_middle("short", 10), "short");
    }
}
