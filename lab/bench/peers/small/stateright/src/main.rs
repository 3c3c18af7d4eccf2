//! Runs a small model: `small-stateright two_phase_commit 6`, `small-stateright peterson`.
//!
//! Prints a line of JSON; before it, as text, each counterexample that was found.

mod peterson;
mod two_phase_commit;

use stateright::{Checker, Model};
use std::fmt::Debug;
use std::hash::Hash;

fn report<M>(model: M)
where
    M: Model + Send + Sync + 'static,
    M::State: Hash + Send + Sync + Debug + Clone + PartialEq + 'static,
    M::Action: Debug + Clone + PartialEq,
{
    let checker = model.checker().threads(1).spawn_bfs().join();
    let found: Vec<_> = checker.discoveries().into_iter().collect();
    for (name, path) in &found {
        println!("{name}:");
        for action in path.clone().into_actions() {
            println!("  {action:?}");
        }
    }
    let names: Vec<_> = found.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    let distinct = checker.unique_state_count();
    println!("{{\"distinct\": {distinct}, \"found\": [{}]}}", names.join(", "));
}

fn main() {
    let mut given = std::env::args().skip(1);
    let name = given.next().expect("name a model");
    let size = given.next().map_or(2, |text| text.parse().expect("a number"));
    match name.as_str() {
        "two_phase_commit" => report(two_phase_commit::Commit { rms: size }),
        "peterson" => report(peterson::Lock),
        other => panic!("no model {other}"),
    }
}
