//! The engine of the playground, which the page reaches by messages.

use taintlab_web::Port;
use wasm_bindgen::prelude::wasm_bindgen;

/// Serves the page at the other end of `port`: runs its session, or makes the runs of its reports.
#[wasm_bindgen]
pub fn serve(name: &str, port: &Port) {
    taintlab_web::serve(name, port);
}

fn main() {}
