//! The atomic grain with truncation to the high watermark, for Stateright.
//!
//! One partition. Every decision of the controller takes the next leader epoch and leaves behind
//! one LeaderAndIsr request, on which every replica may act once, late or never, if it is newer
//! than what the replica knows. Brokers read each other's state directly.
//!
//! The bounds come from the environment when this is compiled, so that a state is a few arrays of
//! bytes of just the right size. The only argument is the number of threads; the answer is one
//! line of JSON. Stateright tells states apart by 64-bit fingerprints.

use stateright::{Checker, Model, Property};
use std::hash::{Hash, Hasher};
use std::time::Instant;

const REPLICAS: usize = number(env!("PEER_REPLICAS"));
const LOG_SIZE: usize = number(env!("PEER_LOG_SIZE"));
const RECORDS: usize = number(env!("PEER_RECORDS"));
const REQUESTS: usize = number(env!("PEER_EPOCHS")) + 1;

const LOG_AT: usize = 5 * REPLICAS;
const WANTED_AT: usize = LOG_AT + REPLICAS * LOG_SIZE;
const MEMBERS_AT: usize = WANTED_AT + REQUESTS;
const REST_AT: usize = MEMBERS_AT + REQUESTS;
const SIZE: usize = REST_AT + 4;

const _: () = assert!(REPLICAS < 8 && RECORDS * REQUESTS < 256, "beyond a byte");

const fn number(text: &str) -> usize {
    let digits = text.as_bytes();
    let mut value = 0;
    let mut at = 0;
    while at < digits.len() {
        value = 10 * value + (digits[at] - b'0') as usize;
        at += 1;
    }
    value
}

/// Every field is a byte of one array, so that a state is hashed in one call.
///
/// Brokers and epochs are numbered from 1; 0 is nobody, and no epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cluster([u8; SIZE]);

impl Hash for Cluster {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write(&self.0);
    }
}

/// A reader and a writer of one byte, at a place that depends on the arguments.
macro_rules! field {
    ($read:ident, $write:ident, |$($argument:ident),*| $place:expr) => {
        #[inline(always)]
        fn $read(&self, $($argument: usize),*) -> u8 {
            self.0[$place]
        }

        #[inline(always)]
        fn $write(&mut self, $($argument: usize,)* value: u8) {
            self.0[$place] = value;
        }
    };
}

impl Cluster {
    field!(leo, set_leo, |r| r);
    field!(hw, set_hw, |r| REPLICAS + r);
    field!(known, set_known, |r| 2 * REPLICAS + r);
    field!(follows, set_follows, |r| 3 * REPLICAS + r);
    field!(isr, set_isr, |r| 4 * REPLICAS + r);
    field!(slot, set_slot, |r, offset| LOG_AT + r * LOG_SIZE + offset);
    field!(wanted, set_wanted, |e| WANTED_AT + e);
    field!(members, set_members, |e| MEMBERS_AT + e);
    field!(issued, set_issued, | | REST_AT);
    field!(produced, set_produced, | | REST_AT + 1);
    field!(true_leader, set_true_leader, | | REST_AT + 2);
    field!(true_isr, set_true_isr, | | REST_AT + 3);

    fn leads(&self, r: usize) -> bool {
        self.follows(r) == r as u8 + 1
    }

    /// Nobody in the ISR lacks the record at the leader's high watermark.
    fn everybody_has_next(&self, l: usize) -> bool {
        (0..REPLICAS).all(|f| {
            self.isr(l) & bit(f) == 0
                || (self.follows(f) == l as u8 + 1 && self.leo(f) > self.hw(l))
        })
    }

    /// The controller gives out the next epoch.
    fn decide(&mut self, leader: u8, members: u8) {
        let epoch = self.issued() as usize;
        self.set_wanted(epoch, leader);
        self.set_members(epoch, members);
        self.set_true_leader(leader);
        self.set_true_isr(members);
        self.set_issued(epoch as u8 + 1);
    }

    fn append(&mut self, r: usize, entry: u8) {
        let end = self.leo(r);
        self.set_slot(r, end as usize, entry);
        self.set_leo(r, end + 1);
    }
}

#[inline(always)]
fn bit(r: usize) -> u8 {
    1 << r
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Elect(u8),
    TakeForFailed(u8),
    BecomeLeader(u8),
    BecomeFollower(u8, u8),
    Produce(u8),
    AdvanceHighWatermark(u8),
    Fetch(u8),
    Expand(u8, u8),
    Shrink(u8, u8),
}

struct Atomic;

impl Model for Atomic {
    type State = Cluster;
    type Action = Step;

