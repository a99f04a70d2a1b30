//! The board as a picture that stands alone: SVG without script, in the shapes and colours of the
//! legend.

use std::fmt::Write as _;

use taintlab_core::api::{ConditionStatus, Taint};
use taintlab_core::pod_state::{PodCounts, PodHealth, PodVerdict};
use taintlab_manifest::escape_xml as escaped;

use super::density::Detail;
use super::mark::{Mark, NO_POD, Tone, mark_of};
use super::patch::MAX_DOTS;
use super::{Board, NodeView, PodView, ZoneView, unreachable_words};
use crate::text::{at, count};

/// The width of a picture, in pixels.
const WIDTH: usize = 1_200;
/// The space between boxes, and to their edges.
const GAP: usize = 10;
/// The distance between lines of text.
const LINE: usize = 16;
/// The distance between marks.
const PITCH: usize = 14;
/// The width of a card, at least.
const CARD: usize = 168;
/// The width of a row, at least.
const ROW: usize = 340;
/// Zones side by side at most.
const MOST_ZONES: usize = 3;
/// Pods without a node that are drawn at most.
const MOST_PENDING: usize = 60;

const STYLE: &str = "\
svg.tb{font:11px system-ui,sans-serif;background:light-dark(#f3f5f8,#0f1319)}\
svg.tb:root{color-scheme:light dark}\
.tb text{fill:light-dark(#17202b,#e4e9f0)}\
.tb .m{fill:light-dark(#566273,#9aa7b8)}\
.tb .h{font-weight:600;font-size:13px}\
.tb .n{font-weight:600}\
.tb .r{fill:light-dark(#bb2a3c,#ff8490)}\
.tb .x{text-decoration:line-through}\
.tb rect.z{fill:light-dark(#fff,#171c24);stroke:light-dark(#d9dfe7,#2b3442)}\
.tb rect.c{fill:light-dark(#fff,#1e2530);stroke:light-dark(#d9dfe7,#2b3442)}\
.tb rect.t{fill:light-dark(#bb2a3c,#ff8490)}\
.tb rect.k{fill:light-dark(#f8d3d7,#5a2028)}\
.tb rect.u{fill:none;stroke:light-dark(#bb2a3c,#ff8490)}\
.tb use.stays{color:light-dark(#28704f,#5fc295)}\
.tb use.unready{color:light-dark(#5b6675,#a3b0c2)}\
.tb use.pending{color:light-dark(#6a4fb3,#b6a0f5)}\
.tb use.counting{color:light-dark(#955300,#f0b155)}\
.tb use.terminating{color:light-dark(#bb2a3c,#ff8490)}\
.tb use.past{color:light-dark(#828e9e,#66738a)}\
.f{fill:currentColor;stroke:none}";

/// The marks of the legend, around zero.
const MARKS: &[(Mark, &str)] = &[
    (Mark::Disc, "<circle class=\"f\" r=\"4.5\"/>"),
    (Mark::Ring, "<circle r=\"3.8\" stroke-width=\"2\"/>"),
    (Mark::HalfRing, "<circle r=\"3.8\"/><path class=\"f\" d=\"M-4.5 0a4.5 4.5 0 0 0 9 0z\"/>"),
    (Mark::DashedRing, "<circle r=\"3.8\" stroke-dasharray=\"2 1.5\"/>"),
    (
        Mark::DashedSquare,
        "<rect x=\"-3.8\" y=\"-3.8\" width=\"7.6\" height=\"7.6\" stroke-dasharray=\"2 1.5\"/>",
    ),
    (Mark::Slashed, "<rect x=\"-4\" y=\"-4\" width=\"8\" height=\"8\"/><path d=\"M-4 4 4-4\"/>"),
    (Mark::Target, "<circle r=\"3.8\"/><circle class=\"f\" r=\"1.8\"/>"),
    (Mark::Diamond, "<path class=\"f\" d=\"M0-5.2 5.2 0 0 5.2-5.2 0z\"/>"),
    (
        Mark::Striped,
        "<rect x=\"-4\" y=\"-4\" width=\"8\" height=\"8\"/>\
         <path d=\"M-4 4 4-4M-4 .5.5-4M-.5 4 4-.5\"/>",
    ),
    (Mark::Bars, "<path class=\"f\" d=\"M-4.5-4.5h9V-1h-9zM-4.5 1h9v3.5h-9z\"/>"),
    (Mark::Square, "<rect x=\"-4\" y=\"-4\" width=\"8\" height=\"8\" stroke-width=\"1\"/>"),
    (Mark::Speck, "<circle class=\"f\" r=\"1.5\"/>"),
];

