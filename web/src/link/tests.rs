//! Links, deflated by a library in place of the browser.

#[expect(unreachable_pub, reason = "it belongs to the tests of the whole, which share it")]
#[path = "../../../tests/src/marked.rs"]
mod marked;

use std::collections::{BTreeMap, BTreeSet};

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use taintlab_core::api::{Node, Taint, TaintEffect};
use taintlab_core::command::Command;
use taintlab_core::controllers::descheduler::DeschedulerSettings;
use taintlab_core::controllers::node_lifecycle::zone::zone_key;
use taintlab_core::kubelet::heartbeat::KubeletSettings;
use taintlab_core::scenario::Step;
use taintlab_core::simulator::HealthPassTime;
use taintlab_core::slices::at_once;
use taintlab_manifest::{Extent, redact_scenario};

use super::*;
use crate::session::Row;

/// The fragment of a session's link.
fn fragment(session: &Session, selection: Option<&Selection>) -> String {
    let draft = write(session, selection).unwrap();
    let deflated = draft.json.as_ref().map(|json| compress_to_vec(json.as_bytes(), 6));
    draft.fragment(&deflated.unwrap_or_default())
}

fn open(fragment: &str) -> Result<Opened, String> {
    let parsed = parse(fragment)?.ok_or("no link")?;
    let packed = text::bytes(&parsed.packed)?;
    let inflated = match packed.as_slice() {
        [] => Vec::new(),
        packed => decompress_to_vec_with_limit(packed, MOST_INFLATED)
            .map_err(|error| error.to_string())?,
    };
    let mut opened = at_once(parsed.open(std::str::from_utf8(&inflated).unwrap()))?;
    opened.session.arrive(opened.way);
    Ok(opened)
}

/// A link to a scenario file.
fn packed_file(text: &str) -> String {
    format!("#d={}", text::base64(&compress_to_vec(text.as_bytes(), 6)))
}

#[test]
fn a_scenario_file_is_opened_at_a_moment() {
    let (_, text) = samples::all().find(|(known, _)| *known == "three-effects").unwrap();
    let opened = open(&format!("{}&t=12s", packed_file(text))).unwrap();
    assert_eq!(opened.session.now(), Timestamp::from_secs(12));
    assert_eq!(*opened.session.timeline().start, example("three-effects"));
}

fn example(name: &str) -> Scenario {
    let (_, text) = samples::all().find(|(known, _)| *known == name).unwrap();
    files::scenario(name, text).unwrap()
}

fn assert_same(session: &Session, selection: Option<&Selection>) {
    let link = fragment(session, selection);
    let again = open(&link).unwrap_or_else(|error| panic!("{error}: {link}"));
    assert!(!differs(&again.session, &again.hash), "{link}");
    assert_eq!(again.session.now(), session.now());
    // All of them would be too long for a message.
    let (new, old) = (again.session.rows().iter(), session.rows().iter());
    let other = new.zip(old).find(|(new, old)| in_links(new) != in_links(old));
    assert_eq!(other, None, "{link}");
    assert_eq!(again.session.rows().len(), session.rows().len(), "{link}");
    assert_eq!(again.selection.as_ref(), selection);
    assert_eq!(edits_of(&again.session), edits_of(session));
    let (new, old) = (&again.session.timeline().start, &session.timeline().start);
    assert_eq!(new.bookmarks, old.bookmarks);
    // Written once more, it is the same link.
    assert_eq!(fragment(&again.session, selection), link);
}

/// The words of a row as far as a link keeps them: without fields on which no run depends, and
/// without UIDs, as only their order counts.
fn in_links(row: &Row) -> String {
    let said = match &row.kind {
        RowKind::Step(command) => {
            let step = Step { at: Span::default(), command: *command.clone(), refused: None };
            let mut scenario = Scenario { steps: vec![step], ..Scenario::default() };
            redact_scenario(&mut scenario, Extent::Run).unwrap();
            format!("{:?} {:?}", row.at, scenario.steps)
        }
        _ => format!("{row:?}"),
    };
    let mut parts = said.split("uid: \"");
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        text += part.split_once('"').unwrap().1;
    }
    text
}

