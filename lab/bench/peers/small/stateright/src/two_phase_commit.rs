//! Two-phase commit, as in examples/two_phase_commit.py.

use stateright::{Model, Property};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rm {
    Working,
    Prepared,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tm {
    Init,
    Committed,
    Aborted,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    rm: Vec<Rm>,
    tm: Tm,
    tm_prepared: Vec<bool>,
    prepared_sent: Vec<bool>,
    commit_sent: bool,
    abort_sent: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    TmReceivePrepared(usize),
    TmCommit,
    TmAbort,
    RmPrepare(usize),
    RmChooseToAbort(usize),
    RmReceiveCommit(usize),
    RmReceiveAbort(usize),
}

pub struct Commit {
    pub rms: usize,
}

impl Model for Commit {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            rm: vec![Rm::Working; self.rms],
            tm: Tm::Init,
            tm_prepared: vec![false; self.rms],
            prepared_sent: vec![false; self.rms],
            commit_sent: false,
            abort_sent: false,
        }]
    }

    fn actions(&self, s: &State, actions: &mut Vec<Action>) {
        if s.tm == Tm::Init {
            actions.push(Action::TmAbort);
            if s.tm_prepared.iter().all(|known| *known) {
                actions.push(Action::TmCommit);
            }
        }
        for rm in 0..self.rms {
            if s.tm == Tm::Init && s.prepared_sent[rm] {
                actions.push(Action::TmReceivePrepared(rm));
            }
            if s.rm[rm] == Rm::Working {
                actions.push(Action::RmPrepare(rm));
                actions.push(Action::RmChooseToAbort(rm));
            }
            if s.commit_sent {
                actions.push(Action::RmReceiveCommit(rm));
            }
            if s.abort_sent {
                actions.push(Action::RmReceiveAbort(rm));
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut s = last.clone();
        match action {
            Action::TmReceivePrepared(rm) => s.tm_prepared[rm] = true,
            Action::TmCommit => {
                s.tm = Tm::Committed;
                s.commit_sent = true;
            }
            Action::TmAbort => {
                s.tm = Tm::Aborted;
                s.abort_sent = true;
            }
            Action::RmPrepare(rm) => {
                s.rm[rm] = Rm::Prepared;
                s.prepared_sent[rm] = true;
            }
            Action::RmChooseToAbort(rm) => s.rm[rm] = Rm::Aborted,
            Action::RmReceiveCommit(rm) => s.rm[rm] = Rm::Committed,
            Action::RmReceiveAbort(rm) => s.rm[rm] = Rm::Aborted,
        }
        Some(s)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("consistent", |_, s: &State| {
                !(s.rm.contains(&Rm::Committed) && s.rm.contains(&Rm::Aborted))
            }),
            Property::sometimes("commits", |_, s: &State| s.rm.contains(&Rm::Committed)),
            Property::sometimes("aborts", |_, s: &State| s.rm.contains(&Rm::Aborted)),
        ]
    }
}
