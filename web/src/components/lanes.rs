//! The lanes: the states of each object over time, one row per object over a common axis.
//!
//! The lanes are few elements, not a canvas. Only rows near those in sight have elements, and of a
//! row only the states with a pixel of their own: some hundreds at most, however large the cluster
//! is. So the drawing is its own accessible counterpart (a grid whose cells say in words what the
//! bars show), follows the colours of the page, of high contrast and of the zoom by itself, and can
//! be searched, printed and tested like the rest of the page.
//!
//! Yew does not make the rows themselves; [`rows`] does.

mod details;
mod pointer;
pub(crate) mod rows;

use std::collections::BTreeMap;
use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions};
use gloo_render::{AnimationFrame, request_animation_frame};
use gloo_timers::callback::Timeout;
use taintlab_core::lanes::LaneState;
use taintlab_core::time::Timestamp;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlInputElement, PointerEvent, WheelEvent};
use yew::prelude::*;

use self::details::details;
use self::pointer::{Drag, Pointers};
use self::rows::Rows;
use crate::browser::Resized;
use crate::components::pane::panel;
use crate::components::parts::style::style;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::view_models::lanes::{
    ForecastState, Frame, LaneBar, LanesMsg, LanesView, Picture, moment, nanos,
};
use crate::view_models::names::Shared;
use crate::view_models::pane::PaneTab;

/// The height of a row in pixels, as in the style sheet.
const ROW: usize = 24;
/// The number of rows to which the reported range is rounded, so that not every pixel of scrolling
/// is reported.
const STEP: usize = 8;
/// The distance below which a movement of the pointer counts as a press, not a drag, in pixels.
const STILL: f64 = 5.0;
/// The time after which a resting finger peeks at a moment, as a mouse does, in milliseconds.
const HOLD: u32 = 400;

/// Properties of [`Lanes`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct LanesProps {
    /// Whether the lanes are in sight.
    pub(crate) open: bool,
    /// The prefix and suffix that all node names share.
    pub(crate) names: Shared,
    /// The rows in sight, the filters and the choice.
    pub(crate) view: Rc<LanesView>,
    /// The moment that is peeked at, if any.
    pub(crate) peek: Option<Timestamp>,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// Messages of the lanes.
pub(crate) enum Act {
    /// A finger has rested.
    Held(i32),
    /// A context menu was requested, perhaps by a finger that rests.
    Menu(MouseEvent),
    /// The rows were scrolled or resized.
    Scrolled,
    /// A new frame has time for more rows out of sight.
    More,
    /// A pointer was pressed.
    Down(PointerEvent),
    /// A pointer was moved.
    Moved(PointerEvent),
    /// A pointer was released.
    Up(PointerEvent),
    /// The browser took a pointer over, or the pointer left while pressed.
    Cancelled(PointerEvent),
    /// A pointer left without being pressed.
    Left,
    /// The wheel was turned.
    Wheel(WheelEvent),
    /// A row was clicked.
    Click(MouseEvent),
    /// Toggle the measuring of areas by dragging, with any pointer.
    Measure,
}

/// The lanes.
pub(crate) struct Lanes {
    rows: NodeRef,
    axis: NodeRef,
    /// The pinned rows, and those that scroll.
    groups: [(NodeRef, Rows); 2],
    pointers: Pointers,
    /// The first row in sight below the pinned ones, the number of rows, and the width of the
    /// tracks.
    sight: (usize, usize, u32),
    /// The rows last requested: the first one, their number, and the width of the tracks.
    asked: (usize, usize, u32),
    cursor: usize,
    wheel: Option<EventListener>,
    resized: Option<Resized>,
    more: Option<AnimationFrame>,
    hold: Option<Timeout>,
    /// Whether the pointer peeks at a moment.
    points: bool,
    /// Whether dragging chooses an area, also by touch.
    measures: bool,
}

impl Component for Lanes {
    type Message = Act;
    type Properties = LanesProps;

