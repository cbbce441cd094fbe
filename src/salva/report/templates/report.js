"use strict";
(() => {
  const gallery = document.getElementById("gallery");
  if (!gallery) return;
  const cards = [...gallery.querySelectorAll("article.exhibit")].map((card) => ({
    card,
    tags: new Set(card.dataset.tags.split("\n")),
    words: card.dataset.words,
  }));
  const size = Number(gallery.dataset.pageSize);
  const selects = [...document.querySelectorAll("select[data-filter]")];
  const search = document.getElementById("search");
  const counter = document.getElementById("counter");
  const pager = document.getElementById("pager");
  const place = document.getElementById("place");
  let page = 0;

  const matches = (entry, wanted, words) =>
    wanted.every((tag) => entry.tags.has(tag)) && words.every((word) => entry.words.includes(word));

  const show = () => {
    const wanted = selects.filter((select) => select.value !== "").map((select) => `${select.dataset.filter}\t${select.value}`);
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = cards.filter((entry) => matches(entry, wanted, words));
    const last = Math.max(0, Math.ceil(found.length / size) - 1);
    page = Math.min(page, last);
    const shown = new Set(found.slice(page * size, (page + 1) * size));
    for (const entry of cards) entry.card.hidden = !shown.has(entry);
    counter.textContent = found.length === cards.length ? `${cards.length} shown here` : `${found.length} of ${cards.length} match`;
    place.textContent = `page ${page + 1} of ${last + 1}`;
    pager.hidden = last === 0;
    pager.querySelector("[data-step='-1']").disabled = page === 0;
    pager.querySelector("[data-step='1']").disabled = page === last;
  };

  const again = () => {
    page = 0;
    show();
  };
  selects.forEach((select) => select.addEventListener("change", again));
  search.addEventListener("input", again);
  document.getElementById("reset").addEventListener("click", () => {
    selects.forEach((select) => (select.value = ""));
    search.value = "";
    again();
  });
  pager.addEventListener("click", (event) => {
    const step = Number(event.target.dataset.step || 0);
    if (!step) return;
    page += step;
    show();
    document.getElementById("counterexamples").scrollIntoView();
  });

  const boxes = document.getElementById("boxes");
  boxes.addEventListener("change", () => document.body.classList.toggle("no-boxes", !boxes.checked));

  // Clicking a cell of the heat map chooses its law and modifier.
  const choose = (name, value) => {
    const select = selects.find((one) => one.dataset.filter === `label:${name}`);
    if (select) select.value = [...select.options].some((one) => one.value === value) ? value : "";
  };
  document.querySelectorAll("button[data-law]").forEach((button) =>
    button.addEventListener("click", () => {
      choose("law", button.dataset.law);
      choose("modifier", button.dataset.modifier);
      again();
      document.getElementById("counterexamples").scrollIntoView();
    }),
  );

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-copy]");
    if (!button) return;
    const text = button.parentElement.querySelector("code").textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(button.parentElement.querySelector("code"));
      button.textContent = "selected";
    }
    setTimeout(() => (button.textContent = "copy"), 1500);
  });

  document.body.classList.add("with-script");
  show();
})();
