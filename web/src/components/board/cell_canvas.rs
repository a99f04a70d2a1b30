//! Paints cells in the shapes and colours of the legend.

use std::f64::consts::{PI, TAU};
use std::rc::Rc;

use taintlab_core::api::Taint;
use taintlab_core::order::Order;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use crate::browser;
use crate::theme::Theme;
use crate::view_models::board::NodeView;
use crate::view_models::board::mark::{Mark, NO_POD, Tone, mark_of};

/// The distance between cells where there is room, in pixels; marks are designed for it.
const PITCH: usize = 14;

/// The distance between cells on a board with this number of nodes, in pixels, so that all zones
/// stay in sight.
pub(super) const fn pitch(nodes: usize) -> usize {
    match nodes {
        0..=1_500 => PITCH,
        1_501..=3_000 => 9,
        _ => 6,
    }
}
/// Half of the size of a mark, in pixels.
const HALF: f64 = 4.5;

/// Media queries that affect colours, besides the theme.
pub(super) const SCHEMES: [&str; 2] = ["(prefers-color-scheme: dark)", "(forced-colors: active)"];

/// The present colour scheme as text: when it changes, the colours are read again.
pub(super) fn scheme(theme: Theme) -> String {
    let is = |query: &str| browser::window()?.match_media(query).ok()?.map(|it| it.matches());
    format!("{}{:?}", theme.word(), SCHEMES.map(is))
}

/// The name of a colour in the style sheet.
fn variable(tone: Tone) -> &'static str {
    match tone {
        Tone::Stays => "--stays",
        Tone::Unready => "--unready",
        Tone::Pending => "--pending",
        Tone::Counting => "--counting",
        Tone::Terminating => "--terminating",
        Tone::Past => "--line-strong",
    }
}

/// The mark for the worst state among a node's pods.
fn mark(node: &NodeView) -> (Mark, Tone) {
    node.counts.worst().map_or(NO_POD, |(verdict, health)| mark_of(verdict, health))
}

/// The centre of a cell.
fn middle(index: usize, columns: usize) -> (f64, f64) {
    let pixels = |cells: usize| f64::from(u32::try_from(cells * PITCH + PITCH / 2).unwrap_or(0));
    (pixels(index % columns), pixels(index / columns))
}

/// Paints all nodes of a zone.
pub(super) fn paint(
    canvas: &HtmlCanvasElement,
    nodes: &[Rc<NodeView>],
    columns: usize,
    pitch: usize,
) {
    let sharp = browser::window().is_some_and(|window| window.device_pixel_ratio() > 1.0);
    let scale = if sharp { 2 } else { 1 };
    let size = |pixels: i32| u32::try_from(pixels).unwrap_or_default() * scale;
    canvas.set_width(size(canvas.client_width()));
    canvas.set_height(size(canvas.client_height()));
    let context = canvas.get_context("2d").ok().flatten();
    let Some(context) = context.and_then(|it| it.dyn_into::<CanvasRenderingContext2d>().ok())
    else {
        return;
    };
    let float = |pixels: usize| f64::from(u32::try_from(pixels).unwrap_or_default());
    let zoom = f64::from(scale) * float(pitch) / float(PITCH);
    // A canvas without a size is not scaled, and is invisible anyway.
    let _ = context.scale(zoom, zoom);
    let places = || nodes.iter().enumerate().map(|(index, node)| (middle(index, columns), node));
    let half = float(PITCH) / 2.0 - 0.5;
    let tainted = |node: &NodeView| node.taints.iter().any(Taint::is_no_execute);
    context.begin_path();
    for ((x, y), _) in places().filter(|(_, node)| tainted(node)) {
        context.rect(x - half, y - half, half * 2.0, half * 2.0);
    }
    context.set_fill_style_str(&colour(canvas, "--cell-tainted"));
    context.fill();
    context.begin_path();
    for ((x, y), _) in places().filter(|(_, node)| !node.is_ready()) {
        context.rect(x - half + 0.5, y - half + 0.5, half * 2.0 - 1.0, half * 2.0 - 1.0);
    }
    context.set_stroke_style_str(&colour(canvas, "--cell-unready"));
    context.stroke();

    let mut marks: Vec<_> = places().map(|(place, node)| (mark(node), place)).collect();
    marks.order_by_key(|(mark, _)| *mark);
    for alike in marks.chunk_by(|a, b| a.0 == b.0) {
        let Some(((shape, tone), _)) = alike.first() else { continue };
        let colour = colour(canvas, variable(*tone));
        context.set_fill_style_str(&colour);
        context.set_stroke_style_str(&colour);
        for (fills, path) in [(true, filled as Path), (false, stroked as Path)] {
            context.begin_path();
            for (_, (x, y)) in alike {
                path(&context, *shape, *x, *y);
            }
            if fills { context.fill() } else { context.stroke() }
        }
    }
}

