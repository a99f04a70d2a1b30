//! Makes the runs of a resilience report: in a worker, which is this page's engine once more, or in
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

/// What is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Settle this cluster. The other requests are about it.
    Open(Box<Scenario>, Box<ReportOptions>),
    /// Make these runs, as many as there is time for.
    Make(Vec<Run>),
    /// Say what would have to be run to know what would help.
    Remedies(Vec<RunResult>),
    /// Put the results together.
    Join(Vec<RunResult>),
    /// Make a scenario of a run.
    Play(Run),
}

/// What is answered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// The cluster has settled.
    Opened(Box<Outline>, Vec<Run>),
    /// The first of the runs were made, at least one.
    Made(Vec<RunResult>),
    /// These runs tell what would help.
    Remedies(Vec<Run>),
    /// The report.
    Joined(Box<Report>),
    /// A run as a scenario, and when the fault comes in it, in nanoseconds.
    Scenario(Box<Scenario>, u64),
    /// There is no answer, and why.
    Failed(String),
}

/// A plan, and what is asked of it.
#[derive(Debug, Default)]
pub(crate) struct Reporter {
    plan: Option<Plan>,
}

impl Reporter {
    /// Answers. Runs are made for so many milliseconds, but at least one.
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

/// When the fault comes, of [`Answer::Scenario`].
pub(crate) fn fault_at(nanos: u64) -> Timestamp {
    Timestamp::from_nanos(nanos)
}

/// For so many milliseconds a worker makes runs before it tells of them.
const WORKER_BUDGET: f64 = 150.0;

/// Answers what the page asks, for good.
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
            // The page is there as long as its worker is.
            let _ = page.post_message(&text.into());
        }
    });
}

/// Begins a worker; `told` gets its answers, or why it broke down.
///
/// # Errors
/// The browser lets the page have none.
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
