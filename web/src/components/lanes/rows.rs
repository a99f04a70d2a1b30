//! The rows of the lanes, as HTML text that the browser parses itself.
//!
//! While the user scrolls or zooms, each frame may need a screen of other rows, and hundreds of
//! bars. Making them element by element takes longer than a frame; as text it does not. Rows out of
//! sight are made in advance, a few in each frame.

use std::collections::VecDeque;
use std::fmt::Write;
use std::ops::Range;
use std::rc::Rc;

use taintlab_core::lanes::{LaneState, LaneSubject};
use taintlab_manifest::escape_xml;
use web_sys::Element;
use yew::prelude::*;

use super::ROW;
use crate::text::count;
use crate::view_models::lanes::{LaneBar, LaneRow, LanesMsg};
use crate::view_models::names::Shared;

/// The maximum number of rows out of sight that are made or changed in one frame.
const AT_ONCE: usize = 10;

/// Consecutive rows, and their elements.
#[derive(Default)]
pub(super) struct Rows {
    group: Option<Element>,
    names: Shared,
    shown: VecDeque<Shown>,
}

/// A row with its element.
struct Shown {
    row: Rc<LaneRow>,
    cursor: bool,
    element: Element,
}

impl Rows {
    /// Updates a group to these consecutive rows, and no others: the rows in sight immediately, a
    /// few of the others; `true` if none remain. The first row of the group, which need not be
    /// among `rows`, has the number `first`.
    pub(super) fn show(
        &mut self,
        group: &Element,
        rows: &[Rc<LaneRow>],
        (cursor, first): (usize, usize),
        sight: &Range<usize>,
        names: Shared,
    ) -> bool {
        if self.group.as_ref() != Some(group) || self.names != names {
            group.set_inner_html("");
            *self = Self { group: Some(group.clone()), names, shown: VecDeque::new() };
        }
        let from = rows.first().map_or(0, |row| row.place);
        let end = from + rows.len();
        while let Some(gone) = self.shown.pop_front_if(|it| it.row.place < from) {
            gone.element.remove();
        }
        while let Some(gone) = self.shown.pop_back_if(|it| it.row.place >= end) {
            gone.element.remove();
        }
        // From here on, rows are counted from the first of `rows`.
        let place = |place: usize| place.saturating_sub(from).min(rows.len());
        let sight = place(sight.start)..place(sight.end);
        let start = |shown: &VecDeque<Shown>| shown.front().map(|it| place(it.row.place));
        let apart = start(&self.shown)
            .is_some_and(|start| sight.end < start || start + self.shown.len() < sight.start);
        if apart {
            group.set_inner_html("");
            self.shown.clear();
        }
        let start = start(&self.shown).unwrap_or(sight.start);
        let html = |row: &Rc<LaneRow>| row_html(row, row.place == cursor, first, names);
        let (mut left, mut done) = (AT_ONCE, true);
        for (index, shown) in (start..).zip(&mut self.shown) {
            let Some(row) = rows.get(index) else { break };
            let seen = sight.contains(&index);
            if seen || left > 0 || shown.row.subject != row.subject {
                if shown.update(row, cursor, html) && !seen {
                    left = left.saturating_sub(1);
                }
            } else {
                done = false;
            }
        }
        let (above, below) = (start.min(sight.start), (start + self.shown.len()).max(sight.end));
        let end = (below + left).min(rows.len());
        let begin = above.saturating_sub(left - (end - below).min(left));
        let below = rows.get(start + self.shown.len()..end).unwrap_or_default();
        self.add(group, false, below, cursor, html);
        self.add(group, true, rows.get(begin..start).unwrap_or_default(), cursor, html);
        done && begin == 0 && end == rows.len()
    }