    fn init_states(&self) -> Vec<Cluster> {
        let mut first = Cluster([0; SIZE]);
        first.set_true_isr(bit(REPLICAS) - 1);
        vec![first]
    }

    fn actions(&self, s: &Cluster, steps: &mut Vec<Step>) {
        let issued = s.issued() as usize;
        for r in 0..REPLICAS {
            let me = r as u8;
            let leads_truly = s.true_leader() == me + 1;
            let in_sync = s.true_isr() & bit(r) != 0;
            if issued < REQUESTS {
                if in_sync && !leads_truly {
                    steps.push(Step::Elect(me));
                }
                if in_sync || leads_truly {
                    steps.push(Step::TakeForFailed(me));
                }
            }
            for e in s.known(r) as usize..issued {
                if s.wanted(e) == me + 1 {
                    steps.push(Step::BecomeLeader(e as u8));
                } else if s.wanted(e) != 0 {
                    steps.push(Step::BecomeFollower(me, e as u8));
                }
            }
            if s.leads(r) {
                if (s.produced() as usize) < RECORDS && (s.leo(r) as usize) < LOG_SIZE {
                    steps.push(Step::Produce(me));
                }
                if s.leo(r) > s.hw(r) && s.everybody_has_next(r) {
                    steps.push(Step::AdvanceHighWatermark(me));
                }
                if s.known(r) == s.issued() {
                    for f in 0..REPLICAS {
                        let follows = s.follows(f) == me + 1;
                        if s.isr(r) & bit(f) == 0 {
                            if follows && s.leo(f) >= s.hw(r) {
                                steps.push(Step::Expand(me, f as u8));
                            }
                        } else if !follows || s.leo(f) < s.leo(r) {
                            steps.push(Step::Shrink(me, f as u8));
                        }
                    }
                }
            } else if s.follows(r) != 0 {
                let l = s.follows(r) as usize - 1;
                if s.leads(l) && s.leo(r) < s.leo(l) {
                    steps.push(Step::Fetch(me));
                }
            }
        }
    }

    fn next_state(&self, before: &Cluster, step: Step) -> Option<Cluster> {
        let mut s = *before;
        match step {
            Step::Elect(r) => s.decide(r + 1, s.true_isr()),
            Step::TakeForFailed(r) => {
                let others = s.true_isr() & !bit(r as usize);
                if s.true_leader() != r + 1 {
                    s.decide(s.true_leader(), others);
                } else {
                    s.decide(0, if others == 0 { s.true_isr() } else { others });
                }
            }
            Step::BecomeLeader(e) => {
                let leader = s.wanted(e as usize);
                let r = leader as usize - 1;
                s.set_known(r, e + 1);
                s.set_follows(r, leader);
                s.set_isr(r, s.members(e as usize));
            }
            Step::BecomeFollower(r, e) => {
                let r = r as usize;
                s.set_known(r, e + 1);
                s.set_follows(r, s.wanted(e as usize));
                s.set_isr(r, 0);
                for offset in s.hw(r) as usize..LOG_SIZE {
                    s.set_slot(r, offset, 0);
                }
                s.set_leo(r, s.hw(r));
            }
            Step::Produce(l) => {
                let l = l as usize;
                let entry = s.produced() * REQUESTS as u8 + s.known(l);
                s.append(l, entry);
                s.set_produced(s.produced() + 1);
            }
            Step::AdvanceHighWatermark(l) => s.set_hw(l as usize, s.hw(l as usize) + 1),
            Step::Fetch(f) => {
                let f = f as usize;
                let l = s.follows(f) as usize - 1;
                s.append(f, s.slot(l, s.leo(f) as usize));
                s.set_hw(f, s.hw(l).min(s.leo(f)));
            }
            Step::Expand(l, f) => {
                let members = s.isr(l as usize) | bit(f as usize);
                s.set_isr(l as usize, members);
                s.set_true_isr(members);
            }
            Step::Shrink(l, f) => {
                let members = s.isr(l as usize) & !bit(f as usize);
                s.set_isr(l as usize, members);
                s.set_true_isr(members);
            }
        }
        Some(s)
    }

    /// Stateright stops as soon as no property is left to decide, so there must be one that holds.
    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("nothing asked", |_, _| true)]
    }
}

fn main() {
    let threads = std::env::args().nth(1).map_or(1, |text| {
        text.parse().expect("the number of threads must be a number")
    });
    let started = Instant::now();
    let checker = Atomic.checker().threads(threads).spawn_bfs().join();
    println!(
        "{{\"distinct\": {}, \"generated\": {}, \"seconds\": {:.3}}}",
        checker.unique_state_count(),
        checker.state_count(),
        started.elapsed().as_secs_f64()
    );
}
