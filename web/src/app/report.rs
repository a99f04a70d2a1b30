//! The resilience report: the workers that make its runs, its progress, and its result.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use taintlab_core::report::{Outline, Report, ReportOptions, ReportSubject, Run, RunResult};
use taintlab_core::scenario::Bookmark;
use taintlab_core::time::{Span, Timestamp};
use wasm_bindgen::JsValue;
use web_sys::Blob;

use super::App;
use crate::browser;
use crate::messages::{Dialog, Dispatch, Msg, Notice};
use crate::protocol::{OpenedRun, Reply, Request};
use crate::reporter::{self, Answer};
use crate::view_models::report::{Moment, ReportMsg, ReportState, ReportView, Stage, WorkKey};
use crate::view_models::selection::Selection;
use crate::worker::Remote;

/// The maximum number of workers, however many cores there are.
const MOST_WORKERS: usize = 8;
/// The maximum number of nodes that fail in the runs of one batch; a single run may have more. Runs
/// that try the same remedy stay together, since they share its cluster.
const BATCH: usize = 32;

/// A worker that makes runs.
struct Worker {
    remote: Remote,
    /// Whether the cluster has settled in this worker.
    opened: bool,
    /// The runs being made.
    making: Vec<Run>,
}

/// The report that is being made, and the last one.
#[derive(Default)]
pub(super) struct Reporting {
    pub(super) shown: ReportState,
    /// The number of the present report: answers to earlier ones are ignored.
    turn: u32,
    workers: Vec<Worker>,
    /// Whether the browser lets the page have no workers.
    on_page: bool,
    /// The first request, which is sent to each worker.
    open: String,
    outline: Option<Box<Outline>>,
    /// The last report in JSON, which the browser keeps.
    text: Option<Blob>,
    queue: VecDeque<Run>,
    results: Vec<RunResult>,
    planned: usize,
    /// Whether the first worker has a request other than for runs.
    asked: bool,
    /// The crash that ended the report, whose runs until then another worker puts together.
    crash: Option<String>,
    /// The moment that is being opened.
    opening: Option<Rc<Moment>>,
    /// The work that the report being made is about.
    work: WorkKey,
}

impl App {
    pub(super) fn on_report(&mut self, msg: ReportMsg) {
        match msg {
            ReportMsg::Begin(options) => self.begin_report(*options),
            ReportMsg::Stop => {
                self.report.shown.stopping = true;
                self.report.queue.clear();
                let settling = matches!(self.report.shown.progress, Some((Stage::Settling, ..)));
                if settling {
                    self.report.end();
                }
            }
            ReportMsg::Open(moment) if self.report.workers.is_empty() => {
                let text = format!("{}: to open it, run the report again", moment.name);
                self.notice(Notice::error(text));
            }
            ReportMsg::Open(moment) => {
                if !self.opens_another(&moment) {
                    return;
                }
                let request = reporter::Request::Play(moment.run.clone());
                self.report.opening = Some(moment);
                self.report.request(0, &request);
            }
            ReportMsg::Download => {
                if let Some(text) = &self.report.text {
                    let result = browser::download_blob("report.json", text);
                    self.notice_error(result);
                }
            }
        }
    }

    /// Whether a moment of a report may be opened. If the work has changed since, the user
    /// confirms.
    fn opens_another(&self, moment: &Moment) -> bool {
        let Some(differs) = self.report.shown.differs(&self.work_key()) else { return true };
        browser::confirm(&format!(
            "{differs} Open “{}” beside your work, as a branch of its own?",
            moment.name
        ))
    }

    fn work_key(&self) -> WorkKey {
        self.shown.work.key(self.shown.clock.now)
    }

    /// Begins a report of the cluster at the present moment.
    fn begin_report(&mut self, options: ReportOptions) {
        self.report.prepare(&options);
        self.report.work = self.work_key();
        self.report.shown.asked_of = Some(self.report.work.cluster.clone());
        let turn = self.report.turn;
        self.ask(Request::Report(options), move |app, reply| match reply {
            Reply::Text(_) if turn != app.report.turn => {}
            Reply::Text(Ok((_, text))) => app.report.begin(text.to_string(), &app.dispatch),
            Reply::Text(Err(error)) => app.report.fail(&error),
            _ => {}
        });
    }

    /// Handles a worker's answer, or its crash.
    pub(super) fn on_answer(&mut self, turn: u32, worker: usize, answer: Result<Answer, String>) {
        if turn != self.report.turn {
            return;
        }
        match answer {
            Ok(Answer::Scenario(scenario, fault)) => {
                if let Some(moment) = self.report.opening.take() {
                    self.open_moment(scenario, fault, &moment);
                }
            }
            answer => {
                if self.report.on_answer(worker, answer, &self.dispatch) {
                    self.say_of_report();
                }
            }
        }
    }

