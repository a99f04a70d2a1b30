//! The runs of a resilience report, made by engines beside that of the session.

use js_sys::{Array, Uint8Array};
use taintlab_core::report::{
    Outline, Plan, Report, ReportError, ReportOptions, Run, RunResult, report,
};
use taintlab_core::scenario::Scenario;
use taintlab_core::time::Timestamp;
use taintlab_manifest::from_json;
use wasm_bindgen::{JsCast, JsValue};

use crate::browser::stopwatch;
use crate::wire::{Wire, enums, from_bytes, to_bytes};
use crate::worker::{Port, Remote, is_worker};

/// A request to the reporter. The first message is none: it is the cluster and the options, which
/// the session writes.
#[derive(Clone, Debug)]
pub(crate) enum Request {
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
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// The cluster has settled.
    Opened(Box<Outline>, Vec<Run>),
    /// Results of the first of the runs, at least one.
    Made(Vec<RunResult>),
    /// The runs that show what would help.
    Remedies(Vec<Run>),
    /// The report, and the same in JSON.
    Joined(Box<Report>, String),
    /// A run as a scenario in JSON, and the time of the fault in it.
    Scenario(String, Timestamp),
    /// The reason why there is no answer.
    Failed(String),
}

enums! {
    Request { Make(runs), Remedies(results), Join(results), Play(run) }
    Answer {
        Opened(outline, runs), Made(results), Remedies(runs), Joined(report, text),
        Scenario(text, at), Failed(why),
    }
}

/// A plan that answers requests.
#[derive(Debug, Default)]
pub(crate) struct Reporter {
    plan: Option<Plan>,
}

impl Reporter {
    /// Answers a message: the first is a text, the others are bytes. Runs are made for `millis`
    /// milliseconds, but at least one.
    fn answer(&mut self, message: &JsValue, millis: f64) -> Answer {
        let answered = match (&mut self.plan, message.as_string()) {
            (None, text) => self.open(&text.unwrap_or_default()),
            (Some(plan), _) => read(message).and_then(|request| handle(plan, request, millis)),
        };
        answered.unwrap_or_else(Answer::Failed)
    }

    fn open(&mut self, text: &str) -> Result<Answer, String> {
        let (scenario, options): (Scenario, ReportOptions) = from_json(text)?;
        let opened = Plan::new(scenario, options).map_err(|error| error.to_string())?;
        let plan = self.plan.insert(opened);
        Ok(Answer::Opened(Box::new(plan.outline().clone()), plan.runs()))
    }
}

fn handle(plan: &mut Plan, request: Request, millis: f64) -> Result<Answer, String> {
    let failed = |error: ReportError| error.to_string();
    Ok(match request {
        Request::Make(runs) => {
            let until = stopwatch() + millis;
            let mut made = Vec::new();
            for run in &runs {
                if made.is_empty() || stopwatch() < until {
                    made.push(plan.run(run).map_err(failed)?);
                }
            }
            Answer::Made(made)
        }
        Request::Remedies(results) => Answer::Remedies(plan.remedies(&results)),
        Request::Join(results) => {
            let report = report(plan.outline(), &results).map_err(failed)?;
            let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
            Answer::Joined(Box::new(report), text)
        }
        Request::Play(run) => {
            let (scenario, at) = plan.scenario_of(&run).map_err(failed)?;
            let text = serde_json::to_string(&scenario).map_err(|error| error.to_string())?;
            Answer::Scenario(text, at)
        }
    })
}

/// A request or an answer as a message.
pub(crate) fn message(value: &impl Wire) -> JsValue {
    Uint8Array::from(to_bytes(value).as_slice()).into()
}

fn read<T: Wire>(message: &JsValue) -> Result<T, String> {
    let bytes = message.dyn_ref::<Uint8Array>().map(Uint8Array::to_vec);
    bytes.and_then(|bytes| from_bytes(&bytes)).ok_or_else(|| "invalid message".to_owned())
}

/// Milliseconds for which a worker makes runs before it sends their results.
const WORKER_BUDGET: f64 = 150.0;
/// Such milliseconds on the page's thread, which has to paint.
const PAGE_BUDGET: f64 = 12.0;

/// Answers the messages of the page at the other end, as long as the page lives.
pub(crate) fn serve(page: &Port) {
    let mut reporter = Reporter::default();
    let budget = if is_worker() { WORKER_BUDGET } else { PAGE_BUDGET };
    let to = page.clone();
    page.listen(move |message| {
        to.post(&self::message(&reporter.answer(&message, budget)), &Array::new());
    });
}

/// Starts a reporter, in a worker if `in_worker`; `told` gets its answers, or the reason why it broke
/// down.
///
/// # Errors
/// The browser lets the page have no worker.
pub(crate) fn begin(
    in_worker: bool,
    told: impl Fn(Result<Answer, String>) + Clone + 'static,
) -> Result<Remote, JsValue> {
    Remote::begin("reporter", in_worker, move |message| {
        told(message.and_then(|message| read(&message)));
    })
}
