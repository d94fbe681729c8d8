//! Python literals, as exporters write them into a model's metadata: `{0: 'person', 1: "it's"}`.

/// A value of Python's literal syntax.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(String),
    /// `[…]`, `(…)`, or a set.
    List(Vec<Literal>),
    /// `{key: value}`, in the order written.
    Dict(Vec<(Literal, Literal)>),
}

/// Where and why a text is not a literal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a Python literal at character {position}: {expected}")]
pub(super) struct LiteralError {
    /// Characters before it.
    pub position: usize,
    /// What is missing or wrong.
    pub expected: &'static str,
}

/// Deepest nesting that is read; metadata nests two or three deep.
const MAX_DEPTH: u32 = 32;

impl Literal {
    /// Reads `text`, all of it.
    ///
    /// # Errors
    /// It is no literal, or nests deeper than 32.
    pub(super) fn parse(text: &str) -> Result<Self, LiteralError> {
        let mut parser = Parser {
            characters: text.chars().collect(),
            position: 0,
        };
        let value = parser.value(0)?;
        parser.skip_blanks();
        if parser.position < parser.characters.len() {
            return parser.fail("the end");
        }
        Ok(value)
    }
}

struct Parser {
    characters: Vec<char>,
    position: usize,
}

impl Parser {
    fn fail<T>(&self, expected: &'static str) -> Result<T, LiteralError> {
        Err(LiteralError {
            position: self.position,
            expected,
        })
    }

    fn peek(&self) -> Option<char> {
        self.characters.get(self.position).copied()
    }

    fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.position += 1;
        Some(character)
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.position += 1;
        }
    }

    /// Skips blanks, then `character` if it is next.
    fn accept(&mut self, character: char) -> bool {
        self.skip_blanks();
        let found = self.peek() == Some(character);
        self.position += usize::from(found);
        found
    }

    fn value(&mut self, depth: u32) -> Result<Literal, LiteralError> {
        if depth > MAX_DEPTH {
            return self.fail("less nesting");
        }
        self.skip_blanks();
        match self.peek() {
            Some('\'' | '"') => self.texts(),
            Some('[') => self.list(']', depth),
            Some('(') => self.list(')', depth),
            Some('{') => self.dict_or_set(depth),
            Some(character) if character.is_ascii_digit() || "+-.".contains(character) => {
                self.number()
            }
            Some(character) if character.is_alphabetic() => self.word(),
            _ => self.fail("a value"),
        }
    }

    fn list(&mut self, close: char, depth: u32) -> Result<Literal, LiteralError> {
        self.position += 1;
        let mut items = Vec::new();
        while !self.accept(close) {
            items.push(self.value(depth + 1)?);
            if !self.accept(',') {
                if self.accept(close) {
                    break;
                }
                return self.fail("a comma or the closing bracket");
            }
        }
        Ok(Literal::List(items))
    }

    fn dict_or_set(&mut self, depth: u32) -> Result<Literal, LiteralError> {
        self.position += 1;
        let (mut entries, mut items) = (Vec::new(), Vec::new());
        while !self.accept('}') {
            let key = self.value(depth + 1)?;
            if self.accept(':') {
                entries.push((key, self.value(depth + 1)?));
            } else {
                items.push(key);
            }
            if !self.accept(',') {
                if self.accept('}') {
                    break;
                }
                return self.fail("a comma or the closing brace");
            }
        }
        match (entries.is_empty(), items.is_empty()) {
            (_, true) => Ok(Literal::Dict(entries)),
            (true, false) => Ok(Literal::List(items)),
            (false, false) => self.fail("a colon after every key"),
        }
    }

    fn number(&mut self) -> Result<Literal, LiteralError> {
        let start = self.position;
        while self
            .peek()
            .is_some_and(|c| c.is_ascii_alphanumeric() || "+-._".contains(c))
        {
            self.position += 1;
        }
        let text: String = self.characters[start..self.position]
            .iter()
            .filter(|&&character| character != '_')
            .collect();
        if let Ok(number) = text.parse() {
            Ok(Literal::Int(number))
        } else if let Ok(number) = text.parse() {
            Ok(Literal::Float(number))
        } else {
            self.position = start;
            self.fail("a number")
        }
    }

    fn word(&mut self) -> Result<Literal, LiteralError> {
        let start = self.position;
        while self.peek().is_some_and(char::is_alphanumeric) {
            self.position += 1;
        }
        let word: String = self.characters[start..self.position].iter().collect();
        match word.as_str() {
            "None" => Ok(Literal::None),
            "True" => Ok(Literal::Bool(true)),
            "False" => Ok(Literal::Bool(false)),
            "inf" => Ok(Literal::Float(f64::INFINITY)),
            "nan" => Ok(Literal::Float(f64::NAN)),
            "u" | "U" if matches!(self.peek(), Some('\'' | '"')) => self.texts(),
            _ => {
                self.position = start;
                self.fail("a value")
            }
        }
    }

    /// A quoted text, and those written right after it: Python joins them.
    fn texts(&mut self) -> Result<Literal, LiteralError> {
        let mut text = String::new();
        while let Some(quote @ ('\'' | '"')) = self.peek() {
            self.position += 1;
            self.quoted(quote, &mut text)?;
            self.skip_blanks();
        }
        Ok(Literal::Text(text))
    }

    fn quoted(&mut self, quote: char, text: &mut String) -> Result<(), LiteralError> {
        loop {
            match self.next() {
                None => return self.fail("the closing quote"),
                Some(character) if character == quote => return Ok(()),
                Some('\\') => self.escape(text)?,
                Some(character) => text.push(character),
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), LiteralError> {
        let Some(kind) = self.next() else {
            return self.fail("an escaped character");
        };
        let code = match kind {
            '\n' => return Ok(()),
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            'x' => self.digits(16, 2)?,
            'u' => self.surrogates()?,
            'U' => self.digits(16, 8)?,
            '0'..='7' => {
                self.position -= 1;
                self.octal()
            }
            '\\' | '\'' | '"' => u32::from(kind),
            // Python keeps the backslash of an unknown escape.
            other => {
                text.push('\\');
                text.push(other);
                return Ok(());
            }
        };
        text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        Ok(())
    }

    fn digits(&mut self, radix: u32, count: usize) -> Result<u32, LiteralError> {
        let mut code: u32 = 0;
        for _ in 0..count {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else {
                return self.fail("a hexadecimal digit");
            };
            self.position += 1;
            code = code.wrapping_mul(radix).wrapping_add(digit);
        }
        Ok(code)
    }

    fn octal(&mut self) -> u32 {
        let mut code = 0;
        for _ in 0..3 {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else {
                break;
            };
            self.position += 1;
            code = code * 8 + digit;
        }
        code
    }

    /// `uXXXX`, or two of them that make one character, as JSON writes it.
    fn surrogates(&mut self) -> Result<u32, LiteralError> {
        let high = self.digits(16, 4)?;
        let follows = self.characters[self.position..].starts_with(&['\\', 'u']);
        if !(0xD800..0xDC00).contains(&high) || !follows {
            return Ok(high);
        }
        let before = self.position;
        self.position += 2;
        let low = self.digits(16, 4)?;
        if (0xDC00..0xE000).contains(&low) {
            return Ok(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
        }
        self.position = before;
        Ok(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Literal {
        Literal::Text(value.to_owned())
    }

    // Expected values from Python 3.11's ast.literal_eval.
    #[test]
    fn quotes_escapes_and_unicode_are_read_as_python_reads_them() {
        for (source, expected) in [
            (r#"'it''s'"#, "its"),
            (r#""it's""#, "it's"),
            (r"'it\'s'", "it's"),
            (r#"'say "hi", ok'"#, "say \"hi\", ok"),
            (r"'back\\slash'", "back\\slash"),
            (r"'\x41\u72ac\U0001F600\101\0'", "A犬😀A\0"),
            (r"'tab\tnew\nline'", "tab\tnew\nline"),
            (r"'\q'", "\\q"),
            ("'{curly}: [x]'", "{curly}: [x]"),
            ("'naïve 犬'", "naïve 犬"),
            ("u'old'", "old"),
            ("''", ""),
        ] {
            assert_eq!(Literal::parse(source), Ok(text(expected)), "{source}");
        }
    }

    #[test]
    fn containers_and_numbers_are_read() {
        assert_eq!(
            Literal::parse("{0: 'a', 1: [1, -2.5, None], 'k': (True, False,), }"),
            Ok(Literal::Dict(vec![
                (Literal::Int(0), text("a")),
                (
                    Literal::Int(1),
                    Literal::List(vec![Literal::Int(1), Literal::Float(-2.5), Literal::None])
                ),
                (
                    text("k"),
                    Literal::List(vec![Literal::Bool(true), Literal::Bool(false)])
                ),
            ]))
        );
        assert_eq!(Literal::parse(" {} "), Ok(Literal::Dict(vec![])));
        assert_eq!(
            Literal::parse("{1_000, 1e3}"),
            Ok(Literal::List(vec![
                Literal::Int(1000),
                Literal::Float(1000.0)
            ]))
        );
    }

    #[test]
    fn what_is_no_literal_is_refused_where_it_goes_wrong() {
        for (source, position) in [
            ("", 0),
            ("{0: 'a'", 7),
            ("'open", 5),
            ("[1 2]", 3),
            ("person", 0),
            ("{0: 'a'} tail", 9),
            ("{1: 2, 3}", 9),
            (r"'\xZZ'", 3),
            ("__import__('os')", 0),
        ] {
            let error = Literal::parse(source).expect_err(source);
            assert_eq!(error.position, position, "{source}: {error}");
        }
        let deep = "[".repeat(100_000);
        assert!(Literal::parse(&deep).is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(source in ".*") {
            drop(Literal::parse(&source));
        }
    }
}
