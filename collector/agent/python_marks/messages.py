"""Sentences for the user: the recorder prints them with its own messages and keeps them in the file, so that the program's standard error stays its own."""

import ctypes
import os

_AGENT = "liblanescope-agent.so"


def tell(sentence, nvtx):
    """Tells the user a sentence. `nvtx`: the module beside this one, whose tool loads the agent. Fails if the agent could not be loaded."""
    nvtx.look_for_tool()
    ctypes.CDLL(_AGENT, mode=os.RTLD_NOLOAD | os.RTLD_NOW).lanescope_agent_tell(ctypes.c_char_p(sentence.encode("utf-8", "replace")))
