/// How alike two words must be for one to be taken for a misspelling of the other, in 0..=1
/// (Jaro–Winkler).
const LEAST_LIKENESS: f64 = 0.75;

/// The choice that is most like `word`, if one is alike at all.
pub fn nearest<'a>(word: &str, choices: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    choices
        .map(|choice| (strsim::jaro_winkler(word, choice), choice))
        .filter(|&(likeness, _)| likeness >= LEAST_LIKENESS)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, choice)| choice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_finds_its_choice_and_another_word_none() {
        let choices = || ["folder", "image", "pattern"].into_iter();
        assert_eq!(nearest("fodler", choices()), Some("folder"));
        assert_eq!(nearest("xyz", choices()), None);
    }
}
