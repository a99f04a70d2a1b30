//! An edge that is dragged, or moved by the arrow keys.

use wasm_bindgen::JsCast;
use web_sys::{Element, PointerEvent};
use yew::prelude::*;

/// The distance that an arrow key moves the edge, in pixels.
const STEP: i32 = 16;

/// Properties of [`Splitter`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct SplitterProps {
    /// The label, which names the size that the edge changes.
    pub(crate) label: &'static str,
    /// The present size, in pixels.
    pub(crate) value: i32,
    /// The smallest and the largest size, in pixels.
    pub(crate) range: (i32, i32),
    /// Whether it is an upper edge, which moves up to enlarge; otherwise a right edge, which moves
    /// right.
    #[prop_or_default]
    pub(crate) upper: bool,
    /// Receives the new size, in pixels.
    pub(crate) onchange: Callback<i32>,
}

/// An edge that is dragged, or moved by the arrow keys.
#[component]
pub(crate) fn Splitter(props: &SplitterProps) -> Html {
    // The position where the pointer was pressed, and the size at that moment.
    let pressed = use_mut_ref(|| None::<(i32, i32)>);
    let (least, most) = props.range;
    let place = |upper: bool, event: &PointerEvent| {
        if upper { -event.client_y() } else { event.client_x() }
    };
    let upper = props.upper;
    let onpointerdown = {
        let (pressed, value) = (pressed.clone(), props.value);
        Callback::from(move |event: PointerEvent| {
            event.prevent_default();
            let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
            if let Some(target) = target {
                // Without the capture, the edge merely stops following a pointer that leaves it.
                let _ = target.set_pointer_capture(event.pointer_id());
            }
            *pressed.borrow_mut() = Some((place(upper, &event), value));
        })
    };
    let onpointermove = {
        let (pressed, onchange) = (pressed.clone(), props.onchange.clone());
        Callback::from(move |event: PointerEvent| {
            if let Some((from, value)) = *pressed.borrow() {
                onchange.emit((value + place(upper, &event) - from).clamp(least, most));
            }
        })
    };
    let onpointerup = Callback::from(move |_: PointerEvent| *pressed.borrow_mut() = None);
    let onkeydown = {
        let (onchange, value) = (props.onchange.clone(), props.value);
        Callback::from(move |event: KeyboardEvent| {
            let to = match event.key().as_str() {
                "ArrowUp" if upper => value + STEP,
                "ArrowDown" if upper => value - STEP,
                "ArrowRight" if !upper => value + STEP,
                "ArrowLeft" if !upper => value - STEP,
                "Home" => least,
                "End" => most,
                _ => return,
            };
            event.prevent_default();
            event.stop_propagation();
            onchange.emit(to.clamp(least, most));
        })
    };
    html! {
        <span class="splitter" role="separator" tabindex="0" aria-label={props.label}
            title={format!("{}: drag it, or use the arrow keys", props.label)}
            aria-orientation={if upper { "horizontal" } else { "vertical" }}
            aria-valuenow={props.value.to_string()} aria-valuemin={least.to_string()}
            aria-valuemax={most.to_string()}
            {onpointerdown} {onpointermove} onpointerup={onpointerup.clone()}
            onpointercancel={onpointerup} {onkeydown}></span>
    }
}
