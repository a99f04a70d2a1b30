//! The lanes: rows of zones, nodes and pods, and the states of those in sight over time.
//!
//! [`LaneRows`] are the rows, [`window`] the visible part of some of them for some time: a function
//! from a window to plain values, so that it costs what is on screen and nothing more.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{json, to_value};
use taintlab_core::api::NodeName;
use taintlab_core::lanes::area::{Area, AreaState};
use taintlab_core::lanes::{Cause, LaneRecorder, LaneState, LaneSubject, Segment};
use taintlab_core::order::{OrderedMap, OrderedSet};
use taintlab_core::protocol::zone::ZoneKey;
use taintlab_core::scenario::Expectation;
use taintlab_core::time::{SECOND, Timestamp};
use taintlab_manifest::to_yaml;

use super::selection::Selection;
use crate::session::Session;
use crate::text::at;

/// Pods above which nodes are folded until the user opens them.
const MANY_PODS: usize = 600;
/// The shortest time that can be zoomed to.
const SHORTEST: u64 = SECOND / 100;
/// The length of the axis, at least.
const LEAST: u64 = 60 * SECOND;

/// A message to the lanes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LanesMsg {
    /// The lanes are in sight, or no longer; the second value is `true` if the user chose them,
    /// which also shows those of a large cluster.
    Show(bool, bool),
    /// Show rows from the first number on, in the second number, three times as many as are in
    /// sight; the third is the width of the tracks in pixels.
    Look(usize, usize, u32),
    /// Show a longer or a shorter time; this moment stays in its place.
    Zoom(f64, Option<Timestamp>),
    /// Show an earlier or a later time, by this part of the time shown.
    Pan(f64),
    /// Show exactly this time.
    Range(Timestamp, Timestamp),
    /// Show the whole time.
    Fit,
    /// Show rows with this in their names or states.
    Filter(String),
    /// Show only rows with changes, or all.
    ToggleChanged,
    /// Hide the rows under a row, or show them.
    Fold(LaneSubject),
    /// Hide the rows under all nodes, or show them.
    FoldAll(bool),
    /// Keep a row at the top, or no longer.
    Pin(LaneSubject),
    /// Keep the row of the cursor at the top, or no longer.
    PinHere,
    /// Move the cursor.
    Move(Move),
    /// Go to the moment of the cursor.
    Go,
    /// Peek at a moment, or end the peek.
    Peek(Option<Timestamp>),
    /// The peek that waits is due.
    PeekNow,
    /// Show this moment.
    PeekAt(Timestamp),
    /// Choose a row, or its state at a moment, and go there.
    Choose(LaneSubject, Option<Timestamp>),
    /// Choose an area: rows, and a time.
    Area(Option<Frame>),
    /// Begin an area at the cursor, or end it there.
    AreaHere(bool),
    /// Offer the picture as a file.
    Picture(Picture),
    /// Make the forecast, or stop it until the next edit.
    Forecast(bool),
}

/// The format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Picture {
    /// Lines that stay sharp.
    Svg,
    /// Pixels.
    Png,
}

/// A move of the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// To the row above.
    Up,
    /// To the row below.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the first row.
    First,
    /// To the last row.
    Last,
    /// To the last change of the row before this moment.
    Earlier,
    /// To the next change of the row.
    Later,
}

/// Rows from one to another, both included, and a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The rows.
    pub(crate) rows: (usize, usize),
    /// The time.
    pub(crate) time: (Timestamp, Timestamp),
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowOf {
    /// The object.
    pub(crate) subject: LaneSubject,
    /// The number of rows under it, shown or folded.
    pub(crate) under: usize,
}

/// The choice of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// A part of their names or states, in lower case.
    pub(crate) filter: String,
    /// Whether only rows with changes are shown.
    pub(crate) changed: bool,
    /// Rows with nothing shown under them; `None` if that depends on the number of pods.
    pub(crate) folded: Option<OrderedSet<LaneSubject>>,
    /// Rows at the top.
    pub(crate) pins: Vec<LaneSubject>,
}

/// All rows, grouped like the board.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneRows {
    /// The rows that are shown, the pinned ones first.
    pub(crate) rows: Vec<RowOf>,
    /// The number of pinned rows.
    pub(crate) pinned: usize,
    /// The number of objects.
    pub(crate) objects: usize,
    /// The folded rows.
    pub(crate) folded: OrderedSet<LaneSubject>,
    /// The zones of nodes, also of nodes that are gone.
    zones: OrderedMap<NodeName, ZoneKey>,
    /// The state for which the rows were made.
    made_for: Option<MadeFor>,
    /// The number of rows of the log that the clock had passed when zones of nodes were looked at.
    zones_as_of: usize,
}

