"""A cluster with ZooKeeper, whose controller is the harness: brokers up to 3.9."""
