//! The focus of the page, and its moves. It is never lost, and it leaves a control that was
//! applied, so that the space bar plays and does not take back the change just made.

use wasm_bindgen::JsCast;
use web_sys::{Element, FocusOptions, HtmlElement};
use web_sys::{ScrollIntoViewOptions, ScrollLogicalPosition};

use crate::board_keys::Step;
use crate::test_id::TestId;
use crate::view_models::selection::Selection;
use crate::{board_keys, browser};

/// A target of the focus, reached when the page is painted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// The selection on the board; without one, the board.
    Card(Option<Selection>),
    /// The inspector.
    Inspector,
}

/// The part of the page that has the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A zone, a node or a pod of the board.
    Board,
    /// The inspector.
    Inspector,
    /// The rows of the lanes.
    Lanes,
    /// Another part.
    Elsewhere,
    /// None.
    Nowhere,
}

impl Place {
    /// The part that has the focus now.
    pub(crate) fn now() -> Self {
        browser::focused().map_or(Self::Nowhere, |element| Self::of(&element))
    }

    fn of(element: &Element) -> Self {
        if board_keys::is_item(element) {
            Self::Board
        } else if element.closest(".inspector").is_ok_and(|found| found.is_some()) {
            Self::Inspector
        } else if element.closest(".lrows").is_ok_and(|found| found.is_some()) {
            Self::Lanes
        } else {
            Self::Elsewhere
        }
    }
}

/// The element that had the focus last, for when it is gone.
#[derive(Debug)]
struct Last {
    element: Element,
    place: Place,
    /// The pod and the node that it belonged to.
    pod: Option<String>,
    node: Option<String>,
}

impl Last {
    fn of(element: Element) -> Self {
        let closest = |selector: &str| element.closest(selector).ok().flatten();
        let attribute = |name: &str| closest(&format!("[{name}]"))?.get_attribute(name);
        Self {
            place: Place::of(&element),
            pod: attribute("data-pod"),
            node: attribute("data-node"),
            element,
        }
    }
}

/// The focus of the page.
#[derive(Debug, Default)]
pub(crate) struct Focus {
    goal: Option<Goal>,
    /// The selection to bring into sight when the page is painted.
    reveal: Option<Selection>,
    last: Option<Last>,
    /// The item of the board that the tab key reaches.
    stop: Option<HtmlElement>,
}

impl Focus {
    /// Moves the focus to `goal` when the page is painted.
    pub(crate) fn go(&mut self, goal: Goal) {
        self.goal = Some(goal);
    }

    /// Brings something on the board into sight when the page is painted: on a narrow page the
    /// inspector lies over a part of the board.
    pub(crate) fn reveal(&mut self, selection: Selection) {
        self.reveal = Some(selection);
    }

    /// Notes that an element got the focus.
    pub(crate) fn came_to(&mut self, element: Element) {
        if let Some(item) = board_keys::as_item(&element) {
            self.stop_at(item);
        }
        self.last = Some(Last::of(element));
    }

    /// Moves the focus on the board.
    pub(crate) fn step(&self, step: Step) {
        let to = browser::focused().and_then(|from| board_keys::target(&from, step));
        if let Some(item) = to {
            give(&item);
        }
    }

    /// Moves the focus as was asked, now that the page is painted.
    pub(crate) fn painted(&mut self) {
        if self.stop.as_ref().is_none_or(|stop| !stop.is_connected())
            && let Some(first) = board_keys::first()
        {
            self.stop_at(first);
        }
        if let Some(card) = self.reveal.take().and_then(|selection| card(&selection)) {
            reveal(&card);
        }
        match self.goal.take() {
            Some(Goal::Card(selection)) => self.give_to_card(selection.as_ref()),
            Some(Goal::Inspector) => give_to_inspector(),
            None => self.find_again(),
        }
    }

    fn stop_at(&mut self, item: HtmlElement) {
        board_keys::make_stop(&item, self.stop.as_ref());
        self.stop = Some(item);
    }

    /// Moves the focus to the selection; without one to the board, and without a board to the play
    /// button.
    fn give_to_card(&mut self, selection: Option<&Selection>) {
        let found = selection.and_then(card).or_else(|| self.stop.clone());
        match found.filter(|card| card.is_connected()) {
            Some(card) => {
                give(&card);
                // The page may be painted once more before the browser tells of it.
                self.last = Some(Last::of(card.into()));
            }
            None => browser::focus(&TestId::Play.selector()),
        }
    }

