"""Messages about models and judges behind an address."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "key-missing": Entry(
        "{component} needs a key. Set {variable}, or name an endpoint that needs none with {url_variable}.",
    ),
    "key-refused": Entry(
        "{component} answered {status}: {why}. Check the key.",
    ),
    "credit-used-up": Entry(
        "{component} answered {status}: {why}. The account has no credit left.",
    ),
    "model-not-found": Entry(
        "{component} answered {status}: {why}. Check the model's name and the base URL.",
    ),
    "request-refused": Entry(
        "{component} answered {status}: {why}.",
        "The provider's policy declined the request. It is not sent again unless --retry refused is given.",
    ),
    "request-failed": Entry(
        "{component} answered {status}: {why}.",
        "Errors of the server and rate limits are tried again within the run, and by the same command.",
    ),
    "endpoint-unreachable": Entry(
        "{component} at {address} cannot be reached: {why}.",
    ),
    "no-answer": Entry(
        "{component} gave no answer within its time limit ({why}). If it is only slow, set timeout_s higher.",
    ),
    "endpoint-busy": Entry(
        "{component} asks to come back in {seconds:,.0f} s ({why}). Run the same command again then.",
    ),
    "endpoint-down": Entry(
        "{component} failed {n} times in a row, the last time: {why}. Repair it, then run the same command again.",
        "A component that answers nothing ends the run. What was answered before is stored.",
    ),
    "not-asked": Entry(
        "{component} was not asked: the run stopped.",
    ),
    "address-private": Entry(
        "{component} names an image at {address}, a {network} address outside its own network; nothing was fetched. "
        "Give that address as base_url, or ask for the image itself with --set model.answer=b64_json.",
        "An endpoint must not send salva to servers that only this machine can reach.",
    ),
    "redirect-refused": Entry(
        "{component} redirects to {address!r}, and a key or a prompt is never sent on to another server. "
        "If you trust it, name it as the base URL.",
    ),
    "url-holds-secret": Entry(
        "{option} holds {what}, and options are stored with the run: {instead}.",
    ),
}
