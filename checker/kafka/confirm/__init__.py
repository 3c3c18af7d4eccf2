"""Kafka itself as the judge: counterexamples replayed on real brokers, beside the model.

Reading order: `mapping` (what each step of the model is on real brokers), `stage` (how it is
done), `observing` and `outcomes` (what is compared after it), `replay` (the loop). Two casts play
on a stage: `zookeeper` and `kraft`, the second with the controller in `quorum`. What brokers are
made of is below: `releases`, `jars`, `processes`, `wire`, `proxy`.
It needs the extra `kafka` (`pip install 'waterline-checker[kafka]'`), Java and a way to the jars.
"""