/// The state on which rows depend.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MadeFor {
    /// Objects with lanes, and the first nodes of pods, as numbers: in the record and in the
    /// forecast.
    places: (usize, Option<usize>),
    /// The number of events, if that matters.
    events: usize,
    wanted: Wanted,
}

impl LaneRows {
    /// Follows a session; `true` if there may be other rows.
    pub(crate) fn update(&mut self, session: &Session, wanted: &Wanted) -> bool {
        let recorder = session.recorder();
        let ahead = session.lanes_ahead();
        // A filter by state depends on every event.
        let by_state = wanted.changed || !wanted.filter.is_empty();
        let events =
            if by_state { recorder.events() + ahead.map_or(0, LaneRecorder::events) } else { 0 };
        let places = (recorder.places(), ahead.map(LaneRecorder::places));
        let key = MadeFor { places, events, wanted: wanted.clone() };
        let rezoned = self.follow_zones(session);
        if !rezoned && self.made_for.as_ref() == Some(&key) {
            return false;
        }
        self.make(session, wanted);
        self.made_for = Some(key);
        true
    }

    /// Forgets everything, as the work was replaced.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Notes the zones of nodes, if there are new rows of the log; `true` if a zone changed.
    fn follow_zones(&mut self, session: &Session) -> bool {
        let passed = session.rows().len();
        if self.made_for.is_some() && self.zones_as_of == passed {
            return false;
        }
        self.zones_as_of = passed;
        let mut changed = false;
        for (name, node) in session.simulator().cluster().nodes() {
            let zone = ZoneKey::of(&node.metadata.labels);
            if self.zones.get(name) != Some(&zone) {
                self.zones.insert(name.clone(), zone);
                changed = true;
            }
        }
        changed
    }

    fn make(&mut self, session: &Session, wanted: &Wanted) {
        let (recorder, ahead) = (session.recorder(), session.lanes_ahead());
        let mut all: OrderedSet<&LaneSubject> = recorder.subjects().collect();
        all.extend(ahead.into_iter().flat_map(LaneRecorder::subjects));
        self.objects = all.len();
        // An object that is not in this run is not shown.
        let pins = wanted.pins.iter().filter(|pin| all.contains(pin));
        self.rows = pins.map(|pin| RowOf { subject: pin.clone(), under: 0 }).collect();
        self.pinned = self.rows.len();
        let shows = |subject: &LaneSubject| shows(session, wanted, subject);
        let mut zones: OrderedMap<ZoneKey, OrderedSet<NodeName>> = OrderedMap::new();
        let mut pods: OrderedMap<Option<NodeName>, Vec<&LaneSubject>> = OrderedMap::new();
        let mut number_of_pods = 0;
        for subject in all {
            match subject {
                LaneSubject::Zone { zone } => _ = zones.entry(zone.clone()).or_default(),
                LaneSubject::Node { node } => {
                    let zone = self.zones.get(node).cloned();
                    let zone = zone.unwrap_or_else(|| ZoneKey::of(&BTreeMap::new()));
                    zones.entry(zone).or_default().insert(node.clone());
                }
                LaneSubject::Pod { .. } => {
                    number_of_pods += 1;
                    let node =
                        first_node(recorder, subject).or_else(|| first_node(ahead?, subject));
                    pods.entry(node).or_default().push(subject);
                }
            }
        }
        self.folded = match &wanted.folded {
            Some(folded) => folded.clone(),
            None if number_of_pods > MANY_PODS => {
                let nodes = zones.values().flatten().cloned();
                nodes.map(|node| LaneSubject::Node { node }).collect()
            }
            None => OrderedSet::new(),
        };
        let searches = !wanted.filter.is_empty();
        for (zone, nodes) in zones {
            let zone = LaneSubject::Zone { zone };
            // A search finds rows that are folded, too, and leaves out rows with nothing under
            // them.
            let open = searches || !self.folded.contains(&zone);
            let mut under = Vec::new();
            let mut number = 0;
            for node in nodes {
                let own = pods.remove(&Some(node.clone())).unwrap_or_default();
                let node = LaneSubject::Node { node };
                let own: Vec<_> = own.into_iter().filter(|pod| shows(pod)).collect();
                if own.is_empty() && !shows(&node) {
                    continue;
                }
                number += 1;
                let open = searches || !self.folded.contains(&node);
                under.push(RowOf { subject: node, under: own.len() });
                if open {
                    under.extend(
                        own.into_iter().map(|pod| RowOf { subject: pod.clone(), under: 0 }),
                    );
                }
            }
            if number > 0 || shows(&zone) {
                self.rows.push(RowOf { subject: zone, under: number });
                if open {
                    self.rows.append(&mut under);
                }
            }
        }
        // Pods on nodes that never were, and pods without a node.
        let rest = pods.into_values().flatten().filter(|pod| shows(pod));
        self.rows.extend(rest.map(|pod| RowOf { subject: pod.clone(), under: 0 }));
    }

