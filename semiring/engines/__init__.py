"""Execution of operations.  Engines receive validated requests (`spec`) and do not depend on the public syntax."""