    fn create(_: &Context<Self>) -> Self {
        Self {
            rows: NodeRef::default(),
            axis: NodeRef::default(),
            groups: Default::default(),
            pointers: Pointers::default(),
            sight: (0, 0, 0),
            asked: (0, 0, 0),
            cursor: 0,
            wheel: None,
            resized: None,
            more: None,
            hold: None,
            points: false,
            measures: false,
        }
    }

    fn update(&mut self, ctx: &Context<Self>, act: Act) -> bool {
        match act {
            Act::Scrolled => {
                self.look();
                self.show_rows(ctx);
                self.ask(ctx);
                false
            }
            Act::More => {
                self.show_rows(ctx);
                false
            }
            Act::Measure => {
                self.measures = !self.measures;
                true
            }
            Act::Wheel(event) => {
                self.turned(ctx, &event);
                false
            }
            Act::Click(event) => {
                self.clicked(ctx, &event);
                false
            }
            Act::Left => {
                if self.pointers.none() {
                    self.point(ctx, None);
                }
                false
            }
            Act::Down(event) => self.down(ctx, &event),
            Act::Moved(event) => self.moved(ctx, &event),
            Act::Up(event) => self.up(ctx, &event),
            Act::Held(id) => {
                self.held(ctx, id);
                false
            }
            Act::Menu(event) => {
                if self.pointers.holds() {
                    event.prevent_default();
                }
                false
            }
            Act::Cancelled(event) => {
                self.hold = None;
                let drag = self.pointers.up(event.pointer_id());
                if drag.is_some_and(|drag| drag.holds) {
                    self.point(ctx, None);
                }
                drag.is_some()
            }
        }
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let props = ctx.props();
        let (id, tab) = panel(PaneTab::Lanes);
        html! {
            <section class="view lanes" role="tabpanel" {id} aria-labelledby={tab}
                data-testid={TestId::Lanes} hidden={!props.open}>
                { self.bar(ctx) }
                if props.open {
                    <div class="viewbody">
                        { self.grid(ctx) }
                        { details(props) }
                    </div>
                }
            </section>
        }
    }

    fn rendered(&mut self, ctx: &Context<Self>, _: bool) {
        let Some(rows) = self.rows.cast::<Element>() else {
            (self.wheel, self.resized, self.more) = (None, None, None);
            self.asked = (0, 0, 0);
            return;
        };
        if self.wheel.is_none() {
            // Without this the browser zooms the page.
            let options = EventListenerOptions::enable_prevent_default();
            let link = ctx.link().clone();
            self.wheel = rows.parent_element().map(|frame| {
                EventListener::new_with_options(&frame, "wheel", options, move |event| {
                    if let Some(event) = event.dyn_ref::<WheelEvent>() {
                        link.send_message(Act::Wheel(event.clone()));
                    }
                })
            });
        }
        if self.resized.is_none() {
            let link = ctx.link().clone();
            self.resized = Resized::always(&rows, move || link.send_message(Act::Scrolled));
            self.look();
        }
        self.show_rows(ctx);
        if self.cursor != ctx.props().view.cursor {
            self.cursor = ctx.props().view.cursor;
            self.show_row(&rows, ctx.props());
        }
        self.ask(ctx);
    }
}

fn send(ctx: &Context<Lanes>, msg: LanesMsg) {
    ctx.props().dispatch.emit(Msg::Lanes(msg));
}

fn pixels(number: i32) -> usize {
    usize::try_from(number).unwrap_or_default()
}

impl Lanes {
    /// Reads which rows are in sight. Call it only when that may have changed: after rows were
    /// made, the browser would have to lay them out to answer.
    fn look(&mut self) {
        let Some(rows) = self.rows.cast::<Element>() else { return };
        let width = self.axis.cast::<Element>().map_or(0, |axis| axis.client_width());
        self.sight = (
            pixels(rows.scroll_top()) / ROW,
            pixels(rows.client_height()) / ROW + 2,
            u32::try_from(width).unwrap_or_default(),
        );
    }

