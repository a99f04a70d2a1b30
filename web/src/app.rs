//! The application: one owner of the session; messages in, a page out.

mod back;
mod console;
mod incoming;
mod keeping;
mod keys;
mod msg;
mod view;
mod work;

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions};
use gloo_render::AnimationFrame;
use gloo_timers::callback::Timeout;
use taintlab_core::command::{Command, CommandError};
use taintlab_core::pod_state::PodCounts;
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::{Availability, RunOutcome};
use taintlab_core::time::{SECOND, Timestamp};
use taintlab_core::warnings::{Warning, WarningCode, warnings_of};
use wasm_bindgen::JsCast;
use yew::prelude::*;

use self::back::Back;
pub(crate) use self::console::{Entry, Outcome, Printed};
use self::keeping::Keeping;
pub(crate) use self::keeping::{Beginning, begin};
pub(crate) use self::keys::{SHORTCUTS, Where};
pub(crate) use self::msg::{
    Dialog, Dispatch, Export, Handing, Msg, Notice, NoticeAction, maybe, refused,
};
use crate::components::board::Detail;
use crate::fleet::Fleet;
use crate::focus::{Focus, Goal, Place};
use crate::inspected::Inspected;
use crate::model::{Model, Selection};
use crate::moves::Moves;
use crate::playback::{FRAME_BUDGET, Playback, Speed};
use crate::scrub::Scrub;
use crate::session::Session;
use crate::tab;
use crate::theme::Theme;
use crate::warned::Marked;
use crate::{announce, browser, files, words};

/// With more pods than these, warnings wait until time stands still.
const MANY_PODS: usize = 2_000;

/// When a countdown on the page began to run as it does: changes whenever clock, speed or timers
/// do something that the animations cannot know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Epoch {
    /// Where the clock was.
    pub(crate) at: Timestamp,
    /// Turns over with every change.
    pub(crate) turn: bool,
}

/// The application.
pub(crate) struct App {
    session: Session,
    model: Model,
    playback: Playback,
    epoch: Epoch,
    selection: Option<Selection>,
    inspected: Rc<Inspected>,
    scrub: Rc<Scrub>,
    /// How it ended, if nothing is due any more.
    outcome: Option<Rc<RunOutcome>>,
    /// The workloads, if their controllers run.
    fleet: Option<Rc<Fleet>>,
    moves: Moves,
    /// The run that others are compared with.
    reference: Vec<Availability>,
    dialog: Option<Dialog>,
    warnings: Rc<Vec<Warning>>,
    marked: Rc<Marked>,
    console: Rc<Vec<Rc<Entry>>>,
    console_open: bool,
    entries_made: usize,
    /// Entries up to this one are about a cluster or an edit that is no longer there.
    entries_forgotten: usize,
    notices: Vec<Notice>,
    notices_made: u32,
    announcement: AttrValue,
    focus: Focus,
    back: Back,
    theme: Theme,
    catalogue: OnceCell<Rc<files::Catalogue>>,
    /// A file is being dragged over the page.
    dropping: bool,
    keeping: Keeping,
    dispatch: Dispatch,
    frame: Option<AnimationFrame>,
    save: Option<Timeout>,
    _listeners: Vec<EventListener>,
}

/// What the page begins with, which is handed over once.
#[derive(Clone, Properties)]
pub(crate) struct AppProps {
    /// It.
    pub(crate) beginning: Rc<Cell<Option<Box<Beginning>>>>,
}

impl PartialEq for AppProps {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.beginning, &other.beginning)
    }
}

impl Component for App {
    type Message = Msg;
    type Properties = AppProps;

