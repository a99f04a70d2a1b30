//! The HTML of components that carry meaning, rendered natively.

use taintlab_core::api::{Node, Pod, PodKey, Taint, TaintEffect, Toleration, TolerationOperator};
use taintlab_core::command::Command;
use taintlab_core::lanes::LaneState;
use taintlab_core::policy::admission::default_tolerations;
use taintlab_core::scenario::Scenario;
use taintlab_core::time::Timestamp;
use yew::LocalServerRenderer;
use yew::prelude::*;

use crate::components::board::node_card::{NodeCard, NodeCardProps};
use crate::components::dialogs::export::export;
use crate::components::log::row::event_row;
use crate::components::panels::pod::why::why;
use crate::components::parts::diagnostics::diagnostics;
use crate::components::parts::forms::{TextField, TextFieldProps};
use crate::components::parts::pod_mark::{pod_row, timer_style};
use crate::components::parts::severity::warnings_button;
use crate::components::parts::toleration_editor::{Draft, drafts, errors_of_new, read};
use crate::files;
use crate::session::{RowKind, Session};
use crate::view_models::board::BoardModel;
use crate::view_models::board::density::Detail;
use crate::view_models::display;
use crate::view_models::log::LogRow;
use crate::view_models::names::Shared;
use crate::view_models::selection::Selection;

async fn html<C>(props: C::Properties) -> String
where
    C: BaseComponent,
{
    let local = tokio::task::LocalSet::new();
    local.run_until(LocalServerRenderer::<C>::with_props(props).hydratable(false).render()).await
}

#[derive(Clone, PartialEq, Properties)]
struct PaintedProps {
    children: Html,
}

#[component]
fn Painted(props: &PaintedProps) -> Html {
    props.children.clone()
}

async fn painted(children: Html) -> String {
    html::<Painted>(PaintedProps { children }).await
}

/// Node `n` and its pods, with tolerations for ten seconds, forever, and none.
fn session() -> Session {
    let mut scenario = Scenario::default();
    let mut node = Node::default();
    node.metadata.name = "n".into();
    scenario.objects.nodes.push(node.into());
    for (name, seconds) in [("ten", Some(Some(10))), ("ever", Some(None)), ("bare", None)] {
        let mut pod = Pod::default();
        pod.metadata.name = name.into();
        pod.spec.node_name = "n".into();
        pod.spec.tolerations.extend(seconds.map(|toleration_seconds| Toleration {
            key: "k".into(),
            operator: TolerationOperator::Exists,
            effect: TaintEffect::NoExecute,
            toleration_seconds,
            ..Toleration::default()
        }));
        scenario.objects.pods.push(pod.into());
    }
    Session::new(scenario).unwrap()
}

fn tainted() -> (Session, BoardModel) {
    let mut session = session();
    let taint = Taint::new("k", "", TaintEffect::NoExecute);
    session.apply(vec![Command::Taint { node: "n".into(), taint }]).unwrap();
    session.seek(Timestamp::from_secs(4));
    let mut model = BoardModel::default();
    model.update(&mut session);
    (session, model)
}

fn pod(name: &str) -> PodKey {
    PodKey::new("", name)
}

#[tokio::test(flavor = "current_thread")]
async fn a_pod_says_its_state_in_words_and_in_attributes() {
    let (_, model) = tainted();
    let row = |name| pod_row(model.pod(&pod(name)).unwrap(), false, None);
    let counting = painted(row("ten")).await;
    assert!(counting.contains("data-state=\"counting\""), "{counting}");
    let timer = |name| timer_style(model.pod(&pod(name)).unwrap().state);
    assert_eq!(timer("ten").as_deref(), Some("--since:0.000;--total:10.000"));
    assert!(counting.contains("deleted at 10s"), "{counting}");
    let stays = painted(row("ever")).await;
    assert!(stays.contains("data-state=\"stays\""), "{stays}");
    assert_eq!(timer("ever"), None);
    let terminating = painted(row("bare")).await;
    assert!(terminating.contains("being deleted, gone at 30s"), "{terminating}");
}

#[tokio::test(flavor = "current_thread")]
async fn a_node_shows_taints_and_pods_and_marks_the_selection() {
    let (_, model) = tainted();
    let selection = Some(Selection::Pod(pod("ten")));
    let props = |detail| NodeCardProps {
        names: Shared::default(),
        dispatch: Callback::noop(),
        node: model.node("n").unwrap().clone(),
        detail,
        marked: Default::default(),
        selection: selection.clone(),
    };
    let full = html::<NodeCard>(props(Detail::Full)).await;
    assert!(full.contains("data-node=\"n\"") && full.contains("data-tainted=\"true\""), "{full}");
    assert!(full.contains("title=\"k:NoExecute\""), "{full}");
    assert_eq!(full.matches("data-pod=").count(), 3, "{full}");
    assert_eq!(full.matches("data-selected=\"true\"").count(), 1, "{full}");
    let row = html::<NodeCard>(props(Detail::Rows)).await;
    assert_eq!(row.matches("class=\"tally\"").count(), 3, "{row}");
    assert_eq!(row.matches("<button").count(), 1, "{row}");
}