/// The class of a colour in the style of the picture.
fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Stays => "stays",
        Tone::Unready => "unready",
        Tone::Pending => "pending",
        Tone::Counting => "counting",
        Tone::Terminating => "terminating",
        Tone::Past => "past",
    }
}

/// A part of the picture, and its height.
#[derive(Default)]
struct Drawn {
    svg: String,
    height: usize,
}

impl Drawn {
    fn text(&mut self, class: &str, x: usize, y: usize, text: &str) {
        // The box around it cuts off text that does not fit.
        let _ = write!(
            self.svg,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>",
            escaped(text)
        );
    }

    fn text_to(&mut self, class: &str, x: usize, y: usize, text: &str) {
        let text = escaped(text);
        let _ = write!(
            self.svg,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"end\">{text}</text>"
        );
    }

    fn mark(&mut self, (mark, tone): (Mark, Tone), x: usize, y: usize) {
        let class = class(tone);
        let _ =
            write!(self.svg, "<use href=\"#b-{mark:?}\" class=\"{class}\" x=\"{x}\" y=\"{y}\"/>");
    }

    /// Adds a line: a text at the left that is cut to its room, and one that ends at the right
    /// edge.
    fn line(&mut self, class: &str, (x, width): (usize, usize), text: &str, end: &str) {
        let y = self.height;
        // About the width of a letter.
        let room =
            width.saturating_sub(end.chars().count() * 6 + if end.is_empty() { 0 } else { 6 });
        let _ = write!(
            self.svg,
            "<svg x=\"{x}\" y=\"{y}\" width=\"{room}\" height=\"{LINE}\">\
             <text class=\"{class}\" y=\"11\">{}</text></svg>",
            escaped(&fitted(text, room))
        );
        if !end.is_empty() {
            self.text_to("m", x + width, y + 11, end);
        }
        self.height += LINE;
    }

    /// Adds the numbers of pods beside the marks of their states.
    fn tallies(&mut self, counts: &PodCounts, mut x: usize, y: usize, words: bool) -> usize {
        for (look, number, what) in states(counts, words) {
            self.mark(look, x + 5, y);
            let text = if words { format!("{number} {what}") } else { number.to_string() };
            self.text("m", x + 13, y + 4, &text);
            x += 24 + text.chars().count() * 6;
        }
        x
    }
}

/// The end of a name, as far as there is room: the end tells pods apart.
fn fitted(text: &str, room: usize) -> String {
    let (letters, most) = (text.chars().count(), room / 7);
    if letters <= most {
        return text.to_owned();
    }
    let skipped = letters - most.saturating_sub(1);
    std::iter::once('…').chain(text.chars().skip(skipped)).collect()
}

/// A taint without the part of its key before the name.
fn short(taint: &Taint) -> String {
    let whole = taint.to_string();
    match taint.key.rsplit_once('/') {
        Some((before, _)) => whole.get(before.len() + 1..).unwrap_or(&whole).to_owned(),
        None => whole,
    }
}

/// The numbers of pods by state; a legend has some states without pods, too.
fn states(counts: &PodCounts, legend: bool) -> Vec<((Mark, Tone), usize, &'static str)> {
    let always =
        [PodVerdict::Stays, PodVerdict::Counting, PodVerdict::Terminating, PodVerdict::Gone];
    let verdicts = PodVerdict::ALL.into_iter().filter_map(|verdict| {
        let number = counts.verdict(verdict);
        let shown = number > 0 || legend && always.contains(&verdict);
        shown.then(|| (mark_of(verdict, None), number, verdict.words(number)))
    });
    let unwell = PodHealth::ALL.into_iter().filter(|health| *health != PodHealth::Ready);
    let healths = unwell.filter_map(|health| {
        let number = counts.health(health);
        (number > 0).then(|| (mark_of(PodVerdict::Stays, Some(health)), number, health.words()))
    });
    verdicts.chain(healths).collect()
}