    /// Makes rows above or below those that are shown.
    fn add(
        &mut self,
        group: &Element,
        above: bool,
        rows: &[Rc<LaneRow>],
        cursor: usize,
        html: impl Fn(&Rc<LaneRow>) -> String,
    ) {
        let text: String = rows.iter().map(html).collect();
        let place = if above { "afterbegin" } else { "beforeend" };
        if rows.is_empty() || group.insert_adjacent_html(place, &text).is_err() {
            return;
        }
        let mut next = match self.shown.back() {
            Some(last) if !above => last.element.next_element_sibling(),
            _ => group.first_element_child(),
        };
        let mut made = VecDeque::with_capacity(rows.len());
        for row in rows {
            let Some(element) = next else { break };
            next = element.next_element_sibling();
            let cursor = row.place == cursor;
            made.push_back(Shown { row: row.clone(), cursor, element });
        }
        if above {
            std::mem::swap(&mut made, &mut self.shown);
        }
        self.shown.append(&mut made);
    }
}

impl Shown {
    /// Updates the row; `true` if it has changed. Names and buttons keep their elements, so that a
    /// press ends where it began, however often the bars change meanwhile.
    fn update(
        &mut self,
        row: &Rc<LaneRow>,
        cursor: usize,
        html: impl Fn(&Rc<LaneRow>) -> String,
    ) -> bool {
        let (old, element) = (&self.row, &self.element);
        let cursor = row.place == cursor;
        if self.cursor == cursor && (Rc::ptr_eq(old, row) || old == row) {
            return false;
        }
        let name = |row: &LaneRow| (row.under, row.folded, row.pinned);
        if (&old.subject, name(old)) != (&row.subject, name(row)) {
            if element.insert_adjacent_html("beforebegin", &html(row)).is_ok()
                && let Some(new) = element.previous_element_sibling()
            {
                element.remove();
                self.element = new;
            }
        } else {
            // A part that the browser refuses to change stays as it was.
            if self.cursor != cursor {
                let _ = element.set_attribute("aria-selected", &cursor.to_string());
            }
            if old.in_area != row.in_area {
                let _ = element.toggle_attribute_with_force("data-area", row.in_area);
            }
            if let Some(track) = element.last_element_child() {
                if old.words != row.words {
                    let _ = track.set_attribute("aria-label", &row.words);
                }
                if old.bars != row.bars {
                    track.set_inner_html(&bars_html(&row.bars));
                }
            }
        }
        (self.row, self.cursor) = (row.clone(), cursor);
        true
    }
}

/// The action of the row's button with that name.
pub(super) fn act(name: &str, subject: LaneSubject) -> Option<LanesMsg> {
    match name {
        "fold" => Some(LanesMsg::Fold(subject)),
        "choose" => Some(LanesMsg::Choose(subject, None)),
        "pin" => Some(LanesMsg::Pin(subject)),
        _ => None,
    }
}

/// A row of a group whose first row has the number `first`.
fn row_html(row: &LaneRow, cursor: bool, first: usize, names: Shared) -> String {
    let subject = &row.subject;
    let kind = if row.pinned { "pinned" } else { subject.kind() };
    let whole = escape_xml(&subject.to_string());
    let (place, pinned) = (row.place, row.pinned);
    let top = ROW * place.saturating_sub(first);
    let area = if row.in_area { " data-area" } else { "" };
    let mut html = String::with_capacity(2_048);
    // Writing to a string does not fail.
    let _ = write!(
        html,
        "<div class=\"lane\" role=\"row\" id=\"lane-{place}\" aria-rowindex=\"{}\" \
         data-kind=\"{kind}\" aria-selected=\"{cursor}\" data-subject=\"{whole}\"{area} \
         style=\"top:{top}px\"><span class=\"lname\" role=\"rowheader\">",
        place + 1,
    );
    if row.under > 0 && !pinned {
        let (fold, sign) = if row.folded { ("Unfold", "▸") } else { ("Fold", "▾") };
        let _ = write!(
            html,
            "<button class=\"lfold\" tabindex=\"-1\" data-act=\"fold\" \
             aria-label=\"{fold} {whole}\">{sign}</button>",
        );
    }
    let _ = write!(
        html,
        "<button class=\"clip cut\" tabindex=\"-1\" data-act=\"choose\" title=\"{whole}\">",
    );
    // Node names share their ends; the ends of pod and zone names tell them apart.
    let shared = match subject {
        LaneSubject::Node { .. } => names,
        LaneSubject::Zone { .. } | LaneSubject::Pod { .. } => Shared::default(),
    };
    for (part, class) in shared.parts(&row.name).into_iter().zip(["p", "h", "t", "p"]) {
        if !part.is_empty() {
            let _ = write!(html, "<span class=\"{class}\">{}</span>", escape_xml(part));
        }
    }
    html += "</button>";
    if row.folded && !pinned {
        let under = count(row.under, under(subject));
        let _ = write!(html, "<span class=\"muted num\">{under}</span>");
    }
    let pin = if pinned { "Unpin" } else { "Keep at the top" };
    let _ = write!(
        html,
        "<button class=\"lpin\" tabindex=\"-1\" data-act=\"pin\" aria-label=\"{pin}: {whole}\" \
         title=\"{pin}\" aria-pressed=\"{pinned}\"></button></span>\
         <span class=\"ltrack\" role=\"gridcell\" aria-label=\"{}\">",
        escape_xml(&row.words),
    );
    html += &bars_html(&row.bars);
    html += "</span></div>";
    html
}