/// Notes and values as people write them, with characters that an address or JSON has to escape.
const TEXTS: [&str; 6] = [
    "what “there” is to see",
    "100 % & more = #1?",
    "Ω ≈ 3 ⏱ 日本",
    "\"quoted\" \\ 'so'",
    "a\nb\tc",
    "+/~<>",
];

/// A source of pseudo-random numbers below a bound.
struct Dice(u64);

impl Dice {
    fn next(&mut self, below: usize) -> usize {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % below.max(1) as u64).unwrap()
    }

    fn text(&mut self) -> String {
        TEXTS[self.next(TEXTS.len())].to_owned()
    }

    fn millis(&mut self, below: usize) -> std::time::Duration {
        std::time::Duration::from_millis(self.next(below) as u64)
    }
}

/// The example's Kubernetes, or another one.
fn varied(mut scenario: Scenario, dice: &mut Dice) -> Scenario {
    if dice.next(3) == 0 {
        let note = dice.text();
        scenario.bookmarks.push(Bookmark { at: Span::default(), note, select: String::new() });
    }
    if dice.next(4) == 0 {
        scenario.metadata.title = dice.text();
    }
    let kubernetes = &mut scenario.kubernetes;
    if dice.next(3) == 0 {
        let flags = &mut kubernetes.controller_manager_flags;
        flags.insert("node-monitor-grace-period".into(), format!("{}s", 60 + dice.next(9)));
    }
    if dice.next(3) == 0 {
        kubernetes.health_pass =
            Some(HealthPassTime { per_node: Span(dice.millis(5)), ..HealthPassTime::default() });
    }
    if dice.next(4) == 0 {
        let (phase_seed, jitter_seed) = (dice.next(9) as u64, dice.next(9) as u64);
        let known = kubernetes.kubelets.unwrap_or_default();
        kubernetes.kubelets = Some(KubeletSettings { phase_seed, jitter_seed, ..known });
    }
    if dice.next(4) == 0 {
        let old = kubernetes.clone();
        kubernetes.feature_gates.insert("SeparateTaintEvictionController".into(), true);
        // A release without it refuses it.
        if scenario.simulator().is_err() {
            scenario.kubernetes = old;
        }
    }
    if dice.next(4) == 0 {
        let old = scenario.kubernetes.clone();
        scenario.kubernetes.control_plane = Some(true);
        scenario.kubernetes.node_lifecycle = Some(true);
        scenario.kubernetes.descheduler = Some(DeschedulerSettings {
            excluded_taints: vec!["example.com/x=ä".into()],
            ..DeschedulerSettings::default()
        });
        if scenario.simulator().is_err() {
            scenario.kubernetes = old;
        }
    }
    scenario
}

/// A command for one of the objects of the cluster.
fn command(session: &Session, dice: &mut Dice) -> Option<Command> {
    let cluster = session.simulator().cluster();
    let pick = dice.next(cluster.nodes().len());
    let node = cluster.nodes().nth(pick).map(|(node, _)| node.clone())?;
    let pick = dice.next(cluster.pods().count());
    let pod = cluster.pods().nth(pick).map(|(key, pod)| (key.clone(), pod.clone()));
    let pick = dice.next(cluster.workloads().count());
    let workload = cluster.workloads().nth(pick).map(|(key, _)| key.clone());
    let taint = Taint::new("example.com/x", "", TaintEffect::NoExecute);
    Some(match dice.next(10) {
        0 => Command::Taint { node, taint },
        1 => Command::SetUnschedulable { node, unschedulable: true },
        2 => Command::RestartTaintEvictionController,
        3 => {
            let mut new = Node::default();
            new.metadata.name = format!("new-{}", dice.next(99));
            new.spec.taints.push(Taint::new("example.com/x", "v", TaintEffect::NoSchedule));
            Command::CreateNode(new)
        }
        4 => {
            let mut new = pod.map(|(_, pod)| (*pod).clone()).unwrap_or_default();
            new.metadata.name = format!("new-{}", dice.next(99));
            new.metadata.uid.clear();
            new.metadata.owner_references.clear();
            new.spec.node_name = node.to_string();
            // The form that a line of the console gives.
            let mut command = Command::CreatePod(new);
            redact_commands([&mut command]).unwrap();
            command
        }
        5 => Command::Scale { workload: workload?, replicas: u32::try_from(dice.next(5)).unwrap() },
        6 => Command::shut_down_gracefully(node),
        7 => {
            let value = format!("v-{}", dice.next(9));
            Command::SetNodeLabels { node, labels: [("example.com/l".into(), value)].into() }
        }
        8 => {
            let (pod, old) = pod?;
            let mut labels = BTreeMap::clone(&old.metadata.labels);
            labels.insert("example.com/l".into(), "w".into());
            Command::SetPodLabels { pod, labels }
        }
        _ => Command::StopKubelet { node },
    })
}

