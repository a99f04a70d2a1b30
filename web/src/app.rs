//! The application: the page's own state, and its copy of what the session last reported.

mod address;
mod back;
mod density;
mod incoming;
mod keeping;
mod lanes;
mod linked;
mod listeners;
mod moments;
mod pane;
mod report;
mod requests;
mod view;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use gloo_events::EventListener;
use gloo_render::AnimationFrame;
use gloo_timers::callback::Timeout;
use taintlab_core::api::NodeName;
use taintlab_core::time::Timestamp;
use yew::prelude::*;

use self::address::Address;
use self::back::{Back, Went};
use self::density::kept as kept_density;
use self::keeping::Keeping;
pub(crate) use self::keeping::{InitialState, begin};
use self::requests::Waiting;
use crate::browser;
use crate::components::parts::busy::Activity;
use crate::connection::{Connection, Told};
use crate::files;
use crate::focus::{Focus, Goal, Place};
use crate::messages::{Dialog, Dispatch, Msg, Notice, Source};
use crate::playback::{Playback, Speed};
use crate::pod_animation::PodAnimation;
use crate::protocol::{ClockView, Reply, Request, Selected, StartText, WarningView, WorkView};
use crate::saved::SavedWork;
use crate::theme::Theme;
use crate::view_models::about_release::AboutRelease;
use crate::view_models::board::Board;
use crate::view_models::board::density::{Density, Detail};
use crate::view_models::console::Entry;
use crate::view_models::inspector_model::InspectorModel;
use crate::view_models::lanes::LanesView;
use crate::view_models::log::{LogView, LogWanted};
use crate::view_models::names::Shared;
use crate::view_models::pane::Pane;
use crate::view_models::runs::Compared;
use crate::view_models::selection::Selection;
use crate::view_models::timeline::TimelineView;
use crate::view_models::warning_marks::WarningMarks;
use crate::view_models::workloads::WorkloadsModel;

/// The start of all countdown animations on the page. A new epoch begins whenever clock, speed or
/// timers change in a way that the animations cannot know of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Epoch {
    /// The time of the clock at that moment.
    pub(crate) at: Timestamp,
    /// Flips with every change.
    pub(crate) turn: bool,
}

/// The session's last report, part by part.
pub(crate) struct Shown {
    clock: ClockView,
    work: Rc<WorkView>,
    selected: Selected,
    detail: Detail,
    board: Rc<Board>,
    marked: Rc<WarningMarks>,
    warnings: Rc<Vec<WarningView>>,
    inspector: Rc<InspectorModel>,
    timeline: Rc<TimelineView>,
    workloads: Option<Rc<WorkloadsModel>>,
    log: Rc<LogView>,
    lanes: Rc<LanesView>,
    console: Rc<Vec<Rc<Entry>>>,
    /// The number of the last console entry that no longer counts as the latest action.
    forgotten: usize,
    compared: Option<Rc<Compared>>,
    /// The work as it is saved.
    kept: Rc<SavedWork>,
    start: StartText,
    /// The number of starts received so far.
    starts: u32,
}

impl Default for Shown {
    fn default() -> Self {
        Self {
            clock: ClockView::default(),
            work: Rc::default(),
            selected: Selected::default(),
            detail: Detail::Full,
            board: Rc::default(),
            marked: Rc::default(),
            warnings: Rc::default(),
            inspector: Rc::default(),
            timeline: Rc::default(),
            workloads: None,
            log: Rc::default(),
            lanes: Rc::default(),
            console: Rc::default(),
            forgotten: 0,
            compared: None,
            kept: Rc::default(),
            start: StartText::default(),
            starts: 0,
        }
    }
}