    /// The objects of rows from one to another, both included.
    pub(crate) fn subjects(&self, (first, last): (usize, usize)) -> OrderedSet<LaneSubject> {
        let rows = self.rows.iter().take(last.saturating_add(1)).skip(first);
        rows.map(|row| row.subject.clone()).collect()
    }
}

fn first_node(recorder: &LaneRecorder, pod: &LaneSubject) -> Option<NodeName> {
    recorder.segments(pod).iter().find_map(|segment| segment.node.clone())
}

/// Whether a filter lets an object through.
fn shows(session: &Session, wanted: &Wanted, subject: &LaneSubject) -> bool {
    let ahead = session.lanes_ahead().map_or(&[][..], |ahead| ahead.segments(subject));
    let segments = || session.recorder().segments(subject).iter().chain(ahead);
    if wanted.changed {
        let mut all = segments();
        let first = all.next();
        let same = |it: &Segment| {
            first.is_some_and(|first| {
                (it.state, &it.taints, &it.node) == (first.state, &first.taints, &first.node)
            })
        };
        // A pod that was there and is gone has one segment, which has ended.
        if first.is_none_or(|first| first.goes_on || !ahead.is_empty())
            && all.all(same)
            && segments().last().is_none_or(|it| it.goes_on)
        {
            return false;
        }
    }
    if wanted.filter.is_empty() || subject.name().to_ascii_lowercase().contains(&wanted.filter) {
        return true;
    }
    segments().any(|it| it.to_string().to_ascii_lowercase().contains(&wanted.filter))
}

/// The width of a character on the axis in pixels, at most, as in the style sheet.
const CHARACTER: f64 = 7.0;
/// The room of the words `now` and `peek` around their place in pixels, as in the style sheet.
const NOW: (f64, f64) = (-20.0, 20.0);
/// The room of the word `forecast`.
const FORECAST: (f64, f64) = (24.0, 84.0);

/// The part of the lanes in sight.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LanesWindow {
    /// The number of rows.
    pub(crate) total: usize,
    /// The number of pinned rows.
    pub(crate) pinned: usize,
    /// The number of objects.
    pub(crate) objects: usize,
    /// The rows in sight: the pinned ones, then some others.
    pub(crate) rows: Vec<Rc<LaneRow>>,
    /// The beginning of the time in sight.
    pub(crate) from: Timestamp,
    /// The end of the time in sight.
    pub(crate) to: Timestamp,
    /// Times on the axis, with their places in per cent of the width.
    pub(crate) ticks: Vec<(f64, String)>,
    /// The place of the clock; none if it is out of sight.
    pub(crate) now: Option<f64>,
    /// The place of another moment that is looked at.
    pub(crate) peek: Option<f64>,
    /// The place where the forecast begins.
    pub(crate) ahead: Option<f64>,
}

impl LanesWindow {
    /// The place where the word `forecast` stands; none where it has no room.
    pub(crate) fn flagged_ahead(&self) -> Option<f64> {
        self.ahead.filter(|place| *place < 97.0)
    }

    /// Whether a time on the axis, which is `width` pixels wide, is under another word there.
    pub(crate) fn covers(&self, tick: usize, width: f64) -> bool {
        let Some((place, text)) = self.ticks.get(tick) else { return false };
        let pixel = |place: f64| place / 100.0 * width;
        let length = f64::from(u32::try_from(text.len()).unwrap_or_default()) * CHARACTER;
        // The first time begins at its place, as in the style sheet.
        let from = pixel(*place) - if tick == 0 { 0.0 } else { length / 2.0 };
        let flags = [(self.now, NOW), (self.peek, NOW), (self.flagged_ahead(), FORECAST)];
        let mut flags = flags.into_iter().filter_map(|(flag, range)| Some((pixel(flag?), range)));
        flags.any(|(at, range)| from < at + range.1 && at + range.0 < from + length)
    }
}

/// The lanes as the page shows them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LanesView {
    /// The part in sight.
    pub(crate) window: LanesWindow,
    /// The rows that are wanted.
    pub(crate) wanted: Wanted,
    /// The row of the cursor.
    pub(crate) cursor: usize,
    /// The state that was chosen.
    pub(crate) chosen: Option<Rc<Chosen>>,
    /// The area that was chosen.
    pub(crate) area: Option<Rc<ChosenArea>>,
    /// The state of the forecast.
    pub(crate) forecast: ForecastState,
}

