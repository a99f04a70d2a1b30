//! The keyboard: one table, which the help shows and in which pressed keys are looked up.

use taintlab_core::command::Command;
use web_sys::KeyboardEvent;
use yew::Callback;

use crate::board_keys::Step;
use crate::browser;
use crate::focus::Place;
use crate::messages::{Dialog, Msg, Source};
use crate::test_id::TestId;
use crate::view_models::lanes::{LanesMsg, Move};
use crate::view_models::pane::{PaneMsg, PaneTab};

/// The place where a key has a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// Everywhere but in a field or a dialog.
    Page,
    /// On a zone, a node or a pod of the board.
    Board,
    /// On the rows of the lanes.
    Lanes,
    /// While a story is told.
    Story,
    /// In the inspector.
    Inspector,
    /// In the console.
    Console,
    /// In a dialog.
    Dialog,
}

impl Where {
    /// All places, in the order of the help.
    pub(crate) const ALL: [Self; 7] = [
        Self::Page,
        Self::Board,
        Self::Lanes,
        Self::Story,
        Self::Inspector,
        Self::Console,
        Self::Dialog,
    ];

    /// The heading in the help.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Page => "Everywhere but in a field",
            Self::Board => "On the board",
            Self::Lanes => "On the lanes",
            Self::Story => "While a story is told",
            Self::Inspector => "In the inspector",
            Self::Console => "In the kubectl console",
            Self::Dialog => "In a dialog",
        }
    }
}

/// Keys and their meaning.
pub(crate) struct Shortcut {
    /// The place where they work.
    pub(crate) place: Where,
    /// The keys, as the help shows them; each of them works.
    pub(crate) keys: &'static [&'static str],
    /// The meaning, in words.
    pub(crate) meaning: &'static str,
    /// The message; none if the control that has the focus handles the key itself.
    does: Option<fn() -> Msg>,
}

impl Shortcut {
    /// Whether the shortcut works everywhere, so that the command palette offers it.
    pub(crate) const fn is_command(&self) -> bool {
        matches!(self.place, Where::Page) && self.does.is_some()
    }

    /// The function that makes the message, if there is one.
    pub(crate) const fn does(&self) -> Option<fn() -> Msg> {
        self.does
    }
}

const fn story(
    keys: &'static [&'static str],
    meaning: &'static str,
    does: fn() -> Msg,
) -> Shortcut {
    Shortcut { place: Where::Story, keys, meaning, does: Some(does) }
}

const fn page(keys: &'static [&'static str], meaning: &'static str, does: fn() -> Msg) -> Shortcut {
    Shortcut { place: Where::Page, keys, meaning, does: Some(does) }
}

const fn board(key: &'static [&'static str], meaning: &'static str, does: fn() -> Msg) -> Shortcut {
    Shortcut { place: Where::Board, keys: key, meaning, does: Some(does) }
}

const fn lanes(
    keys: &'static [&'static str],
    meaning: &'static str,
    does: fn() -> Msg,
) -> Shortcut {
    Shortcut { place: Where::Lanes, keys, meaning, does: Some(does) }
}

const fn there(place: Where, keys: &'static [&'static str], meaning: &'static str) -> Shortcut {
    Shortcut { place, keys, meaning, does: None }
}

/// The key of the command palette, which works in a field, too.
const PALETTE: &str = "Ctrl Shift P";

