"""Experiments with a real controller: the witnesses beside `waterline confirm`.

    python -m lab.experiments.paused --kafka 4.2.0 [--control]     C21, by SIGSTOP and elections
    python -m lab.experiments.refused --kafka 4.1.0 [--control]    C43, AlterPartition at a gate
    python -m lab.experiments.reassignment --run cancel            C55 to C59; moves of logs
    python -m lab.experiments.with_zookeeper [--control]           C63, a cancellation

`confirm` steers brokers step by step, and is their controller. Here Kafka's own controller decides,
and brokers are only stopped, continued, killed and started. In the first two a few moments of the
model's counterexample are compared with what they show. The last is with ZooKeeper, the others are
for releases from 3.3 on, whose KRaft is for production. Needs what `confirm` needs: the optional
packages, Java and Maven (docs/confirm.md).
"""
