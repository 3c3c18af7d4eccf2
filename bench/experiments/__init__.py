"""Experiments with a real KRaft controller: the witnesses beside `waterline confirm`.

    python -m bench.experiments.paused --kafka 4.2.0 [--control]     C21, by SIGSTOP and elections
    python -m bench.experiments.refused --kafka 4.1.0 [--control]    C43, AlterPartition at a gate

`confirm` steers brokers step by step, and is their controller. Here Kafka's own controller decides,
and brokers are only stopped, continued, killed and started; of the model's counterexample a few
moments are compared with what they show. Releases from 3.3 on, whose KRaft is for production. Needs
what `confirm` needs: the optional packages, Java and Maven (docs/confirm.md).
"""