    /// The application, with the work of this tab or the sample cluster.
    fn create(ctx: &Context<Self>) -> Self {
        let dispatch = ctx.link().callback(|msg| msg);
        let theme = Theme::stored();
        theme.use_it();
        let Beginning { session, selection, notices, keeping } =
            *ctx.props().beginning.take().unwrap_or_default();
        let mut app = Self {
            session,
            model: Model::default(),
            playback: Playback::default(),
            epoch: Epoch::default(),
            selection,
            inspected: Rc::default(),
            scrub: Rc::default(),
            outcome: None,
            fleet: None,
            moves: Moves::default(),
            reference: Vec::new(),
            dialog: None,
            warnings: Rc::default(),
            marked: Rc::default(),
            console: Rc::default(),
            console_open: false,
            entries_made: 0,
            entries_forgotten: 0,
            notices: Vec::new(),
            notices_made: 0,
            announcement: AttrValue::default(),
            focus: Focus::default(),
            back: Back::new(),
            theme,
            catalogue: OnceCell::new(),
            dropping: false,
            keeping,
            _listeners: listeners(&dispatch),
            dispatch,
            frame: None,
            save: None,
        };
        for notice in notices {
            app.notice(notice);
        }
        app.refresh();
        // What was copied, or noted when the page was left, is not stored yet.
        app.save_soon();
        app
    }

    fn update(&mut self, _: &Context<Self>, msg: Msg) -> bool {
        match msg {
            Msg::Frame(time) => return self.on_frame(time),
            Msg::Edit(commands, refused) => _ = self.edit(commands, &refused),
            Msg::EditAndClose(commands, refused) => {
                if self.edit(commands, &refused) {
                    self.dialog = None;
                }
            }
            Msg::Undo => {
                self.forget_what_was_done();
                self.change(|session| session.undo());
                self.announcement = "Undone".into();
            }
            Msg::Redo => {
                self.forget_what_was_done();
                self.change(|session| session.redo());
                self.announcement = "Done again".into();
            }
            Msg::TogglePlay => self.play(!self.playback.is_playing()),
            Msg::SetSpeed(speed) => self.set_speed(speed),
            Msg::Faster => self.set_speed(self.playback.speed.faster()),
            Msg::Slower => self.set_speed(self.playback.speed.slower()),
            Msg::Step => {
                self.play(false);
                let before = self.session.rows().len();
                self.change(|session| _ = session.step());
                self.announce_outcome(before, None);
            }
            Msg::StepBack => {
                self.play(false);
                self.change(Session::step_back);
            }
            Msg::RunToEnd => {
                self.play(false);
                self.change(Session::run_to_end);
            }
            Msg::Seek(to) => {
                self.play(false);
                self.change(|session| session.seek(to));
            }
            Msg::Select(selection) => self.select(selection),
            Msg::Open(dialog) => self.dialog = Some(dialog),
            Msg::CloseDialog => self.dialog = None,
            Msg::Load(scenario) => self.load(*scenario),
            Msg::ReplaceCluster(read, own_release) => self.replace_cluster(&read, own_release),
            Msg::PlanImport(read, objects, planned) => {
                planned.emit(self.plan_import(&read, &objects));
                return false;
            }
            Msg::AddToCluster(read, objects) => self.add(&read, &objects),
            Msg::Export(what, how) => self.export(what, how),
            Msg::ChangeStart(change) => _ = self.change_start(change),
            Msg::ChangeSettings(change) => {
                if self.change_start(change) {
                    self.dialog = None;
                }
            }
            Msg::KeepRun => {
                self.reference = self.fleet.as_ref().map(|fleet| fleet.run()).unwrap_or_default();
                self.look_at_workloads();
                self.inspect();
            }
            Msg::Show(selection) => {
                self.dialog = None;
                self.select(Some(selection));
                self.focus.go(Goal::Inspector);
            }
            Msg::Focused(element) => {
                self.focus.came_to(element);
                return false;
            }
            Msg::Move(step) => {
                self.focus.step(step);
                return false;
            }
            Msg::Escape => self.escape(),
            Msg::ToBoard => self.focus.go(Goal::Card(self.selection.clone())),
            Msg::WentBack => {
                if self.back.went() {
                    self.dialog = None;
                }
            }
            Msg::Copy(text) => incoming::copy(&self.dispatch, text),
            Msg::Kubectl(line) => self.kubectl(line),
            Msg::Complete(line, cursor, found) => {
                found.emit(self.complete(&line, cursor));
                return false;
            }
            Msg::OpenConsole(open) => {
                self.console_open = open;
                if !open {
                    browser::focus("[data-testid=console-open]");
                }
            }
            Msg::NextTheme => {
                self.theme = self.theme.next();
                self.theme.use_it();
            }
            Msg::Notice(notice) => self.notice(notice),
            Msg::Dismiss(id) => self.notices.retain(|notice| notice.id != id),
            Msg::Dropping(dropping) => {
                if self.dropping == dropping {
                    return false;
                }
                self.dropping = dropping;
            }
            Msg::Files(files) => {
                self.dropping = false;
                incoming::read(&self.dispatch, files);
            }
            Msg::Download(name, text) => {
                let result = browser::download(&name, &text);
                self.notice_error(result);
            }
            Msg::Save => self.store(),
            Msg::Written(result) => self.written(*result),
            Msg::Leave => {
                self.leave();
                return false;
            }
            Msg::Return => {
                tab::enter(&self.keeping.id, self.keeping.stamp());
                return false;
            }
            Msg::OpenSession(kept) => self.open_session(&kept),
            Msg::ContinueSession(id) => self.continue_session(id),
            Msg::Sessions => self.open_sessions(),
        }
        self.keep_playing();
        self.back.follow(self.dialog.is_some());
        true
    }