/// A session at some moment, with edits from a seed.
fn random(scenario: Scenario, seed: u64) -> Session {
    let mut dice = Dice(seed);
    let mut session = Session::new(varied(scenario, &mut dice)).unwrap();
    for _ in 0..dice.next(6) {
        session.seek(session.now().saturating_add(dice.millis(90_000)));
        if let Some(command) = command(&session, &mut dice) {
            let _ = session.apply(vec![command]);
        }
    }
    session.seek(session.now().saturating_add(dice.millis(400_000)));
    session
}

/// A selection of each kind, as far as there is one.
fn selection(session: &Session, kind: usize) -> Option<Selection> {
    let cluster = session.simulator().cluster();
    match kind {
        0 => cluster.nodes().next().map(|(node, _)| Selection::Node(node.clone())),
        1 => cluster.pods().next().map(|(pod, _)| Selection::Pod(pod.clone())),
        2 => {
            let (_, node) = cluster.nodes().next()?;
            Some(Selection::Zone(zone_key(&node.metadata.labels).into()))
        }
        3 => cluster.workloads().next().map(|(key, _)| Selection::Workload(key.clone())),
        _ => None,
    }
}

#[test]
fn every_session_comes_back_from_its_link() {
    let mut made = BTreeSet::new();
    for (index, (name, _)) in samples::all().enumerate() {
        if name.contains("of-500") {
            continue;
        }
        for round in 0..3_usize {
            let seed = (index * 7 + round) as u64;
            let session = random(example(name), seed);
            let selection = selection(&session, (index + round) % 5);
            let kubernetes = &session.timeline().start.kubernetes;
            for (is_set, what) in [
                (kubernetes.descheduler.is_some(), "a descheduler"),
                (!kubernetes.feature_gates.is_empty(), "a gate"),
                (kubernetes.health_pass.is_some(), "the time of health passes"),
                (kubernetes.kubelets.is_some_and(|it| it.jitter_seed != 0), "jitter"),
            ] {
                made.extend(is_set.then(|| what.to_owned()));
            }
            assert_same(&session, selection.as_ref());
            let edits = edits_of(&session).into_iter().flat_map(|edit| edit.commands);
            made.extend(edits.map(|command| {
                let json = serde_json::to_value(command).unwrap();
                json.as_object()
                    .map_or_else(|| json.to_string(), |it| it.keys().next().unwrap().clone())
            }));
            // The scenario is then a cluster of the user's own.
            let mut own = example(name);
            own.metadata.name.clear();
            assert_same(&random(own, seed), selection.as_ref());
        }
    }
    // Some commands of each kind were not refused.
    for kind in [
        "createNode",
        "createPod",
        "scale",
        "shutDownNode",
        "setNodeLabels",
        "setPodLabels",
        "a descheduler",
        "a gate",
        "the time of health passes",
    ] {
        assert!(made.contains(kind), "{kind}: {made:?}");
    }
}

