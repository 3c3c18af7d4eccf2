"""Replay of counterexamples on real Kafka brokers, compared with the model step by step.

Reading order: `mapping` (how each step of the model is taken on real brokers), `stage` (what a cast
can do), `observing` (what is compared afterwards), `replay` (the loop). Two casts
play on a stage: `zookeeper` and `kraft`, the second with the controller in `quorum`. The layers
below start brokers and talk to them: `releases`, `jars`, `processes`, `wire`, `proxy`. It needs the
extra `kafka` (`pip install 'waterline-checker[kafka]'`), Java and access to the jars.
"""
