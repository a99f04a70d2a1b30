//! Lanes as a self-contained picture: SVG without script.

use std::fmt::{self, Write as _};

use taintlab_core::lanes::{Lane, LaneState, LaneSubject, Lanes, Segment};
use taintlab_core::order::OrderedMap;
use taintlab_core::time::Timestamp;

/// Options of a picture of lanes; see [`timeline_svg`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SvgOptions {
    /// Title of the picture for people who do not see it; `What becomes of each object` if empty.
    pub title: String,
    /// Prefix of its ids. Two pictures in one page need different ones.
    pub id: String,
    /// A moment to mark.
    pub at: Option<Timestamp>,
    /// Whether to leave out its own style sheet: the page's has the colours for the dark, and the
    /// page may forbid styles inside. Attributes have the colours for the light.
    pub is_bare: bool,
}

/// Distance from one lane to the next, and height of a bar, in pixels.
const PITCH: usize = 20;
const BAR: usize = 15;
/// Height of the axis above the first lane, in pixels.
const AXIS: usize = 20;
/// Width of the names, in per cent.
const NAMES: usize = 28;
/// Greatest number of times on the axis; they have room at 360 pixels.
const MOST_TICKS: u64 = 5;
/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// Greatest width of a letter in pixels; a label has as much space beside it.
const LETTER: u128 = 6;
/// Widths of the picture in pixels. A label that fits at the narrow width is always shown; one that
/// fits only at the usual width is hidden below it.
const NARROW: u128 = 320;
const USUAL: u128 = 640;

/// A colour: selector, property, value in the light, value in the dark.
struct Paint(&'static str, &'static str, &'static str, &'static str);

const INK: Paint = Paint("text", "fill", "#17202b", "#e4e9f0");
const QUIET: Paint = Paint(".m", "fill", "#566273", "#9aa7b8");
const LINE: Paint = Paint("line", "stroke", "#d9dfe7", "#2b3442");
const MARK: Paint = Paint(".at", "stroke", "#2257c4", "#7fabff");
const TAINT: Paint = Paint(".t", "fill", "#bb2a3c", "#ff8490");
const HATCH: Paint = Paint("path", "stroke", "#bb2a3c", "#ff8490");
const GROUND: Paint = Paint(".b", "fill", "#fff", "#171c24");
/// Colours of the states. Some states are hatched as well, so that nobody needs to tell colours
/// apart.
const STATES: [Paint; 5] = [
    Paint(".n", "fill", "#eaeef3", "#2b3442"),
    Paint(".g", "fill", "#cfe8da", "#1d4a30"),
    Paint(".y", "fill", "#fbdfae", "#5c4212"),
    Paint(".r", "fill", "#f9c6cb", "#6b222b"),
    Paint(".v", "fill", "#ddd3f6", "#3d3069"),
];

/// Written as an attribute, which every viewer knows and no policy forbids.
impl fmt::Display for Paint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " {}=\"{}\"", self.1, self.2)
    }
}

/// The style sheet of a picture that follows `color-scheme`.
fn style() -> String {
    let mut style = String::from(
        "@media(max-width:640px){.tl .s{display:none}}svg.tl:root{color-scheme:light dark}",
    );
    for Paint(what, property, light, dark) in
        [INK, QUIET, LINE, MARK, TAINT, HATCH, GROUND].iter().chain(&STATES)
    {
        let _ = write!(style, ".tl {what}{{{property}:light-dark({light},{dark})}}");
    }
    style
}

