"""Messages about models and judges behind an address."""

from __future__ import annotations

from collections.abc import Mapping

from salva.messages.entry import Entry

ENTRIES: Mapping[str, Entry] = {
    "key-missing": Entry(
        "{component} needs a key. Set {variable}, or name another endpoint with {url_variable}.",
    ),
    "key-variable-unset": Entry(
        "{component} takes its key from {variable}, which is not set.",
    ),
    "key-of-another": Entry(
        "{component} at {server} would get {variable}, which goes to {other}. Set --set {option}=VARIABLE, or none.",
        "A key belongs to one server. Of two models or judges of one kind, name one to set its options alone: "
        "--model NAME=SPEC --set NAME.key_env=VARIABLE. Addresses on your own network get no key that is not named.",
    ),
    "key-refused": Entry(
        "{component} answered {status}: {why}. Check the key.",
    ),
    "credit-used-up": Entry(
        "{component} answered {status}: {why}. The account has no credit left.",
    ),
    "model-not-found": Entry(
        "{component} answered {status}: {why}. Check the model's name and base URL.",
    ),
    "request-refused": Entry(
        "{component} answered {status}: {why}.",
        "The provider's policy declined the request. --retry refused asks again.",
    ),
    "request-failed": Entry(
        "{component} answered {status}: {why}.",
    ),
    "endpoint-unreachable": Entry(
        "{component} at {address} cannot be reached: {why}.",
    ),
    "no-answer": Entry(
        "{component} gave no answer within its time limit ({why}). Try a higher timeout_s.",
    ),
    "maybe-paid": Entry(
        "{why}. The request may have been billed and is not repeated; salva run --retry unknown repeats it.",
        "The request was sent, and no answer says whether it was served. Only a service that documents such answers as "
        "free is asked again, and so is one with a price of 0, at most twice.",
    ),
    "image-lost": Entry(
        "{component} cannot be fetched any more: {why}. --retry unknown generates it again.",
        "It was generated and may have been billed, so nothing but that flag generates it again.",
    ),
    "redirect-loop": Entry(
        "{component} redirects {n} requests in a row, last to {address}. Check the base URL.",
    ),
    "endpoint-busy": Entry(
        "{component} asks to wait {seconds:,.0f} s ({why}). Run the command again then.",
    ),
    "endpoint-down": Entry(
        "{component} failed {n} times in a row, last: {why}. Repair it, then run the command again.",
    ),
    "not-asked": Entry(
        "{component} was not asked: the run stopped.",
    ),
    "address-private": Entry(
        "{component} names an image at {address}, a {network} address outside its network; nothing was "
        "fetched. Use that address as base_url, or --set model.answer=b64_json.",
        "An endpoint must not send salva to servers that only this machine can reach.",
    ),
    "redirect-refused": Entry(
        "{component} redirects to {address!r}; keys and prompts are not sent to another server. If you "
        "trust it, use it as base URL.",
    ),
    "url-holds-secret": Entry(
        "{option} holds {what}, and options are stored with the run: {instead}.",
    ),
}
