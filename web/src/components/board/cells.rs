//! The nodes of a zone as cells of a canvas. One cell at a time is also an element, which the tab
//! key and the arrows reach, and assistive technology reads.

use std::rc::Rc;

use gloo_events::EventListener;
use taintlab_core::api::NodeName;
use web_sys::{HtmlCanvasElement, HtmlElement};
use yew::prelude::*;

use super::cell_canvas;
use crate::browser::{self, Resized};
use crate::components::parts::style::style;
use crate::focus;
use crate::messages::{Dispatch, Msg};
use crate::test_id::TestId;
use crate::theme::Theme;
use crate::view_models::board::{NodeView, ZoneView};
use crate::view_models::selection::Selection;

/// The maximum width of a cell's tip, in pixels, as in the style sheet.
const TIP: usize = 260;

/// Properties of [`Cells`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct CellsProps {
    /// The zone.
    pub(crate) zone: Rc<ZoneView>,
    /// The selected node, or the node of the selected pod, if it is in this zone.
    pub(crate) selected: Option<NodeName>,
    /// The theme of the page.
    pub(crate) theme: Theme,
    /// The distance from one cell to the next, in pixels.
    pub(crate) pitch: usize,
    /// Sends messages to the application.
    pub(crate) dispatch: Dispatch,
}

/// Messages of the cells.
pub(crate) enum CellsMsg {
    /// The width changed, or the distance between cells.
    Width(usize),
    /// The system's colours changed.
    Colours,
    /// The pointer moved over a cell, or off all cells.
    Hover(Option<usize>),
    /// The focus goes to a cell.
    Go(usize),
}

/// The inputs of the last painting.
#[derive(PartialEq)]
struct Painted {
    zone: Rc<ZoneView>,
    columns: usize,
    pitch: usize,
    scheme: String,
}

/// The cells of a zone.
pub(crate) struct Cells {
    canvas: NodeRef,
    cell: NodeRef,
    /// The number of cells in a row; `None` until the browser has reported the width.
    columns: Option<usize>,
    hover: Option<usize>,
    /// The node whose cell is an element.
    current: Option<NodeName>,
    /// Whether that cell gets the focus after the next painting.
    goes: bool,
    /// Whether that cell is brought into sight after the next painting.
    shows: bool,
    painted: Option<Painted>,
    observer: Option<Resized>,
    _colours: Vec<EventListener>,
}

impl Component for Cells {
    type Message = CellsMsg;
    type Properties = CellsProps;

    fn create(ctx: &Context<Self>) -> Self {
        let listen = |query: &str| {
            let query = browser::window()?.match_media(query).ok()??;
            let link = ctx.link().clone();
            Some(EventListener::new(&query, "change", move |_| {
                link.send_message(CellsMsg::Colours)
            }))
        };
        Self {
            canvas: NodeRef::default(),
            cell: NodeRef::default(),
            columns: None,
            hover: None,
            current: ctx.props().selected.clone(),
            goes: false,
            shows: false,
            painted: None,
            observer: None,
            _colours: cell_canvas::SCHEMES.iter().filter_map(|query| listen(query)).collect(),
        }
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &Self::Properties) -> bool {
        let selected = &ctx.props().selected;
        if selected.is_some() && *selected != old.selected {
            self.current.clone_from(selected);
            self.shows = true;
        }
        if ctx.props().pitch != old.pitch
            && let Some(canvas) = self.canvas.cast::<HtmlCanvasElement>()
        {
            self.observe(ctx, &canvas);
        }
        true
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Self::Message) -> bool {
        match msg {
            CellsMsg::Width(width) => {
                let columns = Some((width / ctx.props().pitch).max(1));
                std::mem::replace(&mut self.columns, columns) != columns
            }
            CellsMsg::Colours => true,
            CellsMsg::Hover(hover) => std::mem::replace(&mut self.hover, hover) != hover,
            CellsMsg::Go(index) => {
                let node = ctx.props().zone.nodes.get(index);
                self.current = node.map(|node| node.name.clone());
                self.goes = true;
                true
            }
        }
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let CellsProps { zone, selected, pitch, dispatch, .. } = ctx.props();
        let pitch = *pitch;
        let count = zone.nodes.len();
        let is_laid_out = self.columns.is_some();
        let columns = self.columns.unwrap_or(count).max(1);
        let height = count.div_ceil(columns) * pitch;
        let at = {
            let zone = zone.clone();
            move |event: &MouseEvent| {
                let pixels = |offset: i32| usize::try_from(offset).ok().map(|it| it / pitch);
                let (x, y) = (pixels(event.offset_x())?, pixels(event.offset_y())?);
                let index = y * columns + x;
                (x < columns && index < zone.nodes.len()).then_some(index)
            }
        };
        let onmousemove = ctx.link().callback({
            let at = at.clone();
            move |event: MouseEvent| CellsMsg::Hover(at(&event))
        });
        let onmouseleave = ctx.link().callback(|_: MouseEvent| CellsMsg::Hover(None));
        let onclick = {
            let (zone, dispatch) = (zone.clone(), dispatch.clone());
            Callback::from(move |event: MouseEvent| {
                if let Some(node) = at(&event).and_then(|index| zone.nodes.get(index)) {
                    dispatch.emit(Msg::Select(Some(Selection::Node(node.name.clone()))));
                }
            })
        };
        let place = |index: usize| {
            let (x, y) = (index % columns * pitch, index / columns * pitch);
            format!("left:{x}px;top:{y}px;width:{pitch}px;height:{pitch}px")
        };
        let position = |name: &NodeName| zone.nodes.iter().position(|node| node.name == *name);
        let marked = selected.as_ref().and_then(position);
        let current = self.current.as_ref().and_then(position).unwrap_or_default();
        let tip = self.hover.and_then(|index| Some((index, zone.nodes.get(index)?)));
        html! {
            <div class="cells" role="group" data-testid={TestId::Cells} {onmouseleave}>
                <canvas ref={&self.canvas} aria-hidden="true" {onmousemove} {onclick}
                    ~style={style(format!("height:{height}px"))}></canvas>
                if let Some(index) = marked.filter(|_| is_laid_out) {
                    <i class="cellmark" ~style={style(place(index))}></i>
                }
                if let Some(node) = zone.nodes.get(current).filter(|_| is_laid_out) {
                    { {
                        let is_marked = marked == Some(current);
                        self.cell(ctx, node, (current, columns), place(current), is_marked)
                    } }
                }
                if let Some((index, node)) = tip {
                    <div class="celltip" aria-hidden="true" data-testid={TestId::CellTip}
                        ~style={style(tip_place(index, columns, pitch))}>{ node.line() }</div>
                }
            </div>
        }
    }