    /// Requests the rows in sight, and as many above and below.
    fn ask(&mut self, ctx: &Context<Self>) {
        let (first, many, width) = self.sight;
        let (first, many) = (first / STEP * STEP, many.next_multiple_of(STEP));
        let from = ctx.props().view.window.pinned + first.saturating_sub(many);
        let asked = (from, 3 * many, width);
        if self.asked != asked {
            self.asked = asked;
            send(ctx, LanesMsg::Look(asked.0, asked.1, asked.2));
        }
    }

    /// Updates the rows of both groups.
    fn show_rows(&mut self, ctx: &Context<Self>) {
        let view = &ctx.props().view;
        let window = &view.window;
        let pins = window.rows.partition_point(|row| row.pinned);
        let (pins, others) = window.rows.split_at_checked(pins).unwrap_or_default();
        let first = window.pinned + self.sight.0;
        let shown =
            [(pins, 0, 0..usize::MAX), (others, window.pinned, first..first + self.sight.1)];
        let mut done = true;
        for ((node, group), (rows, first, sight)) in self.groups.iter_mut().zip(shown) {
            if let Some(element) = node.cast::<Element>() {
                let names = ctx.props().names;
                done &= group.show(&element, rows, (view.cursor, first), &sight, names);
            }
        }
        let link = ctx.link().clone();
        self.more = (!done).then(|| request_animation_frame(move |_| link.send_message(Act::More)));
    }

    /// Runs the action of a row's button.
    fn clicked(&self, ctx: &Context<Self>, event: &MouseEvent) {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let closest = |selector: &str| target.as_ref()?.closest(selector).ok().flatten();
        let msg = closest("[data-act]").zip(closest(".lane")).and_then(|(button, lane)| {
            let place = lane.id().strip_prefix("lane-")?.parse::<usize>().ok()?;
            let mut rows = ctx.props().view.window.rows.iter();
            let row = rows.find(|row| row.place == place)?;
            rows::act(&button.get_attribute("data-act")?, row.subject.clone())
        });
        if let Some(msg) = msg {
            // The button may disappear with its row; the focus on the rows also enables their keys.
            self.focus();
            send(ctx, msg);
        }
    }

    fn focus(&self) {
        if let Some(rows) = self.rows.cast::<web_sys::HtmlElement>() {
            let _ = rows.focus();
        }
    }

    /// Scrolls just far enough to bring the cursor's row into sight.
    fn show_row(&self, rows: &Element, props: &LanesProps) {
        let Some(place) = self.cursor.checked_sub(props.view.window.pinned) else { return };
        let top = ROW * place;
        let pins = ROW * props.view.window.pinned;
        let (seen, height) = (pixels(rows.scroll_top()), pixels(rows.client_height()));
        let room = height.saturating_sub(pins + ROW);
        let to = if top < seen { top } else { top.saturating_sub(room).max(seen) };
        if to != seen {
            rows.set_scroll_top(i32::try_from(to).unwrap_or(i32::MAX));
        }
    }

    /// The moment at a horizontal position on the page, if the axis is there.
    fn moment(&self, props: &LanesProps, x: f64) -> Option<Timestamp> {
        let axis = self.axis.cast::<Element>()?.get_bounding_client_rect();
        let part = ((x - axis.left()) / axis.width().max(1.0)).clamp(0.0, 1.0);
        let (from, to) = (nanos(props.view.window.from), nanos(props.view.window.to));
        // Rounded as coarsely as a pixel allows, and never finer than a millisecond.
        let unit = 10_f64.powf(((to - from) / axis.width().max(1.0)).max(1e6).log10().floor());
        Some(moment(((from + (to - from) * part) / unit).round() * unit))
    }

