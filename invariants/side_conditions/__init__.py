"""Side conditions of an abstraction: claims about the normal form, none about Kafka."""