/// The application.
pub(crate) struct App {
    connection: Connection,
    /// Handlers of replies that the page waits for, by request.
    waiting: BTreeMap<u32, Waiting>,
    /// Handlers of replies that nobody waits for, by request.
    aside: BTreeMap<u32, Waiting>,
    shown: Shown,
    /// The long-running work that the page reports, with its progress.
    activity: Option<Activity>,
    /// The timer that ends the worker if a cancelled request does not stop in time.
    stops: Option<Timeout>,
    /// The timer that shows the page as busy if an answer takes long.
    slow: Option<Timeout>,
    /// Whether the session is being restarted after a crash.
    begins_again: bool,
    playback: Playback,
    /// Whether an answer to [`Request::Play`] is outstanding.
    ticks: bool,
    /// Whether there was a frame since time last passed without waiting for one: a hidden page has
    /// none, and does not play.
    has_painted: bool,
    epoch: Epoch,
    selection: Option<Selection>,
    /// The selection to bring into sight once its place is known.
    reveals: Option<Selection>,
    pod_animation: PodAnimation,
    dialog: Option<Dialog>,
    /// Whether the list of warnings is open.
    looks_at_warnings: bool,
    /// Nodes that an autoscaler's node group can copy.
    nodes: Rc<Vec<NodeName>>,
    /// The pane below the board.
    pane: Pane,
    notices: Vec<Notice>,
    notices_made: u32,
    announcement: AttrValue,
    focus: Focus,
    back: Back,
    address: Address,
    /// The notice about the opened link, shown when the link is taken.
    told_of_link: Option<Notice>,
    theme: Theme,
    density: Density,
    /// Whether nodes on which nothing happens are shown too.
    shows_fine: bool,
    /// The prefix and suffix that all node names share.
    names: Shared,
    catalogue: Rc<files::Catalogue>,
    /// The evidence for the release, once the dialog about it has asked for it.
    about_release: Option<AboutRelease>,
    lanes: lanes::Lanes,
    /// The filters and the visible part of the event log.
    log: LogWanted,
    report: report::Reporting,
    /// Whether a file is being dragged over the page.
    dropping: bool,
    keeping: Keeping,
    dispatch: Dispatch,
    frame: Option<AnimationFrame>,
    save: Option<Timeout>,
    _listeners: Vec<EventListener>,
}