    /// The row at a vertical position on the page.
    fn row_at(&self, props: &LanesProps, y: f64) -> Option<usize> {
        let rows = self.rows.cast::<Element>()?;
        let inside = y - rows.get_bounding_client_rect().top();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place")]
        let line = inside.max(0.0) as usize / ROW;
        let pinned = props.view.window.pinned;
        let scrolled = (line * ROW + pixels(rows.scroll_top())) / ROW;
        let place = if line < pinned { line } else { scrolled };
        Some(place.min(props.view.window.total.saturating_sub(1)))
    }

    /// The moment at a position, or the start of a bar that is near.
    fn snapped(&self, props: &LanesProps, place: usize, x: f64) -> Option<Timestamp> {
        let at = self.moment(props, x)?;
        let axis = self.axis.cast::<Element>()?.get_bounding_client_rect();
        let row = props.view.window.rows.iter().find(|row| row.place == place)?;
        let near = |bar: &&LaneBar| {
            (axis.left() + axis.width() * bar.left / 100.0 - x).abs() <= STILL && bar.left > 0.0
        };
        Some(row.bars.iter().find(near).map_or(at, |bar| bar.from))
    }

    fn turned(&self, ctx: &Context<Self>, event: &WheelEvent) {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let on_axis = target.is_some_and(|it| it.closest(".laxis").ok().flatten().is_some());
        let (x, y) = (event.delta_x(), event.delta_y());
        if event.ctrl_key() || event.meta_key() || on_axis {
            event.prevent_default();
            // The browser reports a pinch on a touchpad as this event, in small steps.
            let by = (y.clamp(-60.0, 60.0) / 160.0).exp2();
            let at = self.moment(ctx.props(), f64::from(event.client_x()));
            send(ctx, LanesMsg::Zoom(by, at));
        } else if event.shift_key() || x.abs() > y.abs() {
            event.prevent_default();
            let turn = if x.abs() > y.abs() { x } else { y };
            send(ctx, LanesMsg::Pan(turn.clamp(-400.0, 400.0) / 1_000.0));
        }
    }

    fn down(&mut self, ctx: &Context<Self>, event: &PointerEvent) -> bool {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let Some(target) = target.filter(|_| event.button() == 0) else { return false };
        let on = |selector: &str| target.closest(selector).ok().flatten().is_some();
        let on_axis = on(".laxis");
        if !on(".ltrack") && !on_axis {
            return false;
        }
        let (x, y) = (f64::from(event.client_x()), f64::from(event.client_y()));
        let touch = event.pointer_type() == "touch";
        let pans = on_axis || !self.measures && (touch || event.shift_key());
        if !touch {
            event.prevent_default();
            // The focus enables the keys of the lanes.
            self.focus();
        }
        let row = if on_axis { None } else { self.row_at(ctx.props(), y) };
        let (id, at) = (event.pointer_id(), (x, y));
        // A second finger pinches.
        self.hold = (touch && pans && self.pointers.none()).then(|| {
            let link = ctx.link().clone();
            Timeout::new(HOLD, move || link.send_message(Act::Held(id)))
        });
        self.pointers.down(id, x, Drag { from: at, to: at, row, pans, holds: false });
        false
    }

    /// Peeks at the moment under the pointer, or ends that. A peek by keyboard stays.
    fn point(&mut self, ctx: &Context<Self>, at: Option<Timestamp>) {
        if at.is_some() || self.points {
            send(ctx, LanesMsg::Peek(at));
        }
        self.points = at.is_some();
    }

    /// Makes a finger that has rested peek at the moment below it, until it is lifted.
    fn held(&mut self, ctx: &Context<Self>, id: i32) {
        self.hold = None;
        let Some(drag) = self.pointers.drag(id).filter(|drag| drag.is_still()) else { return };
        drag.holds = true;
        let x = drag.to.0;
        self.point(ctx, self.moment(ctx.props(), x));
    }