/// Boxes side by side and below one another; the boxes of a row have one height.
fn grid(boxes: &[Drawn], frame: &str, columns: usize, width: usize, gap: usize) -> Drawn {
    let each = (width + gap) / columns - gap;
    let mut drawn = Drawn::default();
    for row in boxes.chunks(columns) {
        let (y, height) =
            (drawn.height, row.iter().map(|one| one.height).max().unwrap_or_default());
        for (index, one) in row.iter().enumerate() {
            let x = index * (each + gap);
            if !frame.is_empty() {
                let _ = write!(
                    drawn.svg,
                    "<rect class=\"{frame}\" x=\"{x}\" y=\"{y}\" width=\"{each}\" \
                     height=\"{height}\" rx=\"6\"/>"
                );
            }
            let _ = write!(
                drawn.svg,
                "<svg x=\"{x}\" y=\"{y}\" width=\"{each}\" height=\"{height}\">{}</svg>",
                one.svg
            );
        }
        drawn.height += height + gap;
    }
    drawn.height = drawn.height.saturating_sub(gap);
    drawn
}

/// An empty part that begins at this distance from the edge.
fn below(height: usize) -> Drawn {
    Drawn { height, ..Drawn::default() }
}

/// Draws the board as it is, in this detail.
///
/// Its `desc` tells the same in words.
pub(crate) fn picture(board: &Board, detail: Detail, title: &str, moment: &str) -> String {
    let title = if title.is_empty() { "Cluster" } else { title };
    let inner = WIDTH - 2 * GAP;
    let columns = board.zones.len().clamp(1, MOST_ZONES);
    let each = (inner + GAP) / columns - GAP;
    let zones: Vec<_> = board.zones.iter().map(|zone| zone_box(zone, detail, each)).collect();
    let mut parts = vec![head(board, title, moment, inner), grid(&zones, "z", columns, inner, GAP)];
    if !board.pending.is_empty() {
        parts.push(grid(&[pending_box(board, inner)], "z", 1, inner, 0));
    }
    let body = grid(&parts, "", 1, inner, GAP);
    let height = body.height + 2 * GAP;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tb\" width=\"{WIDTH}\" \
         height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-labelledby=\"bt bd\"><title id=\"bt\">{}</title><desc id=\"bd\">{}</desc>\
         <style>{STYLE}</style><defs>",
        escaped(&format!("{title}: the board at {moment}")),
        escaped(&words(board)),
    );
    for (name, mark) in MARKS {
        let _ =
            write!(svg, "<g id=\"b-{name:?}\" fill=\"none\" stroke=\"currentColor\">{mark}</g>");
    }
    let _ = write!(
        svg,
        "</defs><svg x=\"{GAP}\" y=\"{GAP}\" width=\"{inner}\" height=\"{}\">{}</svg></svg>",
        body.height, body.svg
    );
    svg
}

/// The board in words: zones, nodes that need a word, and the number of the others.
fn words(board: &Board) -> String {
    let mut words = String::new();
    for zone in &board.zones {
        let (nodes, pods) = (count(zone.nodes.len(), "node"), count(zone.pods, "pod"));
        let _ = writeln!(words, "zone {}, {nodes}, {pods}", zone.name);
        let calm = |node: &&std::rc::Rc<NodeView>| {
            node.status() == "Ready"
                && node.taints.is_empty()
                && node.counts.verdict(PodVerdict::Stays) == node.pod_count
                && node.counts.health(PodHealth::Ready) == node.pod_count
        };
        for node in zone.nodes.iter().filter(|node| !calm(node)) {
            let _ = writeln!(words, "{}", node.line());
        }
        match zone.nodes.iter().filter(calm).count() {
            0 => {}
            calm => _ = writeln!(words, "{} Ready, with pods that stay", count(calm, "node")),
        }
    }
    for pod in &board.pending {
        let _ = writeln!(words, "pod {}, {}, has no node", pod.key, pod.state);
    }
    words
}

fn head(board: &Board, title: &str, moment: &str, width: usize) -> Drawn {
    let mut drawn = Drawn::default();
    let totals = &board.totals;
    let size = format!("{}, {}", count(totals.nodes, "node"), count(totals.pods, "pod"));
    drawn.line("h", (0, width), title, &format!("{moment} · {size}"));
    drawn.height += 6;
    let y = drawn.height + 8;
    drawn.tallies(&totals.counts, 0, y, true);
    drawn.height += LINE;
    drawn
}

