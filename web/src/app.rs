//! The application: one owner of the session; messages in, a page out.

mod console;
mod incoming;
mod keys;
mod msg;
mod view;
mod work;

use std::cell::OnceCell;
use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions};
use gloo_render::AnimationFrame;
use gloo_timers::callback::Timeout;
use taintlab_core::command::{Command, CommandError};
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::Availability;
use taintlab_core::time::{SECOND, Timestamp};
use taintlab_core::warnings::Warning;
use wasm_bindgen::JsCast;
use yew::prelude::*;

pub(crate) use self::console::{Entry, Outcome, Printed};
pub(crate) use self::keys::SHORTCUTS;
pub(crate) use self::msg::{Dialog, Dispatch, Export, Handing, Msg, Notice, maybe, refused};
pub(crate) use self::work::has_stored_work;
use crate::components::board::Detail;
use crate::fleet::Fleet;
use crate::inspected::Inspected;
use crate::model::{Model, Selection};
use crate::moves::Moves;
use crate::playback::{Playback, Speed, Target};
use crate::scrub::Scrub;
use crate::session::Session;
use crate::shell::Page;
use crate::theme::Theme;
use crate::warned::Marked;
use crate::{browser, files};

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
    notices: Vec<Notice>,
    notices_made: u32,
    announcement: AttrValue,
    theme: Theme,
    catalogue: OnceCell<files::Catalogue>,
    /// A file is being dragged over the page.
    dropping: bool,
    /// Storing has failed, which was said.
    cannot_store: bool,
    dispatch: Dispatch,
    frame: Option<AnimationFrame>,
    save: Option<Timeout>,
    _listeners: Vec<EventListener>,
}

impl App {
    /// The application, with the work of the last time or the sample cluster.
    pub(crate) fn new(dispatch: Dispatch) -> Self {
        let (session, selection, notice) = work::beginning();
        let mut app = Self {
            session,
            model: Model::default(),
            playback: Playback::default(),
            epoch: Epoch::default(),
            selection,
            inspected: Rc::default(),
            scrub: Rc::default(),
            fleet: None,
            moves: Moves::default(),
            reference: Vec::new(),
            dialog: None,
            warnings: Rc::default(),
            marked: Rc::default(),
            console: Rc::default(),
            console_open: false,
            entries_made: 0,
            notices: Vec::new(),
            notices_made: 0,
            announcement: AttrValue::default(),
            theme: Theme::stored(),
            catalogue: OnceCell::new(),
            dropping: false,
            cannot_store: false,
            _listeners: listeners(&dispatch),
            dispatch,
            frame: None,
            save: None,
        };
        app.notices.extend(notice);
        app.refresh();
        app
    }
}

impl Page for App {
    fn update(&mut self, msg: Msg) -> bool {
        match msg {
            Msg::Frame(time) => return self.on_frame(time),
            Msg::Edit(commands, refused) => _ = self.edit(commands, &refused),
            Msg::EditAndClose(commands, refused) => {
                if self.edit(commands, &refused) {
                    self.dialog = None;
                }
            }
            Msg::Undo => self.change(|session| session.undo()),
            Msg::Redo => self.change(|session| session.redo()),
            Msg::TogglePlay => self.play(!self.playback.is_playing()),
            Msg::SetSpeed(speed) => self.set_speed(speed),
            Msg::Faster => self.set_speed(self.playback.speed.faster()),
            Msg::Slower => self.set_speed(self.playback.speed.slower()),
            Msg::Step => {
                self.play(false);
                self.change(|session| _ = session.step());
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
            Msg::Select(selection) => {
                self.selection = selection;
                self.inspect();
                self.save_soon();
            }
            Msg::Open(dialog) => self.dialog = Some(dialog),
            Msg::CloseDialog => self.dialog = None,
            Msg::Load(scenario) => self.load(*scenario),
            Msg::Import(read, true) => {
                let start = files::start_with(*read, &self.session.timeline().start);
                self.load(start);
            }
            Msg::Import(read, false) => self.add(*read),
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
                self.selection = Some(selection);
                self.inspect();
                self.save_soon();
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
            Msg::Save => {
                self.save = None;
                self.store();
            }
            // Without a change there is nothing to store: another tab may have stored since.
            Msg::Leave if self.save.is_none() && !self.playback.is_playing() => return false,
            Msg::Leave => {
                self.save = None;
                self.store();
            }
        }
        self.keep_playing();
        true
    }

    fn view(&self) -> Html {
        self.page()
    }

    fn painted(&mut self) {
        self.moves.fly();
    }
}

impl App {
    /// A frame: time passes; painted only if something shows it.
    fn on_frame(&mut self, time: f64) -> bool {
        let before = self.session.now();
        match self.playback.frame(time, before) {
            None => {}
            Some(Target::Time(to)) => {
                let due = self.session.next().is_some();
                self.session.seek(to);
                self.refresh();
                if due && self.session.next().is_none() {
                    self.play(false);
                    self.announce_end();
                }
            }
            Some(Target::NextEvent) => {
                if !self.session.step() {
                    self.play(false);
                }
                self.refresh();
            }
        }
        self.keep_playing();
        self.session.now() != before || !self.playback.is_playing()
    }

    fn announce_end(&mut self) {
        self.announcement = "Nothing more is due. The clock has stopped.".into();
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
        self.session.apply(commands)?;
        if let Some(selection) = follows {
            self.selection = selection;
        }
        self.changed();
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
        let gone = self.model.board().totals.evicted;
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
            self.announce(gone);
            self.look_for_warnings();
        } else {
            if self.fleet.as_ref().is_some_and(|fleet| self.is_old(fleet.now, fleet.end)) {
                self.look_at_workloads();
            }
            if self.inspected.as_of().is_some_and(|at| self.is_old(at, Timestamp::ZERO)) {
                self.inspect();
            }
        }
        self.follow_drains();
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
        let warnings = self.session.simulator().warnings();
        if *self.warnings != warnings {
            let marked = Marked::of(&warnings);
            if *self.marked != marked {
                self.marked = Rc::new(marked);
            }
            self.warnings = Rc::new(warnings);
        }
    }

    fn announce(&mut self, gone_before: usize) {
        let gone = self.model.board().totals.evicted;
        let new = gone.saturating_sub(gone_before);
        match (new, self.session.gone().last()) {
            (0, _) | (_, None) => {}
            (1, Some(last)) => self.announcement = format!("{} was evicted", last.pod).into(),
            (new, _) => self.announcement = format!("{new} pods were evicted").into(),
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
        on("paste", |event| incoming::pasted(event.dyn_ref()?)),
        on("dragover", |event| incoming::dragged(event.dyn_ref()?, true)),
        on("dragleave", |event| incoming::dragged(event.dyn_ref()?, false)),
        on("drop", |event| incoming::dropped(event.dyn_ref()?)),
        on("pagehide", |_| Some(Msg::Leave)),
    ]
}
