use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A release of ONNX Runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    /// First number.
    pub major: u32,
    /// Second number; also the number of the newest C API that the release offers.
    pub minor: u32,
    /// Third number.
    pub patch: u32,
}

impl Version {
    /// The oldest release that this program can use: the first with the C API that is chosen by the
    /// feature `api-24` of `ort` (`tests/runtime.rs` compares the two).
    pub const NEEDED: Self = Self {
        major: 1,
        minor: 24,
        patch: 0,
    };
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Text that is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a version like 1.31.1")]
pub struct VersionError(String);

impl FromStr for Version {
    type Err = VersionError;

    /// Reads `1.31.1` and `1.31`; anything after the digits of the third number, as in
    /// `1.31.0-dev`, is left out.
    fn from_str(text: &str) -> Result<Self, VersionError> {
        let invalid = || VersionError(text.to_owned());
        let mut numbers = text.splitn(3, '.');
        let mut number = || numbers.next().and_then(|digits| digits.parse().ok());
        let major = number().ok_or_else(invalid)?;
        let minor = number().ok_or_else(invalid)?;
        let patch = match numbers.next() {
            None => 0,
            Some(rest) => {
                let digits = rest
                    .find(|character: char| !character.is_ascii_digit())
                    .map_or(rest, |end| &rest[..end]);
                digits.parse().ok().ok_or_else(invalid)?
            }
        };
        Ok(Self {
            major,
            minor,
            patch,
        })
    }
}

impl TryFrom<String> for Version {
    type Error = VersionError;

    fn try_from(text: String) -> Result<Self, VersionError> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_ordered_by_number() {
        let version = |text: &str| text.parse::<Version>().expect(text);
        assert_eq!(version("1.31.1").to_string(), "1.31.1");
        assert_eq!(version("1.24"), version("1.24.0"));
        assert_eq!(version("1.31.0-dev"), version("1.31.0"));
        assert!(version("1.9.0") < version("1.16.3"));
        assert!(version("1.16.3") < Version::NEEDED);
        assert!(version("1.24.0") >= Version::NEEDED);
        for text in ["", "1", "one.two", "1.x.2", "1.2.", "1.2.x", "-1.2.3"] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }
}
