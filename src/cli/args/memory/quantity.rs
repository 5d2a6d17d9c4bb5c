//! Quantities of memory as Kubernetes writes them: `384Mi`, `1.5G`, `500e6`.
//!
//! Upstream: apimachinery, [`pkg/api/resource/quantity.go`]. A part of a byte is rounded up, as there.
//!
//! [`pkg/api/resource/quantity.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/api/resource/quantity.go

/// Why a text is not a quantity of memory.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{text:?} is not a quantity of memory: expected one such as 384Mi, 1G or 400000000")]
pub(crate) struct QuantityError {
    text: String,
}

/// The bytes of a quantity; at least one.
pub(super) fn parse(text: &str) -> Result<u64, QuantityError> {
    let fault = || QuantityError {
        text: text.to_owned(),
    };
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, suffix) = text.split_at(end.unwrap_or(text.len()));
    let scale = scale(suffix).ok_or_else(fault)?;
    let number = Some(number).filter(|number| number.bytes().any(|byte| byte.is_ascii_digit()));
    let number: f64 = number.and_then(|n| n.parse().ok()).ok_or_else(fault)?;
    let bytes = (number * scale).ceil();
    if (1.0..=LARGEST).contains(&bytes) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number between 1 and 2^62"
        )]
        return Ok(bytes as u64);
    }
    Err(fault())
}

fn scale(suffix: &str) -> Option<f64> {
    let binary = |power: i32| Some(1024_f64.powi(power));
    let decimal = |power: i32| Some(10_f64.powi(power));
    match suffix {
        "" => Some(1.0),
        "m" => decimal(-3),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        exponent => {
            let power = exponent.strip_prefix(['e', 'E'])?;
            decimal(
                power
                    .parse()
                    .ok()
                    .filter(|power| (-9..=18).contains(power))?,
            )
        }
    }
}

/// 2^62.
const LARGEST: f64 = 4_611_686_018_427_387_904.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_those_of_kubernetes() {
        for (text, bytes) in [
            ("384Mi", 384 << 20),
            ("1Gi", 1 << 30),
            ("1.5G", 1_500_000_000),
            ("400000000", 400_000_000),
            ("500e6", 500_000_000),
            ("5E2", 500),
            ("128k", 128_000),
            ("1500m", 2),
            (".5Ki", 512),
            ("4Ei", 1 << 62),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_not_one_is_refused() {
        for text in [
            "", "Mi", "0", "-1", "1 Mi", "1MiB", "1mb", "1..2", ".", "5Ei", "1e99", "1e",
        ] {
            let refused = parse(text).unwrap_err().to_string();
            assert_eq!(
                refused,
                format!(
                    "{text:?} is not a quantity of memory: expected one such as 384Mi, 1G or 400000000"
                )
            );
        }
    }
}
