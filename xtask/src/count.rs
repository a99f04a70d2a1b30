//! Counts of tests, and what failed, read from the output of the test programs.

use std::ops::AddAssign;

/// Numbers of passed and failed tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TestCount {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed.
    pub failed: u64,
}

impl AddAssign for TestCount {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// The most lines about failed tests that are kept.
const MOST_LINES: usize = 80;

/// Adds up the summaries of `cargo test` and `node --test` in a stream of lines, and keeps what
/// they say of failed tests.
#[derive(Default)]
pub(crate) struct Counter {
    /// The sum so far.
    pub count: TestCount,
    /// The first lines about failed tests.
    pub failures: Vec<String>,
    /// Whether the next lines are about failed tests.
    in_failures: bool,
}

impl Counter {
    /// Reads one line; only a summary changes the count.
    pub(crate) fn read_line(&mut self, line: &str) {
        match line.trim() {
            // The head of cargo's lines, which a summary ends, and of Node's, which are the last.
            "failures:" | "✖ failing tests:" => self.in_failures = true,
            other if other.starts_with("test result: ") => self.in_failures = false,
            _ if self.in_failures && self.failures.len() < MOST_LINES => {
                self.failures.push(line.trim_end().to_owned());
            }
            _ => {}
        }
        let line = line.trim();
        if let Some(summary) = line.strip_prefix("test result: ") {
            self.count += cargo_summary(summary);
        } else if let Some(summary) = line.strip_prefix("ℹ ").or_else(|| line.strip_prefix("# "))
        {
            self.count += node_summary(summary);
        }
    }
}

/// Reads a summary of cargo:
/// `ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s`.
fn cargo_summary(summary: &str) -> TestCount {
    let (_, counts) = summary.split_once(". ").unwrap_or_default();
    let number = |unit: &str| {
        counts
            .split("; ")
            .find_map(|part| part.strip_suffix(unit)?.trim().parse().ok())
            .unwrap_or_default()
    };
    TestCount { passed: number("passed"), failed: number("failed") }
}

/// Reads `pass 3`, `fail 0` or `cancelled 0`; Node prints each on a line of its own.
fn node_summary(summary: &str) -> TestCount {
    let mut count = TestCount::default();
    if let Some((unit, number)) = summary.split_once(' ') {
        let number = number.parse().unwrap_or_default();
        match unit {
            "pass" => count.passed = number,
            // A cancelled test gave no result.
            "fail" | "cancelled" => count.failed = number,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> TestCount {
        let mut counter = Counter::default();
        text.lines().for_each(|line| counter.read_line(line));
        counter.count
    }

    #[test]
    fn adds_up_the_programs_of_a_cargo_test() {
        let text = "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\n\
            test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; \
            finished in 0.00s\n\
            test result: ok. 40 passed; 0 failed; 3 ignored; 0 measured; 7 filtered out; \
            finished in 1.20s\n";
        assert_eq!(count(text), TestCount { passed: 41, failed: 1 });
    }

    #[test]
    fn reads_both_reporters_of_node() {
        let spec = "ℹ tests 5\nℹ suites 0\nℹ pass 3\nℹ fail 1\nℹ cancelled 1\nℹ skipped 0\n";
        assert_eq!(count(spec), TestCount { passed: 3, failed: 2 });
        let tap = "1..2\n# tests 2\n# pass 2\n# fail 0\n# cancelled 0\n# duration_ms 12.5\n";
        assert_eq!(count(tap), TestCount { passed: 2, failed: 0 });
    }

    #[test]
    fn keeps_what_is_said_of_failed_tests() {
        let mut counter = Counter::default();
        let cargo = "test a ... FAILED\n\nfailures:\n\n---- a ----\n  left: 1\n\n\
            failures:\n    a\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\nnext\n";
        let node = "ℹ fail 1\n\n✖ failing tests:\n\ntest at a.mjs:2:1\n✖ b (1 ms)\n";
        cargo.lines().chain(node.lines()).for_each(|line| counter.read_line(line));
        let said: Vec<_> = counter.failures.iter().filter(|line| !line.is_empty()).collect();
        assert_eq!(said, ["---- a ----", "  left: 1", "    a", "test at a.mjs:2:1", "✖ b (1 ms)"]);
    }

    #[test]
    fn takes_no_other_line_for_a_summary() {
        let text =
            "test passed ... ok\n12 passed; 3 failed\ntest result: unreadable\nℹ pass many\n";
        assert_eq!(count(text), TestCount::default());
    }
}