/// All shortcuts.
pub(crate) const SHORTCUTS: &[Shortcut] = &[
    page(&["Space"], "Play or pause", || Msg::TogglePlay),
    page(&["N", "→"], "Step to the next event", || Msg::Step),
    page(&["B", "←"], "Step back to the previous event", || Msg::StepBack),
    page(&[","], "Previous event of the selection", || Msg::StepAbout(false)),
    page(&["."], "Next event of the selection", || Msg::StepAbout(true)),
    page(&["E"], "Run until nothing more happens", || Msg::RunToEnd),
    page(&["0", "Home"], "Back to the start", || Msg::Seek(taintlab_core::time::Timestamp::ZERO)),
    page(&["+"], "Faster", || Msg::Faster),
    page(&["−"], "Slower", || Msg::Slower),
    page(&["Ctrl Z"], "Undo", || Msg::Undo),
    page(&["Ctrl Shift Z", "Ctrl Y"], "Redo", || Msg::Redo),
    page(&["I"], "Import (or paste a manifest anywhere)", || {
        Msg::Open(Dialog::Import(Source::empty()))
    }),
    page(&["X"], "Export", || Msg::Open(Dialog::Export)),
    page(&["S"], "Scenarios", || Msg::Open(Dialog::Scenarios)),
    page(&["A"], "Create a node", || Msg::Open(Dialog::CreateNode)),
    page(&["P"], "Create a pod", || Msg::Open(Dialog::CreatePod("".into()))),
    page(&["W"], "Warnings", || Msg::Open(Dialog::Warnings(None))),
    page(&["L", "1"], "Lanes; again: fill the window, or not", || Msg::Pane(PaneMsg::Lanes)),
    page(&["2"], "Workloads", || Msg::Pane(PaneMsg::Show(PaneTab::Workloads))),
    page(&["3"], "Event log", || Msg::Pane(PaneMsg::Show(PaneTab::Events))),
    page(&["F"], "Fit everything on the lanes", || Msg::Lanes(LanesMsg::Fit)),
    page(&["U"], "Run until a condition is met, or back to it", || {
        Msg::Open(Dialog::Until("".into()))
    }),
    page(&["G"], "Branches: fork here, switch", || Msg::Open(Dialog::Branches)),
    page(&["C"], "Compare with a branch, a release or other flags", || Msg::Open(Dialog::Compare)),
    page(&["R"], "Report: which failure hurts most, and what would help", || {
        Msg::Open(Dialog::Report)
    }),
    page(&["K", "4"], "kubectl", || Msg::Pane(PaneMsg::Prompt)),
    page(&["H"], "Share a link", || Msg::Open(Dialog::Share)),
    page(&["M"], "Bookmarks: note this moment", || Msg::Open(Dialog::Bookmarks)),
    page(&["O"], "Tell the bookmarks as a story", || Msg::Tell(Some(0))),
    page(&[], "Sessions kept in this browser", || Msg::Sessions),
    page(&[], "Flags of the controllers, and releases compared", || Msg::Open(Dialog::Settings)),
    page(&[], "How this release is known, and what it changed", || Msg::Open(Dialog::Release)),
    page(&[], "An empty cluster", || Msg::Clear),
    page(&[], "Restart the taint-eviction controller", || {
        edit(Command::RestartTaintEvictionController)
    }),
    page(&[], "Restart kube-controller-manager", || edit(Command::RestartControllerManager)),
    page(&[], "Use this run as baseline of the workloads", || Msg::SetBaseline),
    page(&[PALETTE], "All commands, also from a field", || Msg::Open(Dialog::Palette)),
    page(&["D"], "Board: cards, rows or cells", || Msg::NextDensity),
    page(&[], "Fold nodes on which nothing happens, or show them", || Msg::ToggleFine),
    page(&["/"], "Find a node or a pod", || Msg::Focus(TestId::Find)),
    page(&["T"], "Theme: light, dark, system", || Msg::NextTheme),
    page(&["Esc"], "To the board; from there, close the inspector", || Msg::Escape),
    page(&["?"], "This help", || Msg::Open(Dialog::Help)),
    board(&["→"], "The next zone, node or pod", || Msg::Move(Step::Next)),
    board(&["←"], "The zone, node or pod before", || Msg::Move(Step::Previous)),
    board(
        &["↓"],
        "What is drawn below: from a zone to its nodes, from a node to its pods",
        || Msg::Move(Step::Down),
    ),
    board(&["↑"], "What is drawn above", || Msg::Move(Step::Up)),
    board(&["Home"], "The first zone", || Msg::Move(Step::First)),
    board(&["End"], "The last of all", || Msg::Move(Step::Last)),
    there(Where::Board, &["Enter"], "Select it and go into the inspector"),
    lanes(&["↑"], "The row above", || Msg::Lanes(LanesMsg::Move(Move::Up))),
    lanes(&["↓"], "The row below", || Msg::Lanes(LanesMsg::Move(Move::Down))),
    lanes(&["PageUp"], "A page up", || Msg::Lanes(LanesMsg::Move(Move::PageUp))),
    lanes(&["PageDown"], "A page down", || Msg::Lanes(LanesMsg::Move(Move::PageDown))),
    lanes(&["Home"], "The first row", || Msg::Lanes(LanesMsg::Move(Move::First))),
    lanes(&["End"], "The last row", || Msg::Lanes(LanesMsg::Move(Move::Last))),
    lanes(&["←"], "Look at its change before", || Msg::Lanes(LanesMsg::Move(Move::Earlier))),
    lanes(&["→"], "Look at its next change", || Msg::Lanes(LanesMsg::Move(Move::Later))),
    lanes(&["Enter"], "Select it and go to the moment that is shown", || Msg::Lanes(LanesMsg::Go)),
    lanes(&["+"], "A shorter time", || Msg::Lanes(LanesMsg::Zoom(0.5, None))),
    lanes(&["−"], "A longer time", || Msg::Lanes(LanesMsg::Zoom(2.0, None))),
    lanes(&["Shift ←"], "An earlier time", || Msg::Lanes(LanesMsg::Pan(-0.25))),
    lanes(&["Shift →"], "A later time", || Msg::Lanes(LanesMsg::Pan(0.25))),
    lanes(&["P"], "Keep the row at the top, or no longer", || Msg::Lanes(LanesMsg::PinHere)),
    lanes(&["["], "Begin an area here", || Msg::Lanes(LanesMsg::AreaHere(false))),
    lanes(&["]"], "End the area here", || Msg::Lanes(LanesMsg::AreaHere(true))),
    story(&["→"], "The next bookmark", || Msg::NextBookmark),
    story(&["←"], "The bookmark before", || Msg::PreviousBookmark),
    story(&["Esc"], "End the story", || Msg::Tell(None)),
    there(Where::Inspector, &["←", "→", "Home", "End"], "Another tab, on the tabs"),
    there(Where::Inspector, &["Enter"], "Apply what is typed, and go back to the board"),
    there(Where::Inspector, &["Esc"], "Back to the board, with nothing applied"),
    there(Where::Console, &["Enter"], "Run the line"),
    there(Where::Console, &["Tab"], "Complete the word"),
    there(Where::Console, &["↑", "↓"], "Earlier and later lines"),
    there(Where::Console, &["Shift Enter"], "Begin another line"),
    there(Where::Console, &["Esc"], "Back to the tab before"),
    there(Where::Dialog, &["Esc"], "Close it, as the browser’s Back does"),
];

