//! The runs of a resilience report, made in a worker, which is this page's engine once more, or in
//! the page itself where the browser lets it have none.

use serde::{Deserialize, Serialize};
use taintlab_core::report::{Outline, Plan, Report, ReportOptions, Run, RunResult, report};
use taintlab_core::scenario::Scenario;
use taintlab_core::time::Timestamp;
use taintlab_manifest::from_json;
use wasm_bindgen::JsValue;
use web_sys::DedicatedWorkerGlobalScope;

use crate::browser::stopwatch;
use crate::worker::{self, Remote};

/// A request to the reporter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Settle this cluster. The other requests are about it.
    Open(Box<Scenario>, Box<ReportOptions>),
    /// Make these runs, as many as there is time for.
    Make(Vec<Run>),
    /// List the runs that show what would help.
    Remedies(Vec<RunResult>),
    /// Make the report from these results.
    Join(Vec<RunResult>),
    /// Make a scenario of a run.
    Play(Run),
}

/// An answer of the reporter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// The cluster has settled.
    Opened(Box<Outline>, Vec<Run>),
    /// Results of the first of the runs, at least one.
    Made(Vec<RunResult>),
    /// The runs that show what would help.
    Remedies(Vec<Run>),
    /// The report.
    Joined(Box<Report>),
    /// A run as a scenario, and the time of the fault in it, in nanoseconds.
    Scenario(Box<Scenario>, u64),
    /// The reason why there is no answer.
    Failed(String),
}

/// A plan that answers requests.
#[derive(Debug, Default)]
pub(crate) struct Reporter {
    plan: Option<Plan>,
}

impl Reporter {
    /// Answers a request. Runs are made for `millis` milliseconds, but at least one.
    pub(crate) fn answer(&mut self, request: Request, millis: f64) -> Answer {
        let answered = match (request, &mut self.plan) {
            (Request::Open(scenario, options), plan) => {
                Plan::new(*scenario, *options).map(|opened| {
                    let opened = plan.insert(opened);
                    Answer::Opened(Box::new(opened.outline().clone()), opened.runs())
                })
            }
            (_, None) => return Answer::Failed("there is no cluster yet".to_owned()),
            (Request::Make(runs), Some(plan)) => {
                let until = stopwatch() + millis;
                let mut made = Vec::new();
                runs.iter()
                    .try_for_each(|run| {
                        if made.is_empty() || stopwatch() < until {
                            made.push(plan.run(run)?);
                        }
                        Ok(())
                    })
                    .map(|()| Answer::Made(made))
            }
            (Request::Remedies(results), Some(plan)) => {
                Ok(Answer::Remedies(plan.remedies(&results)))
            }
            (Request::Join(results), Some(plan)) => {
                report(plan.outline(), &results).map(|it| Answer::Joined(Box::new(it)))
            }
            (Request::Play(run), Some(plan)) => plan
                .scenario_of(&run)
                .map(|(scenario, at)| Answer::Scenario(Box::new(scenario), at.as_nanos())),
        };
        answered.unwrap_or_else(|error| Answer::Failed(error.to_string()))
    }
}

/// The time of the fault in an [`Answer::Scenario`].
pub(crate) fn fault_at(nanos: u64) -> Timestamp {
    Timestamp::from_nanos(nanos)
}

/// Milliseconds for which a worker makes runs before it sends their results.
const WORKER_BUDGET: f64 = 150.0;

/// Answers the requests of the page, as long as the worker lives.
pub(crate) fn serve(scope: &DedicatedWorkerGlobalScope) {
    let mut reporter = Reporter::default();
    let page = scope.clone();
    worker::listen(scope, move |message| {
        let text = message.as_string().unwrap_or_default();
        let answer = match from_json(&text) {
            Ok(request) => reporter.answer(request, WORKER_BUDGET),
            Err(error) => Answer::Failed(error),
        };
        if let Ok(text) = serde_json::to_string(&answer) {
            // The page lives as long as its worker.
            let _ = page.post_message(&text.into());
        }
    });
}

/// Starts a worker; `told` gets its answers, or the reason why it broke down.
///
/// # Errors
/// The browser lets the page have no worker.
pub(crate) fn begin(
    told: impl Fn(Result<Answer, String>) + Clone + 'static,
) -> Result<Remote, JsValue> {
    Remote::begin("reporter", move |message| {
        told(message.and_then(|message| {
            let text = message.as_string().unwrap_or_default();
            from_json(&text)
        }));
    })
}