fn zone_box(zone: &ZoneView, detail: Detail, width: usize) -> Drawn {
    let mut drawn = below(GAP);
    let inner = width - 2 * GAP;
    let size = format!("{}, {}", count(zone.nodes.len(), "node"), count(zone.pods, "pod"));
    drawn.line("n", (GAP, inner), &zone.name, &size);
    let many = matches!(detail, Detail::Rows | Detail::Cells);
    if many {
        let not_ready = zone.nodes.len() - zone.ready;
        let ready = match not_ready {
            0 => format!("{} ready", zone.ready),
            _ => format!("{} ready, {not_ready} not ready", zone.ready),
        };
        let y = drawn.height;
        drawn.text("m", GAP, y + 11, &ready);
        drawn.tallies(&zone.counts, GAP + 12 + ready.chars().count() * 6, y + 7, false);
        drawn.height += LINE;
        if !zone.state.is_empty() {
            drawn.line("m", (GAP, inner), &zone.state, "");
        }
    }
    drawn.height += 4;
    let nodes = if detail == Detail::Cells {
        cells(zone, inner)
    } else {
        let gap = if many { 2 } else { 8 };
        let least = if many { ROW } else { CARD };
        let columns = ((inner + gap) / (least + gap)).max(1);
        let each = (inner + gap) / columns - gap;
        let cards: Vec<_> = zone.nodes.iter().map(|node| card(node, detail, each)).collect();
        grid(&cards, "c", columns, inner, gap)
    };
    let y = drawn.height;
    let _ = write!(
        drawn.svg,
        "<svg x=\"{GAP}\" y=\"{y}\" width=\"{inner}\" height=\"{}\">{}</svg>",
        nodes.height, nodes.svg
    );
    drawn.height += nodes.height + GAP;
    drawn
}

fn card(node: &NodeView, detail: Detail, width: usize) -> Drawn {
    let mut drawn = below(4);
    let _ = write!(drawn.svg, "<title>{}</title>", escaped(&node.line()));
    if node.taints.iter().any(Taint::is_no_execute) {
        drawn.svg.push_str("<rect class=\"t\" x=\"3\" y=\"8%\" width=\"3\" height=\"84%\"/>");
    }
    let room = (10, width.saturating_sub(16));
    let pods = count(node.pod_count, "pod");
    let mut status = Vec::new();
    if !matches!(node.status(), "Ready" | "Unknown") || node.ready == ConditionStatus::Unknown {
        status.push(node.status());
    }
    status.extend(node.unreachable.map(unreachable_words));
    let status = status.join(" · ");
    if detail == Detail::Rows {
        let y = drawn.height;
        let x = drawn.tallies(&node.counts, width / 2, y + 7, false);
        let taints = node.taints.iter().map(short).collect::<Vec<_>>().join(" ");
        if !taints.is_empty() {
            drawn.text("m", x + 4, y + 11, &taints);
        }
        let status = if status.is_empty() { &pods } else { &status };
        drawn.line("n", (10, width / 2 - 16), node.name.as_str(), status);
        drawn.height += 2;
        return drawn;
    }
    drawn.line("n", room, node.name.as_str(), &pods);
    if !status.is_empty() {
        drawn.line("m", room, &status, "");
    }
    for taint in &node.taints {
        drawn.line("r", room, &short(taint), "");
    }
    if detail == Detail::Full {
        for pod in &node.pods {
            pod_line(&mut drawn, pod, room);
        }
    } else {
        dots(&mut drawn, node, room);
    }
    let gone = if detail == Detail::Full { node.gone.as_slice() } else { &[] };
    for gone in gone {
        drawn.line("m x", room, gone.pod.name(), &at(gone.evicted.unwrap_or(gone.at)));
    }
    match node.gone_count - gone.len() {
        0 => {}
        more => drawn.line("m", room, &format!("{} gone", count(more, "pod")), ""),
    }
    drawn.height += 4;
    drawn
}

fn pod_line(drawn: &mut Drawn, pod: &PodView, (x, width): (usize, usize)) {
    let state = pod.state;
    let timer = state.timer.filter(|timer| !timer.never_ends());
    let end = timer.map_or_else(|| pod.remark().to_owned(), |timer| at(timer.until));
    drawn.mark(mark_of(state.verdict, Some(state.health)), x + 5, drawn.height + 7);
    drawn.line("", (x + 14, width.saturating_sub(14)), pod.key.name(), &end);
}