    fn say_of_report(&mut self) {
        let report = self.report.shown.report.as_ref().map(|it| &it.report);
        let text = match (&self.report.shown.error, report) {
            (Some(error), _) => format!("There is no report: {error}"),
            (None, Some(report)) => {
                let said = report.score.as_ref().map(|it| format!("{} of 100", it.score));
                let said = said.unwrap_or_else(|| report.missing.join("; "));
                format!("The resilience report is ready: {said}")
            }
            (None, None) => return,
        };
        self.announcement = text.clone().into();
        if self.dialog != Some(Dialog::Report) {
            self.notice(Notice::info(format!("{text}. R shows it.")));
        }
    }

    /// Adds a run as a branch of its own, and goes to one of its moments.
    fn open_moment(&mut self, scenario: String, fault: Timestamp, moment: &Moment) {
        self.play(false);
        let at = fault.saturating_add(Duration::from_millis(moment.at.0));
        let select = match &moment.subject {
            Some(ReportSubject::Workload(key)) => Some(Selection::Workload(key.clone())),
            Some(ReportSubject::Pod(key)) => Some(Selection::Pod(key.clone())),
            None => None,
        };
        let bookmark = |at: Timestamp, note: &str| Bookmark {
            at: Span::from(at),
            note: note.to_owned(),
            select: select.as_ref().map(Selection::to_text).unwrap_or_default(),
        };
        let mut bookmarks = vec![bookmark(fault, &moment.name)];
        if at > fault {
            bookmarks.push(bookmark(at, &moment.what));
        }
        self.dialog = None;
        let name = moment.name.clone();
        self.report.shown.opened.push(name.clone());
        self.request(Request::OpenRun(Box::new(OpenedRun {
            name,
            scenario,
            bookmarks,
            at,
            select,
        })));
    }
}

impl Reporting {
    /// Resets the state, while the session is asked for the cluster.
    fn prepare(&mut self, options: &ReportOptions) {
        self.end();
        self.shown.error = None;
        self.shown.options = Rc::new(ReportOptions { after: None, ..options.clone() });
        self.shown.progress = Some((Stage::Settling, 0, 0));
    }

    fn begin(&mut self, open: String, dispatch: &Dispatch) {
        self.open = open;
        self.hire(dispatch);
    }

    /// Adds a worker, and gives it the cluster.
    fn hire(&mut self, dispatch: &Dispatch) {
        let (turn, number) = (self.turn, self.workers.len());
        let told = dispatch.reform(move |answer| Msg::ReportAnswer(turn, number, Box::new(answer)));
        let told = move |answer| told.emit(answer);
        let mut remote =
            if self.on_page { Err(JsValue::NULL) } else { reporter::begin(true, told.clone()) };
        if number == 0 {
            remote = remote.or_else(|_| reporter::begin(false, told));
        }
        let Ok(remote) = remote else { return };
        remote.say(&self.open.as_str().into(), &js_sys::Array::new());
        self.workers.push(Worker { remote, opened: false, making: Vec::new() });
    }

    fn request(&mut self, number: usize, request: &reporter::Request) {
        if let Some(worker) = self.workers.get(number) {
            worker.remote.say(&reporter::message(request), &js_sys::Array::new());
        }
    }

    /// Handles an answer; `true` if the report has ended.
    fn on_answer(
        &mut self,
        number: usize,
        answer: Result<Answer, String>,
        dispatch: &Dispatch,
    ) -> bool {
        match answer {
            Ok(Answer::Opened(outline, runs)) => {
                if let Some(worker) = self.workers.get_mut(number) {
                    worker.opened = true;
                }
                if number == 0 && self.crash.is_none() {
                    self.planned = runs.len();
                    self.outline = Some(outline.clone());
                    self.queue = runs.into();
                    self.shown.progress = Some((Stage::Failing, 0, self.planned));
                    // The first runs are done before another worker has its cluster.
                    let wanted = browser::cores().saturating_sub(1).min(MOST_WORKERS);
                    let large = outline.pods.max(outline.nodes) * self.planned > 2_000;
                    while large && self.workers.len() < wanted {
                        let before = self.workers.len();
                        self.hire(dispatch);
                        if self.workers.len() == before {
                            break;
                        }
                    }
                }
            }
            Ok(Answer::Made(made)) => {
                let mut kept = None;
                if let Some(worker) = self.workers.get_mut(number) {
                    let left = worker.making.split_off(made.len().min(worker.making.len()));
                    worker.making.clear();
                    if !self.shown.stopping {
                        if left.first().is_some_and(|run| run.remedy.is_some()) {
                            // This worker has their cluster.
                            worker.making.clone_from(&left);
                            kept = Some(left);
                        } else {
                            left.into_iter().rev().for_each(|run| self.queue.push_front(run));
                        }
                    }
                }
                if let Some(runs) = kept {
                    self.request(number, &reporter::Request::Make(runs));
                }
                self.results.extend(made);
                if let Some((_, done, _)) = &mut self.shown.progress {
                    *done = self.results.len();
                }
            }
            Ok(Answer::Remedies(runs)) => {
                self.asked = false;
                self.queue = if self.shown.stopping { VecDeque::new() } else { runs.into() };
                self.planned += self.queue.len();
                let done = self.results.len();
                if self.queue.is_empty() {
                    self.asked = true;
                    self.shown.progress = Some((Stage::Joining, done, self.planned));
                    self.request(0, &reporter::Request::Join(self.results.clone()));
                } else {
                    self.shown.progress = Some((Stage::Helping, done, self.planned));
                }
            }
            Ok(Answer::Joined(report, text)) => {
                self.show(*report);
                self.text = browser::blob(&text).ok();
                self.shown.error = self.crash.take().map(Into::into);
                // The first worker stays, to open runs.
                self.workers.truncate(1);
                return true;
            }
            Ok(Answer::Scenario(..)) => {}
            Ok(Answer::Failed(error)) => {
                self.fail(&error);
                return true;
            }
            Err(error) => return self.broke_down(number, &error, dispatch),
        }
        self.go_on();
        false
    }

