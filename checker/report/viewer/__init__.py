"""A counterexample on a terminal's screen, step by step: keys, mouse, any size, with or without
colours. What is shown comes from `checker.kafka.narrative`; how, from Textual.
"""