    fn moved(&mut self, ctx: &Context<Self>, event: &PointerEvent) -> bool {
        let (x, y) = (f64::from(event.client_x()), f64::from(event.client_y()));
        let props = ctx.props();
        let touch = event.pointer_type() == "touch";
        if let Some((by, middle)) = self.pointers.pinch(event.pointer_id(), x) {
            let at = self.moment(props, middle);
            send(ctx, LanesMsg::Zoom(by, at));
            return false;
        }
        let Some(drag) = self.pointers.drag(event.pointer_id()) else {
            let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
            let on = target.is_some_and(|it| it.closest(".ltrack,.laxis").ok().flatten().is_some());
            // A bar that moves under a resting pointer is not pointed at.
            if !touch && (event.movement_x(), event.movement_y()) != (0, 0) {
                self.point(ctx, self.moment(props, x).filter(|_| on));
            }
            return false;
        };
        let before = drag.to;
        drag.to = (x, y);
        if drag.holds {
            self.point(ctx, self.moment(props, x));
            return false;
        }
        if drag.is_still() {
            return false;
        }
        self.hold = None;
        if drag.pans {
            let width = self.axis.cast::<Element>().map_or(1, |axis| axis.client_width().max(1));
            send(ctx, LanesMsg::Pan((before.0 - x) / f64::from(width)));
            return false;
        }
        // The drag continues outside of the rows.
        if let Some(rows) = self.rows.cast::<Element>() {
            let _ = rows.set_pointer_capture(event.pointer_id());
        }
        true
    }

    fn up(&mut self, ctx: &Context<Self>, event: &PointerEvent) -> bool {
        self.hold = None;
        let Some(drag) = self.pointers.up(event.pointer_id()) else { return false };
        let props = ctx.props();
        if drag.holds {
            self.point(ctx, None);
        } else if drag.is_still() {
            let row = drag.row;
            let row = row.and_then(|row| props.view.window.rows.iter().find(|it| it.place == row));
            match row {
                Some(row) => {
                    let at = self.snapped(props, row.place, drag.to.0);
                    send(ctx, LanesMsg::Choose(row.subject.clone(), at));
                }
                None => {
                    if let Some(at) = self.moment(props, drag.to.0) {
                        props.dispatch.emit(Msg::Seek(at));
                    }
                }
            }
        } else if !drag.pans
            && let Some(frame) = self.frame(props, &drag)
        {
            send(ctx, LanesMsg::Area(Some(frame)));
        }
        true
    }

    /// The dragged area.
    fn frame(&self, props: &LanesProps, drag: &Drag) -> Option<Frame> {
        let rows = (drag.row?, self.row_at(props, drag.to.1)?);
        let time = (self.moment(props, drag.from.0)?, self.moment(props, drag.to.0)?);
        Some(Frame {
            rows: (rows.0.min(rows.1), rows.0.max(rows.1)),
            time: (time.0.min(time.1), time.0.max(time.1)),
        })
    }

    fn bar(&self, ctx: &Context<Self>) -> Html {
        let (measures, onclick) = (self.measures, ctx.link().callback(|_| Act::Measure));
        bar(
            ctx.props(),
            html! {
                <button type="button" class={classes!("btn", "small", measures.then_some("on"))}
                    title="Drag to measure an area, also with a finger"
                    data-testid={TestId::LanesMeasure}
                    aria-pressed={measures.to_string()} {onclick}>{ "Area" }</button>
            },
        )
    }