/// The state of the forecast.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum ForecastState {
    /// The forecast is there.
    #[default]
    Done,
    /// The forecast is being made: this part of a day is there, from 0 to 1.
    Runs(f64),
    /// The user stopped the forecast.
    Stopped,
}

/// A row in sight.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LaneRow {
    /// The number.
    pub(crate) place: usize,
    /// The object.
    pub(crate) subject: LaneSubject,
    /// Its name.
    pub(crate) name: String,
    /// The number of rows under it.
    pub(crate) under: usize,
    /// Whether the rows under it are hidden.
    pub(crate) folded: bool,
    /// Whether it is at the top.
    pub(crate) pinned: bool,
    /// Whether it is in the area that was chosen.
    pub(crate) in_area: bool,
    /// The states of the object.
    pub(crate) bars: Vec<LaneBar>,
    /// The states in words.
    pub(crate) words: String,
}

/// The state of an object for a while.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LaneBar {
    /// The place where it begins, in per cent of the width.
    pub(crate) left: f64,
    /// The width, in per cent.
    pub(crate) width: f64,
    /// The time when it begins.
    pub(crate) from: Timestamp,
    /// The state; one of several if there is no room for each.
    pub(crate) state: LaneState,
    /// Whether it is a node with a NoExecute taint.
    pub(crate) tainted: bool,
    /// Whether it belongs to the forecast.
    pub(crate) forecast: bool,
    /// The description.
    pub(crate) text: String,
}

/// The choice of the part in sight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct View {
    /// The first row.
    pub(crate) first: usize,
    /// The number of rows.
    pub(crate) rows: usize,
    /// The width of the tracks, in pixels.
    pub(crate) pixels: u32,
    /// The beginning of the time.
    pub(crate) from: Timestamp,
    /// The end of the time.
    pub(crate) to: Timestamp,
}

impl View {
    /// The place of a moment, in per cent of the width.
    pub(crate) fn place(&self, at: Timestamp) -> f64 {
        let from = nanos(self.from);
        100.0 * (nanos(at) - from) / (nanos(self.to) - from).max(1.0)
    }

    fn seen(&self, at: Timestamp) -> Option<f64> {
        (self.from..=self.to).contains(&at).then(|| self.place(at))
    }

    /// The view with `by` times as much time, in which a moment stays in its place.
    pub(crate) fn zoomed(self, by: f64, around: Timestamp) -> Self {
        let (from, to) = (nanos(self.from), nanos(self.to));
        let around = nanos(around).clamp(from, to);
        let length = ((to - from) * by).clamp(nanos(Timestamp::from_nanos(SHORTEST)), 1e18);
        let begin = around - (around - from) / (to - from).max(1.0) * length;
        self.with(begin, length)
    }

    /// The view moved to a later time, by a part of its length.
    pub(crate) fn panned(self, by: f64) -> Self {
        let (from, to) = (nanos(self.from), nanos(self.to));
        self.with(from + (to - from) * by, to - from)
    }

    fn with(self, from: f64, length: f64) -> Self {
        let from = moment(from);
        Self { from, to: moment(nanos(from) + length), ..self }
    }
}

#[expect(clippy::cast_precision_loss, reason = "pixels need no nanoseconds")]
pub(crate) fn nanos(at: Timestamp) -> f64 {
    at.as_nanos() as f64
}

/// The moment of that number of nanoseconds; none is before zero.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
pub(crate) fn moment(nanos: f64) -> Timestamp {
    Timestamp::from_nanos(nanos.max(0.0) as u64)
}

/// The end of an axis that shows everything known.
pub(crate) fn end(session: &Session) -> Timestamp {
    let ahead = session.lanes_ahead().map_or(Timestamp::ZERO, LaneRecorder::last_change);
    let last = session.recorder().last_change().max(ahead).as_nanos();
    let last = last.saturating_add(last / 10).max(session.reached().as_nanos());
    Timestamp::from_nanos(last.max(LEAST))
}

/// The visible part of the rows in sight: work for these rows and this time alone.
pub(crate) fn window(session: &Session, rows: &LaneRows, view: View, peeks: bool) -> LanesWindow {
    let pins = 0..rows.pinned;
    let others = view.first.max(rows.pinned)..(view.first + view.rows).min(rows.rows.len());
    let in_sight = pins.chain(others).filter_map(|place| Some((place, rows.rows.get(place)?)));
    let reached = session.reached();
    LanesWindow {
        total: rows.rows.len(),
        pinned: rows.pinned,
        objects: rows.objects,
        rows: in_sight
            .map(|(place, row)| Rc::new(lane_row(session, rows, view, place, row)))
            .collect(),
        from: view.from,
        to: view.to,
        ticks: ticks(view),
        now: view.seen(session.home()),
        peek: view.seen(session.now()).filter(|_| peeks),
        ahead: session.lanes_ahead().is_some().then(|| view.place(reached).clamp(0.0, 100.0)),
    }
}

