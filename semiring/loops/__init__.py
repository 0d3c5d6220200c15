"""Compiled loops: a Python function whose loops over operations run as programs of the engine.

`source` rewrites the syntax tree, `trace` runs a rewritten loop once with operands that have no contents, `compiled`
has the decorator, `while_loops` the loop of two functions, and `plans` shows what was compiled.  The engine gets a
program as a request (`engines.programs.program.RunProgram`).
"""

from .compiled import Compiled, compile
from .plans import LoopPlan, Plan
from .while_loops import while_loop

__all__ = ["Compiled", "LoopPlan", "Plan", "compile", "while_loop"]
