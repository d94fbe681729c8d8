/// What is worth showing of a line that a child wrote to its stderr: its text without terminal
/// colours and other control characters. `None` for a line that tells a reader nothing: an empty one,
/// or one of a backtrace, which stands in the debug log.
pub(super) fn shown_line(line: &str) -> Option<String> {
    let plain = without_control(line);
    let text = plain.trim_end();
    (!text.trim().is_empty() && !is_of_backtrace(text)).then(|| text.to_owned())
}

/// The text without ANSI escape sequences (ECMA-48: CSI and OSC, and the two-letter ones) and without
/// other control characters; a tab becomes a space.
fn without_control(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => skip_escape(&mut letters),
            '\u{9b}' => skip_csi(&mut letters),
            '\t' => text.push(' '),
            letter if letter.is_control() => {}
            letter => text.push(letter),
        }
    }
    text
}

fn skip_escape(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match letters.peek() {
        Some('[') => {
            letters.next();
            skip_csi(letters);
        }
        Some(']') => {
            // Up to BEL, or ESC and a backslash.
            while let Some(letter) = letters.next() {
                if letter == '\u{7}' {
                    return;
                }
                if letter == '\u{1b}' {
                    letters.next_if_eq(&'\\');
                    return;
                }
            }
        }
        _ => {
            // Intermediate bytes, and a final one.
            while letters
                .next_if(|letter| matches!(letter, ' '..='/'))
                .is_some()
            {}
            letters.next_if(|letter| matches!(letter, '0'..='~'));
        }
    }
}

/// Parameters and intermediate bytes, and a final one.
fn skip_csi(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while letters
        .next_if(|letter| matches!(letter, ' '..='?'))
        .is_some()
    {}
    letters.next_if(|letter| matches!(letter, '@'..='~'));
}

/// Whether a line belongs to a backtrace that Rust prints after a panic: `  12: name`,
/// `             at /src/file.rs:1:2`, or a remark around it.
fn is_of_backtrace(text: &str) -> bool {
    let inner = text.trim_start();
    let is_indented = inner.len() < text.len();
    let is_frame = || {
        inner
            .split_once(": ")
            .is_some_and(|(number, _)| is_number(number))
    };
    text == "stack backtrace:"
        || text.starts_with("note: run with `RUST_BACKTRACE")
        || text.starts_with("note: Some details are omitted, run with `RUST_BACKTRACE")
        || is_indented && (is_place(inner) || is_frame())
}

/// `at FILE:LINE:COLUMN`.
fn is_place(text: &str) -> bool {
    let mut parts = text.rsplitn(3, ':');
    let mut is_next_number = || parts.next().is_some_and(is_number);
    text.starts_with("at ") && is_next_number() && is_next_number()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_taken_out_of_a_line() {
        for (line, shown) in [
            (
                "\u{1b}[1;31m2026-12-01 [E:onnxruntime:, x.cc:1 f] Load failed\u{1b}[m",
                "2026-12-01 [E:onnxruntime:, x.cc:1 f] Load failed",
            ),
            ("\u{1b}[38;5;9mred\u{1b}[0m and plain", "red and plain"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("\u{1b}]8;;http://x\u{1b}\\link", "link"),
            ("\u{1b}(Btext\u{1b}", "text"),
            ("\u{9b}1mtext", "text"),
            ("a\tb\rc\u{8}", "a bc"),
            ("ünïcödé 猫", "ünïcödé 猫"),
        ] {
            assert_eq!(shown_line(line).as_deref(), Some(shown), "{line:?}");
        }
    }

    #[test]
    fn backtraces_and_empty_lines_are_no_last_words() {
        for line in [
            "",
            "  \u{1b}[0m ",
            "stack backtrace:",
            "   3: core::result::unwrap_failed",
            "  19: core::ops::function::FnOnce::call_once",
            "             at /rustc/59807616/library/std/src/panicking.rs:689:5",
            "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
            "note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.",
        ] {
            assert_eq!(shown_line(line), None, "{line:?}");
        }
        for line in [
            "thread 'main' (7) panicked at src/consumer/model.rs:1:2:",
            "called `Result::unwrap()` on an `Err` value: 3",
            "3: not indented, so no frame",
            "  at least 3 GB are needed: free some",
        ] {
            assert_eq!(shown_line(line).as_deref(), Some(line));
        }
    }
}
