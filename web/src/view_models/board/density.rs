//! The detail in which the board shows nodes: the more nodes, the less of each.

use super::{Board, NodeView, Totals};

/// The detail in which nodes are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Detail {
    /// Cards with pods by name.
    Full,
    /// Cards with pods as dots.
    Compact,
    /// Rows with pods as numbers.
    Rows,
    /// Cells in the colour of their worst pod.
    Cells,
}

/// The density that was chosen by hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Density {
    /// The one that fits the number of nodes.
    #[default]
    Auto,
    /// Cards.
    Cards,
    /// Rows.
    Rows,
    /// Cells.
    Cells,
}

/// Nodes up to which cards are drawn without a choice.
const CARDS: usize = 90;
/// Nodes up to which rows are drawn without a choice.
const ROWS: usize = 400;
/// Nodes up to which cards can be drawn.
const MOST_CARDS: usize = 600;
/// Nodes up to which rows can be drawn.
const MOST_ROWS: usize = 1_200;

impl Detail {
    /// The detail that was chosen, if this board can be drawn so; otherwise the one that fits.
    pub(crate) fn of(board: &Board, chosen: Density) -> Self {
        let Totals { nodes, pods, .. } = board.totals;
        let cards = if nodes <= 14 && pods <= 160 { Self::Full } else { Self::Compact };
        match chosen {
            _ if !chosen.is_possible(nodes) => Self::of(board, Density::Auto),
            Density::Cards => cards,
            Density::Rows => Self::Rows,
            Density::Cells => Self::Cells,
            Density::Auto if nodes <= CARDS => cards,
            Density::Auto if nodes <= ROWS => Self::Rows,
            Density::Auto => Self::Cells,
        }
    }

    /// The noun for a node in this detail.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Full | Self::Compact => "cards",
            Self::Rows => "rows",
            Self::Cells => "cells",
        }
    }

    /// The word for it in style sheets.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Compact => "compact",
            Self::Rows => "rows",
            Self::Cells => "cells",
        }
    }
}

impl Density {
    /// All densities, the default one first.
    pub(crate) const ALL: [Self; 4] = [Self::Auto, Self::Cards, Self::Rows, Self::Cells];

    /// The name, as it is stored and shown.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Auto => "Auto",
            Self::Cards => "Cards",
            Self::Rows => "Rows",
            Self::Cells => "Cells",
        }
    }

    /// The density of that name.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.word() == word)
    }

    /// Whether that number of nodes can be drawn like this.
    pub(crate) const fn is_possible(self, nodes: usize) -> bool {
        match self {
            Self::Cards => nodes <= MOST_CARDS,
            Self::Rows => nodes <= MOST_ROWS,
            Self::Auto | Self::Cells => true,
        }
    }

    /// The next density in which that number of nodes can be drawn.
    pub(crate) fn next(self, nodes: usize) -> Self {
        let after = Self::ALL.into_iter().cycle().skip_while(|one| *one != self).skip(1);
        after.take(Self::ALL.len()).find(|one| one.is_possible(nodes)).unwrap_or_default()
    }
}

impl NodeView {
    /// The node in a line: `node n, Ready, 3 pods counting down, 2 stay, taint k:NoExecute`.
    pub(crate) fn line(&self) -> String {
        let pods = match self.pod_count {
            0 => "no pods".to_owned(),
            _ => self.counts.to_string(),
        };
        let mut line = format!("node {}, {}, {pods}", self.name, self.status());
        for taint in &self.taints {
            line.push_str(&format!(", taint {taint}"));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(nodes: usize, pods: usize) -> Board {
        Board { totals: Totals { nodes, pods, ..Totals::default() }, ..Board::default() }
    }

    #[test]
    fn the_more_nodes_the_less_of_each() {
        for (nodes, pods, detail) in [
            (12, 100, Detail::Full),
            (12, 400, Detail::Compact),
            (90, 400, Detail::Compact),
            (91, 400, Detail::Rows),
            (400, 400, Detail::Rows),
            (401, 400, Detail::Cells),
            (5_000, 150_000, Detail::Cells),
        ] {
            assert_eq!(Detail::of(&board(nodes, pods), Density::Auto), detail, "{nodes} nodes");
        }
    }

    #[test]
    fn a_choice_holds_where_it_can_be_drawn() {
        assert_eq!(Detail::of(&board(5, 5), Density::Cells), Detail::Cells);
        assert_eq!(Detail::of(&board(500, 5), Density::Cards), Detail::Compact);
        assert_eq!(Detail::of(&board(5_000, 5), Density::Cards), Detail::Cells);
        assert_eq!(Detail::of(&board(5_000, 5), Density::Rows), Detail::Cells);
        assert_eq!(Density::Auto.next(5), Density::Cards);
        assert_eq!(Density::Auto.next(5_000), Density::Cells);
        assert_eq!(Density::Cells.next(5_000), Density::Auto);
        for density in Density::ALL {
            assert_eq!(Density::parse(density.word()), Some(density));
        }
    }
}
