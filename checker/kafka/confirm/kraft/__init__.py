"""A cluster with KRaft, whose controller is the harness (`quorum`): brokers from 3.9 on."""
