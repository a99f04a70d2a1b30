//! How much of each node the board shows: the more nodes, the less.

use super::{Board, NodeView, Totals};

/// How much of each node is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Detail {
    /// Cards with pods by name.
    Full,
    /// Cards with pods as dots.
    Compact,
    /// Rows with pods as numbers.
    Rows,
    /// Cells of the colour of what is worst.
    Cells,
}

/// What was chosen by hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Density {
    /// As it fits the number of nodes.
    #[default]
    Auto,
    /// Cards.
    Cards,
    /// Rows.
    Rows,
    /// Cells.
    Cells,
}

/// Up to so many nodes are cards if nothing else is wished.
const CARDS: usize = 90;
/// Up to so many are rows.
const ROWS: usize = 400;
/// With more nodes than this cards are not drawn, whatever is wished.
const MOST_CARDS: usize = 600;
/// With more than this rows are not.
const MOST_ROWS: usize = 1_200;

impl Detail {
    /// What fits this board, if it can be as was chosen.
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

    /// What nodes are drawn as.
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
    /// All of them, the one first that is there without a choice.
    pub(crate) const ALL: [Self; 4] = [Self::Auto, Self::Cards, Self::Rows, Self::Cells];

    /// Its name, as it is kept and shown.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Auto => "Auto",
            Self::Cards => "Cards",
            Self::Rows => "Rows",
            Self::Cells => "Cells",
        }
    }

    /// The one of that name.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.word() == word)
    }

    /// Whether so many nodes can be drawn like this.
    pub(crate) const fn is_possible(self, nodes: usize) -> bool {
        match self {
            Self::Cards => nodes <= MOST_CARDS,
            Self::Rows => nodes <= MOST_ROWS,
            Self::Auto | Self::Cells => true,
        }
    }

    /// The one after it that so many nodes can be drawn with.
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