/// The initial state of the page, which the application takes once.
#[derive(Clone, Properties)]
pub(crate) struct AppProps {
    /// The state, until the application takes it.
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
        let InitialState { connection, fragment, update, notices, keeping, offered } =
            *ctx.props().initial.take().unwrap_or_default();
        let listener = dispatch.reform(|told| Msg::Told(Box::new(told)));
        if let Some(why) = connection.broken() {
            // Nobody was there yet to be told.
            listener.emit(Told::Broken(why));
        }
        connection.listen(move |told| listener.emit(told));
        let mut app = Self {
            connection,
            waiting: BTreeMap::new(),
            aside: BTreeMap::new(),
            shown: Shown::default(),
            activity: None,
            stops: None,
            slow: None,
            begins_again: false,
            playback: Playback::default(),
            ticks: false,
            has_painted: false,
            epoch: Epoch::default(),
            selection: None,
            reveals: None,
            pod_animation: PodAnimation::default(),
            dialog: None,
            looks_at_warnings: false,
            nodes: Rc::default(),
            pane: pane::kept(),
            notices: Vec::new(),
            notices_made: 0,
            announcement: AttrValue::default(),
            focus: Focus::default(),
            back: Back::new(),
            address: Address::new(&fragment),
            told_of_link: None,
            theme,
            density: kept_density(),
            shows_fine: density::shows_fine(),
            names: Shared::default(),
            catalogue: Rc::default(),
            about_release: None,
            lanes: lanes::Lanes::default(),
            log: LogWanted::default(),
            report: report::Reporting::default(),
            dropping: false,
            keeping,
            _listeners: listeners::all(ctx.link(), &dispatch),
            dispatch,
            frame: None,
            save: None,
        };
        app.follow(update.changes);
        app.new_epoch();
        for notice in notices {
            app.notice(notice);
        }
        if app.density != Density::default() {
            app.request(Request::Draw(app.density));
        }
        if let Some(contents) = offered {
            app.offer_link(contents);
            app.back.follow(true);
        }
        if browser::fragment() != fragment {
            // The user went to another address while the session was being made.
            app.dispatch.emit(Msg::WentBack);
        }
        // Work that was copied, or noted when the page was left, is not stored yet.
        app.save_soon();
        app
    }

    fn update(&mut self, _: &Context<Self>, msg: Msg) -> bool {
        if moments::is_of_the_clock(&msg) {
            self.end_peek();
        }
        match msg {
            Msg::Frame(time) => return self.on_frame(time),
            Msg::Told(told) => {
                if !self.told(*told) {
                    return false;
                }
            }
            Msg::Edit(commands, refused) => self.edit(Request::Edit(commands), refused, false),
            Msg::EditAndClose(commands, refused) => {
                self.edit(Request::Edit(commands), refused, true);
            }
            Msg::EditYaml(of, text, replaces, refused) => {
                self.edit(Request::EditYaml(of, text, replaces), refused, false);
            }
            Msg::ReplacePod(pod, tolerations, refused) => {
                self.edit(Request::ReplacePod(pod, tolerations), refused, false);
            }
            Msg::Undo => self.request(Request::Undo),
            Msg::Redo => self.request(Request::Redo),
            Msg::TogglePlay => self.play(!self.playback.is_playing()),
            Msg::SetSpeed(speed) => self.set_speed(speed),
            Msg::Faster => self.set_speed(self.playback.speed.faster()),
            Msg::Slower => self.set_speed(self.playback.speed.slower()),
            Msg::Step => self.request_at_rest(Request::Step),
            Msg::StepBack => self.request_at_rest(Request::StepBack),
            Msg::RunToEnd => self.request_at_rest(Request::RunToEnd),
            Msg::Seek(to) => self.request_at_rest(Request::Seek(to)),
            Msg::GoTo(to, selection) => {
                self.request_at_rest(Request::Seek(to));
                if selection.is_some() {
                    self.select(selection);
                }
            }
            Msg::Select(selection) => self.select(selection),
            Msg::Open(dialog) => self.open(dialog),
            Msg::CloseDialog => self.dialog = None,
            Msg::Clear => self.replace(Request::Load("".into())),
            Msg::Read(source, keep_all, told) => {
                self.read(source, keep_all, told);
            }
            Msg::ReadAgain(keep_all, told) => {
                self.ask(Request::ReadAgain(keep_all), move |_, reply| {
                    if let Reply::Read(read) = reply {
                        told.emit(Rc::new(*read));
                    }
                });
            }
            Msg::Replace(own_release) => self.replace(Request::Replace(own_release)),
            Msg::Plan(told) => self.ask(Request::Plan, move |_, reply| {
                if let Reply::Read(read) = reply {
                    told.emit(Rc::new(*read));
                }
            }),
            Msg::Add => self.request(Request::Add),
            Msg::List(listing, told) => self.ask(Request::List(listing), move |_, reply| {
                if let Reply::Listed(listed) = reply {
                    told.emit(Rc::new(*listed));
                }
            }),
            Msg::ReadYaml(selection, text, told) => {
                self.ask(Request::ReadYaml(selection, text), move |_, reply| {
                    if let Reply::Diagnostics(found) = reply {
                        told.emit(found);
                    }
                });
                return false;
            }
            Msg::DownloadStored(name, edits, start) => {
                let request = Request::StoredScenario(edits.clone(), start);
                self.ask(request, move |app, reply| {
                    // A text that cannot be read is offered as it is stored.
                    let (name, text) = match reply {
                        Reply::Text(Ok((_, text))) => (format!("{name}.yaml"), text),
                        _ => (format!("{name}.json"), edits),
                    };
                    let result = browser::download(&name, &text);
                    app.notice_error(result);
                });
            }
            Msg::Excerpt(line, told) => self.ask(Request::Excerpt(line), move |_, reply| {
                if let Reply::Lines(lines) = reply {
                    told.emit(lines);
                }
            }),
            Msg::Export(what, how) => {
                let copies = how == crate::messages::ExportTarget::Copy;
                self.hand_out(Request::Export(what), copies);
            }
            Msg::Picture(of, picture) => self.request(Request::Picture(of, picture)),
            Msg::ChangeStart(change) => self.request(Request::ChangeStart(change)),
            Msg::ChangeSettings(change) => {
                self.ask(Request::ChangeStart(change), |app, reply| {
                    if matches!(reply, Reply::Edited(Ok(()))) {
                        app.dialog = None;
                    }
                });
            }
            Msg::SetBaseline => self.request(Request::SetBaseline),
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
                    self.follow_address();
                }
                Went::Back => self.follow_address(),
                Went::Elsewhere => self.arrive(),
            },
            Msg::Copy(text) => incoming::copy(&self.dispatch, text),
            Msg::Kubectl(line) => self.request(Request::Kubectl(line)),
            Msg::Complete(line, cursor, found) => {
                self.ask(Request::Complete(line, cursor), move |_, reply| {
                    if let Reply::Completions(completions) = reply {
                        found.emit(completions);
                    }
                });
            }
            Msg::PodsNamed(name, found) => self.ask(Request::PodsNamed(name), move |_, reply| {
                if let Reply::Offers(pods) = reply {
                    found.emit(pods);
                }
            }),
            Msg::Offers(line, found) => self.ask(Request::Offers(line), move |_, reply| {
                if let Reply::Offers(offers) = reply {
                    found.emit(offers);
                }
            }),
            Msg::CheckKubeletFlags(values, found) => {
                self.ask_aside(Request::CheckKubeletFlags(values), move |_, reply| {
                    if let Reply::FlagErrors(errors) = reply {
                        found.emit(errors);
                    }
                });
            }
            Msg::Flags(releases, values, found) => {
                self.ask_aside(Request::Flags(releases, values), move |_, reply| {
                    if let Reply::Flags(flags) = reply {
                        found.emit(flags);
                    }
                });
            }
            Msg::Pane(msg) => self.on_pane(msg),
            Msg::NextTheme => {
                self.theme = self.theme.next();
                self.theme.use_it();
            }
            Msg::SetDensity(density) => self.set_density(density),
            Msg::NextDensity => {
                let nodes = self.shown.board.totals.nodes;
                self.set_density(self.density.next(nodes));
            }
            Msg::ToggleFine => self.toggle_fine(),
            Msg::Find(name) => self.request(Request::Find(name)),
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
            Msg::Lanes(msg) => self.on_lanes(msg),
            Msg::Log(wanted) => {
                let LogWanted { categories, only_selected, .. } = self.log.clone();
                let wanted = LogWanted { categories, only_selected, ..wanted };
                self.log = wanted.clone();
                self.request(Request::Log(wanted));
            }
            // The log then requests its visible part.
            Msg::ToggleLog(category) => self.log.toggle(category),
            Msg::ToggleLogSelected => self.log.only_selected = !self.log.only_selected,
            Msg::Until(until, failed) => {
                self.play(false);
                self.ask(Request::Until(until), move |_, reply| say_failed(reply, &failed));
            }
            Msg::Branch(msg) => self.request_at_rest(Request::Branch(msg)),
            Msg::Compare(with, failed) => {
                self.play(false);
                self.ask(Request::Compare(with), move |_, reply| say_failed(reply, &failed));
            }
            Msg::Cancel => self.cancel(),
            Msg::StillBusy(last) => self.end_what_is_busy(last),
            Msg::Slow(request) => self.say_that_it_works(request),
            Msg::StepAbout(later) => self.request_at_rest(Request::StepAbout(later)),
            Msg::ToggleKind(kind) => self.request(Request::ToggleKind(kind)),
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
            Msg::OpenSession(kept) => self.open_session(*kept),
            Msg::ContinueSession(id) => self.continue_session(id),
            Msg::Sessions => self.open_sessions(),
            Msg::Address(turn, fragment) => {
                self.write_address(turn, &fragment);
                return false;
            }
            Msg::LinkRead(read) => self.link_read(read),
            Msg::EmbedPacked(packed, made) => self.embed_packed(packed, made),
            Msg::Stage(origin) => self.stage_link(origin),
            Msg::TakeLink => self.take_link(),
            Msg::MakeLink(hide, made) => self.make_link(hide, made),
            Msg::MakeEmbed(made) => self.make_embed(made),
            Msg::DownloadShared(hide) => self.hand_out(Request::ExportShared(hide), false),
            Msg::Run(does) => {
                self.dialog = None;
                self.dispatch.emit(does());
            }
            Msg::SetBookmarks(bookmarks) => self.request(Request::SetBookmarks(bookmarks)),
            Msg::Tell(number) => self.request_at_rest(Request::Tell(number)),
            Msg::NextBookmark => self.request_at_rest(Request::TellNext(true)),
            Msg::PreviousBookmark => self.request_at_rest(Request::TellNext(false)),
            Msg::OpenExample(name) => self.replace(Request::OpenExample(name)),
            Msg::Preview(name, told) => {
                self.ask_aside(Request::Preview(name), move |_, reply| {
                    if let Reply::Text(picture) = reply {
                        told.emit(picture.map(|(_, svg)| svg));
                    }
                });
                return false;
            }
            Msg::LateEviction => self.replace(Request::LateEviction),
            Msg::Report(msg) => self.on_report(msg),
            Msg::ReportAnswer(turn, worker, answer) => self.on_answer(turn, worker, *answer),
        }
        let looks = matches!(self.dialog, Some(Dialog::Warnings(_)));
        if std::mem::replace(&mut self.looks_at_warnings, looks) && !looks {
            self.request(Request::Warnings(None));
        }
        self.follow_pane();
        self.keep_playing();
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

