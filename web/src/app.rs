//! The application: one owner of the session; messages in, a page out.

mod address;
mod back;
mod console;
mod density;
mod edits;
mod incoming;
mod keeping;
mod lanes;
mod linked;
mod listeners;
mod moments;
mod refresh;
mod report;
mod story;
mod view;
mod work;

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use gloo_events::EventListener;
use gloo_render::AnimationFrame;
use gloo_timers::callback::Timeout;
use taintlab_core::simulator::RunOutcome;
use taintlab_core::time::Timestamp;
use taintlab_core::warnings::Warning;
use yew::prelude::*;

use self::address::Address;
use self::back::{Back, Went};
use self::density::kept as kept_density;
use self::keeping::Keeping;
pub(crate) use self::keeping::{InitialState, begin};
use crate::browser;
use crate::files;
use crate::focus::{Focus, Goal, Place};
use crate::link::Opened;
use crate::messages::{Dialog, Dispatch, Msg, Notice};
use crate::playback::{FRAME_BUDGET, Playback, Speed};
use crate::pod_animation::PodAnimation;
use crate::session::Session;
use crate::test_id::TestId;
use crate::text;
use crate::theme::Theme;
use crate::view_models::ViewModels;
use crate::view_models::board::density::Density;
use crate::view_models::console::Entry;
use crate::view_models::lanes::LanesMsg;
use crate::view_models::runs::{Breakpoint, Compared};
use crate::view_models::selection::Selection;
use crate::view_models::warning_marks::WarningMarks;

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
    views: ViewModels,
    playback: Playback,
    epoch: Epoch,
    selection: Option<Selection>,
    /// How it ended, if nothing is due any more.
    outcome: Option<Rc<RunOutcome>>,
    pod_animation: PodAnimation,
    dialog: Option<Dialog>,
    warnings: Rc<Vec<Warning>>,
    marked: Rc<WarningMarks>,
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
    address: Address,
    /// A link that was opened, and is asked about.
    offered: Option<Box<Opened>>,
    /// The number of the bookmark that is told.
    story: Option<usize>,
    theme: Theme,
    density: Density,
    catalogue: OnceCell<Rc<files::Catalogue>>,
    lanes: lanes::Lanes,
    /// Where time stops.
    breakpoints: Vec<Breakpoint>,
    /// Two runs that were compared last.
    compared: Option<Rc<Compared>>,
    report: report::Reporting,
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
    pub(crate) initial: Rc<Cell<Option<Box<InitialState>>>>,
}