/// Adds a part of a mark to the path.
type Path = fn(&CanvasRenderingContext2d, Mark, f64, f64);

fn circle(context: &CanvasRenderingContext2d, x: f64, y: f64, radius: f64) {
    context.move_to(x + radius, y);
    // A radius that is not negative is no error.
    let _ = context.arc(x, y, radius, 0.0, TAU);
}

fn filled(context: &CanvasRenderingContext2d, shape: Mark, x: f64, y: f64) {
    match shape {
        Mark::Disc => circle(context, x, y, HALF),
        Mark::Target => circle(context, x, y, 2.0),
        Mark::Speck => circle(context, x, y, 1.5),
        Mark::HalfRing => {
            context.move_to(x + HALF, y);
            let _ = context.arc(x, y, HALF, 0.0, PI);
        }
        Mark::Diamond => {
            let half = HALF + 0.7;
            context.move_to(x, y - half);
            context.line_to(x + half, y);
            context.line_to(x, y + half);
            context.line_to(x - half, y);
        }
        Mark::Bars => {
            context.rect(x - HALF, y - HALF, 2.0 * HALF, 3.5);
            context.rect(x - HALF, y + HALF - 3.5, 2.0 * HALF, 3.5);
        }
        Mark::Ring
        | Mark::DashedRing
        | Mark::DashedSquare
        | Mark::Slashed
        | Mark::Square
        | Mark::Striped => {}
    }
}

fn stroked(context: &CanvasRenderingContext2d, shape: Mark, x: f64, y: f64) {
    let line = |x1: f64, y1: f64, x2: f64, y2: f64| {
        context.move_to(x + x1, y + y1);
        context.line_to(x + x2, y + y2);
    };
    match shape {
        Mark::Ring | Mark::DashedRing | Mark::DashedSquare | Mark::HalfRing | Mark::Target => {
            circle(context, x, y, HALF - 0.5);
        }
        Mark::Slashed | Mark::Square => {
            context.rect(x - HALF + 0.5, y - HALF + 0.5, 2.0 * HALF - 1.0, 2.0 * HALF - 1.0);
            line(-HALF, HALF, HALF, -HALF);
        }
        Mark::Striped => {
            context.rect(x - HALF + 0.5, y - HALF + 0.5, 2.0 * HALF - 1.0, 2.0 * HALF - 1.0);
            line(-HALF, HALF, HALF, -HALF);
            line(-HALF, 0.5, 0.5, -HALF);
            line(-0.5, HALF, HALF, -0.5);
        }
        Mark::Disc | Mark::Diamond | Mark::Bars | Mark::Speck => {}
    }
}

/// The computed value of a style sheet's colour, for the light, dark or forced scheme.
fn colour(canvas: &HtmlCanvasElement, name: &str) -> String {
    let style = canvas.style();
    // Every browser knows both properties.
    let _ = style.set_property("color", &format!("var({name})"));
    let window = browser::window();
    let computed = window.and_then(|it| it.get_computed_style(canvas).ok().flatten());
    computed.and_then(|it| it.get_property_value("color").ok()).unwrap_or_default()
}
