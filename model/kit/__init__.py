"""What any model is written with: fields and states, sorts of names, actions, transition systems.

Nothing here knows Kafka.
"""
