//! The animation of pods: a pod that takes the place of another one flies from there to its own
//! place.
//!
//! The flights are only for the eye: they begin after the page was painted, and nothing waits for
//! them.

use std::rc::Rc;

use js_sys::{Array, Function, Object, Reflect};
use taintlab_core::api::PodKey;
use taintlab_core::order::OrderedMap;
use taintlab_core::pod_state::{PodState, PodVerdict};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::Element;

use crate::browser;
use crate::view_models::board::{Board, PodView};

/// Flights at the same time at most: more are a crowd in which nobody sees anything.
const MOST: usize = 24;
/// The duration of a flight, in milliseconds.
const DURATION: f64 = 450.0;

/// Places from which pods fly when the page is painted.
#[derive(Default)]
pub(crate) struct PodAnimation(Vec<(PodKey, f64, f64)>);

impl PodAnimation {
    /// Records these places before the page is painted: for a pod that got a node, where it waited;
    /// for a new pod, the place of one with the same owner that leaves.
    pub(crate) fn record(&mut self, old: &Board, new: &Board) {
        if browser::wants_less_motion() {
            return;
        }
        let (old, new) = (pods(old), pods(new));
        let mut leaving: Vec<_> =
            old.values().filter(|pod| !pod.owner.is_empty() && leaves(pod, &new)).collect();
        for (key, pod) in &new {
            let from = match old.get(key) {
                Some(before) if before.node != pod.node => key,
                Some(_) => continue,
                None => {
                    let same = |gone: &&Rc<PodView>| gone.owner == pod.owner;
                    let Some(place) = leaving.iter().position(same) else { continue };
                    &leaving.remove(place).key
                }
            };
            if let Some(element) = pod_element(from).filter(|_| self.0.len() < MOST) {
                let place = element.get_bounding_client_rect();
                self.0.push((key.clone(), place.left(), place.top()));
            }
        }
    }

    /// Lets the pods fly, now that the page is painted.
    pub(crate) fn play(&mut self) {
        for (key, left, top) in std::mem::take(&mut self.0) {
            let Some(element) = pod_element(&key) else { continue };
            let place = element.get_bounding_client_rect();
            let (x, y) = (left - place.left(), top - place.top());
            let frames = Array::of2(
                &object(&[
                    ("transform", format!("translate({x:.0}px, {y:.0}px)").into()),
                    ("opacity", 0.35.into()),
                ]),
                &object(&[("transform", "none".into()), ("opacity", 1.into())]),
            );
            let options = object(&[
                ("duration", DURATION.into()),
                ("easing", "cubic-bezier(.3, .8, .3, 1)".into()),
            ]);
            // By name: the bindings have no stable form of it. A browser without it shows no
            // flight.
            let animate = Reflect::get(&element, &"animate".into()).unwrap_or_default();
            if let Some(animate) = animate.dyn_ref::<Function>() {
                let _ = animate.call2(&element, &frames, &options);
            }
        }
    }
}

/// The pods of a board, by key.
fn pods(board: &Board) -> OrderedMap<PodKey, Rc<PodView>> {
    let nodes = board.zones.iter().flat_map(|zone| &zone.nodes);
    let pods = nodes.flat_map(|node| &node.pods).chain(&board.pending);
    pods.map(|pod| (pod.key.clone(), pod.clone())).collect()
}

/// Whether a pod that was there has been deleted since.
fn leaves(pod: &PodView, new: &OrderedMap<PodKey, Rc<PodView>>) -> bool {
    let going =
        |state: PodState| matches!(state.verdict, PodVerdict::Terminating | PodVerdict::Stuck);
    !going(pod.state) && new.get(&pod.key).is_none_or(|now| going(now.state))
}

fn pod_element(pod: &PodKey) -> Option<Element> {
    // Names of pods have no character that would have to be escaped.
    let selector = format!("[data-pod=\"{pod}\"]:not([data-state=gone])");
    browser::document()?.query_selector(&selector).ok().flatten()
}

fn object(fields: &[(&str, JsValue)]) -> Object {
    let object = Object::new();
    for (name, value) in fields {
        // Setting a field of a fresh object cannot fail.
        let _ = Reflect::set(&object, &(*name).into(), value);
    }
    object
}
