"""Messages about models and judges behind an address."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "key-missing": Entry("{component} needs a key. Set {variable}, or another endpoint with {url_variable}."),
    "key-variable-unset": Entry("{component} needs {variable}, which is not set."),
    "key-of-another": Entry(
        "{component} at {server} would get {variable}, which goes to {other}. Use --set {option}=VARIABLE, or none.",
        "For one of several models: --model NAME=SPEC --set NAME.key_env=VARIABLE.",
    ),
    "key-refused": Entry("{component} answered {status}: {why}. Check the key."),
    "credit-used-up": Entry("{component} answered {status}: {why}. The account has no credit left."),
    "model-not-found": Entry("{component} answered {status}: {why}. Check its name and base URL."),
    "request-refused": Entry("{component} answered {status}: {why}.", "--retry refused asks again."),
    "request-failed": Entry("{component} answered {status}: {why}."),
    "endpoint-unreachable": Entry("{component} at {address} cannot be reached: {why}."),
    "no-answer": Entry("{component} gave no answer in time ({why}). Raise timeout_s."),
    "maybe-paid": Entry("{why}. It may have been billed; --retry unknown repeats it."),
    "image-lost": Entry("{component} cannot be fetched any more: {why}. --retry unknown pays it again."),
    "redirect-loop": Entry("{component} redirects {n} times, last to {address}. Check the base URL."),
    "endpoint-busy": Entry("{component} asks to wait {seconds:,.0f} s ({why})."),
    "endpoint-down": Entry("{component} failed {n} times in a row, last: {why}."),
    "not-asked": Entry("{component} was not asked: the run stopped."),
    "address-private": Entry(
        "{component} names an image at {address}, a {network} address; it was not fetched. Use that as base_url, or --set model.answer=b64_json."
    ),
    "redirect-refused": Entry(
        "{component} redirects to {address!r}, another server. If you trust it, make it the base URL."
    ),
    "url-holds-secret": Entry("{option} holds {what}, and is stored with the run: {instead}."),
}