#[test]
fn notes_of_any_characters_come_back() {
    let mut own = example("why-345-seconds");
    own.metadata.name.clear();
    own.metadata.title = TEXTS.join(" ");
    own.bookmarks.clear();
    for (second, note) in TEXTS.iter().enumerate() {
        let (at, note) = (Span(std::time::Duration::from_secs(second as u64)), (*note).to_owned());
        own.bookmarks.push(Bookmark { at, note, select: "pod default/web-0".into() });
    }
    let session = Session::new(own).unwrap();
    assert_same(&session, None);
    let again = open(&fragment(&session, None)).unwrap().session;
    assert_eq!(again.timeline().start.metadata.title, TEXTS.join(" "));
}

#[test]
fn a_link_names_an_example_with_its_release_and_flags() {
    let session = Session::new(example("why-345-seconds")).unwrap();
    assert_eq!(fragment(&session, None), "#s=why-345-seconds&release=1.31");
    let mut scenario = example("why-345-seconds");
    let flags = &mut scenario.kubernetes.controller_manager_flags;
    flags.insert("node-monitor-grace-period".into(), "20s".into());
    let mut session = Session::new(scenario).unwrap();
    session.seek(Timestamp::from_secs(40));
    let link = fragment(&session, Some(&Selection::Node("worker-1".into())));
    let (clear, hash) = link.split_once("&h=").unwrap();
    assert_eq!(
        clear,
        "#s=why-345-seconds&release=1.31&--node-monitor-grace-period=20s&t=40s&x=node%20worker-1"
    );
    assert_eq!(hash.len(), 8);
}

#[test]
fn links_are_short() {
    let cluster = "
apiVersion: taintlab/v1
kind: Scenario
objects:
  nodes:
  - metadata: {name: worker-1, labels: {topology.kubernetes.io/zone: eu-1a}}
  - metadata: {name: worker-2, labels: {topology.kubernetes.io/zone: eu-1b}}
  - metadata: {name: worker-3, labels: {topology.kubernetes.io/zone: eu-1c}}
  pods:
  - {metadata: {name: web-0, namespace: shop, labels: {app: web}}, spec: &web
      {nodeName: worker-1, tolerations: [
        {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute,
          tolerationSeconds: 300},
        {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute,
          tolerationSeconds: 300}]}}
"
    .replace("&web", "");
    let mut scenario = files::scenario("cluster", &cluster).unwrap();
    let pod = scenario.objects.pods[0].clone();
    scenario.objects.pods.clear();
    for (index, name) in ["web-0", "web-1", "web-2", "db-0", "db-1", "db-2"].iter().enumerate() {
        let mut pod = pod.as_ref().clone();
        pod.metadata.name = (*name).to_owned();
        pod.metadata.labels.insert("app".into(), name.split('-').next().unwrap().into());
        pod.spec.node_name = format!("worker-{}", index % 3 + 1);
        scenario.objects.pods.push(pod.into());
    }
    let mut session = Session::new(scenario).unwrap();
    let taint = Taint::new("example.com/maintenance", "", TaintEffect::NoExecute);
    session.apply(vec![Command::Taint { node: "worker-1".into(), taint }]).unwrap();
    let small = fragment(&session, None).len();
    let mut lengths: Vec<usize> = samples::all()
        .map(|(name, _)| {
            let mut scenario = example(name);
            // The example becomes a cluster of the user's own.
            scenario.metadata.name.clear();
            fragment(&Session::new(scenario).unwrap(), None).len()
        })
        .collect();
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    println!("3 nodes and 6 pods: {small}; examples: {median}, at most {:?}", lengths.last());
    assert!(small <= 494, "{small}");
    assert!(median <= 544, "{median}");
}

