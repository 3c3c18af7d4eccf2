"""Compiler from rules in Python to machine code by LLVM."""