fn dots(drawn: &mut Drawn, node: &NodeView, (x, width): (usize, usize)) {
    let columns = (width / PITCH).max(1);
    let shown = node.pods.iter().take(MAX_DOTS);
    for (index, pod) in shown.enumerate() {
        let (column, row) = (index % columns, index / columns);
        let look = mark_of(pod.state.verdict, Some(pod.state.health));
        drawn.mark(look, x + 6 + column * PITCH, drawn.height + 7 + row * PITCH);
    }
    drawn.height += node.pods.len().min(MAX_DOTS).div_ceil(columns) * PITCH;
    match node.pod_count.saturating_sub(MAX_DOTS) {
        0 => {}
        more => drawn.line("m", (x, width), &format!("and {} more", count(more, "pod")), ""),
    }
}

fn cells(zone: &ZoneView, width: usize) -> Drawn {
    let mut drawn = Drawn::default();
    let columns = (width / PITCH).max(1);
    for (index, node) in zone.nodes.iter().enumerate() {
        let (x, y) = (index % columns * PITCH, index / columns * PITCH);
        let size = PITCH - 2;
        let _ = write!(drawn.svg, "<g><title>{}</title>", escaped(&node.line()));
        if node.taints.iter().any(Taint::is_no_execute) {
            let _ = write!(
                drawn.svg,
                "<rect class=\"k\" x=\"{x}\" y=\"{y}\" width=\"{PITCH}\" height=\"{PITCH}\"/>"
            );
        }
        if !node.is_ready() {
            let _ = write!(
                drawn.svg,
                "<rect class=\"u\" x=\"{}\" y=\"{}\" width=\"{size}\" height=\"{size}\"/>",
                x + 1,
                y + 1
            );
        }
        let worst = node.counts.worst();
        let look = worst.map_or(NO_POD, |(verdict, health)| mark_of(verdict, health));
        drawn.mark(look, x + PITCH / 2, y + PITCH / 2);
        drawn.svg.push_str("</g>");
    }
    drawn.height = zone.nodes.len().div_ceil(columns) * PITCH;
    drawn
}

fn pending_box(board: &Board, width: usize) -> Drawn {
    let mut drawn = below(GAP);
    let number = board.pending.len();
    let inner = width - 2 * GAP;
    let size = format!("{} without a node", count(number, "pod"));
    drawn.line("n", (GAP, inner), "Pending", &size);
    let each = inner / MOST_ZONES;
    let pods = board.pending.iter().take(MOST_PENDING).map(|pod| {
        let mut drawn = Drawn::default();
        pod_line(&mut drawn, pod, (0, each.saturating_sub(GAP)));
        drawn
    });
    let pods = grid(&pods.collect::<Vec<_>>(), "", MOST_ZONES, inner, 0);
    let y = drawn.height;
    let _ = write!(
        drawn.svg,
        "<svg x=\"{GAP}\" y=\"{y}\" width=\"{inner}\" height=\"{}\">{}</svg>",
        pods.height, pods.svg
    );
    drawn.height += pods.height;
    match number.saturating_sub(MOST_PENDING) {
        0 => {}
        more => drawn.line("m", (GAP, inner), &format!("and {more} more"), ""),
    }
    drawn.height += GAP;
    drawn
}

#[cfg(test)]
mod tests {
    use taintlab_core::api::{Node, Pod, PodKey, TaintEffect, Toleration, TolerationOperator};
    use taintlab_core::command::Command;
    use taintlab_core::scenario::Scenario;
    use taintlab_core::time::Timestamp;

    use super::*;
    use crate::session::Session;
    use crate::view_models::board::BoardModel;

    /// Two zones with that number of nodes, each with two pods; the first node is tainted.
    fn board(nodes: usize) -> Board {
        let mut scenario = Scenario::default();
        for index in 0..nodes {
            let mut node = Node::default();
            node.metadata.name = format!("node-{index}");
            let zone = if index % 2 == 0 { "a" } else { "b" };
            let key = "topology.kubernetes.io/zone".to_owned();
            node.metadata.labels.insert(key, zone.to_owned());
            scenario.objects.nodes.push(node.into());
            for (name, seconds) in [("ten", Some(10)), ("bare", None)] {
                let mut pod = Pod::default();
                pod.metadata.name = format!("{name}-{index}");
                pod.spec.node_name = format!("node-{index}");
                pod.spec.tolerations.extend(seconds.map(|seconds| Toleration {
                    key: "k".into(),
                    operator: TolerationOperator::Exists,
                    effect: TaintEffect::NoExecute,
                    toleration_seconds: Some(seconds),
                    ..Toleration::default()
                }));
                scenario.objects.pods.push(pod.into());
            }
        }
        let mut session = Session::new(scenario).unwrap();
        let taint = Taint::new("k", "v", TaintEffect::NoExecute);
        session.apply(vec![Command::Taint { node: "node-0".into(), taint }]).unwrap();
        session.seek(Timestamp::from_secs(4));
        let mut model = BoardModel::default();
        model.update(&mut session);
        (**model.board()).clone()
    }

