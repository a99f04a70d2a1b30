//! The heat map: failures by workloads.

use std::cmp::Reverse;
use std::rc::Rc;

use web_sys::{Element, HtmlElement};
use yew::prelude::*;

use crate::test_id::TestId;
use crate::text::count;
use crate::view_models::report::{MapCell, Moment, ReportView, rounded};

/// Properties of [`Map`].
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct MapProps {
    /// The report.
    pub(crate) view: Rc<ReportView>,
    /// Where a moment is opened.
    pub(crate) open: Callback<Rc<Moment>>,
}

/// What the rows are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// All of their harm, the most first.
    Harm,
    /// Their names.
    Name,
    /// Their harm to the workload of this column.
    Column(usize),
}

/// The map. Arrows move in it, and Enter opens a cell.
#[component]
pub(crate) fn Map(props: &MapProps) -> Html {
    let view = &props.view;
    let order = use_state(|| Order::Harm);
    let told = use_state(|| None::<Rc<Moment>>);
    let harm_to = |row: usize, column: usize| {
        let cell = view.rows.get(row).and_then(|row| row.cells.get(column)?.as_ref());
        cell.map(|cell| cell.harm)
    };
    let mut rows: Vec<usize> = (0..view.rows.len()).collect();
    match *order {
        Order::Harm => {}
        Order::Name => rows.sort_by_key(|row| view.rows.get(*row).map(|row| row.name.clone())),
        Order::Column(column) => rows.sort_by_key(|row| Reverse(harm_to(*row, column))),
    }
    let sort = |to: Order, what: &str, sorted: &'static str| {
        // Long names break where they are put together.
        let parts = what.split_inclusive('/').map(|part| html! { <>{ part }<wbr /></> });
        let state = order.clone();
        let by = *state == to;
        let onclick = move |_: MouseEvent| state.set(if *state == to { Order::Harm } else { to });
        html! {
            <th scope="col" aria-sort={by.then_some(sorted)}>
                <button type="button" {onclick}>{ for parts }</button>
            </th>
        }
    };
    let shows = |moment: &Rc<Moment>| {
        let (told, moment) = (told.clone(), moment.clone());
        move || told.set(Some(moment.clone()))
    };
    let mut is_first = true;
    let mut cell = |row: usize, column: usize, cell: &Option<MapCell>| {
        let Some(cell) = cell else { return html! { <td></td> } };
        let moment = cell.moment.clone();
        let onclick = props.open.reform(move |_: MouseEvent| moment.clone());
        let onfocus = shows(&cell.moment);
        let onmouseover = shows(&cell.moment);
        let tabindex = if std::mem::take(&mut is_first) { "0" } else { "-1" };
        let change = cell.before.map(|before| if before > cell.harm { "▼" } else { "▲" });
        let before = cell
            .before
            .map(|before| format!(", harm {} before", rounded(before)))
            .unwrap_or_default();
        let label = format!("{}: {}{before}. Open it", cell.moment.name, cell.moment.what);
        html! {
            <td style={format!("--heat:{:.3}", cell.heat)}>
                <button type="button" {onclick} {tabindex} aria-label={label}
                    onfocus={move |_: FocusEvent| onfocus()}
                    onmouseover={move |_: MouseEvent| onmouseover()}
                    data-place={format!("{row} {column}")} data-testid={TestId::ReportCell}>
                    { rounded(cell.below).to_string() }
                    if let Some(change) = change { <span class="rchange">{ change }</span> }
                </button>
            </td>
        }
    };
    let (more_rows, more_columns) = view.more;
    html! {
        <section class="stack">
            <h3>{ "Failures and workloads" }</h3>
            <p class="hint">
                { "How long each workload has fewer ready pods than it wants; the darker, the more \
                   harm. A cell opens that run at its worst moment." }
            </p>
            <div class="rmap" onkeydown={move_focus}><table data-testid={TestId::ReportMap}>
                <thead><tr>
                    { sort(Order::Name, "Failure", "ascending") }
                    { for view.columns.iter().enumerate().map(|(column, name)| {
                        sort(Order::Column(column), name, "descending")
                    }) }
                </tr></thead>
                <tbody>
                    { for rows.iter().enumerate().filter_map(|(place, row)| {
                        let row = view.rows.get(*row)?;
                        let cells = row.cells.iter().enumerate();
                        let cells = cells.map(|(column, it)| cell(place, column, it));
                        Some(html! {
                            <tr><th scope="row">{ row.name.clone() }</th>{ for cells }</tr>
                        })
                    }) }
                </tbody>
            </table></div>
            if more_rows + more_columns > 0 {
                <p class="hint">
                    { format!("and {} and {} that hurt less: the JSON has them",
                        count(more_rows, "more failure"), count(more_columns, "workload")) }
                </p>
            }
            <p class="rtold" aria-hidden="true">
                if let Some(moment) = &*told {
                    <b>{ &moment.name }</b>{ ": " }{ &moment.what }
                } else {
                    { "Point at a cell to read what becomes of that workload." }
                }
            </p>
        </section>
    }
}

/// Arrows go from cell to cell, over the empty ones.
fn move_focus(event: KeyboardEvent) {
    let (down, right) = match event.key().as_str() {
        "ArrowUp" => (-1, 0),
        "ArrowDown" => (1, 0),
        "ArrowLeft" => (0, -1),
        "ArrowRight" => (0, 1),
        _ => return,
    };
    let Some(target) = event.target_dyn_into::<Element>() else { return };
    let Some(place) = target.get_attribute("data-place") else { return };
    let mut numbers = place.split(' ').filter_map(|number| number.parse::<i32>().ok());
    let (Some(mut row), Some(mut column)) = (numbers.next(), numbers.next()) else { return };
    event.prevent_default();
    let Some(table) = target.closest("table").ok().flatten() else { return };
    // More steps than the map has rows or columns.
    for _ in 0..100 {
        (row, column) = (row + down, column + right);
        let found = table.query_selector(&format!("[data-place=\"{row} {column}\"]"));
        if let Some(found) = found.ok().flatten() {
            // The tab key comes back to where the arrows were.
            let _ = target.set_attribute("tabindex", "-1");
            let _ = found.set_attribute("tabindex", "0");
            if let Ok(found) = wasm_bindgen::JsCast::dyn_into::<HtmlElement>(found) {
                let _ = found.focus();
            }
            return;
        }
    }
}