#[test]
fn a_broken_link_says_what_is_broken() {
    let whole = {
        let mut own = example("default-tolerations");
        own.metadata.name.clear();
        fragment(&Session::new(own).unwrap(), None)
    };
    let pack = |json: &str| format!("#1.{}", text::base64(&compress_to_vec(json.as_bytes(), 6)));
    let pack2 = |json: &str| format!("#2.{}", text::base64(&compress_to_vec(json.as_bytes(), 6)));
    let long = format!("#2.{}", "A".repeat(MOST_ENCODED + 1));
    let bomb = pack(&" ".repeat(MOST_INFLATED + 1));
    for (link, reason) in [
        ("#s=no-such-thing", "no example is called `no-such-thing`"),
        ("#s=three-effects&release=1.2", "`release=1.2`"),
        ("#s=three-effects&t=soon", "`t=soon`"),
        ("#s=three-effects&colour=red", "`colour` means nothing in a link"),
        ("#s=three-effects&control-plane=maybe", "write `true` or `false`"),
        ("#s=three-effects&--no-such-flag=1", "no-such-flag"),
        ("#3.AAAA", "it has format 3"),
        ("#2.", "nothing stands after"),
        ("#2.%%%zzzz", "character 1, `%`, is not valid"),
        ("#1.", "nothing stands after"),
        ("#1.a*b", "character 2, `*`, is not valid"),
        ("#d=", "nothing stands after"),
        ("#d=abc&x=1", "`x` means nothing in a link to a file"),
        ("#d=abc&t=soon", "`t=soon`"),
        (&packed_file("kind: Pod\n"), "`apiVersion` is missing"),
        (&packed_file("{apiVersion: taintlab/v1, kind: Scenario, objects: 5}"), "objects"),
        (long.as_str(), "16384 is the most"),
        (bomb.as_str(), "limit"),
        (&pack2("{\"s\":{\"objects\":{\"nodes\":[]}}}"), "a list of objects"),
        (&pack2("\u{1}"), "is not known"),
        (&pack2("{}"), "its `s`, the cluster, is missing"),
        (&pack("7"), "what is packed in it"),
        (&pack("{}"), "its `s`, the cluster, is missing"),
        (&pack("{\"s\":{\"kind\":\"Pod\"}}"), "Pod"),
        (&pack("{\"s\":{},\"e\":[{\"at\":\"1s\",\"commands\":[{\"x\":1}]}]}"), "`x`"),
    ] {
        let error = open(link).err().unwrap_or_else(|| panic!("{link} opens"));
        assert!(error.contains(reason), "{link}: {error}");
    }
    assert!(open(whole.get(..whole.len() - 9).unwrap()).is_err());
    assert!(open(&whole).is_ok());
    for other in ["", "#", "#board", "#a.b", "#.", "#one.two"] {
        assert_eq!(parse(other), Ok(None), "{other}");
    }
}

/// Thousands of edits that are alike deflate to a link of some thousand characters, which nobody
/// could open.
#[test]
fn a_link_that_nobody_could_unpack_is_refused() {
    let tainted = |example: &str, own: bool, taints: usize| {
        let mut start = self::example(example);
        if own {
            start.metadata.name.clear();
        }
        let edit = |number: usize| Edit {
            at: Span(std::time::Duration::from_secs(1)),
            commands: vec![Command::Taint {
                node: "worker-1".into(),
                taint: Taint::new("example.com/x", &number.to_string(), TaintEffect::NoSchedule),
            }],
        };
        Session::resume(start, (0..taints).map(edit).collect(), Timestamp::ZERO).unwrap()
    };
    for own in [false, true] {
        let few = tainted("why-345-seconds", own, 50);
        assert!(open(&fragment(&few, None)).is_ok());
        let many = tainted("why-345-seconds", own, 6_000);
        let error = write(&many, None).unwrap_err();
        assert!(error.contains("and 524288 is the most that opens"), "{error}");
    }
}

