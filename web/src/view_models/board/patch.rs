//! The changes of a board, as far as they are drawn: the session has all pods, the page only those
//! on its cards.

use std::rc::Rc;

use super::density::Detail;
use super::{Board, NodeView, PodView, Totals, ZoneView};

/// Dots of a card at most; more of one colour say no more.
pub(crate) const MAX_DOTS: usize = 60;
/// Pods without a node that are drawn at most; more are only counted.
pub(crate) const MOST_PENDING: usize = 200;

/// The differences between a board and the one before.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BoardPatch {
    /// The zones.
    pub(crate) zones: Vec<ZonePatch>,
    /// Pods without a node, as many as are drawn.
    pub(crate) pending: Vec<Rc<PodView>>,
    /// The numbers of objects.
    pub(crate) totals: Totals,
}

/// The difference of a zone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ZonePatch {
    /// No difference: the zone of this key.
    Same(Rc<str>),
    /// Another zone.
    Whole(Rc<ZoneView>),
    /// Other nodes of the zone, by their place.
    Nodes(Rc<ZoneView>, Vec<(usize, Rc<NodeView>)>),
}

impl BoardPatch {
    /// The differences of `new` from the board that was told last, if there is one.
    pub(crate) fn new(old: Option<&Board>, new: &Board, detail: Detail) -> Self {
        let zone = |zone: &Rc<ZoneView>| {
            let known = old.and_then(|old| old.zones.iter().find(|it| it.key == zone.key));
            match known {
                Some(known) if Rc::ptr_eq(known, zone) => ZonePatch::Same(zone.key.clone()),
                Some(known) if same_names(known, zone) => {
                    let pairs = known.nodes.iter().zip(&zone.nodes).enumerate();
                    let changed = pairs.filter(|(_, (old, new))| !Rc::ptr_eq(old, new));
                    let nodes = changed.map(|(place, (_, new))| (place, drawn(new, detail)));
                    ZonePatch::Nodes(Rc::new(head(zone)), nodes.collect())
                }
                _ => {
                    let nodes = zone.nodes.iter().map(|node| drawn(node, detail)).collect();
                    ZonePatch::Whole(Rc::new(ZoneView { nodes, ..head(zone) }))
                }
            }
        };
        Self {
            zones: new.zones.iter().map(zone).collect(),
            pending: new.pending.iter().take(MOST_PENDING).cloned().collect(),
            totals: new.totals,
        }
    }

    /// The number of nodes in it.
    pub(crate) fn node_count(&self) -> usize {
        let count = |zone: &ZonePatch| match zone {
            ZonePatch::Same(_) => 0,
            ZonePatch::Whole(zone) => zone.nodes.len(),
            ZonePatch::Nodes(_, nodes) => nodes.len(),
        };
        self.zones.iter().map(count).sum()
    }

    /// The board that results from it.
    pub(crate) fn applied_to(self, old: &Board) -> Board {
        let known = |key: &str| old.zones.iter().find(|zone| &*zone.key == key);
        let zones = self.zones.into_iter().filter_map(|patch| match patch {
            ZonePatch::Same(key) => known(&key).cloned(),
            ZonePatch::Whole(zone) => Some(zone),
            ZonePatch::Nodes(head, changed) => {
                let mut nodes = known(&head.key)?.nodes.clone();
                for (place, node) in changed {
                    *nodes.get_mut(place)? = node;
                }
                Some(Rc::new(ZoneView { nodes, ..ZoneView::clone(&head) }))
            }
        });
        Board { zones: zones.collect(), pending: self.pending, totals: self.totals }
    }
}

fn same_names(old: &ZoneView, new: &ZoneView) -> bool {
    old.nodes.len() == new.nodes.len()
        && old.nodes.iter().zip(&new.nodes).all(|(old, new)| old.name == new.name)
}

/// A zone without its nodes.
fn head(zone: &ZoneView) -> ZoneView {
    ZoneView {
        nodes: Vec::new(),
        key: zone.key.clone(),
        name: zone.name.clone(),
        region: zone.region.clone(),
        ready: zone.ready,
        counts: zone.counts,
        pods: zone.pods,
        state: zone.state.clone(),
    }
}

/// A node with the pods that are drawn.
fn drawn(node: &Rc<NodeView>, detail: Detail) -> Rc<NodeView> {
    let most = match detail {
        Detail::Full => return node.clone(),
        Detail::Compact => MAX_DOTS,
        Detail::Rows | Detail::Cells => 0,
    };
    let pods = node.pods.iter().take(most).cloned().collect();
    Rc::new(NodeView {
        pods,
        gone: Vec::new(),
        name: node.name.clone(),
        zone: node.zone.clone(),
        ready: node.ready.clone(),
        taints: node.taints.clone(),
        devices: node.devices.clone(),
        ..*node.as_ref()
    })
}

#[cfg(test)]
mod tests {
    use taintlab_core::api::{Node, Taint, TaintEffect};
    use taintlab_core::command::Command;
    use taintlab_core::scenario::Scenario;

    use super::*;
    use crate::session::Session;
    use crate::view_models::board::BoardModel;

    #[test]
    fn only_changes_are_told() {
        let mut scenario = Scenario::default();
        for name in ["a", "b", "c"] {
            let mut node = Node::default();
            node.metadata.name = name.into();
            scenario.objects.nodes.push(node.into());
        }
        let mut session = Session::new(scenario).unwrap();
        let mut model = BoardModel::default();
        model.update(&mut session);
        let first = model.board().clone();
        let whole = BoardPatch::new(None, &first, Detail::Full);
        assert_eq!(whole.clone().applied_to(&Board::default()), *first);
        let taint = Taint::new("k", "", TaintEffect::NoExecute);
        session.apply(vec![Command::Taint { node: "b".into(), taint }]).unwrap();
        model.update(&mut session);
        let second = model.board().clone();
        let patch = BoardPatch::new(Some(&first), &second, Detail::Full);
        let [ZonePatch::Nodes(_, nodes)] = patch.zones.as_slice() else { panic!("{patch:?}") };
        assert_eq!(nodes.iter().map(|(place, _)| *place).collect::<Vec<_>>(), [1]);
        assert_eq!(patch.applied_to(&first), *second);
        let same = BoardPatch::new(Some(&second), &second, Detail::Full);
        assert!(matches!(same.zones.as_slice(), [ZonePatch::Same(_)]));
    }
}