/// The noun for the objects under a row.
fn under(subject: &LaneSubject) -> &'static str {
    match subject {
        LaneSubject::Zone { .. } => "node",
        LaneSubject::Node { .. } | LaneSubject::Pod { .. } => "pod",
    }
}

/// The bars of a lane.
pub(crate) fn bars(bars: &[LaneBar]) -> Html {
    Html::from_html_unchecked(bars_html(bars).into())
}

fn bars_html(bars: &[LaneBar]) -> String {
    let mut html = String::with_capacity(bars.len() * 256);
    for bar in bars {
        let tainted = if bar.tainted { " data-tainted" } else { "" };
        let forecast = if bar.forecast { " data-forecast" } else { "" };
        // The word is no text of the page: users who cannot see it read the words of the whole
        // lane.
        let word = (bar.width > 3.0 && !is_calm(bar.state)).then(|| bar.state.words());
        // The word has no space to break at: it is shown whole or not at all.
        let word = word.map(|word| word.replace(' ', "\u{a0}"));
        let word = word.map(|word| format!(" data-word=\"{word}\"")).unwrap_or_default();
        let _ = write!(
            html,
            "<i class=\"lbar\" aria-hidden=\"true\" data-state=\"{}\" title=\"{}\"{tainted}{forecast}\
             {word}\x20style=\"left:{:.3}%;width:{:.3}%\"></i>",
            bar.state.as_str(),
            escape_xml(&bar.text),
            bar.left,
            bar.width,
        );
    }
    html
}

/// Whether a state needs no word.
fn is_calm(state: LaneState) -> bool {
    matches!(state, LaneState::Ready | LaneState::Normal | LaneState::Initial)
}

#[cfg(test)]
mod tests {
    use taintlab_core::api::PodKey;
    use taintlab_core::time::Timestamp;

    use super::*;

    #[test]
    fn names_and_words_are_never_markup() {
        let evil = "<img src=x onerror=\"alert(1)\">";
        let bar = LaneBar {
            left: 12.5,
            width: 50.0,
            from: Timestamp::ZERO,
            state: LaneState::Counting,
            tainted: true,
            forecast: true,
            text: evil.into(),
        };
        let row = LaneRow {
            place: 7,
            subject: LaneSubject::Pod { pod: PodKey::new("", evil) },
            name: evil.into(),
            under: 0,
            folded: false,
            pinned: false,
            in_area: true,
            bars: vec![bar],
            words: evil.into(),
        };
        let html = row_html(&row, true, 2, Shared::default());
        assert!(!html.contains("<img") && !html.contains("\"alert"), "{html}");
        for part in [
            "id=\"lane-7\" aria-rowindex=\"8\"",
            "aria-selected=\"true\"",
            "data-area style=\"top:120px\"",
            "data-tainted data-forecast data-word=\"counting\u{a0}down\" style=\"left:12.500%;width:50.000%\">",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }
}
