//! The pane below the board: the tab that is shown, and its room.

use std::fmt;

/// Pods above which the log is shown first: lanes need a forecast.
pub(crate) const MANY_PODS: usize = 1_000;

/// The least and the greatest height of the pane, in pixels.
pub(crate) const HEIGHT: (i32, i32) = (120, 1_200);

/// A view of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PaneTab {
    /// The state of each object over time.
    Lanes,
    /// The ready pods of each workload over time.
    Workloads,
    /// The event log.
    Events,
    /// The kubectl console.
    Kubectl,
}

impl PaneTab {
    /// All tabs, in their order.
    pub(crate) const ALL: [Self; 4] = [Self::Lanes, Self::Workloads, Self::Events, Self::Kubectl];

    /// The name in ids and in storage.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Lanes => "lanes",
            Self::Workloads => "workloads",
            Self::Events => "events",
            Self::Kubectl => "kubectl",
        }
    }

    /// The name on the page.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Lanes => "Lanes",
            Self::Workloads => "Workloads",
            Self::Events => "Events",
            Self::Kubectl => "kubectl",
        }
    }
}

/// The room of the pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Room {
    /// The tabs alone.
    Closed,
    /// A part of the lower half.
    #[default]
    Part,
    /// All of the height, in place of the board.
    Full,
}

impl Room {
    const ALL: [Self; 3] = [Self::Closed, Self::Part, Self::Full];

    /// The name in style sheets.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Part => "part",
            Self::Full => "full",
        }
    }
}

/// A message to the pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PaneMsg {
    /// Show a tab.
    Show(PaneTab),
    /// Show the lanes; once more: in full height, or no longer.
    Lanes,
    /// Show the console, and go to its prompt.
    Prompt,
    /// Leave the console for the tab before it.
    LeavePrompt,
    /// Give the pane that room.
    Room(Room),
    /// Give the pane this height in pixels.
    Height(i32),
}

/// The pane below the board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pane {
    /// The tab that the user chose; until then the number of pods decides.
    chosen: Option<PaneTab>,
    /// The tab that was shown before the console.
    before: Option<PaneTab>,
    /// The room.
    pub(crate) room: Room,
    /// The height in pixels, if the user changed it.
    pub(crate) height: Option<i32>,
    /// The number of times the prompt of the console was asked for.
    pub(crate) prompts: u32,
}

impl Pane {
    /// The tab that is shown for a cluster with this number of pods.
    pub(crate) fn tab(&self, pods: usize) -> PaneTab {
        let first = if pods > MANY_PODS { PaneTab::Events } else { PaneTab::Lanes };
        self.chosen.unwrap_or(first)
    }

    /// Whether the user chose a tab.
    pub(crate) fn is_chosen(&self, tab: PaneTab) -> bool {
        self.chosen == Some(tab)
    }

    /// Whether a tab is in sight, for a cluster with this number of pods.
    pub(crate) fn shows(&self, tab: PaneTab, pods: usize) -> bool {
        self.room != Room::Closed && self.tab(pods) == tab
    }

    /// Handles a message.
    pub(crate) fn update(&mut self, msg: PaneMsg, pods: usize) {
        match msg {
            PaneMsg::Show(tab) => self.show(tab, pods),
            PaneMsg::Lanes if !self.shows(PaneTab::Lanes, pods) => self.show(PaneTab::Lanes, pods),
            PaneMsg::Lanes if self.room == Room::Full => self.room = Room::Part,
            PaneMsg::Lanes => self.room = Room::Full,
            PaneMsg::Prompt => {
                self.show(PaneTab::Kubectl, pods);
                self.prompts += 1;
            }
            PaneMsg::LeavePrompt => self.chosen = self.before.take(),
            PaneMsg::Room(room) => self.room = room,
            PaneMsg::Height(height) => self.height = Some(height.clamp(HEIGHT.0, HEIGHT.1)),
        }
    }

    fn show(&mut self, tab: PaneTab, pods: usize) {
        if tab == PaneTab::Kubectl && self.tab(pods) != tab {
            self.before = self.chosen;
        }
        self.chosen = Some(tab);
        if self.room == Room::Closed {
            self.room = Room::Part;
        }
    }

    /// The pane of a stored text; parts that cannot be read have their defaults.
    pub(crate) fn parse(text: &str) -> Self {
        let words = || text.split(' ');
        let tabs = PaneTab::ALL.into_iter();
        Self {
            chosen: tabs.into_iter().find(|tab| words().any(|word| word == tab.as_str())),
            room: (Room::ALL.into_iter())
                .find(|room| words().any(|word| word == room.as_str()))
                .unwrap_or_default(),
            height: words()
                .find_map(|word| word.parse::<i32>().ok())
                .map(|height| height.clamp(HEIGHT.0, HEIGHT.1)),
            ..Self::default()
        }
    }
}

impl fmt::Display for Pane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.room.as_str())?;
        // A console that opens by itself would take the keys.
        if let Some(tab) = self.chosen.filter(|tab| *tab != PaneTab::Kubectl) {
            write!(f, " {}", tab.as_str())?;
        }
        self.height.map_or(Ok(()), |height| write!(f, " {height}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_come_first_unless_there_are_many_pods() {
        let mut pane = Pane::default();
        assert_eq!(pane.tab(29), PaneTab::Lanes);
        assert_eq!(pane.tab(150_000), PaneTab::Events);
        pane.update(PaneMsg::Show(PaneTab::Workloads), 150_000);
        assert_eq!(pane.tab(29), PaneTab::Workloads);
    }

    #[test]
    fn the_key_of_the_lanes_leads_to_them_and_then_to_their_full_height() {
        let mut pane = Pane::default();
        let press = |pane: &mut Pane| {
            pane.update(PaneMsg::Lanes, 29);
            (pane.tab(29), pane.room)
        };
        assert_eq!(press(&mut pane), (PaneTab::Lanes, Room::Full));
        assert_eq!(press(&mut pane), (PaneTab::Lanes, Room::Part));
        pane.update(PaneMsg::Show(PaneTab::Events), 29);
        assert_eq!(press(&mut pane), (PaneTab::Lanes, Room::Part));
        pane.update(PaneMsg::Room(Room::Closed), 29);
        assert!(!pane.shows(PaneTab::Lanes, 29));
        assert_eq!(press(&mut pane), (PaneTab::Lanes, Room::Part));
    }

    #[test]
    fn leaving_the_console_leads_back_to_the_tab_before() {
        let mut pane = Pane::default();
        pane.update(PaneMsg::Show(PaneTab::Events), 29);
        pane.update(PaneMsg::Prompt, 29);
        pane.update(PaneMsg::Prompt, 29);
        assert_eq!((pane.tab(29), pane.prompts), (PaneTab::Kubectl, 2));
        pane.update(PaneMsg::LeavePrompt, 29);
        assert_eq!(pane.tab(29), PaneTab::Events);
    }

    #[test]
    fn a_stored_pane_is_read_again() {
        let mut pane = Pane::default();
        for msg in [PaneMsg::Show(PaneTab::Events), PaneMsg::Height(312)] {
            pane.update(msg, 29);
        }
        pane.update(PaneMsg::Room(Room::Full), 29);
        assert_eq!(pane.to_string(), "full events 312");
        assert_eq!(Pane::parse(&pane.to_string()), pane);
        assert_eq!(Pane::parse("wide 99999999999 nothing"), Pane::default());
        assert_eq!(Pane::parse("9999").height, Some(HEIGHT.1));
    }
}