fn lane_row(session: &Session, rows: &LaneRows, view: View, place: usize, row: &RowOf) -> LaneRow {
    let subject = &row.subject;
    let pinned = place < rows.pinned;
    let name = match subject {
        LaneSubject::Pod { pod } if pod.namespace() == "default" => pod.name().to_owned(),
        LaneSubject::Zone { zone } if zone.name().is_empty() => "No zone".to_owned(),
        subject => subject.name(),
    };
    LaneRow {
        place,
        name,
        under: row.under,
        folded: rows.folded.contains(subject),
        pinned,
        in_area: false,
        bars: bars(session, subject, view),
        words: words(session, subject),
        subject: subject.clone(),
    }
}

/// The past and future states of an object, as pieces that follow one another.
pub(crate) fn pieces(session: &Session, subject: &LaneSubject) -> Vec<(Piece, Segment)> {
    let reached = session.reached();
    let mut pieces = Vec::new();
    for (index, segment) in session.recorder().segments(subject).iter().enumerate() {
        // A peek may have gone further than the record.
        if segment.from <= reached {
            let to = if segment.goes_on { reached } else { segment.to.min(reached) };
            let goes_on = segment.goes_on || segment.to > reached;
            let segment = Segment { to, goes_on, ..segment.clone() };
            pieces.push((Piece { index, forecast: false }, segment));
        }
    }
    let Some(ahead) = session.lanes_ahead() else { return pieces };
    let end = end(session);
    for (index, segment) in ahead.segments(subject).iter().enumerate() {
        let to = if segment.goes_on { end.max(reached) } else { segment.to };
        if to > reached {
            let segment = Segment { from: segment.from.max(reached), to, ..segment.clone() };
            pieces.push((Piece { index, forecast: true }, segment));
        }
    }
    pieces
}

/// A segment of the record, or of the forecast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The number.
    pub(crate) index: usize,
    /// Whether it belongs to the forecast.
    pub(crate) forecast: bool,
}

/// The bars of an object.
pub(crate) fn bars(session: &Session, subject: &LaneSubject, view: View) -> Vec<LaneBar> {
    let least = 100.0 / f64::from(view.pixels.max(1));
    let mut bars: Vec<LaneBar> = Vec::new();
    for (piece, segment) in pieces(session, subject) {
        if segment.to < view.from || segment.from > view.to {
            continue;
        }
        let left = view.place(segment.from).max(0.0);
        let right = view.place(segment.to).min(100.0);
        let width = right - left;
        // A bar narrower than a pixel is drawn if nothing else is there.
        if width < least / 2.0 && bars.last().is_some_and(|last| left - last.left < least) {
            continue;
        }
        bars.push(LaneBar {
            left,
            width: width.max(least),
            from: segment.from,
            state: segment.state,
            tainted: !segment.taints.is_empty(),
            forecast: piece.forecast,
            text: segment_words(&segment),
        });
    }
    bars
}

/// A state in words: `counting down from 45.1s to 5m45.1s: deleted at 5m45.1s`.
pub(crate) fn segment_words(segment: &Segment) -> String {
    let node = segment.node.as_ref().map(|node| format!(" on {node}")).unwrap_or_default();
    let to = if segment.goes_on { String::new() } else { format!(" to {}", at(segment.to)) };
    let because = match segment.reason.as_str() {
        "" => String::new(),
        reason => format!(": {reason}"),
    };
    format!("{segment}{node}, from {}{to}{because}", at(segment.from))
}

/// The states of an object in words.
fn words(session: &Session, subject: &LaneSubject) -> String {
    let pieces = pieces(session, subject);
    let known = pieces.iter().filter(|(piece, _)| !piece.forecast);
    // States that only go on are among the known ones.
    let begins_later = |segment: &Segment| segment.from > session.reached();
    let ahead = pieces.iter().filter(|(piece, segment)| piece.forecast && begins_later(segment));
    let known: Vec<_> = known.map(|(_, segment)| segment_words(segment)).collect();
    let mut words = known.join("; ");
    let ahead: Vec<_> = ahead.map(|(_, segment)| segment_words(segment)).collect();
    if !ahead.is_empty() {
        words += "; forecast: ";
        words += &ahead.join("; ");
    }
    words
}