    /// Asserts that each element ends where it should, and that nothing else looks like one.
    fn assert_well_formed(svg: &str) {
        let mut open = Vec::new();
        for part in svg.split('<').skip(1) {
            let (tag, text) = part.split_once('>').unwrap_or_else(|| panic!("{part}"));
            assert!(!text.contains('>'), "{text}");
            let name = tag.split([' ', '/']).find(|word| !word.is_empty()).unwrap();
            if tag.starts_with('/') {
                assert_eq!(open.pop(), Some(name), "{tag}");
            } else if !tag.ends_with('/') {
                open.push(name);
            }
        }
        assert!(open.is_empty(), "{open:?}");
        for entity in svg.split('&').skip(1) {
            let name = entity.split(';').next().unwrap();
            assert!(["amp", "lt", "gt", "quot"].contains(&name), "{name}");
        }
    }

    fn uses(svg: &str, mark: &str) -> usize {
        svg.matches(&format!("href=\"#b-{mark}\"")).count()
    }

    #[test]
    fn every_density_shows_all_nodes_with_the_marks_of_the_legend() {
        let board = board(6);
        for (detail, cards, pods) in [
            (Detail::Full, 6, 12),
            (Detail::Compact, 6, 12),
            // Numbers: one for each state of each node.
            (Detail::Rows, 6, 0),
            (Detail::Cells, 0, 0),
        ] {
            let svg = picture(&board, detail, "Six", "4s");
            assert_well_formed(&svg);
            assert_eq!(svg.matches("<title>node node-").count(), 6, "{detail:?}");
            assert_eq!(svg.matches("rect class=\"c\"").count(), cards, "{detail:?}");
            assert_eq!(svg.matches("rect class=\"z\"").count(), 2, "{detail:?}");
            // One more is in the legend, and one for the zone where pods are numbers.
            let sums = usize::from(pods == 0);
            let marks = |mark| uses(&svg, mark) - 1 - if detail >= Detail::Rows { sums } else { 0 };
            assert_eq!(marks("Striped"), 1, "{detail:?}");
            if pods > 0 {
                assert_eq!(marks("Diamond") + marks("Striped") + marks("Disc"), pods);
            }
        }
    }

    #[test]
    fn the_picture_says_in_words_what_it_shows() {
        let svg = picture(&board(6), Detail::Full, "Six", "4s");
        let (_, desc) = svg.split_once("<desc id=\"bd\">").unwrap();
        let (desc, _) = desc.split_once("</desc>").unwrap();
        for wanted in ["zone a, 3 nodes, 6 pods", "node node-0, ", "taint k=v:NoExecute"] {
            assert!(desc.contains(wanted), "{wanted}: {desc}");
        }
        assert!(svg.contains("<title id=\"bt\">Six: the board at 4s</title>"), "{svg}");
    }

    #[test]
    fn names_are_data() {
        let mut board = board(2);
        let mut zone = (*board.zones[0]).clone();
        zone.name = "<a href=\"x\">&\u{1}".into();
        let mut node = (*zone.nodes[0]).clone();
        node.name = "<script>alert(1)</script>".into();
        let mut pod = (*node.pods[0]).clone();
        pod.key = PodKey::new("", "</svg><x y='&'>");
        node.pods[0] = pod.into();
        zone.nodes[0] = node.into();
        board.zones[0] = zone.into();
        for detail in [Detail::Full, Detail::Compact, Detail::Rows, Detail::Cells] {
            let svg = picture(&board, detail, "]]>\"<b>", "4s");
            assert_well_formed(&svg);
            for part in ["<script", "<a ", "<x", "<b>", "\u{1}"] {
                assert!(!svg.contains(part), "{part}: {svg}");
            }
        }
    }

    #[test]
    fn a_large_board_is_cells_of_one_size() {
        let svg = picture(&board(1_000), Detail::Cells, "", "0s");
        assert_well_formed(&svg);
        assert_eq!(svg.matches("<g><title>").count(), 1_000);
        let (_, height) = svg.split_once("height=\"").unwrap();
        let height: usize = height.split('"').next().unwrap().parse().unwrap();
        assert!((200..400).contains(&height), "{height}");
    }
}
