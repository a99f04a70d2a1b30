use taintlab_core::api::TaintEffect;
use taintlab_core::command::Command;
use taintlab_core::pod_state::{PodHealth, PodTimer, PodVerdict};
use taintlab_core::scenario::Scenario;
use taintlab_core::time::Timestamp;

use super::*;

fn scenario() -> Scenario {
    serde_json::from_value(serde_json::json!({
        "apiVersion": "taintlab/v1",
        "kind": "Scenario",
        "objects": {
            "nodes": [
                { "metadata": { "name": "a", "labels": { "topology.kubernetes.io/zone": "z1" } } },
                { "metadata": { "name": "b", "labels": { "topology.kubernetes.io/zone": "z2" } },
                  "status": { "conditions": [{ "type": "Ready", "status": "True" }] } }
            ],
            "pods": [
                { "metadata": { "name": "p" }, "spec": { "nodeName": "a", "tolerations":
                    [{ "key": "k", "operator": "Exists", "effect": "NoExecute",
                        "tolerationSeconds": 60 }] } },
                { "metadata": { "name": "q" }, "spec": { "nodeName": "b" } },
                { "metadata": { "name": "r" }, "spec": {} },
                { "metadata": { "name": "s" }, "spec": { "nodeName": "nowhere" } }
            ]
        }
    }))
    .unwrap()
}

fn taint(node: &str) -> Vec<Command> {
    let taint = Taint::new("k", "", TaintEffect::NoExecute);
    vec![Command::Taint { node: node.into(), taint }]
}

#[test]
fn the_board_groups_nodes_by_zone_and_says_how_pods_are() {
    let mut session = Session::new(scenario()).unwrap();
    let mut model = BoardModel::default();
    assert!(model.update(&mut session));
    let board = model.board();
    let names: Vec<_> = board.zones.iter().map(|zone| zone.name.as_str()).collect();
    assert_eq!(names, ["z1", "z2", "Nodes that do not exist"]);
    assert_eq!(board.pending.len(), 1);
    assert_eq!(model.node("a").unwrap().status(), "Unknown");
    assert_eq!(model.node("b").unwrap().status(), "Ready");
    assert_eq!(model.node("nowhere").unwrap().status(), "NotFound");
    assert_eq!(board.totals.pods, 4);

    session.apply(taint("a")).unwrap();
    model.update(&mut session);
    let p = PodKey::new("", "p");
    let until = Timestamp::from_secs(60);
    let timer = Some(PodTimer { since: Timestamp::ZERO, until });
    let health = PodHealth::Ready;
    let counting = PodState { verdict: PodVerdict::Counting, health, timer };
    assert_eq!(model.pod(&p).unwrap().state, counting);
    session.seek(Timestamp::from_secs(61));
    model.update(&mut session);
    let timer = Some(PodTimer { since: until, until: Timestamp::from_secs(90) });
    let terminating = PodState { verdict: PodVerdict::Terminating, health, timer };
    assert_eq!(model.pod(&p).unwrap().state, terminating);
    session.seek(Timestamp::from_secs(90));
    model.update(&mut session);
    assert_eq!(model.pod(&p), None);
    let node = model.node("a").unwrap();
    assert_eq!((node.pods.len(), node.gone_count), (0, 1));
    assert_eq!(node.gone[0].evicted, Some(until));
    assert_eq!(model.board().totals.evictions, 1);
    assert_eq!(model.board().totals.counts.verdict(PodVerdict::Gone), 1);
}

#[test]
fn only_what_changed_is_rebuilt() {
    let mut session = Session::new(scenario()).unwrap();
    let mut model = BoardModel::default();
    model.update(&mut session);
    let (a, b) = (model.node("a").unwrap().clone(), model.node("b").unwrap().clone());
    let zones = model.board().zones.clone();
    session.apply(taint("a")).unwrap();
    model.update(&mut session);
    assert!(!Rc::ptr_eq(&a, model.node("a").unwrap()));
    assert!(Rc::ptr_eq(&b, model.node("b").unwrap()));
    assert!(!Rc::ptr_eq(&zones[0], &model.board().zones[0]));
    assert!(Rc::ptr_eq(&zones[1], &model.board().zones[1]));
    session.seek(Timestamp::from_secs(30));
    assert!(!model.update(&mut session), "time passed, nothing happened");
    // Going back gives the same board, and so does looking at everything again.
    session.seek(Timestamp::ZERO);
    model.update(&mut session);
    assert!(Rc::ptr_eq(&b, model.node("b").unwrap()));
    let a = model.node("a").unwrap().clone();
    session.touch_all();
    assert!(model.update(&mut session));
    assert!(Rc::ptr_eq(&a, model.node("a").unwrap()) && Rc::ptr_eq(&b, model.node("b").unwrap()));
}

#[test]
fn only_pods_on_a_node_stay() {
    let mut session = Session::new(scenario()).unwrap();
    let mut model = BoardModel::default();
    model.update(&mut session);
    let stay = |model: &BoardModel| model.board().totals.counts.verdict(PodVerdict::Stays);
    let orphaned = |model: &BoardModel| model.board().totals.counts.verdict(PodVerdict::Orphaned);
    // Four pods: one waits for a node, and one is on a node that does not exist.
    assert_eq!((stay(&model), orphaned(&model)), (2, 1));
    session.apply(vec![Command::DeleteNode { node: "a".into() }]).unwrap();
    model.update(&mut session);
    assert_eq!((stay(&model), orphaned(&model)), (1, 2));
    let back = session.begin_undo().unwrap();
    session.arrive(back);
    model.update(&mut session);
    assert_eq!((stay(&model), orphaned(&model)), (2, 1));
}

#[test]
fn a_card_names_a_few_tainted_devices() {
    let view = |number: usize| DeviceView {
        driver: "d".to_owned(),
        pool: "p".to_owned(),
        device: format!("gpu-{number}"),
        taints: vec!["k:NoExecute".to_owned()],
    };
    let views: Vec<_> = (0..9).map(view).collect();
    let all = DriverDevices::of(&views);
    assert_eq!((all.len(), all[0].count, all[0].tainted_count), (1, 9, 9));
    assert_eq!(all[0].tainted.len(), MOST_TAINTED);
    assert_eq!(all[0].tainted[0], "gpu-0 tainted k:NoExecute");
}