    fn view(&self, _: &Context<Self>) -> Html {
        self.page()
    }

    fn rendered(&mut self, _: &Context<Self>, _: bool) {
        self.moves.fly();
        self.focus.painted();
    }
}

impl App {
    fn select(&mut self, selection: Option<Selection>) {
        let before = std::mem::replace(&mut self.selection, selection);
        match &self.selection {
            Some(new) => self.focus.reveal(new.clone()),
            // What closed the inspector was in it.
            None if Place::now() == Place::Inspector => self.focus.go(Goal::Card(before)),
            None => {}
        }
        self.inspect();
        self.save_soon();
    }

    fn escape(&mut self) {
        match Place::now() {
            Place::Board | Place::Nowhere if self.selection.is_some() => self.select(None),
            _ => self.focus.go(Goal::Card(self.selection.clone())),
        }
    }

    /// A frame: time passes; painted only if something shows it.
    fn on_frame(&mut self, time: f64) -> bool {
        let before = self.session.now();
        match self.playback.frame(time, before) {
            None => {}
            Some(to) => {
                let due = self.session.next().is_some();
                let until = browser::stopwatch() + FRAME_BUDGET;
                self.session.play_to(to, || browser::stopwatch() < until);
                self.refresh();
                let is_over = self.session.next().is_none();
                if is_over && (due || to == Timestamp::MAX) {
                    self.play(false);
                }
            }
        }
        self.keep_playing();
        self.session.now() != before || !self.playback.is_playing()
    }

    fn keep_playing(&mut self) {
        self.frame = self.playback.is_playing().then(|| {
            let dispatch = self.dispatch.clone();
            gloo_render::request_animation_frame(move |time| dispatch.emit(Msg::Frame(time)))
        });
    }

    fn play(&mut self, play: bool) {
        if play != self.playback.is_playing() {
            self.playback.set_playing(play);
            self.look_for_warnings();
            self.new_epoch();
            self.save_soon();
        }
    }

    fn set_speed(&mut self, speed: Speed) {
        self.playback.speed = speed;
        self.new_epoch();
    }

    fn new_epoch(&mut self) {
        self.epoch = Epoch { at: self.session.now(), turn: !self.epoch.turn };
    }

    /// Runs the timeline with another beginning; `false` if that cannot be, which is said.
    fn change_start(&mut self, change: Box<dyn FnOnce(&mut Scenario)>) -> bool {
        let result = self.session.change_start(change);
        let changed = result.is_ok();
        self.notice_error(result);
        self.changed();
        changed
    }

    /// Workloads need controllers that look after them.
    fn let_controllers_run(&mut self, commands: &[Command]) {
        let runs = self.session.simulator().config().control_plane;
        let wanted = commands.iter().any(Command::needs_control_plane);
        if wanted && !runs && self.change_start(Box::new(|start| let_all_run(start, true))) {
            self.notice(Notice::info(
                "The scheduler and the controllers of workloads run now, from the beginning of \
                 this timeline. Undo twice to be without them.",
            ));
        }
    }

