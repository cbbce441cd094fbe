"""Which key goes to which server.

A key belongs to one server. A provider's default key goes to the provider's own server, or to the one other that a
command names; whoever plans a run checks that there is no second. What is on this machine or a private network gets the
key that is named for it, or none.
"""

from __future__ import annotations

import os
from typing import Any

from salva.core.options import option
from salva.core.secrets import watch
from salva.errors import UsageError
from salva.messages import message
from salva.remote.urls import is_own_network

NO_KEY = "none"


def key_option() -> Any:
    """The option with which a user names the key of a component."""
    text = "The environment variable that holds its key, or none. Empty: the provider's, unless on your own network."
    # A run directory must not choose which secret is sent.
    return option("", text, keyed=False, reaches="endpoint", keywords=(NO_KEY,))


def key_for(name: str, url: str, key_env: str, variables: tuple[str, ...], own_url: str = "") -> str:
    """The key that a component sends to a URL; empty for none.

    variables: those of the default key. own_url: the provider's, which needs no look at networks.
    """
    if key_env:
        return named_key(name, key_env)
    if url != own_url and is_own_network(url):
        return ""
    return next((os.environ[variable] for variable in variables if os.environ.get(variable)), "")


def named_key(name: str, key_env: str) -> str:
    """The key in the variable that a user named, which is kept out of stored text from now on; empty for none."""
    if key_env == NO_KEY:
        return ""
    watch(key_env)
    if not (key := os.environ.get(key_env, "")):
        raise UsageError(message("key-variable-unset", component=name, variable=key_env))
    return key