/// Draws lanes: a row for each zone that is not always `Normal`, for each node, and below it for
/// each pod that was on it first.
///
/// The picture is as wide as its place in the page, at least 300 pixels; its text keeps its size.
/// Its colours follow the `color-scheme` of the page, or of the system if it stands alone. Its
/// `desc` says in words what it shows.
#[must_use]
pub fn timeline_svg(lanes: &Lanes, options: &SvgOptions) -> String {
    let rows = rows_of(lanes);
    let scale = Scale::of(lanes);
    let height = AXIS + rows.len() * PITCH + 4;
    let id = &options.id;
    let title = match options.title.as_str() {
        "" => "What becomes of each object",
        title => title,
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tl\" width=\"100%\" height=\"{height}\" \
         font-family=\"system-ui,sans-serif\" font-size=\"11\"{INK} role=\"img\" \
         aria-labelledby=\"{id}t {id}d\"><title id=\"{id}t\">{}</title>\
         <desc id=\"{id}d\">",
        escape_xml(title)
    );
    let calm = |row: &&&Lane| row.segments.iter().all(|segment| segment.to_string() == "ready");
    for row in rows.iter().filter(|row| !calm(row)) {
        let _ = writeln!(svg, "{}", escape_xml(&row.to_string()));
    }
    let calm: Vec<_> = rows.iter().filter(calm).map(|row| row.subject.to_string()).collect();
    if !calm.is_empty() {
        let _ = write!(svg, "ready all the time: {}", escape_xml(&calm.join(", ")));
    }
    svg.push_str("</desc>");
    if !options.is_bare {
        let _ = write!(svg, "<style>{}</style>", style());
    }
    let _ = write!(
        svg,
        "<defs><pattern id=\"{id}h\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">\
         <path d=\"m0 6 6-6\"{HATCH} opacity=\".55\"/></pattern></defs>\
         <rect class=\"b\" width=\"100%\" height=\"100%\"{GROUND}/><svg width=\"{NAMES}%\">"
    );
    for (index, row) in rows.iter().enumerate() {
        let y = AXIS + index * PITCH + 11;
        let class = match &row.subject {
            LaneSubject::Pod { .. } => String::new(),
            LaneSubject::Node { .. } => " font-weight=\"600\"".into(),
            LaneSubject::Zone { .. } => format!(" class=\"m\"{QUIET}"),
        };
        let name = name_of(row);
        // The end of a name tells pods apart: if room is short, the beginning is cut off.
        let _ = write!(
            svg,
            "<text{class} x=\"98%\" y=\"{y}\" text-anchor=\"end\">{}</text>",
            escape_xml(&name)
        );
    }
    let _ = write!(svg, "</svg><svg x=\"{NAMES}%\" width=\"{}%\">", 100 - NAMES);
    for at in scale.ticks() {
        let x = scale.x(at);
        let _ = write!(
            svg,
            "<line x1=\"{x}\" x2=\"{x}\" y1=\"16\" y2=\"{height}\"{LINE}/>\
             <text class=\"m\"{QUIET} x=\"{x}\" y=\"11\" text-anchor=\"{}\">{}</text>",
            if at == Timestamp::ZERO { "start" } else { "middle" },
            short(at)
        );
    }
    for (index, row) in rows.iter().enumerate() {
        for segment in &row.segments {
            bar(&mut svg, lanes, &scale, segment, AXIS + index * PITCH, id);
        }
    }
    if let Some(at) = options.at {
        let x = scale.x(at);
        let _ = write!(
            svg,
            "<line class=\"at\" x1=\"{x}\" x2=\"{x}\" y1=\"14\" y2=\"{height}\"{MARK} \
             stroke-width=\"2\"/>"
        );
    }
    svg.push_str("</svg></svg>");
    svg
}

/// Draws one segment: a box that cuts off its content.
fn bar(svg: &mut String, lanes: &Lanes, scale: &Scale, segment: &Segment, y: usize, id: &str) {
    if segment.from >= scale.end {
        return;
    }
    let (class, hatched) = look(segment.state);
    let [neutral, ..] = &STATES;
    let paint = STATES.iter().find(|paint| paint.0.ends_with(class)).unwrap_or(neutral);
    let forecast = lanes.forecast_from.is_some_and(|from| segment.from >= from);
    let forecast = if forecast { " opacity=\".55\"" } else { "" };
    let to = if segment.goes_on { scale.end } else { segment.to };
    let part = scale.width(segment.from, to);
    let (x, width) = (scale.x(segment.from), percent(part));
    let _ = write!(
        svg,
        "<svg{forecast} x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BAR}\">\
         <rect class=\"{class}\"{paint} width=\"100%\" height=\"100%\"/>",
    );
    if hatched {
        let _ = write!(svg, "<rect fill=\"url(#{id}h)\" width=\"100%\" height=\"100%\"/>");
    }
    if !segment.taints.is_empty() {
        let _ = write!(svg, "<rect class=\"t\"{TAINT} y=\"13\" width=\"100%\" height=\"2\"/>");
    }
    if segment.state != LaneState::Ready && segment.state != LaneState::Normal {
        let text = segment.to_string();
        if let Some(class) = label(&text, part) {
            let _ = write!(svg, "<text{class} x=\"3\" y=\"11\">{text}</text>");
        }
        // Shown on hover, since a short segment has no room for its text.
        let _ = write!(svg, "<title>{text}, {} to {}</title>", segment.from, segment.to);
    }
    svg.push_str("</svg>");
}

/// The class of a label in a box whose width is `part` hundredths of a per cent; nothing if it has
/// no room.
fn label(text: &str, part: u64) -> Option<&'static str> {
    let fits = |width: u128| {
        let room = width * (100 - NAMES as u128) / 100 * u128::from(part) / 10_000;
        room >= (text.chars().count() as u128 + 1) * LETTER
    };
    if fits(NARROW) { Some("") } else { fits(USUAL).then_some(" class=\"s\"") }
}