/// The message of a pressed key, if it has one; the browser then does nothing else with the key.
pub(super) fn pressed(event: &KeyboardEvent) -> Option<Msg> {
    if browser::dialog_is_open() || event.alt_key() || event.default_prevented() {
        return None;
    }
    let control = event.ctrl_key() || event.meta_key();
    let name = name(&event.key(), event.shift_key(), control);
    let place = Place::now();
    // An open list handles the key itself.
    let leaves = name == "Esc" && (place == Place::Inspector || browser::list_has_the_focus());
    // The command palette opens from everywhere, also from a field.
    let anywhere = name == PALETTE;
    let taken = browser::is_typing()
        || !control && browser::list_has_the_focus()
        || name == "Space" && place != Place::Board && browser::space_is_taken();
    if event.is_composing() || taken && !leaves && !anywhere {
        return None;
    }
    let here = match place {
        Place::Board => Some(Where::Board),
        Place::Lanes => Some(Where::Lanes),
        Place::Inspector | Place::Elsewhere | Place::Nowhere => None,
    };
    let told = browser::find(&TestId::Story.selector()).is_some();
    let msg = told.then(|| find(Where::Story, &name)).flatten();
    let msg = msg.or_else(|| here.and_then(|here| find(here, &name)));
    let msg = msg.or_else(|| find(Where::Page, &name))?;
    event.prevent_default();
    Some(msg())
}

/// An edit that no form waits for: a refusal is shown at the edge of the page.
fn edit(command: Command) -> Msg {
    Msg::Edit(vec![command], Callback::noop())
}

fn find(place: Where, name: &str) -> Option<fn() -> Msg> {
    let here = SHORTCUTS.iter().filter(|shortcut| shortcut.place == place);
    here.filter(|shortcut| shortcut.keys.contains(&name)).find_map(|shortcut| shortcut.does)
}

/// The name of a key in the table. With Caps Lock letters are capitals, and some signs need Shift.
fn name(key: &str, shift: bool, control: bool) -> String {
    let name = match key {
        " " => "Space",
        "ArrowLeft" => "←",
        "ArrowRight" => "→",
        "ArrowUp" => "↑",
        "ArrowDown" => "↓",
        "Escape" => "Esc",
        "-" => "−",
        // The plus without Shift, on most keyboards.
        "=" => "+",
        other => other,
    };
    let mut characters = name.chars();
    let sign = match (characters.next(), characters.next()) {
        (Some(one), None) => !one.is_ascii_alphanumeric() && !"←→↑↓".contains(one),
        _ => false,
    };
    let control = if control { "Ctrl " } else { "" };
    let shift = if shift && !sign { "Shift " } else { "" };
    let name = if name.len() == 1 { name.to_ascii_uppercase() } else { name.to_owned() };
    format!("{control}{shift}{name}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn keys_are_called_as_in_the_help() {
        for (key, shift, control, expected) in [
            (" ", false, false, "Space"),
            ("n", false, false, "N"),
            ("N", false, false, "N"),
            ("N", true, false, "Shift N"),
            ("?", true, false, "?"),
            ("+", true, false, "+"),
            ("=", false, false, "+"),
            ("-", false, false, "−"),
            ("ArrowRight", true, false, "Shift →"),
            ("Escape", false, false, "Esc"),
            ("z", false, true, "Ctrl Z"),
            ("Z", true, true, "Ctrl Shift Z"),
            ("n", false, true, "Ctrl N"),
        ] {
            assert_eq!(name(key, shift, control), expected, "{key}");
        }
        assert!(find(Where::Page, "Shift N").is_none());
        assert!(find(Where::Page, "Ctrl N").is_none());
    }

    #[test]
    fn a_key_means_one_thing_at_one_place() {
        let mut seen = BTreeSet::new();
        for shortcut in SHORTCUTS {
            for key in shortcut.keys {
                assert!(seen.insert((shortcut.place.words(), *key)), "{key}: {}", shortcut.meaning);
                assert_eq!(find(shortcut.place, key).is_some(), shortcut.does.is_some(), "{key}");
            }
        }
    }

    #[test]
    fn the_help_lists_every_place() {
        for shortcut in SHORTCUTS {
            assert!(Where::ALL.contains(&shortcut.place));
        }
    }
}