    /// Faults need kubelets that can fail, and a controller that notices.
    fn let_kubelets_run(&mut self, commands: &[Command]) {
        let runs = self.session.simulator().config().node_lifecycle;
        let wanted = commands.iter().any(Command::needs_node_lifecycle);
        if wanted
            && !runs
            && self.change_start(Box::new(|start| start.kubernetes.node_lifecycle = Some(true)))
        {
            self.notice(Notice::info(
                "Kubelets and the node lifecycle controller run now, from the beginning of this \
                 timeline. Undo twice to be without them.",
            ));
        }
    }

    fn edit(&mut self, commands: Vec<Command>, refused: &Callback<CommandError>) -> bool {
        let lines = console::lines_of(&commands, self.session.simulator());
        let at = self.session.now();
        match self.carry_out(commands) {
            Ok(()) => {
                if let Some(lines) = lines {
                    self.enter(at, lines.into(), Outcome::Clicked);
                }
                // What is applied is left: the space bar plays, and takes nothing back.
                if self.dialog.is_some() || Place::now() == Place::Inspector {
                    self.focus.go(Goal::Card(self.selection.clone()));
                }
                true
            }
            Err(error) => {
                refused.emit(error);
                false
            }
        }
    }

    /// Does what commands say, as one edit.
    fn carry_out(&mut self, commands: Vec<Command>) -> Result<(), CommandError> {
        self.let_controllers_run(&commands);
        self.let_kubelets_run(&commands);
        let follows = msg::selection_after(&commands, self.selection.as_ref());
        let words = commands.first().map(words::command_text);
        let before = self.session.rows().len();
        self.session.apply(commands)?;
        if let Some(selection) = follows {
            self.selection = selection;
        }
        self.changed();
        self.announce_outcome(before, words);
        Ok(())
    }

    fn change(&mut self, change: impl FnOnce(&mut Session)) {
        change(&mut self.session);
        self.changed();
    }

    /// The session was changed by hand: everything looks at it, and it is saved.
    fn changed(&mut self) {
        self.refresh();
        // Not everything that can be changed shows on the board.
        self.inspect();
        self.new_epoch();
        self.save_soon();
    }

    /// Looks at what the session did.
    fn refresh(&mut self) {
        let before_counts = self.model.board().totals.counts;
        // Dots do not fly.
        let flies = self.fleet.is_some() && Detail::of(self.model.board()) == Detail::Full;
        let before = flies.then(|| self.model.pods().clone());
        if self.model.update(&mut self.session) {
            if let Some(before) = before {
                self.moves.note(&before, self.model.pods());
            }
            self.new_epoch();
            self.inspect();
            self.scrub = Rc::new(Scrub::new(&self.session));
            self.look_at_workloads();
            self.announce(&before_counts);
            self.look_for_warnings();
        } else {
            if self.fleet.as_ref().is_some_and(|fleet| self.is_old(fleet.now, fleet.end)) {
                self.look_at_workloads();
            }
            if self.inspected.as_of().is_some_and(|at| self.is_old(at, Timestamp::ZERO)) {
                self.inspect();
            }
        }
        self.look_at_outcome();
        self.follow_drains();
    }

    /// Says how it ended, when nothing is due any more.
    fn look_at_outcome(&mut self) {
        let outcome = match self.session.next() {
            Some(_) => None,
            None => self.session.simulator().outcome(),
        };
        if self.outcome.as_deref() == outcome.as_ref() {
            return;
        }
        self.outcome = outcome.map(Rc::new);
        if let Some(outcome) = &self.outcome
            && self.has_begun()
        {
            self.announcement = format!("Nothing more is due. {outcome}").into();
        }
    }

    /// Whether something that changes with time alone is shown as it was too long ago. While time
    /// runs that is a second of it, and at least a part of a long axis.
    fn is_old(&self, shown: Timestamp, axis: Timestamp) -> bool {
        let age = self.session.now().as_nanos().abs_diff(shown.as_nanos());
        if self.playback.is_playing() { age >= SECOND.max(axis.as_nanos() / 200) } else { age > 0 }
    }