    fn grid(&self, ctx: &Context<Self>) -> Html {
        let (props, link) = (ctx.props(), ctx.link());
        let window = &props.view.window;
        // A grid needs rows; without any this is a region with a sentence.
        let any = window.total > 0;
        let height = ROW * window.total.saturating_sub(window.pinned);
        let [(pins, _), (others, _)] = &self.groups;
        let active = props.view.window.rows.iter().any(|row| row.place == props.view.cursor);
        let onpointerleave = link.callback(|_: PointerEvent| Act::Left);
        html! {
            <div class="lframe" data-measures={self.measures.then_some("true")}
                onpointerdown={link.callback(Act::Down)}
                onpointermove={link.callback(Act::Moved)} onpointerup={link.callback(Act::Up)}
                oncontextmenu={link.callback(Act::Menu)}
                onpointercancel={link.callback(Act::Cancelled)} {onpointerleave}>
                <div class="laxis" aria-hidden="true" data-testid={TestId::LanesAxis}>
                    <div class="lscale" ref={self.axis.clone()}>
                        { for window.ticks.iter().enumerate().map(|(index, (place, text))| html! {
                            <span hidden={window.covers(index, f64::from(self.sight.2))}
                                class={(*place > 97.0).then_some("last")}
                                ~style={style(format!("left:{place:.3}%"))}>{ text }</span>
                        }) }
                        { flags(props) }
                    </div>
                </div>
                <div class="lrows" ref={self.rows.clone()} tabindex="0" aria-label="Lanes"
                    role={if any { "grid" } else { "region" }}
                    aria-rowcount={any.then(|| window.total.to_string())}
                    aria-colcount={any.then_some("2")}
                    aria-activedescendant={active.then(|| format!("lane-{}", props.view.cursor))}
                    onscroll={link.callback(|_: Event| Act::Scrolled)}
                    onclick={link.callback(Act::Click)}
                    data-testid={TestId::LanesRows}>
                    if !any {
                        <p class="nothing">{ nothing(props) }</p>
                    }
                    if window.pinned > 0 {
                        <div class="lpins" role="rowgroup" ref={pins.clone()}
                            ~style={style(format!("height:{}px", ROW * window.pinned))}></div>
                    }
                    <div class="lspace" role={any.then_some("rowgroup")} ref={others.clone()}
                        ~style={style(format!("height:{height}px"))}></div>
                </div>
                <div class="lines" aria-hidden="true">{ self.lines(props) }</div>
            </div>
        }
    }

    /// The lines drawn over all tracks.
    fn lines(&self, props: &LanesProps) -> Html {
        let window = &props.view.window;
        let dragged = self.pointers.area().filter(|drag| !drag.is_still());
        let left =
            self.axis.cast::<Element>().map_or(0.0, |it| it.get_bounding_client_rect().left());
        html! {
            <>
                { for window.ticks.iter().map(|(place, _)| html! {
                    <i class="ltick" ~style={style(format!("left:{place:.3}%"))}></i>
                }) }
                if let Some(ahead) = window.ahead {
                    <i class="lahead" ~style={style(format!("left:{ahead:.3}%"))}></i>
                }
                if let Some(area) = &props.view.area {
                    <i class="larea" ~style={style(format!("left:{:.3}%;width:{:.3}%",
                        area.place.0, area.place.1 - area.place.0))}></i>
                }
                if let Some(drag) = dragged {
                    <i class="larea" ~style={style(format!("left:{:.1}px;width:{:.1}px",
                        drag.from.0.min(drag.to.0) - left, (drag.from.0 - drag.to.0).abs()))}></i>
                }
                if let Some(now) = window.now {
                    <i class="lnow" ~style={style(format!("left:{now:.3}%"))}></i>
                }
                if let Some(peek) = window.peek {
                    <i class="lpeek" ~style={style(format!("left:{peek:.3}%"))}></i>
                }
            </>
        }
    }
}

/// The flags on the axis, above the lines.
fn flags(props: &LanesProps) -> Html {
    let window = &props.view.window;
    html! {
        <>
            if let Some(ahead) = window.flagged_ahead() {
                <b class="lflag ahead" ~style={style(format!("left:{ahead:.3}%"))}>{ "forecast" }</b>
            }
            if let Some(now) = window.now {
                <b class="lflag now" ~style={style(format!("left:{now:.3}%"))}>{ "now" }</b>
            }
            if let Some(peek) = window.peek {
                <b class="lflag peek" ~style={style(format!("left:{peek:.3}%"))}>{ "peek" }</b>
            }
        </>
    }
}