/// Passes on the reason why a request was refused.
fn say_failed(reply: Reply, failed: &Callback<String>) {
    if let Reply::Edited(Err(error)) = reply {
        failed.emit(error);
    }
}

impl App {
    /// Changes the selection immediately; its details follow from the session.
    fn select(&mut self, selection: Option<Selection>) {
        let before = std::mem::replace(&mut self.selection, selection.clone());
        match &selection {
            Some(new) => self.reveals = Some(new.clone()),
            // The inspector closes while it has the focus.
            None if Place::now() == Place::Inspector => self.focus.go(Goal::Card(before)),
            None => {}
        }
        self.request(Request::Select(selection));
        self.save_soon();
    }

    fn escape(&mut self) {
        match Place::now() {
            Place::Board | Place::Nowhere if self.selection.is_some() => self.select(None),
            _ => self.focus.go(Goal::Card(self.selection.clone())),
        }
    }

    fn edit(&mut self, edit: Request, refused: Callback<String>, closes: bool) {
        self.ask(edit, move |app, reply| match reply {
            Reply::Edited(Err(error)) => refused.emit(error),
            _ => {
                // Focus leaves the control that was used, so that the space bar plays instead of
                // undoing it.
                if app.dialog.is_some() || Place::now() == Place::Inspector {
                    app.focus.go(Goal::Card(app.selection.clone()));
                }
                if closes {
                    app.dialog = None;
                }
            }
        });
    }