    fn rendered(&mut self, ctx: &Context<Self>, first: bool) {
        let Some(canvas) = self.canvas.cast::<HtmlCanvasElement>() else { return };
        if first {
            self.observe(ctx, &canvas);
        }
        let (goes, shows) = (std::mem::take(&mut self.goes), std::mem::take(&mut self.shows));
        if let Some(cell) = self.cell.cast::<HtmlElement>() {
            if goes {
                // An element that cannot have the focus does not get it.
                let _ = cell.focus();
            }
            if shows {
                focus::reveal(&cell);
            }
        }
        let Some(columns) = self.columns else { return };
        let painted = Painted {
            zone: ctx.props().zone.clone(),
            columns,
            pitch: ctx.props().pitch,
            scheme: cell_canvas::scheme(ctx.props().theme),
        };
        if self.painted.as_ref() != Some(&painted) {
            cell_canvas::paint(&canvas, &painted.zone.nodes, columns, painted.pitch);
            self.painted = Some(painted);
        }
    }
}

impl Cells {
    /// The cell that is an element.
    fn cell(
        &self,
        ctx: &Context<Self>,
        node: &NodeView,
        (index, columns): (usize, usize),
        place: String,
        selected: bool,
    ) -> Html {
        let count = ctx.props().zone.nodes.len();
        let link = ctx.link().clone();
        let onkeydown = Callback::from(move |event: KeyboardEvent| {
            if event.alt_key() || event.ctrl_key() || event.meta_key() || event.shift_key() {
                return;
            }
            let to = match event.key().as_str() {
                "ArrowLeft" => index.checked_sub(1),
                "ArrowRight" => Some(index + 1),
                "ArrowUp" => index.checked_sub(columns),
                "ArrowDown" => Some(index + columns),
                _ => None,
            };
            // Beyond the edge, an arrow leads to the zone's neighbour.
            if let Some(to) = to.filter(|to| *to < count) {
                event.prevent_default();
                link.send_message(CellsMsg::Go(to));
            }
        });
        html! {
            <button key={node.name.as_str()} ref={&self.cell} class="cell" role="treeitem"
                aria-level="2" tabindex="-1" aria-selected={selected.to_string()}
                aria-posinset={(index + 1).to_string()} aria-setsize={count.to_string()}
                data-node={node.name.to_string()} data-testid={TestId::Cell}
                title={node.line()} aria-label={node.line()} ~style={style(place)} {onkeydown}></button>
        }
    }

    fn observe(&mut self, ctx: &Context<Self>, canvas: &HtmlCanvasElement) {
        let (link, observed) = (ctx.link().clone(), canvas.clone());
        self.observer = Resized::always(canvas, move || {
            let width = usize::try_from(observed.client_width()).unwrap_or_default();
            link.send_message(CellsMsg::Width(width));
        });
    }
}

/// The place of a tip: below its cell, and within the canvas.
fn tip_place(index: usize, columns: usize, pitch: usize) -> String {
    let width = columns * pitch;
    let x = (index % columns * pitch).min(width.saturating_sub(TIP));
    let y = (index / columns + 1) * pitch + 4;
    format!("left:{x}px;top:{y}px")
}