/// One link of each format that was ever released is read forever.
#[test]
fn links_of_every_format_are_read() {
    let worker = || Some(Selection::Node("worker-1".into()));
    let why = "Why 345 seconds and not 300?";
    for (link, title, edits, selection) in [
        (include_str!("fixtures/1.txt"), "Fixture", 1, worker()),
        (include_str!("fixtures/2.txt"), "Fixture", 1, worker()),
        (include_str!("fixtures/1-example.txt"), why, 1, worker()),
        // In a scenario file, the edits are steps.
        (include_str!("fixtures/d.txt"), "Fixture of a file", 0, None),
    ] {
        let opened = open(link.trim()).unwrap();
        let start = &opened.session.timeline().start;
        assert_eq!(start.metadata.title, title);
        assert_eq!(opened.session.simulator().config().release.to_string(), "1.31");
        assert_eq!(opened.session.now(), Timestamp::from_secs(50));
        assert_eq!(edits_of(&opened.session).len(), edits);
        assert_eq!(opened.selection, selection);
    }
}

#[test]
fn a_link_from_another_computation_says_so() {
    let mut session = Session::new(example("why-345-seconds")).unwrap();
    session.seek(Timestamp::from_secs(400));
    let link = fragment(&session, None);
    let is_other = |link: &str| {
        let opened = open(link).unwrap();
        differs(&opened.session, &opened.hash)
    };
    assert!(!is_other(&link));
    let (before, hash) = link.split_once("&h=").unwrap();
    let other = if hash.starts_with('0') { "1" } else { "0" };
    assert!(is_other(&format!("{before}&h={other}{}", hash.get(1..).unwrap())));
}

const SECRET: &str = "
apiVersion: taintlab/v1
kind: Scenario
metadata: {title: Of acme}
start: 2026-01-01T00:00:00Z
kubernetes:
  descheduler: {excludedTaints: [acme.com/gpu=acme, acme.com/other]}
  autoscaler:
    nodeGroups:
    - name: acme-pool
      maxSize: 3
      template:
        metadata: {labels: {acme.com/pool: acme-a}}
        spec: {taints: [{key: acme.com/gpu, value: acme, effect: NoSchedule}]}
objects:
  nodes:
  - metadata:
      name: acme-node-a
      labels: {acme.com/team: red, kubernetes.io/hostname: acme-node-a, disk: acme-ssd,
        topology.kubernetes.io/zone: acme-zone}
      annotations: {acme.com/note: hello}
    spec: {taints: [{key: acme.com/gpu, value: acme, effect: NoSchedule}]}
  - metadata:
      name: acme-node-b
      uid: acme-uid
      creationTimestamp: 2025-03-04T05:06:07Z
      labels: {disk: acme-ssd}
      ownerReferences: [{apiVersion: karpenter.sh/v1, kind: NodeClaim, name: acme-claim, uid: u}]
  pods:
  - metadata:
      name: acme-web-0
      namespace: acme-shop
      labels: {app: acme-web, tier: acme-front}
      ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: acme-web, uid: u,
        controller: true}]
    spec:
      nodeName: acme-node-a
      nodeSelector: {disk: acme-ssd}
      serviceAccountName: acme-account
      tolerations: [{key: acme.com/gpu, value: acme, effect: NoSchedule}]
      containers: [{name: acme-app, image: acme.com/web, env: [{name: P, value: acme-secret}]}]
      volumes: [{name: acme-v, secret: {secretName: acme-s}}]
  - metadata: {name: acme-bare, namespace: acme-shop}
    spec: {nodeName: acme-node-b}
  - metadata:
      name: acme-api-7d4b9c6f5-x2x8p
      namespace: acme-shop
      uid: acme-uid-2
      creationTimestamp: 2025-03-04T05:06:07Z
      labels: {app: acme-api, pod-template-hash: 7d4b9c6f5}
      ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: acme-api-7d4b9c6f5,
        uid: acme-uid-3, controller: true}]
    spec: {nodeName: acme-node-b}
  workloads:
  - apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: acme-web, namespace: acme-shop}
    spec:
      replicas: 1
      selector: {matchLabels: {app: acme-web}}
      template:
        metadata: {labels: {app: acme-web}}
        spec: {containers: [{name: acme-app, image: acme.com/web}]}
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: acme-api, namespace: acme-shop, uid: acme-uid-4}
    spec:
      replicas: 1
      selector: {matchLabels: {app: acme-api}}
      template:
        metadata: {labels: {app: acme-api}}
        spec: {containers: [{name: acme-app, image: acme.com/api}]}
  - apiVersion: apps/v1
    kind: ReplicaSet
    metadata:
      name: acme-api-7d4b9c6f5
      namespace: acme-shop
      uid: acme-uid-3
      labels: {app: acme-api, pod-template-hash: 7d4b9c6f5}
      ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: acme-api, uid: acme-uid-4,
        controller: true}]
    spec:
      replicas: 1
      selector: {matchLabels: {app: acme-api, pod-template-hash: 7d4b9c6f5}}
      template:
        metadata: {labels: {app: acme-api, pod-template-hash: 7d4b9c6f5}}
        spec: {containers: [{name: acme-app, image: acme.com/api}]}
  budgets:
  - metadata: {name: acme-budget, namespace: acme-shop}
    spec: {minAvailable: 1, selector: {matchLabels: {app: acme-web}}}
  others:
  - {apiVersion: v1, kind: Secret, metadata: {name: acme-s}, data: {a: YWNtZQ==}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: acme-c}, data: {a: acme-data}}
