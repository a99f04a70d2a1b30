//! The resilience report: the workers that make its runs, its progress, and its result.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use gloo_timers::callback::Timeout;
use taintlab_core::report::{
    Outline, Report, ReportOptions, ReportSubject, Run, RunResult, report as join,
};
use taintlab_core::scenario::{Bookmark, Scenario};
use taintlab_core::time::{Span, Timestamp};
use taintlab_manifest::from_json;

use super::App;
use crate::browser;
use crate::messages::{Dialog, Dispatch, Msg, Notice};
use crate::protocol::{OpenedRun, Reply, Request};
use crate::reporter::{self, Answer, Reporter, fault_at};
use crate::view_models::report::{Moment, ReportMsg, ReportState, ReportView, Stage, WorkKey};
use crate::view_models::selection::Selection;
use crate::worker::Remote;

/// The maximum number of workers, however many cores there are.
const MOST_WORKERS: usize = 8;
/// The maximum number of nodes that fail in the runs of one batch; a single run may have more. Runs
/// that try the same remedy stay together, since they share its cluster.
const BATCH: usize = 32;
/// The time for which a page without workers makes runs before it paints, in milliseconds.
const PAGE_BUDGET: f64 = 12.0;

/// A worker that makes runs.
struct Worker {
    hands: Hands,
    /// Whether the cluster has settled in this worker.
    opened: bool,
    /// The runs being made.
    making: Vec<Run>,
}

enum Hands {
    Remote(Remote),
    /// The page itself, if it cannot start a worker.
    Page(Rc<RefCell<Reporter>>, Option<Timeout>),
}

/// The report that is being made, and the last one.
#[derive(Default)]
pub(super) struct Reporting {
    pub(super) shown: ReportState,
    /// The number of the present report: answers to earlier ones are ignored.
    turn: u32,
    workers: Vec<Worker>,
    /// The first request, which is sent to each worker.
    open: String,
    outline: Option<Box<Outline>>,
    queue: VecDeque<Run>,
    results: Vec<RunResult>,
    planned: usize,
    /// Whether the first worker has a request other than for runs.
    asked: bool,
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
                self.report.request(0, &request, &self.dispatch);
            }
            ReportMsg::Download => {
                let report = self.report.shown.report.clone();
                let text = report.map(|it| serde_json::to_string_pretty(&it.report));
                if let Some(Ok(text)) = text {
                    let result = browser::download("report.json", &text);
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
            Ok(Answer::Scenario(scenario, nanos)) => {
                if let Some(moment) = self.report.opening.take() {
                    self.open_moment(*scenario, fault_at(nanos), &moment);
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
    fn open_moment(&mut self, mut scenario: Scenario, fault: Timestamp, moment: &Moment) {
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
        scenario.bookmarks = vec![bookmark(fault, &moment.name)];
        if at > fault {
            scenario.bookmarks.push(bookmark(at, &moment.what));
        }
        self.dialog = None;
        let name = moment.name.clone();
        self.report.shown.opened.push(name.clone());
        self.request(Request::OpenRun(Box::new(OpenedRun { name, scenario, at, select })));
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
        let remote = reporter::begin(move |answer| told.emit(answer));
        let hands = match remote {
            Ok(remote) => Hands::Remote(remote),
            Err(_) if number > 0 => return,
            Err(_) => Hands::Page(Rc::default(), None),
        };
        self.workers.push(Worker { hands, opened: false, making: Vec::new() });
        let open = self.open.clone();
        self.ask(number, open, dispatch);
    }

    fn ask(&mut self, number: usize, request: String, dispatch: &Dispatch) {
        let turn = self.turn;
        match self.workers.get_mut(number).map(|worker| &mut worker.hands) {
            Some(Hands::Remote(remote)) => remote.say(&request.into(), &js_sys::Array::new()),
            Some(Hands::Page(reporter, waits)) => {
                let (reporter, dispatch) = (reporter.clone(), dispatch.clone());
                // The page paints first.
                *waits = Some(Timeout::new(0, move || {
                    let answer = from_json(&request)
                        .map(|request| reporter.borrow_mut().answer(request, PAGE_BUDGET));
                    dispatch.emit(Msg::ReportAnswer(turn, number, Box::new(answer)));
                }));
            }
            None => {}
        }
    }

    fn request(&mut self, number: usize, request: &reporter::Request, dispatch: &Dispatch) {
        match serde_json::to_string(request) {
            Ok(text) => self.ask(number, text, dispatch),
            Err(error) => self.fail(&error.to_string()),
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
                if number == 0 {
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
                    self.request(number, &reporter::Request::Make(runs), dispatch);
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
                    self.request(0, &reporter::Request::Join(self.results.clone()), dispatch);
                } else {
                    self.shown.progress = Some((Stage::Helping, done, self.planned));
                }
            }
            Ok(Answer::Joined(report)) => {
                self.show(*report);
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
        self.go_on(dispatch);
        false
    }

    /// Hands out runs to idle workers, then begins the next stage.
    fn go_on(&mut self, dispatch: &Dispatch) {
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
            self.request(number, &request, dispatch);
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
                self.request(0, &reporter::Request::Remedies(self.results.clone()), dispatch);
            }
            Some((Stage::Failing | Stage::Helping, done, planned)) => {
                self.shown.progress = Some((Stage::Joining, done, planned));
                self.request(0, &reporter::Request::Join(self.results.clone()), dispatch);
            }
            Some((Stage::Settling | Stage::Joining, ..)) | None => self.asked = false,
        }
    }

    /// Gives the runs of a crashed worker to the others; `true` if the report ends with it.
    fn broke_down(&mut self, number: usize, error: &str, dispatch: &Dispatch) -> bool {
        let Some(worker) = self.workers.get_mut(number) else { return false };
        if number == 0 && !worker.opened && matches!(worker.hands, Hands::Remote(_)) {
            // Such a page cannot have workers: it does the work itself.
            worker.hands = Hands::Page(Rc::default(), None);
            let open = self.open.clone();
            self.ask(0, open, dispatch);
            return false;
        }
        if number == 0 {
            let outline = self.outline.take().filter(|_| !self.results.is_empty());
            let made = outline.and_then(|outline| join(&outline, &self.results).ok());
            self.fail(&format!("a worker broke down: {error}"));
            // The runs made until then are not lost.
            if let Some(report) = made {
                self.show(report);
            }
            return true;
        }
        worker.opened = false;
        let making = std::mem::take(&mut worker.making);
        self.queue.extend(making);
        self.go_on(dispatch);
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
        self.queue.clear();
        self.results.clear();
        self.opening = None;
        self.asked = false;
        self.shown.progress = None;
        self.shown.stopping = false;
    }
}