    /// Hands out runs to idle workers, then begins the next stage.
    fn go_on(&mut self) {
        for number in 0..self.workers.len() {
            let Some(worker) = self.workers.get_mut(number) else { continue };
            if !worker.opened || !worker.making.is_empty() {
                continue;
            }
            let Some(first) = self.queue.front().cloned() else { break };
            let domains = self.outline.iter().flat_map(|outline| &outline.domains);
            let sizes: Vec<usize> = domains.map(|domain| domain.nodes.len()).collect();
            let mut nodes = 0;
            // Runs of one seed and one remedy share a cluster.
            while let Some(run) = self.queue.front()
                && (&run.seed, &run.remedy) == (&first.seed, &first.remedy)
            {
                nodes += sizes.get(run.domain).copied().unwrap_or(1);
                if run.remedy.is_none() && nodes > BATCH && !worker.making.is_empty() {
                    break;
                }
                worker.making.extend(self.queue.pop_front());
            }
            let request = reporter::Request::Make(worker.making.clone());
            self.request(number, &request);
        }
        let idle = self.workers.iter().all(|worker| worker.making.is_empty());
        if !idle || !self.queue.is_empty() || self.asked {
            return;
        }
        self.asked = true;
        match self.shown.progress {
            // Remedies that help are tried in other failures once they are known.
            Some((Stage::Failing | Stage::Helping, done, planned)) if !self.shown.stopping => {
                self.shown.progress = Some((Stage::Helping, done, planned));
                self.request(0, &reporter::Request::Remedies(self.results.clone()));
            }
            Some((Stage::Failing | Stage::Helping, done, planned)) => {
                self.shown.progress = Some((Stage::Joining, done, planned));
                self.request(0, &reporter::Request::Join(self.results.clone()));
            }
            Some((Stage::Settling | Stage::Joining, ..)) | None => self.asked = false,
        }
    }

    /// Gives the runs of a crashed worker to the others; `true` if the report ends with it.
    fn broke_down(&mut self, number: usize, error: &str, dispatch: &Dispatch) -> bool {
        let Some(worker) = self.workers.get_mut(number) else { return false };
        if number == 0 && !worker.opened && !self.on_page {
            // Such a page cannot have workers: it does the work itself.
            self.on_page = true;
            self.workers.clear();
            self.hire(dispatch);
            return false;
        }
        if number == 0 {
            let crash = format!("a worker broke down: {error}");
            if self.results.is_empty() || self.crash.is_some() {
                self.fail(&crash);
                return true;
            }
            // The runs made until then are not lost.
            self.crash = Some(crash);
            self.workers.clear();
            self.queue.clear();
            self.shown.stopping = true;
            self.asked = false;
            self.hire(dispatch);
            return false;
        }
        worker.opened = false;
        let making = std::mem::take(&mut worker.making);
        self.queue.extend(making);
        self.go_on();
        false
    }

    fn show(&mut self, report: Report) {
        let view = ReportView::of(report, self.work.clone(), self.shown.report.as_deref());
        self.shown.report = Some(Rc::new(view));
        self.shown.opened.clear();
        self.shown.progress = None;
        self.shown.stopping = false;
        self.results = Vec::new();
        self.asked = false;
    }

    fn fail(&mut self, error: &str) {
        self.end();
        self.shown.error = Some(error.to_owned().into());
    }

    /// Ends the report that is being made.
    fn end(&mut self) {
        self.turn = self.turn.wrapping_add(1);
        self.workers.clear();
        self.crash = None;
        self.queue.clear();
        self.results.clear();
        self.opening = None;
        self.asked = false;
        self.shown.progress = None;
        self.shown.stopping = false;
    }
}
