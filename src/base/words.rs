use std::fmt::Write;

/// How alike two words must be for one to be taken for a misspelling of the other, in 0..=1
/// (Jaro–Winkler).
const LEAST_LIKENESS: f64 = 0.75;

/// Bytes as hexadecimal text, two digits each.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a string cannot fail");
            text
        })
}

/// The choice that is most like `word`, if one is alike at all.
pub fn nearest<'a>(word: &str, choices: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    choices
        .map(|choice| (strsim::jaro_winkler(word, choice), choice))
        .filter(|&(likeness, _)| likeness >= LEAST_LIKENESS)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, choice)| choice)
}

/// The scheme of an address and what follows its colon (RFC 3986: a letter, then letters, digits,
/// `+`, `-` and `.`); `None` for what does not begin like an address.
pub fn split_scheme(address: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = address.split_once(':')?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
    is_scheme.then_some((scheme, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_words_and_schemes() {
        assert_eq!(hexadecimal(&[0, 0x0a, 0xff]), "000aff");
        let choices = || ["folder", "image", "pattern"].into_iter();
        assert_eq!(nearest("fodler", choices()), Some("folder"));
        assert_eq!(nearest("xyz", choices()), None);
        assert_eq!(split_scheme("git+ssh:a:b"), Some(("git+ssh", "a:b")));
        for text in ["a b:c", "1a:b", ":a", "/tmp/a", "\u{e4}:b"] {
            assert_eq!(split_scheme(text), None, "{text}");
        }
    }
}