#[tokio::test(flavor = "current_thread")]
async fn why_shows_which_toleration_answered_and_why_others_did_not() {
    let (session, _) = tainted();
    let explained = |name| why(&session.simulator().explain(&pod(name)).unwrap());
    let why = painted(explained("ten")).await;
    assert!(why.contains("data-answered=\"true\""), "{why}");
    assert!(why.contains("data-outcome=\"used\""), "{why}");
    assert!(why.contains("k:NoExecute op=Exists for 10s"), "{why}");
    let why = painted(explained("bare")).await;
    assert!(why.contains("data-answered=\"false\""), "{why}");
    assert!(why.contains("The pod has no tolerations"), "{why}");
}

#[tokio::test(flavor = "current_thread")]
async fn a_log_row_shows_the_kubernetes_event() {
    let (session, _) = tainted();
    let marked = session.rows().iter().find(|row| match &row.kind {
        RowKind::Happened(what) => format!("{what:?}").contains("EventRecorded"),
        _ => false,
    });
    let selection = Selection::Pod(pod("bare"));
    let marked = marked.unwrap();
    let marked = LogRow { at: marked.at, later: false, current: true, text: display::row(marked) };
    let row = event_row(&marked, 26, Some(&selection), Shared::default(), true, &Callback::noop());
    let row = painted(row).await;
    for part in [
        "TaintManagerEviction",
        "Marking for deletion Pod default/bare",
        "pod/default/bare",
        "taint-eviction-controller",
        "data-selected=\"true\"",
    ] {
        assert!(row.contains(part), "{part}: {row}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn errors_stand_beside_their_field() {
    let mut typed = drafts(&default_tolerations());
    typed[1].toleration.key = "no spaces please".into();
    let options = session().simulator().validation_options();
    let errors = errors_of_new(&typed, &options);
    let errors = super::parts::forms::messages(&errors, "tolerations[1].key");
    assert_eq!(errors.len(), 1);
    assert!(errors[0].starts_with("Invalid value: \"no spaces please\""), "{}", errors[0]);
    let props = yew::props!(TextFieldProps {
        label: "Key",
        value: "no spaces please",
        oninput: Callback::noop(),
        errors: errors,
    });
    let field = html::<TextField>(props).await;
    assert!(field.contains("aria-invalid=\"true\""), "{field}");
    assert!(field.contains("class=\"error\""), "{field}");
}

#[test]
fn seconds_are_whole_numbers_or_nothing() {
    let draft = |seconds: &str| Draft { seconds: seconds.into(), ..Draft::default() };
    let seconds = |text: &str| read(&[draft(text)]).map(|read| read[0].toleration_seconds);
    assert_eq!(seconds(""), Some(None));
    assert_eq!(seconds(" 300 "), Some(Some(300)));
    assert_eq!(seconds("-1"), Some(Some(-1)));
    assert_eq!(seconds("300s"), None);
}

#[tokio::test(flavor = "current_thread")]
async fn diagnostics_name_the_place_the_field_and_the_severity() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  tolerations:\n  \
        - {key: k, operator: Exists, effect: NoExecute, tolerationSeconds: 300s}\n";
    let shown =
        painted(diagnostics(&files::read(text, "cluster.yaml", false).diagnostics, None)).await;
    assert!(shown.contains("cluster.yaml:6:"), "{shown}");
    assert!(shown.contains("spec.tolerations[0].tolerationSeconds"), "{shown}");
    assert!(shown.contains("data-severity=\"error\""), "{shown}");
}

#[tokio::test(flavor = "current_thread")]
async fn the_warnings_button_counts_in_singular_and_plural() {
    let said = |html: &str, words: &str| assert!(html.contains(words), "{html}");
    let one = painted(warnings_button([0, 1, 0], &Callback::noop())).await;
    said(&one, "title=\"Warnings (W): 1 warning\"");
    let many = painted(warnings_button([1, 0, 1], &Callback::noop())).await;
    said(&many, "title=\"Warnings (W): 1 critical warning, 1 note\"");
}

#[tokio::test(flavor = "current_thread")]
async fn the_export_for_apply_tells_what_it_leaves_out() {
    let dialog = painted(export(&Callback::noop())).await;
    let (_, apply) = dialog.split_once("data-export=\"Apply\"").unwrap();
    let (apply, _) = apply.split_once("data-export").unwrap();
    for part in ["status, UIDs", "values of environment variables, commands, Secrets"] {
        assert!(apply.contains(part), "{part}: {apply}");
    }
}

/// A state without a pattern could be told only by its colour.
#[test]
fn every_state_of_lanes_is_in_the_style_sheet() {
    let styles = include_str!("../../styles/lanes.css");
    for state in LaneState::ALL {
        let rule = format!(".lbar[data-state=\"{}\"] {{", state.as_str());
        let (_, rest) = styles.split_once(&rule).unwrap_or((styles, "}"));
        let (rule, _) = rest.split_once('}').unwrap();
        // Ready is plain.
        assert!(rule.contains("--p:") || state == LaneState::Ready, "{state:?}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn lanes_and_board_are_exported_as_svg_and_png() {
    let dialog = painted(export(&Callback::noop())).await;
    for what in ["Lanes", "Board"] {
        let (_, item) = dialog.split_once(&format!("data-export=\"{what}\"")).unwrap();
        let (item, _) = item.split_once("data-export").unwrap();
        assert!(item.contains("SVG") && item.contains("PNG"), "{item}");
    }
}
