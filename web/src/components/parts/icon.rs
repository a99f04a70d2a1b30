//! Small pictures, drawn with lines in the colour of the text.

use taintlab_core::api::TaintEffect;
use yew::prelude::*;

/// An icon with this path in a square of 16.
fn picture(path: &'static str) -> Html {
    html! {
        <svg width="16" height="16" viewBox="0 0 16 16" fill="none" stroke="currentColor"
            stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
            <path d={path} />
        </svg>
    }
}

macro_rules! icons {
    ($($(#[$doc:meta])* $name:ident = $path:literal;)+) => {
        $($(#[$doc])* pub(crate) fn $name() -> Html { picture($path) })+
    };
}

icons! {
    /// A triangle.
    play = "M5 3.2v9.6l7.6-4.8z";
    /// Two bars.
    pause = "M5.5 3.5v9M10.5 3.5v9";
    /// An i in a circle.
    info = "M8 14.2a6.2 6.2 0 100-12.4 6.2 6.2 0 000 12.4zM8 7.4v3.8M8 4.9v.1";
    /// An arrow to the next event.
    step = "M4 3.5l6 4.5-6 4.5zM12.5 3.5v9";
    /// An arrow to the end.
    end = "M2.5 3.5l5 4.5-5 4.5zM7.5 3.5l5 4.5-5 4.5zM14 3.5v9";
    /// An arrow to the start.
    start = "M12.5 3.5l-6 4.5 6 4.5zM3.5 3.5v9";
    /// An arrow back.
    undo = "M6 3L2.8 6.2 6 9.4M3 6.2h6.2a3.6 3.6 0 010 7.2H6.5";
    /// An arrow forward.
    redo = "M10 3l3.2 3.2L10 9.4M13 6.2H6.8a3.6 3.6 0 000 7.2h2.7";
    /// An arrow into a tray.
    import = "M8 2.5v7.5M5 7l3 3 3-3M2.5 11v2.5h11V11";
    /// An arrow out of a tray.
    export = "M8 10V2.5M5 5.5l3-3 3 3M2.5 11v2.5h11V11";
    /// A table with a dark cell.
    report = "M2.5 3h11v10h-11zM2.5 6.3h11M2.5 9.6h11M6.2 3v10M9.8 3v10M10 6.5h3.4v3H10z";
    /// Sheets, one behind the other.
    sheets = "M5.5 2.5h8v8h-8zM3 5v8.5h8";
    /// A pencil.
    pencil = "M3 13l.6-2.8 7-7 2.2 2.2-7 7zM9.4 4.4l2.2 2.2";
    /// A link of a chain.
    link = "M6.8 9.2a2.6 2.6 0 003.7 0l2-2a2.6 2.6 0 00-3.7-3.7l-.9.9M9.2 6.8a2.6 2.6 0 00-3.7 0l-2 2a2.6 2.6 0 003.7 3.7l.9-.9";
    /// Three lines.
    more = "M3 4.5h10M3 8h10M3 11.5h10";
    /// A plus.
    plus = "M8 3.5v9M3.5 8h9";
    /// Arrows apart.
    enlarge = "M8 6.5v-5M5.5 4L8 1.5 10.5 4M8 9.5v5M5.5 12L8 14.5 10.5 12";
    /// Arrows towards each other.
    shrink = "M8 1.5v5M5.5 4L8 6.5 10.5 4M8 14.5v-5M5.5 12L8 9.5l2.5 2.5";
    /// An angle that points down.
    fold = "M3.5 6L8 10.5 12.5 6";
    /// An angle that points up.
    unfold = "M3.5 10.5L8 6l4.5 4.5";
    /// A cross.
    cross = "M4 4l8 8M12 4l-8 8";
    /// A tick.
    tick = "M3 8.6l3.2 3.2L13 4.6";
    /// An arrow up.
    up = "M8 12.5v-9M4.5 7L8 3.5 11.5 7";
    /// An arrow down.
    down = "M8 3.5v9M4.5 9L8 12.5 11.5 9";
    /// A branch that leaves another one.
    fork = "M4.5 3v10M4.5 9.5c0-3 7-1.5 7-5M11.5 4.5V3";
    /// A waste bin.
    bin = "M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5";
    /// A question mark.
    question = "M5.8 6a2.2 2.2 0 114 1.3C9.2 8.2 8 8.4 8 9.8M8 12.6v.1";
    /// The sun.
    sun = "M8 5.2a2.8 2.8 0 110 5.6 2.8 2.8 0 010-5.6zM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7";
    /// The moon.
    moon = "M13 9.6A5.6 5.6 0 016.4 3 5.6 5.6 0 1013 9.6z";
    /// Half sun, half moon.
    auto = "M8 2.2a5.8 5.8 0 100 11.6A5.8 5.8 0 008 2.2zM8 2.2v11.6M10.3 4.5v7M12.4 6v4";
    /// A dash, for something skipped.
    skip = "M3 8h10";
    /// A triangle with an exclamation mark, for warnings.
    warning = "M8 2.2L14.3 13.3H1.7zM8 6.3v3.4M8 11.5v.1";
    /// An octagon with an exclamation mark, for critical warnings.
    critical = "M5.5 2h5L14 5.5v5L10.5 14h-5L2 10.5v-5zM8 5v3.6M8 10.8v.1";
    /// An i in a circle, for notes.
    note = "M8 1.8a6.2 6.2 0 110 12.4A6.2 6.2 0 018 1.8zM8 7.4v3.6M8 5v.1";
    /// An hourglass.
    wait = "M4.5 2.5h7M4.5 13.5h7M5.5 2.5c0 3.5 5 7.5 5 11M10.5 2.5c0 3.5-5 7.5-5 11";
}

/// The icon of a taint effect.
pub(crate) fn effect(effect: &TaintEffect) -> Html {
    match effect {
        // An arrow out of a door.
        TaintEffect::NoExecute => picture("M6.5 2.5h-4v11h4M7 8h6.5M10.5 5l3 3-3 3"),
        // A no-entry sign.
        TaintEffect::NoSchedule => picture("M8 2.2a5.8 5.8 0 100 11.6A5.8 5.8 0 008 2.2zM5 8h6"),
        // A dotted no-entry sign.
        TaintEffect::PreferNoSchedule => picture(
            "M8 2.2v.1M12 4v.1M13.8 8v.1M12 12v.1M8 13.8v.1M4 12v.1M2.2 8v.1M4 4v.1M5.5 8h5",
        ),
        TaintEffect::Empty | TaintEffect::Other(_) => question(),
    }
}

/// The logo of the page.
pub(crate) fn brand() -> Html {
    html! {
        <svg viewBox="0 0 32 32" aria-hidden="true">
            <path d="M16 2 28 9v14l-12 7L4 23V9z" fill="#326ce5" />
            <circle cx="16" cy="16" r="8" fill="none" stroke="#fff" stroke-width="3"
                stroke-dasharray="37 14" transform="rotate(-90 16 16)" />
        </svg>
    }
}