    /// Moves the focus of an element that is gone, or disabled, to the one most like it.
    fn find_again(&mut self) {
        if browser::focused().is_some_and(|element| !is_disabled(&element)) {
            return;
        }
        let is_lost = |last: &mut Last| {
            !last.element.is_connected()
                || last.place == Place::Elsewhere && is_disabled(&last.element)
        };
        let Some(last) = self.last.take_if(is_lost) else { return };
        match last.place {
            Place::Board => {
                let pod = last.pod.and_then(|pod| item(&format!("[data-pod=\"{pod}\"]")));
                let node = || item(&format!("[data-node=\"{}\"]", last.node.as_deref()?));
                let found = pod.or_else(node).or_else(|| self.stop.clone());
                if let Some(found) = found {
                    give(&found);
                }
            }
            Place::Inspector => give_to_inspector(),
            Place::Elsewhere => give_beside(&last.element),
            Place::Lanes | Place::Nowhere => {}
        }
    }
}

fn is_disabled(element: &Element) -> bool {
    element.matches(":disabled").unwrap_or_default()
}

/// Moves the focus of a disabled button to the enabled one next to it.
fn give_beside(element: &Element) {
    if let Some(row) = element.parent_element() {
        give_first(&row, ":disabled + button:enabled, button:enabled:has(+ :disabled)");
    }
}

/// Moves the focus of an element of a dialog that is gone to its row or, without that, to the
/// dialog: to no main action, which a second press of Enter would carry out.
pub(crate) fn find_in_dialog(row: Option<Element>) {
    if browser::focused().is_some() {
        return;
    }
    let row = row.filter(|it| it.is_connected());
    if let Some(place) = row.or_else(|| browser::find("dialog > .body").map(Into::into)) {
        give_first(&place, "button:not(.primary, :disabled), input");
    }
}

fn give_first(place: &Element, selector: &str) {
    let found = place.query_selector(selector).ok().flatten();
    if let Some(found) = found.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
        give(&found);
    }
}

fn give(element: &HtmlElement) {
    let options = FocusOptions::new();
    options.set_prevent_scroll(true);
    // An element that cannot have the focus does not get it.
    let _ = element.focus_with_options(&options);
    reveal(element);
}

/// Brings an element into sight; scrolls no further than needed.
pub(crate) fn reveal(element: &HtmlElement) {
    let options = ScrollIntoViewOptions::new();
    options.set_block(ScrollLogicalPosition::Nearest);
    options.set_inline(ScrollLogicalPosition::Nearest);
    element.scroll_into_view_with_scroll_into_view_options(&options);
}

fn give_to_inspector() {
    if let Some(heading) = browser::find(".inspector h2") {
        give(&heading);
    }
}

/// The element of a selection, on the board or among the workloads.
fn card(selection: &Selection) -> Option<HtmlElement> {
    match selection {
        Selection::Node(name) => item(&format!("[data-node=\"{name}\"]")),
        Selection::Pod(key) => item(&format!("[data-pod=\"{key}\"]")),
        // The key of a zone has characters that no selector can hold.
        Selection::Zone(key) => browser::find_all("[data-zone]")
            .into_iter()
            .find(|zone| zone.get_attribute("data-zone").as_deref() == Some(key))
            .and_then(|zone| within(&zone)),
        Selection::Workload(key) => browser::find(&format!("[data-workload=\"{key}\"]")),
        Selection::Pods(_) => {
            browser::find(&format!("{} [aria-pressed=true]", TestId::Legend.selector()))
        }
    }
}

/// The item of the board that a selector finds, or the first item of the card around the element
/// found.
fn item(selector: &str) -> Option<HtmlElement> {
    within(&browser::find(&format!("{} {selector}", TestId::Board.selector()))?)
}

fn within(element: &HtmlElement) -> Option<HtmlElement> {
    if let Some(item) = board_keys::as_item(element) {
        return Some(item);
    }
    // Where pods are specks, their node stands for them.
    let card = element.closest("[data-node], [data-zone]").ok().flatten()?;
    card.query_selector("[role=treeitem]").ok().flatten()?.dyn_into().ok()
}
