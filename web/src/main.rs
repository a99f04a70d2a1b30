//! The Taintlab playground.

fn main() {
    taintlab_web::run();
}
