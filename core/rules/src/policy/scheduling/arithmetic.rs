//! What the scheduler computes in floating point, by operations that give the same result on every
//! platform.

/// The natural logarithm of a number from 1 on. Mirrors `math.Log`, which has no counterpart
/// without the standard library.
pub(super) fn ln(number: f64) -> f64 {
    let (mut rest, mut halvings) = (number, 0.0);
    while rest > 1.5 {
        rest /= 2.0;
        halvings += 1.0;
    }
    // ln(x) = 2 artanh((x - 1) / (x + 1)), whose series ends soon for x up to 1.5.
    let base = (rest - 1.0) / (rest + 1.0);
    let (square, mut power, mut sum, mut odd) = (base * base, base, 0.0, 1.0);
    while odd < 31.0 {
        sum += power / odd;
        power *= square;
        odd += 2.0;
    }
    2.0 * sum + halvings * core::f64::consts::LN_2
}

/// The nearest whole number to one that is not negative. Mirrors `math.Round`.
pub(super) fn round(number: f64) -> i64 {
    (number + 0.5) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms() {
        for (number, expected) in [
            (1.0, 0.0),
            (2.0, core::f64::consts::LN_2),
            (3.0, 1.098_612_288_668_109_8),
            (10.0, core::f64::consts::LN_10),
            (5_002.0, 8.517_593_111_068_44),
        ] {
            assert!((ln(number) - expected).abs() < 1e-9, "{number}: {}", ln(number));
        }
        assert_eq!([0.0, 0.49, 0.5, 7.5].map(round), [0, 0, 1, 8]);
    }
}
