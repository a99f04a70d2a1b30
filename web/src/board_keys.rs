//! The board by keyboard. One of its zones, nodes and pods can be reached with the tab key; arrows
//! move from there.
//!
//! For assistive technology it is a tree, not a grid: zones hold nodes, nodes hold pods, and no
//! columns run through all of them. It is a horizontal tree, in which left and right are siblings
//! and up and down are levels, and where something is drawn decides between several.
//!
//! All of this happens on the elements. Were it in the view, each arrow would paint the board
//! again.

use wasm_bindgen::JsCast;
use web_sys::{DomRect, Element, HtmlElement};

use crate::browser;
use crate::test_id::TestId;

/// What arrows reach.
fn items() -> String {
    format!("{} [role=treeitem]", TestId::Board.selector())
}

/// Where to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The zone, node or pod before.
    Previous,
    /// The zone, node or pod after.
    Next,
    /// What is drawn above.
    Up,
    /// What is drawn below.
    Down,
    /// The first of all.
    First,
    /// The last of all.
    Last,
}

/// Whether an element is a zone, a node or a pod of the board.
pub(crate) fn is_item(element: &Element) -> bool {
    element.matches(&items()).unwrap_or_default()
}

/// The first zone, node or pod, if there is one.
pub(crate) fn first() -> Option<HtmlElement> {
    browser::find(&items())
}

/// Where a step leads from one of the items.
pub(crate) fn target(from: &Element, step: Step) -> Option<HtmlElement> {
    let items = browser::find_all(&items());
    let place = items.iter().position(|item| **item == *from)?;
    let same_level = |item: &&HtmlElement| level(item) == level(from);
    let found = match step {
        Step::First => items.first(),
        Step::Last => items.last(),
        Step::Previous => items.iter().take(place).rev().find(same_level),
        Step::Next => items.iter().skip(place + 1).find(same_level),
        Step::Up | Step::Down => beyond(from, &items, step == Step::Down),
    };
    found.cloned()
}

fn level(item: &Element) -> Option<String> {
    item.get_attribute("aria-level")
}

/// What is nearest above or below, among what shares some of the width.
fn beyond<'a>(from: &Element, items: &'a [HtmlElement], below: bool) -> Option<&'a HtmlElement> {
    let here = area(from);
    let distances = items.iter().filter_map(|item| {
        let there = area(item);
        let shares = there.left() < here.right() && here.left() < there.right();
        // Rounded frames of neighbours may overlap a little.
        let gap = if below { there.top() - here.bottom() } else { here.top() - there.bottom() };
        (shares && gap > -1.0).then_some((gap, (there.left() - here.left()).abs(), item))
    });
    let nearest = distances.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    nearest.map(|(_, _, item)| item)
}

/// The place of an item. The name of a zone stands for its whole head.
fn area(item: &Element) -> DomRect {
    let head = item.parent_element().filter(|_| level(item).as_deref() == Some("1"));
    head.as_ref().unwrap_or(item).get_bounding_client_rect()
}

/// Makes one item the one that the tab key reaches.
pub(crate) fn make_stop(new: &HtmlElement, old: Option<&HtmlElement>) {
    if let Some(old) = old {
        old.set_tab_index(-1);
    }
    new.set_tab_index(0);
}

/// The element as an item of the board, if it is one.
pub(crate) fn as_item(element: &Element) -> Option<HtmlElement> {
    is_item(element).then(|| element.clone().dyn_into().ok()).flatten()
}
