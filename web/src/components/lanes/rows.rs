//! The rows of the lanes, made without Yew.
//!
//! While the user scrolls or zooms, each frame may need a screen of other rows, and hundreds of
//! bars. Only the parts that differ are made anew. Rows out of sight are made in advance, a few in
//! each frame. Names and words become attributes and text, never markup.

use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use taintlab_core::lanes::{LaneState, LaneSubject};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, Node};
use yew::prelude::*;

use super::ROW;
use crate::browser;
use crate::components::parts::style::style;
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
            group.set_text_content(None);
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
            group.set_text_content(None);
            self.shown.clear();
        }
        let start = start(&self.shown).unwrap_or(sight.start);
        let make = |parent: &Node, row: &LaneRow| {
            row_element(parent, row, row.place == cursor, first, names)
        };
        let (mut left, mut done) = (AT_ONCE, true);
        for (index, shown) in (start..).zip(&mut self.shown) {
            let Some(row) = rows.get(index) else { break };
            let seen = sight.contains(&index);
            if seen || left > 0 || shown.row.subject != row.subject {
                if shown.update(row, cursor, make) && !seen {
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
        self.add(group, false, below, cursor, make);
        self.add(group, true, rows.get(begin..start).unwrap_or_default(), cursor, make);
        done && begin == 0 && end == rows.len()
    }

    /// Makes rows above or below those that are shown.
    fn add(
        &mut self,
        group: &Element,
        above: bool,
        rows: &[Rc<LaneRow>],
        cursor: usize,
        make: impl Fn(&Node, &LaneRow) -> Option<Element>,
    ) {
        let Some(document) = browser::document().filter(|_| !rows.is_empty()) else { return };
        let all = document.create_document_fragment();
        let made = rows.iter().map_while(|row| {
            let element = make(&all, row)?;
            Some(Shown { row: row.clone(), cursor: row.place == cursor, element })
        });
        let mut made: VecDeque<_> = made.collect();
        let before = group.first_child().filter(|_| above);
        if group.insert_before(&all, before.as_ref()).is_err() {
            return;
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
        make: impl Fn(&Node, &LaneRow) -> Option<Element>,
    ) -> bool {
        let (old, element) = (&self.row, &self.element);
        let cursor = row.place == cursor;
        if self.cursor == cursor && (Rc::ptr_eq(old, row) || old == row) {
            return false;
        }
        let name = |row: &LaneRow| (row.under, row.folded, row.pinned);
        if (&old.subject, name(old)) != (&row.subject, name(row)) {
            if let Some(group) = element.parent_node()
                && let Some(new) = make(&group, row)
                && group.replace_child(&new, element).is_ok()
            {
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
                    track.set_text_content(None);
                    let _ = add_bars(&track, &row.bars);
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

/// Adds a row to a group whose first row has the number `first`.
fn row_element(
    group: &Node,
    row: &LaneRow,
    cursor: bool,
    first: usize,
    names: Shared,
) -> Option<Element> {
    let (subject, place, pinned) = (&row.subject, row.place, row.pinned);
    let whole = subject.to_string();
    let lane = add(
        group,
        "div",
        &[
            ("class", "lane"),
            ("role", "row"),
            ("id", &format!("lane-{place}")),
            ("aria-rowindex", &(place + 1).to_string()),
            ("data-kind", if pinned { "pinned" } else { subject.kind() }),
            ("aria-selected", &cursor.to_string()),
            ("data-subject", &whole),
        ],
        "",
    )?;
    lane.toggle_attribute_with_force("data-area", row.in_area).ok()?;
    set_style(&lane, &format!("top:{}px", ROW * place.saturating_sub(first)));
    let name = add(&lane, "span", &[("class", "lname"), ("role", "rowheader")], "")?;
    if row.under > 0 && !pinned {
        let (fold, sign) = if row.folded { ("Unfold", "▸") } else { ("Fold", "▾") };
        let label = format!("{fold} {whole}");
        let says =
            [("class", "lfold"), ("tabindex", "-1"), ("data-act", "fold"), ("aria-label", &label)];
        add(&name, "button", &says, sign)?;
    }
    let says =
        [("class", "clip cut"), ("tabindex", "-1"), ("data-act", "choose"), ("title", &whole)];
    let choice = add(&name, "button", &says, "")?;
    // Node names share their ends; the ends of pod and zone names tell them apart.
    let shared = match subject {
        LaneSubject::Node { .. } => names,
        LaneSubject::Zone { .. } | LaneSubject::Pod { .. } => Shared::default(),
    };
    for (part, class) in shared.parts(&row.name).into_iter().zip(["p", "h", "t", "p"]) {
        if !part.is_empty() {
            add(&choice, "span", &[("class", class)], part)?;
        }
    }
    if row.folded && !pinned {
        let under = count(row.under, under(subject));
        add(&name, "span", &[("class", "muted num")], &under)?;
    }
    let pin = if pinned { "Unpin" } else { "Keep at the top" };
    let (label, pressed) = (format!("{pin}: {whole}"), pinned.to_string());
    let says = [
        ("class", "lpin"),
        ("tabindex", "-1"),
        ("data-act", "pin"),
        ("aria-label", &label),
        ("title", pin),
        ("aria-pressed", &pressed),
    ];
    add(&name, "button", &says, "")?;
    let words = [("class", "ltrack"), ("role", "gridcell"), ("aria-label", row.words.as_str())];
    add_bars(&add(&lane, "span", &words, "")?, &row.bars)?;
    Some(lane)
}

/// The noun for the objects under a row.
fn under(subject: &LaneSubject) -> &'static str {
    match subject {
        LaneSubject::Zone { .. } => "node",
        LaneSubject::Node { .. } | LaneSubject::Pod { .. } => "pod",
    }
}

/// Adds an element with attributes and a text to another node.
fn add(parent: &Node, tag: &str, attributes: &[(&str, &str)], text: &str) -> Option<Element> {
    let element = parent.owner_document()?.create_element(tag).ok()?;
    for (name, value) in attributes {
        element.set_attribute(name, value).ok()?;
    }
    if !text.is_empty() {
        element.set_text_content(Some(text));
    }
    parent.append_child(&element).ok().map(|_| element)
}

fn set_style(element: &Element, text: &str) {
    element.unchecked_ref::<HtmlElement>().style().set_css_text(text);
}

/// The bars of a lane, by Yew; the same as [`add_bars`] makes.
pub(crate) fn bars(bars: &[LaneBar]) -> Html {
    bars.iter()
        .map(|bar| {
            html! {
                <i class="lbar" aria-hidden="true" data-state={bar.state.as_str()}
                    title={bar.text.clone()} data-tainted={bar.tainted.then_some("")}
                    data-forecast={bar.forecast.then_some("")} data-word={word(bar)}
                    ~style={style(place(bar))}></i>
            }
        })
        .collect()
}

/// Adds the bars of a lane.
fn add_bars(track: &Element, bars: &[LaneBar]) -> Option<()> {
    for bar in bars {
        let attributes = [
            ("class", "lbar"),
            ("aria-hidden", "true"),
            ("data-state", bar.state.as_str()),
            ("title", &bar.text),
        ];
        let element = add(track, "i", &attributes, "")?;
        if bar.tainted {
            element.set_attribute("data-tainted", "").ok()?;
        }
        if bar.forecast {
            element.set_attribute("data-forecast", "").ok()?;
        }
        if let Some(word) = word(bar) {
            element.set_attribute("data-word", &word).ok()?;
        }
        set_style(&element, &place(bar));
    }
    Some(())
}

/// The place of a bar on its track, for the style sheet.
fn place(bar: &LaneBar) -> String {
    format!("left:{:.3}%;width:{:.3}%", bar.left, bar.width)
}

/// The state in a word, where there is room and it needs one. It is no text of the page: users who
/// cannot see it read the words of the whole lane. It has no space to break at: it is shown whole or
/// not at all.
fn word(bar: &LaneBar) -> Option<String> {
    let has_word = bar.width > 3.0 && !is_calm(bar.state);
    has_word.then(|| bar.state.words().replace(' ', "\u{a0}"))
}

/// Whether a state needs no word.
fn is_calm(state: LaneState) -> bool {
    matches!(state, LaneState::Ready | LaneState::Normal | LaneState::Initial)
}

#[cfg(test)]
mod tests {
    use taintlab_core::time::Timestamp;

    use super::*;

    #[test]
    fn a_bar_says_its_state_where_there_is_room() {
        let mut bar = LaneBar {
            left: 12.5,
            width: 50.0,
            from: Timestamp::ZERO,
            state: LaneState::Counting,
            tainted: true,
            forecast: false,
            text: "counting down".into(),
        };
        assert_eq!(place(&bar), "left:12.500%;width:50.000%");
        assert_eq!(word(&bar).as_deref(), Some("counting\u{a0}down"));
        bar.width = 3.0;
        assert_eq!(word(&bar), None);
        (bar.width, bar.state) = (50.0, LaneState::Ready);
        assert_eq!(word(&bar), None);
    }
}