/// Times on the axis: as many as have room, at round times.
pub(crate) fn ticks(view: View) -> Vec<(f64, String)> {
    let length = view.to.as_nanos().saturating_sub(view.from.as_nanos()).max(1);
    let most = u64::from(view.pixels / 90).max(2);
    let milli = SECOND / 1_000;
    let short = [1, 2, 5, 10, 20, 50, 100, 200, 500].into_iter().map(|step| step * milli);
    let long = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200];
    let mut steps = short.chain(long.into_iter().map(|step| step * SECOND));
    let step = steps.find(|step| length / step < most).unwrap_or(86_400 * SECOND);
    let step = step.max(length / 1_000);
    let first = view.from.as_nanos().div_ceil(step);
    let times = (first..).map(|index| Timestamp::from_nanos(index.saturating_mul(step)));
    let seen = times.take_while(|at| *at <= view.to).take(200);
    seen.map(|time| (view.place(time), at(time))).collect()
}

/// The state of an object at a moment, and its causes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// The object.
    pub(crate) subject: LaneSubject,
    /// The state.
    pub(crate) text: String,
    /// Whether it belongs to the forecast.
    pub(crate) forecast: bool,
    /// The causes of the state, the last one first.
    pub(crate) causes: Vec<Cause>,
}

impl Chosen {
    /// The state of an object at a moment; `None` if it was not there.
    pub(crate) fn at(session: &Session, subject: &LaneSubject, at: Timestamp) -> Option<Self> {
        let pieces = pieces(session, subject);
        let mut there = pieces.into_iter().rev();
        let (piece, segment) = there.find(|(_, it)| it.from <= at && at <= it.to)?;
        let causes = match (piece.forecast, session.lanes_ahead()) {
            (true, Some(ahead)) => ahead.causes(subject, piece.index),
            _ => session.recorder().causes(subject, piece.index),
        };
        Some(Self {
            subject: subject.clone(),
            text: segment_words(&segment),
            forecast: piece.forecast,
            causes,
        })
    }
}

/// Expectations, as the part of a scenario file that states them.
fn expect_text(expect: &[Expectation]) -> String {
    let text = to_value(expect).and_then(|expect| to_yaml(&json!({ "expect": expect })));
    text.unwrap_or_default()
}

/// An area with its contents.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChosenArea {
    /// The number of objects.
    pub(crate) objects: usize,
    /// Its beginning.
    pub(crate) from: Timestamp,
    /// Its end.
    pub(crate) to: Timestamp,
    /// The states in it.
    pub(crate) states: Vec<AreaState>,
    /// The expectations that a scenario file can hold about it, as YAML.
    pub(crate) expect: String,
    /// The number of those expectations.
    pub(crate) expected: usize,
    /// Whether it counts only the past, since the forecast does not go as far.
    pub(crate) only_record: bool,
    /// The places of its beginning and end, in per cent of the width.
    pub(crate) place: (f64, f64),
}

impl ChosenArea {
    /// An area of so many objects with its contents.
    pub(crate) fn new(objects: usize, area: Area, only_record: bool, place: (f64, f64)) -> Self {
        let Area { from, to, states, expect } = area;
        let expected = expect.len();
        let expect = expect_text(&expect);
        Self { objects, from, to, states, expect, expected, only_record, place }
    }
}

/// The past states of some objects, and the future ones as far as they are known; and whether only
/// the past is counted.
pub(crate) fn area(
    session: &Session,
    subjects: &OrderedSet<LaneSubject>,
    (from, to): (Timestamp, Timestamp),
) -> (Area, bool) {
    let only_record = !session.forecast_covers(to);
    let drawn = |subject: &LaneSubject| {
        let pieces = pieces(session, subject).into_iter();
        let counted = pieces.filter(|(piece, _)| !(only_record && piece.forecast));
        // A state that goes on in a forecast of the whole time goes on to the end.
        let until = |piece: Piece, it: &Segment| {
            if piece.forecast && it.goes_on { it.to.max(to) } else { it.to }
        };
        counted.map(|(piece, it)| Segment { to: until(piece, &it), ..it }).collect()
    };
    let known = if only_record { to.min(session.reached()) } else { to };
    let events = session.events_between(from, known);
    (Area::of(drawn, &events, subjects, (from, to)), only_record)
}

/// The selection that a lane stands for.
pub(crate) fn selection_of(subject: &LaneSubject) -> Selection {
    match subject {
        LaneSubject::Zone { zone } => Selection::Zone(zone.as_str().into()),
        LaneSubject::Node { node } => Selection::Node(node.clone()),
        LaneSubject::Pod { pod } => Selection::Pod(pod.clone()),
    }
}

