//! The steps of a long task: run one after the other, timed, and listed at the end. The time of a
//! step that waits for a task begun [ahead](crate::ahead) is the time that it waits.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::count::TestCount;
use crate::workspace::human;

/// The results of the steps so far.
#[derive(Default)]
pub(crate) struct Steps {
    steps: Vec<Step>,
}

struct Step {
    name: &'static str,
    time: Duration,
    tests: TestCount,
    outcome: Outcome,
}

#[derive(PartialEq, Eq)]
enum Outcome {
    Passed,
    /// The reason in the first line, then what failed.
    Failed(String),
    NotRun(&'static str),
}

impl Steps {
    /// Runs a step, unless a step that it needs did not pass.
    ///
    /// A failure is kept for the end and does not prevent later steps.
    pub(crate) fn step(
        &mut self,
        name: &'static str,
        needs: &[&'static str],
        body: impl FnOnce() -> Result<()>,
    ) {
        self.test_step(name, needs, || (TestCount::default(), body()));
    }

    /// Runs a step of tests as [`Steps::step`] does, and keeps their count.
    pub(crate) fn test_step(
        &mut self,
        name: &'static str,
        needs: &[&'static str],
        body: impl FnOnce() -> (TestCount, Result<()>),
    ) {
        if let Some(missing) = needs.iter().find(|need| !self.passed(need)) {
            println!("\n== {name}: not run, because `{missing}` did not pass");
            let outcome = Outcome::NotRun(missing);
            self.steps.push(Step {
                name,
                time: Duration::ZERO,
                tests: TestCount::default(),
                outcome,
            });
            return;
        }
        println!("\n== {name}");
        let start = Instant::now();
        let (tests, result) = body();
        let time = start.elapsed();
        let outcome = match result {
            Ok(()) if tests.failed > 0 => Outcome::Failed("tests failed".to_owned()),
            Ok(()) => Outcome::Passed,
            Err(error) => Outcome::Failed(format!("{error:#}")),
        };
        match &outcome {
            Outcome::Failed(why) => {
                println!("== {name}: FAILED in {}: {}", human(time), first_line(why));
            }
            _ => println!("== {name}: {}", human(time)),
        }
        self.steps.push(Step { name, time, tests, outcome });
    }

    /// Prints what failed, the table of steps and the sum of tests; succeeds if tests ran and
    /// nothing failed. Whoever sees only the end of a log sees what failed.
    ///
    /// The last line is `N passed, N failed`. A failed step without a failed test counts as one
    /// failure, so that the line hides none.
    pub(crate) fn finish(self) -> ExitCode {
        print!("{}", self.failures());
        println!("\n{}", self.table());
        let count = self.count();
        if count == TestCount::default() {
            println!("no test ran");
        }
        println!("{} passed, {} failed", count.passed, count.failed);
        if count.failed == 0 && count.passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    fn passed(&self, name: &str) -> bool {
        self.steps.iter().any(|step| step.name == name && step.outcome == Outcome::Passed)
    }

    fn count(&self) -> TestCount {
        let mut sum = TestCount::default();
        for step in &self.steps {
            sum += step.tests;
            if step.outcome != Outcome::Passed && step.tests.failed == 0 {
                sum.failed += 1;
            }
        }
        sum
    }

    /// Words of each failed step after its reason.
    fn failures(&self) -> String {
        let failed = self.steps.iter().filter_map(|step| match &step.outcome {
            Outcome::Failed(why) => Some((step.name, why.split_once('\n')?.1)),
            _ => None,
        });
        failed.map(|(name, said)| format!("\n== {name}, what failed:\n{said}\n")).collect()
    }

    fn table(&self) -> String {
        let width = self.steps.iter().map(|step| step.name.len()).max().unwrap_or_default();
        let mut table = format!("{:width$}  {:>12}  {:>6}  result\n", "step", "time", "tests");
        for step in &self.steps {
            let tests = match step.tests.passed + step.tests.failed {
                0 => String::new(),
                number => number.to_string(),
            };
            let result = match &step.outcome {
                Outcome::Passed => "passed".to_owned(),
                Outcome::Failed(why) => format!("FAILED: {}", first_line(why)),
                Outcome::NotRun(missing) => format!("NOT RUN: needs `{missing}`"),
            };
            let time = human(step.time);
            table.push_str(&format!("{:width$}  {time:>12}  {tests:>6}  {result}\n", step.name));
        }
        let time = human(self.steps.iter().map(|step| step.time).sum());
        let count = self.count();
        table.push_str(&format!("{:width$}  {time:>12}  {:>6}", "in all", count.passed));
        table
    }
}

fn first_line(why: &str) -> &str {
    why.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    fn two_tests() -> (TestCount, Result<()>) {
        (TestCount { passed: 2, failed: 0 }, Ok(()))
    }

    #[test]
    fn a_failed_step_counts_as_a_failure_and_does_not_stop_the_others() {
        let mut steps = Steps::default();
        steps.step("lint", &[], || bail!("two warnings\nof a line"));
        steps.test_step("tests", &[], two_tests);
        assert_eq!(steps.count(), TestCount { passed: 2, failed: 1 });
        assert!(steps.table().contains("FAILED: two warnings\n"));
        assert_eq!(steps.failures(), "\n== lint, what failed:\nof a line\n");
        assert_eq!(steps.finish(), ExitCode::FAILURE);
    }

    #[test]
    fn a_step_whose_need_failed_is_not_run() {
        let mut steps = Steps::default();
        steps.step("build", &[], || bail!("no compiler"));
        steps.test_step("browser", &["build"], || unreachable!("must not run"));
        assert!(steps.table().contains("NOT RUN: needs `build`"));
        assert_eq!(steps.count().failed, 2);
    }

    #[test]
    fn failed_tests_fail_their_step_even_when_the_program_says_nothing() {
        let mut steps = Steps::default();
        steps.test_step("tests", &[], || (TestCount { passed: 3, failed: 1 }, Ok(())));
        assert!(!steps.passed("tests"));
        assert_eq!(steps.count(), TestCount { passed: 3, failed: 1 });
    }

    #[test]
    fn a_run_without_a_single_test_fails() {
        let mut steps = Steps::default();
        steps.step("lint", &[], || Ok(()));
        assert_eq!(steps.finish(), ExitCode::FAILURE);
        let mut steps = Steps::default();
        steps.test_step("tests", &[], two_tests);
        assert_eq!(steps.finish(), ExitCode::SUCCESS);
    }
}
