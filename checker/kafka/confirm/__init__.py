"""Kafka itself as the judge: counterexamples replayed on real brokers, beside the model.

Reading order: `mapping` (what each step of the model is on real brokers), `stage` (how it is
done), `observing` and `outcomes` (what is compared after it), `replay` (the loop). What brokers
are made of is below: `releases`, `jars`, `processes`, `wire`, `proxy`, `controller`.
It needs the optional dependencies `pip install 'waterline[kafka]'`, Java and a way to the jars.
"""