    fn open(&mut self, dialog: Dialog) {
        match &dialog {
            Dialog::Warnings(about) => self.request(Request::Warnings(Some(about.clone()))),
            Dialog::Settings => self.ask(Request::Nodes, |app, reply| {
                if let Reply::Nodes(nodes) = reply {
                    app.nodes = Rc::new(nodes);
                }
            }),
            Dialog::Release => {
                self.about_release = None;
                self.ask(Request::AboutRelease, |app, reply| {
                    if let Reply::AboutRelease(about) = reply {
                        app.about_release = Some(*about);
                    }
                });
            }
            Dialog::Scenarios | Dialog::Palette if self.catalogue.is_empty() => {
                self.ask(Request::Catalogue, |app, reply| {
                    if let Reply::Catalogue(all) = reply {
                        app.catalogue = Rc::new(all);
                    }
                });
            }
            _ => {}
        }
        self.dialog = Some(dialog);
    }

    /// Reads a text or files to import.
    fn read(
        &mut self,
        source: Source,
        keep_all: bool,
        told: Callback<Rc<crate::view_models::import_report::ReadView>>,
    ) {
        let then = move |_: &mut Self, reply| {
            if let Reply::Read(read) = reply {
                told.emit(Rc::new(*read));
            }
        };
        match source {
            Source::Text(text, name) => {
                let name = if name.is_empty() { "text".to_owned() } else { name.to_string() };
                self.ask(Request::Read(text.to_string(), name, keep_all), then);
            }
            Source::Files(files, name, _) => {
                let id = self.connection.send_files(&files, name.to_string());
                self.waiting.insert(id, Box::new(then));
            }
        }
    }

    /// Replaces the work with something else.
    fn replace(&mut self, request: Request) {
        self.play(false);
        self.turn_page();
        self.request(request);
    }

    /// Pauses, then sends a request.
    fn request_at_rest(&mut self, request: Request) {
        self.play(false);
        self.request(request);
        // The address names the moment.
        self.save_soon();
    }

    /// Handles an animation frame: time passes, unless the last step is still unanswered.
    fn on_frame(&mut self, time: f64) -> bool {
        self.frame = None;
        self.has_painted = true;
        if !self.ticks
            && let Some(to) = self.playback.frame(time, self.shown.clock.now)
        {
            self.tick(to);
        }
        self.keep_playing();
        false
    }

    /// Lets time pass; the page does not wait for the answer.
    fn tick(&mut self, to: Timestamp) {
        self.ticks = true;
        self.connection.send(Request::Play(to));
    }

    fn keep_playing(&mut self) {
        if !self.playback.is_playing() {
            self.frame = None;
        } else if self.frame.is_none() {
            let dispatch = self.dispatch.clone();
            let frame =
                gloo_render::request_animation_frame(move |time| dispatch.emit(Msg::Frame(time)));
            self.frame = Some(frame);
        }
    }

    fn play(&mut self, play: bool) {
        if play != self.playback.is_playing() {
            self.playback.set_playing(play);
            self.request(Request::Playing(play));
            self.save_soon();
        }
    }

    fn set_speed(&mut self, speed: Speed) {
        self.playback.speed = speed;
        self.new_epoch();
    }

    fn notice(&mut self, mut notice: Notice) {
        self.notices_made += 1;
        notice.id = self.notices_made;
        // The page shows at most three notices: the oldest one goes.
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
