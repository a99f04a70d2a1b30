//! The keyboard.

use web_sys::KeyboardEvent;

use super::msg::{Dialog, Msg};
use crate::browser;

/// What the keys do, for the help: keys and meaning.
pub(crate) const SHORTCUTS: &[(&[&str], &str)] = &[
    (&["Space"], "Play or pause"),
    (&["→", "N"], "Step to the next event"),
    (&["←"], "Step back to the event before"),
    (&["E"], "Run until nothing more happens"),
    (&["Home"], "Back to the start"),
    (&["+", "−"], "Faster, slower"),
    (&["Ctrl Z"], "Undo"),
    (&["Ctrl Shift Z", "Ctrl Y"], "Redo"),
    (&["I"], "Import (or paste a manifest anywhere)"),
    (&["X"], "Export"),
    (&["S"], "Scenarios"),
    (&["A"], "Create a node"),
    (&["P"], "Create a pod"),
    (&["W"], "Warnings"),
    (&["K"], "kubectl (Esc leaves it)"),
    (&["T"], "Light, dark or as the system"),
    (&["Esc"], "Close the inspector"),
    (&["?"], "This help"),
];

/// What a key asks for, and keeps the browser from doing something else with it.
pub(super) fn pressed(event: &KeyboardEvent) -> Option<Msg> {
    if browser::keys_are_taken() || event.alt_key() || event.default_prevented() {
        return None;
    }
    let key = event.key();
    let msg = if event.ctrl_key() || event.meta_key() {
        with_control(&key, event.shift_key())?
    } else if browser::plain_keys_are_taken() || key == " " && browser::space_is_taken() {
        return None;
    } else {
        alone(&key)?
    };
    event.prevent_default();
    Some(msg)
}

fn with_control(key: &str, shift: bool) -> Option<Msg> {
    // With Caps Lock the letters are capitals.
    match (key.to_ascii_lowercase().as_str(), shift) {
        ("z", false) => Some(Msg::Undo),
        ("z", true) | ("y", false) => Some(Msg::Redo),
        _ => None,
    }
}

fn alone(key: &str) -> Option<Msg> {
    Some(match key {
        " " => Msg::TogglePlay,
        "ArrowRight" | "n" => Msg::Step,
        "ArrowLeft" => Msg::StepBack,
        "e" => Msg::RunToEnd,
        "Home" => Msg::Seek(taintlab_core::time::Timestamp::ZERO),
        "+" | "=" => Msg::Faster,
        "-" => Msg::Slower,
        "i" => Msg::Open(Dialog::Import("".into(), "".into())),
        "x" => Msg::Open(Dialog::Export),
        "s" => Msg::Open(Dialog::Scenarios),
        "a" => Msg::Open(Dialog::CreateNode),
        "p" => Msg::Open(Dialog::CreatePod("".into())),
        "w" => Msg::Open(Dialog::Warnings(None)),
        "k" => Msg::OpenConsole(true),
        "t" => Msg::NextTheme,
        "Escape" => Msg::Select(None),
        "?" => Msg::Open(Dialog::Help),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_help_do_something() {
        for (keys, meaning) in SHORTCUTS {
            for key in *keys {
                let found = match *key {
                    "Space" => alone(" "),
                    "→" => alone("ArrowRight"),
                    "←" => alone("ArrowLeft"),
                    "−" => alone("-"),
                    "Esc" => alone("Escape"),
                    "Ctrl Z" => with_control("z", false).and(with_control("Z", false)),
                    "Ctrl Y" => with_control("y", false),
                    "Ctrl Shift Z" => with_control("Z", true).and(with_control("z", true)),
                    key => alone(&key.to_lowercase()).or_else(|| alone(key)),
                };
                assert!(found.is_some(), "{key}: {meaning}");
            }
        }
    }
}
