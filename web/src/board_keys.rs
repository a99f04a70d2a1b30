//! The board by keyboard. The tab key reaches one of its zones, nodes and pods; arrows move from
//! there.
//!
//! For assistive technology the board is a horizontal tree, not a grid: zones hold nodes, nodes
//! hold pods, and no columns run through all of them. Left and right are siblings, up and down are
//! levels; among several items, their places on the screen decide.
//!
//! The elements hold all of this state. If the view held it, each arrow would paint the board
//! again.

use wasm_bindgen::JsCast;
use web_sys::{DomRect, Element, HtmlElement};

use crate::browser;
use crate::test_id::TestId;

/// The selector of all items that arrows reach.
fn items() -> String {
    format!("{} [role=treeitem]", TestId::Board.selector())
}

/// A move from one item to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The zone, node or pod before.
    Previous,
    /// The zone, node or pod after.
    Next,
    /// The nearest item above.
    Up,
    /// The nearest item below.
    Down,
    /// The first item.
    First,
    /// The last item.
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

/// The item to which a step leads, if there is one.
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

/// The nearest item above or below that shares some of the width.
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

/// The area of an item on the screen; for a zone, that of its whole head.
fn area(item: &Element) -> DomRect {
    let head = item.parent_element().filter(|_| level(item).as_deref() == Some("1"));
    head.as_ref().unwrap_or(item).get_bounding_client_rect()
}

/// Makes `new` the item that the tab key reaches, in place of `old`.
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
