//! Numbers formatted for people.

/// Formats a number: a small one with at least three digits, a large one as a whole number with
/// groups of three digits.
pub fn number(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let (sign, digits) = whole.split_at(whole.len() - whole.trim_start_matches('-').len());
    let mut grouped = String::from(sign);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if value.fract() == 0.0 {
        return grouped;
    }
    grouped + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_as_many_digits_as_are_read() {
        for (value, text) in [
            (0.0, "0"),
            (0.216, "0.22"),
            (4.0, "4"),
            (34.96, "35.0"),
            (99.99, "100.0"),
            (431.7, "432"),
            (17_815.2, "17,815"),
            (1_234_567.0, "1,234,567"),
            (-12.34, "-12.3"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
