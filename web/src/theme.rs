//! The theme: light, dark, or that of the system.

use crate::browser;

const KEY: &str = "taintlab.theme";

/// The colours of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    /// The theme of the system.
    #[default]
    Auto,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// The word for it in the style sheet and in storage.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The theme that comes next when the button is pressed.
    pub(crate) fn next(self) -> Self {
        match self {
            Self::Auto => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::Auto,
        }
    }

    /// The stored theme.
    pub(crate) fn stored() -> Self {
        match browser::stored(KEY).as_deref() {
            Some("light") => Self::Light,
            Some("dark") => Self::Dark,
            _ => Self::Auto,
        }
    }

    /// Paints the page with this theme and stores it.
    pub(crate) fn use_it(self) {
        let attribute = (self != Self::Auto).then_some(self.word());
        browser::set_root_attribute("data-theme", attribute);
        // A theme that is not stored is no loss worth a message.
        let _ = browser::store(KEY, self.word());
    }
}