    /// Looks through all objects, which while time runs fast is only done for clusters that are
    /// looked through in no time.
    fn look_for_warnings(&mut self) {
        if self.playback.is_playing() && self.model.board().totals.pods > MANY_PODS {
            return;
        }
        let warnings = warnings_of(self.session.simulator());
        if *self.warnings != warnings {
            self.say_of_control_plane(&warnings);
            let marked = Marked::of(&warnings);
            if *self.marked != marked {
                self.marked = Rc::new(marked);
            }
            self.warnings = Rc::new(warnings);
        }
    }

    fn announce(&mut self, before: &PodCounts) {
        let news = self.model.board().totals.counts.news_since(before);
        if !news.is_empty() {
            self.announcement = news.into();
        }
    }

    /// What is assumed of the controllers matters from the moment on at which all nodes are lost
    /// that they would run on.
    fn say_of_control_plane(&mut self, new: &[Warning]) {
        let is_it = |warning: &&Warning| warning.code == WarningCode::ControlPlaneLost;
        if self.warnings.iter().any(|warning| is_it(&warning)) {
            return;
        }
        if let Some(warning) = new.iter().find(is_it) {
            let text = format!("Warning: {}.", warning.message);
            self.notice(Notice::info(text));
        }
    }

    /// Says what became of pods since the log had so many rows; if nothing did, what was done.
    fn announce_outcome(&mut self, before: usize, done: Option<String>) {
        let rows = self.session.rows().get(before..).unwrap_or_default();
        if let Some(said) = announce::outcome(rows, &self.model).or(done) {
            self.announcement = said.into();
        }
    }

    fn look_at_workloads(&mut self) {
        let fleet = Fleet::new(&self.session, &self.reference);
        if self.fleet.as_deref() != fleet.as_ref() {
            self.fleet = fleet.map(Rc::new);
        }
    }

    fn inspect(&mut self) {
        let selection = self.selection.as_ref();
        let reference = &self.reference;
        let inspected = Inspected::new(&self.session, &self.model, reference, selection);
        if *self.inspected != inspected {
            self.inspected = Rc::new(inspected);
        }
    }

    fn notice(&mut self, mut notice: Notice) {
        self.notices_made += 1;
        notice.id = self.notices_made;
        // The newest are the ones to be read.
        if self.notices.len() >= 3 {
            self.notices.remove(0);
        }
        self.notices.push(notice);
    }

    fn notice_error<E: std::fmt::Display>(&mut self, result: Result<(), E>) {
        if let Err(error) = result {
            self.notice(Notice::error(error.to_string()));
        }
    }
}

/// Switches the scheduler and the controllers of workloads on, with the kubelets they need, or off.
pub(crate) fn let_all_run(start: &mut Scenario, run: bool) {
    start.kubernetes.control_plane = Some(run);
    if run {
        start.kubernetes.node_lifecycle = Some(true);
    }
}

/// Keys, pasting, dropping and leaving, wherever they happen on the page.
fn listeners(dispatch: &Dispatch) -> Vec<EventListener> {
    let Some(window) = browser::window() else { return Vec::new() };
    let on = |event: &'static str, react: fn(&Event) -> Option<Msg>| {
        let dispatch = dispatch.clone();
        let options = EventListenerOptions::enable_prevent_default();
        EventListener::new_with_options(&window, event, options, move |event| {
            if let Some(msg) = react(event) {
                dispatch.emit(msg);
            }
        })
    };
    vec![
        on("keydown", |event| keys::pressed(event.dyn_ref()?)),
        on("focusin", |event| Some(Msg::Focused(event.target()?.dyn_into().ok()?))),
        on("popstate", |_| Some(Msg::WentBack)),
        on("paste", |event| incoming::pasted(event.dyn_ref()?)),
        on("dragover", |event| incoming::dragged(event.dyn_ref()?, true)),
        on("dragleave", |event| incoming::dragged(event.dyn_ref()?, false)),
        on("drop", |event| incoming::dropped(event.dyn_ref()?)),
        on("pagehide", |_| Some(Msg::Leave)),
        on("pageshow", |_| Some(Msg::Return)),
    ]
}
