//! Peterson's lock, as in examples/peterson.py.

use stateright::{Model, Property};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum At {
    Outside,
    Asking,
    Waiting,
    Inside,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    at: [At; 2],
    wants: [bool; 2],
    turn: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Ask(usize),
    LetTheOtherFirst(usize),
    Enter(usize),
    Leave(usize),
}

pub struct Lock;

impl Model for Lock {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            at: [At::Outside; 2],
            wants: [false; 2],
            turn: 0,
        }]
    }

    fn actions(&self, s: &State, actions: &mut Vec<Action>) {
        for p in 0..2 {
            match s.at[p] {
                At::Outside => actions.push(Action::Ask(p)),
                At::Asking => actions.push(Action::LetTheOtherFirst(p)),
                At::Waiting if !s.wants[1 - p] || s.turn == p => actions.push(Action::Enter(p)),
                At::Waiting => (),
                At::Inside => actions.push(Action::Leave(p)),
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut s = last.clone();
        match action {
            Action::Ask(p) => {
                s.wants[p] = true;
                s.at[p] = At::Asking;
            }
            Action::LetTheOtherFirst(p) => {
                s.turn = 1 - p;
                s.at[p] = At::Waiting;
            }
            Action::Enter(p) => s.at[p] = At::Inside,
            Action::Leave(p) => {
                s.wants[p] = false;
                s.at[p] = At::Outside;
            }
        }
        Some(s)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("one inside", |_, s: &State| s.at != [At::Inside; 2]),
            Property::sometimes("both wait", |_, s: &State| s.at == [At::Waiting; 2]),
        ]
    }
}