bookmarks:
- {at: 1s, note: acme is down, select: node acme-node-a}
steps:
- {at: 1s, do: {stopKubelet: {node: acme-node-a}}}
- {at: 2s, do: {evictPod: {pod: acme-shop/acme-bare}}}
- {at: 3s, do: {scale: {workload: statefulset/acme-shop/acme-web, replicas: 2}}}
";

#[test]
fn hidden_names_are_in_no_link_and_everything_still_fits() {
    let scenario = files::scenario("secret", SECRET).unwrap();
    let taint = Taint::new("acme.com/gpu", "acme", TaintEffect::NoExecute);
    let edits = vec![Edit {
        at: Span(std::time::Duration::from_secs(400)),
        commands: vec![Command::Taint { node: "acme-node-b".into(), taint }],
    }];
    let (start, hidden) = hide_names(&scenario, &edits).unwrap();
    let until = Timestamp::from_secs(500);
    let session = Session::resume(start, hidden, until).unwrap();
    assert!(!written(&session).contains("acme"));
    let json = serde_json::to_string(&*session.timeline().start).unwrap();
    let told = ["acme", "7d4b9c6f5", "x2x8p", "NodeClaim", "karpenter", "2025-03", "2026-01"];
    for word in told {
        assert!(!json.contains(word), "{word}: {json}");
    }
    for wanted in
        ["node-1", "node-2", "statefulset-1-0", "ns-1", "budget-1", "pod-1", "zone-1", "owner-1"]
    {
        assert!(json.contains(wanted), "{wanted}: {json}");
    }
    assert!(json.contains("\"deployment-1-h1-p1\""), "{json}");
    // The same events happen, under other names: matches have not changed.
    let before = Session::resume(scenario, edits, until).unwrap();
    let shape = |session: &Session| -> Vec<(Timestamp, String)> {
        let rows = session.rows().iter().filter_map(|row| match &row.kind {
            RowKind::Happened(what) => {
                let json = serde_json::to_string(what).unwrap();
                Some((row.at, json.split(',').next().unwrap().to_owned()))
            }
            RowKind::Skipped { error, .. } => panic!("{error}"),
            _ => None,
        });
        rows.collect()
    };
    assert_eq!(shape(&session), shape(&before));
    assert_same(&session, None);
}

/// The packed part of a link, with whole words.
fn written(session: &Session) -> String {
    words::lengthen(&write(session, None).unwrap().json.unwrap()).unwrap()
}