fn nothing(props: &LanesProps) -> &'static str {
    if !props.view.wanted.filter.is_empty() {
        "No name and no state matches."
    } else if props.view.wanted.changed {
        "Nothing has changed, and nothing will."
    } else {
        "Nothing is here yet. Import a cluster, or choose a scenario."
    }
}

/// The toolbar above the lanes.
fn bar(props: &LanesProps, measure: Html) -> Html {
    let does = |msg: LanesMsg| props.dispatch.reform(move |_: MouseEvent| Msg::Lanes(msg.clone()));
    let folds = props.view.window.rows.iter().any(|row| row.folded);
    let changed = props.view.wanted.changed;
    let oninput = props.dispatch.reform(|event: InputEvent| {
        let input: HtmlInputElement = event.target_unchecked_into();
        Msg::Lanes(LanesMsg::Filter(input.value()))
    });
    let button = |label: &'static str, title: &'static str, on: Option<bool>, msg: LanesMsg| {
        html! {
            <button class={classes!("btn", "small", on.unwrap_or_default().then_some("on"))} {title}
                aria-pressed={on.map(|on| on.to_string())} onclick={does(msg)}>{ label }</button>
        }
    };
    html! {
        <div class="bar">
                { button("Changed only", "Hide unchanged lanes", Some(changed),
                    LanesMsg::ToggleChanged) }
                if folds {
                    { button("Unfold all", "Show the pods of all nodes", None,
                        LanesMsg::FoldAll(false)) }
                } else {
                    { button("Fold nodes", "Hide the pods of all nodes", None,
                        LanesMsg::FoldAll(true)) }
                }
                <span class="seg" role="group" aria-label="Time in sight">
                    { button("−", "A longer time (−, or Ctrl and the wheel)", None,
                        LanesMsg::Zoom(2.0, None)) }
                    { button("Fit", "Fit everything (F)", None, LanesMsg::Fit) }
                    { button("+", "A shorter time (+, or Ctrl and the wheel)", None,
                        LanesMsg::Zoom(0.5, None)) }
                </span>
                { measure }
                <span class="grow"></span>
                { forecast(props) }
                <input type="search" placeholder="Name or state" {oninput}
                    aria-label="Filter lanes by name or state" />
                <span class="seg lpictures" role="group" aria-label="Picture of the lanes">
                    { button("SVG", "Download the lanes as SVG", None,
                        LanesMsg::Picture(Picture::Svg)) }
                    { button("PNG", "Download the lanes as PNG", None,
                        LanesMsg::Picture(Picture::Png)) }
                </span>
        </div>
    }
}

/// The progress of the forecast, and a button that stops it or goes on. A forecast that is done in
/// a moment stays invisible.
fn forecast(props: &LanesProps) -> Html {
    let does = |on| props.dispatch.reform(move |_: MouseEvent| Msg::Lanes(LanesMsg::Forecast(on)));
    let (words, button, on) = match props.view.forecast {
        ForecastState::Done => return Html::default(),
        ForecastState::Runs(part) => {
            (format!("Forecast: {:.0} % of a day", 100.0 * part), "Stop", false)
        }
        ForecastState::Stopped => ("Forecast stopped".to_owned(), "Go on", true),
    };
    html! {
        <span class="lforecast row" role="group" aria-label="Forecast"
            data-testid={TestId::LanesForecast}>
            <span class="muted num">{ words }</span>
            <button type="button" class="btn small" onclick={does(on)}>{ button }</button>
        </span>
    }
}

/// A legend of the states in the bars, each once.
pub(crate) fn legend<'a>(bars: impl IntoIterator<Item = &'a LaneBar>) -> Html {
    let mut seen: BTreeMap<LaneState, ()> = BTreeMap::new();
    for bar in bars {
        seen.insert(bar.state, ());
    }
    html! {
        <div class="legend" aria-hidden="true">
            { for seen.keys().map(|state| html! {
                <span><i class="lbar" data-state={state.as_str()}></i>{ state.words() }</span>
            }) }
        </div>
    }
}