impl PartialEq for AppProps {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.initial, &other.initial)
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
        let InitialState { session, selection, notices, keeping, offered, .. } =
            *ctx.props().initial.take().unwrap_or_default();
        let mut app = Self {
            session,
            views: ViewModels::default(),
            playback: Playback::default(),
            epoch: Epoch::default(),
            selection,
            outcome: None,
            pod_animation: PodAnimation::default(),
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
            address: Address::new(),
            offered: None,
            story: None,
            theme,
            density: kept_density(),
            catalogue: OnceCell::new(),
            lanes: lanes::Lanes::default(),
            breakpoints: Vec::new(),
            compared: None,
            report: report::Reporting::default(),
            dropping: false,
            keeping,
            _listeners: listeners::all(ctx.link(), &dispatch),
            dispatch,
            frame: None,
            save: None,
        };
        for notice in notices {
            app.notice(notice);
        }
        app.refresh(ViewModels::follow);
        if let Some(offered) = offered {
            app.offer_link(offered);
            app.back.follow(true);
        }
        // What was copied, or noted when the page was left, is not stored yet.
        app.save_soon();
        app
    }

    fn update(&mut self, _: &Context<Self>, msg: Msg) -> bool {
        if moments::is_of_the_clock(&msg) {
            self.end_peek();
        }
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
                self.step();
            }
            Msg::StepBack => {
                self.play(false);
                let hidden = self.views.hidden.clone();
                self.change(|session| session.step_back_to_shown(&hidden));
            }
            Msg::RunToEnd => {
                self.play(false);
                self.change(Session::run_to_end);
            }
            Msg::Seek(to) => {
                self.play(false);
                self.change(|session| session.seek(to));
            }
            Msg::GoTo(to, selection) => {
                self.play(false);
                self.change(|session| session.seek(to));
                if selection.is_some() {
                    self.select(selection);
                }
            }
            Msg::Select(selection) => self.select(selection),
            Msg::Open(dialog) => self.dialog = Some(dialog),
            Msg::CloseDialog => {
                self.dialog = None;
                self.offered = None;
            }
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
            Msg::SetBaseline => self.views.set_baseline(&self.session, self.selection.as_ref()),
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
            Msg::WentBack => match self.back.went() {
                Went::FromDialog => {
                    self.dialog = None;
                    self.offered = None;
                    self.follow_address();
                }
                Went::Back => self.follow_address(),
                Went::Elsewhere => self.arrive(),
            },
            Msg::Copy(text) => incoming::copy(&self.dispatch, text),
            Msg::Kubectl(line) => self.kubectl(line),
            Msg::Complete(line, cursor, found) => {
                found.emit(self.complete(&line, cursor));
                return false;
            }
            Msg::OpenConsole(open) => {
                self.console_open = open;
                if !open {
                    browser::focus(&TestId::ConsoleOpen.selector());
                }
            }
            Msg::NextTheme => {
                self.theme = self.theme.next();
                self.theme.use_it();
            }
            Msg::SetDensity(density) => self.set_density(density),
            Msg::NextDensity => {
                let nodes = self.views.board.board().totals.nodes;
                self.set_density(self.density.next(nodes));
            }
            Msg::Find(name) => self.find(&name),
            Msg::Focus(what) => {
                browser::focus(&what.selector());
                return false;
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
            Msg::Lanes(msg) => {
                let waits = matches!(msg, LanesMsg::Peek(Some(_)));
                self.on_lanes(msg);
                if waits {
                    return false;
                }
            }
            Msg::Until(until, failed) => self.until(until, &failed),
            Msg::Branch(msg) => self.branch(msg),
            Msg::Compare(with, failed) => self.compare(&with, &failed),
            Msg::Ahead => self.run_forecast(),
            Msg::StepAbout(later) => self.step_about(later),
            Msg::ToggleKind(kind) => self.toggle_kind(kind),
            Msg::Save => {
                self.store();
                self.follow_address();
            }
            Msg::Written(result) => self.written(*result),
            Msg::Leave => {
                self.store_at_once();
                return false;
            }
            Msg::Return => {
                self.keeping.enter();
                return false;
            }
            Msg::OpenSession(kept) => self.open_session(&kept),
            Msg::ContinueSession(id) => self.continue_session(id),
            Msg::Sessions => self.open_sessions(),
            Msg::Address(turn, fragment) => {
                self.write_address(turn, &fragment);
                return false;
            }
            Msg::LinkRead(read) => self.link_read(read),
            Msg::TakeLink => self.take_link(),
            Msg::MakeLink(hide, made) => {
                self.make_link(hide, made);
                return false;
            }
            Msg::MakeEmbed(made) => {
                self.make_embed(made);
                return false;
            }
            Msg::DownloadShared(hide) => self.download_shared(hide),
            Msg::Run(does) => {
                self.dialog = None;
                self.dispatch.emit(does());
            }
            Msg::SetBookmarks(bookmarks) => self.set_bookmarks(bookmarks),
            Msg::Tell(number) => self.tell(number),
            Msg::NextBookmark => self.tell_next(true),
            Msg::PreviousBookmark => self.tell_next(false),
            Msg::Tour(name) => self.tour(name),
            Msg::Report(msg) => self.on_report(msg),
            Msg::ReportAnswer(turn, worker, answer) => self.on_answer(turn, worker, *answer),
        }
        self.keep_playing();
        self.keep_forecasting();
        self.back.follow(self.dialog.is_some());
        true
    }

    fn view(&self, _: &Context<Self>) -> Html {
        self.page()
    }

    fn rendered(&mut self, _: &Context<Self>, _: bool) {
        self.pod_animation.play();
        self.focus.painted();
    }
}

impl App {
    fn select(&mut self, selection: Option<Selection>) {
        let before = std::mem::replace(&mut self.selection, selection);
        match &self.selection {
            Some(new) => self.focus.reveal(self.place_of(new)),
            // What closed the inspector was in it.
            None if Place::now() == Place::Inspector => self.focus.go(Goal::Card(before)),
            None => {}
        }
        self.views.inspect(&self.session, self.selection.as_ref());
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
                let (mut stopped, breakpoints) = (None, &mut self.breakpoints);
                self.session.play_to(to, |session| {
                    stopped = Self::stops(breakpoints, session.simulator());
                    stopped.is_none() && browser::stopwatch() < until
                });
                self.refresh(ViewModels::follow);
                if let Some(condition) = stopped {
                    self.play(false);
                    let now = text::at(self.session.now());
                    self.notice(Notice::info(format!("Stopped at {now}: {condition}")));
                }
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
            if !play {
                // What was left as it was while time ran.
                self.refresh(ViewModels::follow);
            }
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