/// The class of a state's colour, and whether it is hatched.
pub(crate) const fn look(state: LaneState) -> (&'static str, bool) {
    match state {
        LaneState::Ready | LaneState::Normal => ("g", false),
        LaneState::Counting | LaneState::NotReady | LaneState::PartialDisruption => ("y", false),
        LaneState::Terminating | LaneState::Evicted | LaneState::Failed => ("r", false),
        LaneState::Stuck | LaneState::FullDisruption => ("r", true),
        LaneState::Pending | LaneState::Unschedulable | LaneState::Starting => ("v", false),
        LaneState::Unreachable => ("n", true),
        LaneState::Unknown | LaneState::Succeeded | LaneState::Initial => ("n", false),
    }
}

/// The name of a lane.
pub(crate) fn name_of(lane: &Lane) -> String {
    match &lane.subject {
        LaneSubject::Pod { pod } if pod.namespace() == "default" => pod.name().to_owned(),
        LaneSubject::Pod { pod } => pod.to_string(),
        LaneSubject::Node { node } => node.to_string(),
        LaneSubject::Zone { .. } => lane.subject.to_string(),
    }
}

/// The length of the axis, and the distance between its marks.
pub(crate) fn scale_of(lanes: &Lanes) -> (Timestamp, Timestamp) {
    let scale = Scale::of(lanes);
    (scale.end, Timestamp::from_secs(scale.step))
}

/// The lanes in drawing order.
pub(crate) fn rows_of(lanes: &Lanes) -> Vec<&Lane> {
    let calm = |segment: &Segment| matches!(segment.state, LaneState::Normal | LaneState::Initial);
    let mut zones = Vec::new();
    let mut nodes = Vec::new();
    let mut pods: OrderedMap<&str, Vec<&Lane>> = OrderedMap::new();
    for lane in &lanes.lanes {
        match &lane.subject {
            LaneSubject::Zone { .. } if lane.segments.iter().all(calm) => {}
            LaneSubject::Zone { .. } => zones.push(lane),
            LaneSubject::Node { node } => nodes.push((node.as_str(), lane)),
            LaneSubject::Pod { .. } => {
                let node = lane.segments.iter().find_map(|segment| segment.node.as_ref());
                pods.entry(node.map_or("", |node| node.as_str())).or_default().push(lane);
            }
        }
    }
    let mut rows = zones;
    for (name, lane) in nodes {
        rows.push(lane);
        rows.extend(pods.remove(name).unwrap_or_default());
    }
    rows.extend(pods.into_values().flatten());
    rows
}

/// The scale of the axis: its end, and the seconds between its marks.
struct Scale {
    end: Timestamp,
    step: u64,
}

impl Scale {
    /// Goes from zero to a little after the last change, so that the end can be seen.
    fn of(lanes: &Lanes) -> Self {
        let last = lanes.last_change().as_nanos().max(10 * SECOND);
        let end = last.saturating_add(last / 8);
        let steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200];
        let fits = |step: &u64| end / (step * SECOND) < MOST_TICKS;
        let step = steps.into_iter().find(fits).unwrap_or_else(|| end / SECOND / MOST_TICKS + 1);
        Self { end: Timestamp::from_nanos(end), step }
    }

    fn ticks(&self) -> impl Iterator<Item = Timestamp> {
        let (step, end) = (self.step, self.end);
        // The last mark is not so close to the end that its text would be cut off.
        let room = Timestamp::from_nanos(end.as_nanos() / 20 * 19);
        (0..).map(move |index| Timestamp::from_secs(index * step)).take_while(move |at| *at <= room)
    }

    /// The place of a moment, in hundredths of a per cent of the width.
    fn part(&self, at: Timestamp) -> u64 {
        let at = u128::from(at.min(self.end).as_nanos());
        u64::try_from(at * 10_000 / u128::from(self.end.as_nanos().max(1))).unwrap_or(10_000)
    }

    fn x(&self, at: Timestamp) -> String {
        percent(self.part(at))
    }

    /// The width of a span, in hundredths of a per cent.
    fn width(&self, from: Timestamp, to: Timestamp) -> u64 {
        // Even a short span stays visible.
        (self.part(to) - self.part(from)).max(20)
    }
}

/// A time without trailing zeros: `2m`, `1h30m`.
fn short(at: Timestamp) -> String {
    let text = at.to_string();
    let text = text.strip_suffix("m0s").map_or(text.clone(), |minutes| format!("{minutes}m"));
    text.strip_suffix("h0m").map_or(text.clone(), |hours| format!("{hours}h"))
}

fn percent(hundredths: u64) -> String {
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Escapes a text for XML, in an element or an attribute with double quotes.
#[must_use]
pub fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // XML allows no other control characters, nor these two.
            '\t' | '\n' | '\r' => escaped.push(character),
            '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            character if character.is_control() => escaped.push(char::REPLACEMENT_CHARACTER),
            character => escaped.push(character),
        }
    }
    escaped
}
