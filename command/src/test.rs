//! `taintlab test`: scenarios and what they expect.

use taintlab_answers::problem::{Problem, ProblemCode};
use taintlab_answers::scenario::{ExpectationOutcome, ScenarioOptions, test as check};
use taintlab_manifest::escape_xml;
use taintlab_words::Style;

use crate::host::Host;
use crate::line::TestLine;
use crate::options::release;
use crate::reading::{files_of, named, read_text, scenario, warn};
use crate::stop::{Done, FAILED, OK, Stop, problem_text};

/// Result of a file.
struct Tested {
    file: String,
    title: String,
    outcomes: Vec<ExpectationOutcome>,
    errors: Vec<Problem>,
}

impl Tested {
    /// Checks: its expectations, or that it can be run.
    fn checks(&self) -> impl Iterator<Item = (&str, Option<&Problem>)> {
        let errors = self.errors.iter().map(|error| ("the scenario can be run", Some(error)));
        errors.chain(self.outcomes.iter().map(|it| (&*it.expectation, it.failure.as_ref())))
    }

    fn failed(&self) -> usize {
        self.checks().filter(|(_, failure)| failure.is_some()).count()
    }
}

pub(crate) fn test(host: &dyn Host, line: &TestLine) -> Done<u8> {
    let files = files_of(&line.files, "test")?;
    let reporter: fn(&[Tested], Style) -> String = match line.reporter.as_str() {
        "spec" => spec,
        "tap" => |results, _| tap(results),
        "junit" => |results, _| junit(results),
        other => {
            let why = format!("--reporter: expected spec, tap or junit, found `{other}`");
            return Err(Stop::usage(why));
        }
    };
    let release = release(line.release.as_ref())?;
    let mut results: Vec<_> = files.iter().map(|file| test_one(host, file, release)).collect();
    if results.iter().all(|result| result.checks().next().is_none())
        && let Some(result) = results.first_mut()
    {
        let why = "nothing is expected, so that nothing can fail";
        let mut problem = Problem::new(ProblemCode::InvalidScenario, "expect", why);
        problem.file = Some(result.file.clone());
        result.outcomes.push(ExpectationOutcome {
            expectation: "a file expects something".to_owned(),
            passed: false,
            failure: Some(problem),
        });
    }
    host.out(&reporter(&results, host.style()));
    Ok(if results.iter().any(|result| result.failed() > 0) { FAILED } else { OK })
}

fn test_one(
    host: &dyn Host,
    from: &str,
    release: Option<taintlab_core::release::KubernetesRelease>,
) -> Tested {
    let file = named(from).to_owned();
    let failed = |errors: Vec<Problem>| Tested {
        file: file.clone(),
        title: String::new(),
        outcomes: Vec::new(),
        errors,
    };
    match read_text(host, from) {
        Err(stop) => {
            let message = stop.message.replacen(&format!("{file}: error: "), "", 1);
            let mut problem = Problem::new(ProblemCode::InvalidScenario, "", &message);
            problem.file = Some(file.clone());
            failed(vec![problem])
        }
        Ok(text) => {
            let options = ScenarioOptions { file: file.clone(), release, ..Default::default() };
            match scenario(host, from, &text, &options).and_then(check) {
                Err(errors) => failed(errors),
                Ok(report) => {
                    warn(host, &report.warnings);
                    let (title, outcomes) = (report.title, report.outcomes);
                    Tested { file, title, outcomes, errors: Vec::new() }
                }
            }
        }
    }
}

fn spec(results: &[Tested], style: Style) -> String {
    let mut text = String::new();
    let error = |problem: &Problem| problem_text(problem, "error");
    for Tested { file, title, outcomes, errors } in results {
        let title = if title.is_empty() { String::new() } else { format!(": {title}") };
        text += &format!("{}\n", style.bold(&format!("{file}{title}")));
        for problem in errors {
            text += &format!("  {} {}\n", style.red("✗"), error(problem));
        }
        for ExpectationOutcome { expectation, passed, failure } in outcomes {
            let mark = if *passed { style.green("✓") } else { style.red("✗") };
            text += &format!("  {mark} {expectation}\n");
            if let Some(failure) = failure {
                text += &format!("    {}\n", error(failure));
            }
        }
    }
    let all: usize = results.iter().map(|it| it.checks().count()).sum();
    let failed: usize = results.iter().map(Tested::failed).sum();
    text + &format!("{} passed, {failed} failed\n", all - failed)
}

fn tap(results: &[Tested]) -> String {
    let checks = results.iter().flat_map(|it| it.checks().map(|check| (&it.file, check)));
    let checks: Vec<_> = checks.collect();
    let mut text = format!("TAP version 14\n1..{}\n", checks.len());
    for (index, (file, (name, failure))) in checks.into_iter().enumerate() {
        let title = format!("{file}: {name}").replace('\\', "\\\\").replace('#', "\\#");
        let ok = if failure.is_some() { "not ok" } else { "ok" };
        text += &format!("{ok} {} - {title}\n", index + 1);
        if let Some(Problem { message, line, column, .. }) = failure {
            let at = format!("{file}:{}:{}", line.unwrap_or(1), column.unwrap_or(1));
            let quoted = |text: &str| serde_json::Value::from(text).to_string();
            let (message, at) = (quoted(message), quoted(&at));
            text += &format!("  ---\n  message: {message}\n  at: {at}\n  ...\n");
        }
    }
    text
}

fn junit(results: &[Tested]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for result in results {
        let (file, all) = (escape_xml(&result.file), result.checks().count());
        let failed = result.failed();
        text += &format!("  <testsuite name=\"{file}\" tests=\"{all}\" failures=\"{failed}\">\n");
        for (name, failure) in result.checks() {
            let name = escape_xml(name);
            text += &format!("    <testcase classname=\"{file}\" name=\"{name}\"");
            text += &match failure {
                None => "/>\n".to_owned(),
                Some(failure) => format!(
                    "><failure message=\"{}\">{}</failure></testcase>\n",
                    escape_xml(&failure.message),
                    escape_xml(&problem_text(failure, "error"))
                ),
            };
        }
        text += "  </testsuite>\n";
    }
    text + "</testsuites>\n"
}