/// The lane of a selection, if it has one.
pub(crate) fn subject_of(selection: &Selection) -> Option<LaneSubject> {
    match selection {
        Selection::Node(node) => Some(LaneSubject::Node { node: node.clone() }),
        Selection::Pod(pod) => Some(LaneSubject::Pod { pod: pod.clone() }),
        Selection::Zone(_) | Selection::Workload(_) | Selection::Pods(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use taintlab_core::api::{PodKey, Taint, TaintEffect};
    use taintlab_core::command::Command;
    use taintlab_core::scenario::Scenario;

    use super::*;

    fn session(nodes: usize, pods: usize) -> Session {
        let scenario: Scenario = serde_json::from_value(serde_json::json!({
            "apiVersion": "taintlab/v1", "kind": "Scenario",
            "kubernetes": { "nodeLifecycle": true },
            "objects": { "nodeGroups": [
                { "name": "a", "count": nodes, "zone": "r/a", "podsPerNode": pods,
                  "pod": { "metadata": { "name": "p" } } },
                { "name": "b", "count": 1, "zone": "r/b" },
            ] }
        }))
        .unwrap();
        Session::new(scenario).unwrap()
    }

    fn view(first: usize, rows: usize, to: u64) -> View {
        let (from, to) = (Timestamp::ZERO, Timestamp::from_secs(to));
        View { first, rows, pixels: 100, from, to }
    }

    fn names(rows: &LaneRows) -> Vec<String> {
        rows.rows.iter().map(|row| row.subject.name()).collect()
    }

    fn cut(session: &mut Session) {
        session.seek(Timestamp::from_secs(10));
        session.apply(vec![Command::CutNetwork { node: "a-1".into() }]).unwrap();
        session.seek(Timestamp::from_secs(600));
    }

    #[test]
    fn rows_are_grouped_folded_filtered_and_pinned() {
        let mut session = session(2, 1);
        cut(&mut session);
        let mut rows = LaneRows::default();
        let mut wanted = Wanted::default();
        assert!(rows.update(&session, &wanted) && !rows.update(&session, &wanted));
        let all =
            ["r/a", "a-1", "default/p-1-1", "a-2", "default/p-2-1", "r/b", "b-1"].map(String::from);
        assert_eq!(names(&rows), all);
        assert_eq!((rows.objects, rows.rows[0].under), (7, 2));
        wanted.folded = Some([LaneSubject::Node { node: "a-1".into() }].into());
        rows.update(&session, &wanted);
        assert!(!names(&rows).contains(&all[2]) && names(&rows).contains(&all[4]));
        wanted.filter = "stuck".into();
        rows.update(&session, &wanted);
        assert_eq!(names(&rows), all[..3], "what is folded is found by its state");
        (wanted.filter, wanted.changed) = (String::new(), true);
        wanted.pins = vec![LaneSubject::Node { node: "b-1".into() }];
        rows.update(&session, &wanted);
        assert_eq!(names(&rows)[0], "b-1");
        assert!(!names(&rows)[1..].contains(&"b-1".into()), "it has not changed");
        assert_eq!(rows.pinned, 1);
    }

    #[test]
    fn rows_follow_pods_that_get_nodes_and_nodes_that_change_zones() {
        let scenario: Scenario = serde_json::from_value(serde_json::json!({
            "apiVersion": "taintlab/v1", "kind": "Scenario",
            "kubernetes": { "nodeLifecycle": true },
            "objects": {
                "nodeGroups": [{ "name": "a", "count": 2, "zone": "r/a" }],
                "pods": [{ "metadata": { "name": "p" }, "spec": {} }],
            }
        }))
        .unwrap();
        let mut session = Session::new(scenario).unwrap();
        let (mut rows, wanted) = (LaneRows::default(), Wanted::default());
        rows.update(&session, &wanted);
        assert_eq!(names(&rows), ["r/a", "a-1", "a-2", "default/p"]);
        let pod = PodKey::new("", "p");
        session.apply(vec![Command::BindPod { pod, node: "a-1".into() }]).unwrap();
        assert!(rows.update(&session, &wanted));
        assert_eq!(names(&rows), ["r/a", "a-1", "default/p", "a-2"]);
        let node = session.simulator().cluster().get_node("a-2").unwrap();
        let mut labels = BTreeMap::clone(&node.metadata.labels);
        labels.insert("topology.kubernetes.io/zone".into(), "b".into());
        session.apply(vec![Command::SetNodeLabels { node: "a-2".into(), labels }]).unwrap();
        assert!(rows.update(&session, &wanted) && !rows.update(&session, &wanted));
        let at = |name: &str| names(&rows).iter().position(|known| known == name).unwrap();
        assert!(at("r/b") < at("a-2"), "{:?}", names(&rows));
    }

    #[test]
    fn a_window_costs_what_is_in_it() {
        let mut session = session(100, 10);
        cut(&mut session);
        let mut rows = LaneRows::default();
        rows.update(&session, &Wanted::default());
        assert_eq!(rows.rows.len(), 103, "of many pods the nodes are folded");
        rows.update(&session, &Wanted { folded: Some([].into()), ..Wanted::default() });
        assert_eq!(rows.rows.len(), 1_103);
        let seen = window(&session, &rows, view(500, 20, 600), false);
        assert_eq!((seen.rows.len(), seen.total), (20, 1_103));
        assert_eq!(seen.rows[0].place, 500);
        let seen = window(&session, &rows, view(1_090, 20, 600), false);
        assert_eq!(seen.rows.len(), 13, "there are no more");
    }

    #[test]
    fn bars_are_in_their_places_and_those_without_a_pixel_are_left_out() {
        let mut session = session(1, 1);
        cut(&mut session);
        let pod = LaneSubject::Pod { pod: PodKey::new("", "p-1-1") };
        let states = |to| {
            let bars = bars(&session, &pod, view(0, 1, to));
            bars.into_iter().map(|bar| bar.state).collect::<Vec<_>>()
        };
        let all = [LaneState::Ready, LaneState::NotReady, LaneState::Counting, LaneState::Stuck];
        assert_eq!(states(600), all);
        assert_eq!(states(100), all[..3]);
        assert!(states(100_000).len() < 4, "one pixel is 1000 s");
        let all = bars(&session, &pod, view(0, 1, 600));
        for pair in all.windows(2) {
            let end = pair[0].left + pair[0].width;
            // Each is at least a pixel wide.
            assert!((end - pair[1].left).abs() <= 1.01, "{all:?}");
        }
        let chosen = Chosen::at(&session, &pod, Timestamp::from_secs(300)).unwrap();
        assert!(chosen.text.starts_with("counting down on a-1, from "), "{}", chosen.text);
        assert!(
            chosen.causes.last().unwrap().text.contains("heartbeats of node a-1 stopped"),
            "{:?}",
            chosen.causes
        );
    }

    #[test]
    fn zoom_keeps_the_moment_and_never_goes_before_zero() {
        let around = Timestamp::from_secs(30);
        let half = view(0, 1, 100).zoomed(0.5, around);
        assert_eq!((half.from, half.to), (Timestamp::from_secs(15), Timestamp::from_secs(65)));
        assert!((half.place(around) - 30.0).abs() < 1e-9);
        let back = half.panned(-3.0);
        assert_eq!((back.from, back.to), (Timestamp::ZERO, Timestamp::from_secs(50)));
        let mut close = view(0, 1, 100);
        for _ in 0..100 {
            close = close.zoomed(0.5, around);
        }
        assert!(close.to > close.from);
        assert!(ticks(close).len() <= 200 && !ticks(view(0, 1, 100)).is_empty());
    }

    #[test]
    fn a_time_on_the_axis_is_not_written_under_another_word() {
        let ticks = [0.0, 20.0, 40.0, 60.0].map(|place| (place, "1m40s".to_owned())).to_vec();
        let window = LanesWindow { ticks, ..LanesWindow::default() };
        let covered = |window: &LanesWindow| {
            let ticks = 0..window.ticks.len();
            ticks.filter(|tick| window.covers(*tick, 1_000.0)).collect::<Vec<_>>()
        };
        assert!(covered(&window).is_empty());
        // 60 pixels beside one, 30 pixels beside another, and 10 pixels behind the first.
        let now = |now: f64| LanesWindow { now: Some(now), ..window.clone() };
        assert_eq!(covered(&now(26.0)), [] as [usize; 0]);
        assert_eq!(covered(&now(37.0)), [2]);
        assert_eq!(covered(&now(4.0)), [0]);
        let peek = LanesWindow { peek: Some(61.0), ahead: Some(15.0), ..window.clone() };
        assert_eq!(covered(&peek), [1, 3]);
    }

    #[test]
    fn a_taint_by_hand_has_no_cause_but_itself() {
        let mut session = session(1, 1);
        let taint = Taint::new("k", "", TaintEffect::NoExecute);
        session.apply(vec![Command::Taint { node: "a-1".into(), taint }]).unwrap();
        let node = LaneSubject::Node { node: "a-1".into() };
        let chosen = Chosen::at(&session, &node, Timestamp::ZERO).unwrap();
        assert!(chosen.text.starts_with("ready, tainted"), "{}", chosen.text);
        assert!(chosen.causes.len() <= 1, "{:?}", chosen.causes);
    }
}