#[test]
fn secrets_are_in_no_link() {
    let read = files::read(SECRET, "secret", true);
    let files::Content::Scenario(scenario) = read.content else { panic!("{read:?}") };
    assert!(serde_json::to_string(&scenario).unwrap().contains("YWNtZQ"), "it was kept");
    let mut session = Session::new(*scenario).unwrap();
    // Secrets that are typed or pasted in an edit count, too.
    let text = "{apiVersion: v1, kind: Pod, metadata: {name: typed}, spec: {containers: [{name: c, \
                image: i, env: [{name: P, value: acme-typed}], args: [--token=acme-argument]}]}}";
    let files::Content::Objects(read) = files::read(text, "pod", true).content else { panic!() };
    let pod = read.pods.into_iter().next().unwrap();
    assert!(serde_json::to_string(&pod).unwrap().contains("acme-typed"), "it was kept");
    session.apply(vec![Command::CreatePod(pod)]).unwrap();
    let json = written(&session);
    assert!(json.contains("typed"), "{json}");
    for secret in ["YWNtZQ", "acme-data", "acme-secret", "acme-typed", "acme-argument"] {
        assert!(!json.contains(secret), "{secret}: {json}");
    }
}

/// The cluster may have been imported with everything.
#[test]
fn nothing_but_what_enters_is_in_a_link_and_no_name_in_a_hidden_one() {
    let marked = marked::Marked::cluster();
    let read = files::read(&marked.text(), "marked", true);
    let files::Content::Objects(read) = read.content else { panic!() };
    let start = read.into_scenario(Scenario::default());
    let entering: BTreeSet<&str> =
        include_str!("../../../tests/fields/entering.txt").lines().collect();
    let session = Session::new(start.clone()).unwrap();
    let link = written(&session);
    let found = marked.found_in(&link);
    assert!(found.len() > 100, "{found:?}");
    assert!(found.is_subset(&entering), "{:?}", found.difference(&entering));
    let file = files::shared_text(&session).unwrap();
    assert!(marked.found_in(&file).is_subset(&entering));

    let (start, edits) = hide_names(&start, &[]).unwrap();
    assert!(edits.is_empty());
    let link = written(&Session::new(start).unwrap());
    let told = |field: &&&str| {
        let last = field.rsplit('.').next().unwrap_or_default().to_lowercase();
        ["name", "uid", "key", "image", "namespace"].iter().any(|end| last.ends_with(end))
    };
    let found = marked.found_in(&link);
    assert_eq!(found.iter().filter(told).collect::<Vec<_>>(), Vec::<&&str>::new());
}

/// Names of the sample are replaced, and what its controllers do stays the same.
#[test]
fn examples_without_names_run() {
    for name in [
        "sample-cluster",
        "service-in-an-outage",
        "why-345-seconds",
        "three-effects",
        "autoscaler-after-an-outage",
        "descheduler-and-no-schedule",
        "cordon-under-a-descheduler",
        "preemption-in-an-outage",
        "volume-on-a-dead-node",
        "volume-in-another-zone",
        "volume-of-a-deployment",
        "volume-out-of-service",
        "surge-with-a-host-port",
        "gpu-fails",
        "gpu-pool-in-quarantine",
        "gpu-replacement",
        "device-toleration-in-the-wrong-place",
    ] {
        let scenario = example(name);
        let (start, _) = hide_names(&scenario, &[]).unwrap();
        let mut hidden = Session::new(start).unwrap();
        let mut session = Session::new(scenario).unwrap();
        for session in [&mut hidden, &mut session] {
            session.seek(Timestamp::from_secs(1_000));
        }
        let gone =
            |session: &Session| -> Vec<_> { session.gone().iter().map(|it| it.at).collect() };
        assert_eq!(gone(&hidden), gone(&session), "{name}");
        let ready = |session: &Session| {
            let pods = session.simulator().cluster().pods();
            pods.filter(|(_, pod)| pod.is_ready_replica()).count()
        };
        assert_eq!(ready(&hidden), ready(&session), "{name}");
        let nodes = |session: &Session| session.simulator().cluster().nodes().count();
        assert_eq!(nodes(&hidden), nodes(&session), "{name}");
        assert_same(&hidden, None);
    }
}
