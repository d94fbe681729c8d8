use std::fmt::Write;

/// Bytes as hexadecimal text, two digits each.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a string cannot fail");
            text
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_gives_two_digits() {
        assert_eq!(hexadecimal(&[0, 0x0a, 0xff]), "000aff");
        assert_eq!(hexadecimal(&[]), "");
    }
}
