"use strict";
(() => {
  const gallery = document.getElementById("gallery");
  if (!gallery) return;
  // A card may show several sides, each with tags of its own: one of them must answer to all that is chosen.
  const cards = [...gallery.querySelectorAll("article.exhibit")].map((card) => {
    const own = card.dataset.tags.split("\n");
    const sides = [...card.querySelectorAll("[data-side]")].map((side) => new Set(own.concat(side.dataset.side.split("\n"))));
    return { card, sides: sides.length ? sides : [new Set(own)], words: card.dataset.words };
  });
  const size = Number(gallery.dataset.pageSize);
  const selects = [...document.querySelectorAll("select[data-filter]")];
  const search = document.getElementById("search");
  const toggle = document.getElementById("switch");
  const counter = document.getElementById("counter");
  const pager = document.getElementById("pager");
  const place = document.getElementById("place");
  let page = 0;
  let pinned = [];

  const matches = (entry, wanted, words) =>
    entry.sides.some((tags) => wanted.every((tag) => tags.has(tag))) && words.every((word) => entry.words.includes(word));

  const show = () => {
    const wanted = selects.filter((select) => select.value !== "").map((select) => `${select.dataset.filter}\t${select.value}`).concat(pinned, toggle?.checked ? [toggle.dataset.tag] : []);
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matching = cards.filter((entry) => matches(entry, wanted, words));
    const last = Math.max(0, Math.ceil(matching.length / size) - 1);
    page = Math.min(page, last);
    const shown = new Set(matching.slice(page * size, (page + 1) * size));
    for (const entry of cards) entry.card.hidden = !shown.has(entry);
    const beside = pinned.map((tag) => `, ${tag.replace(/^label:/, "").replace("\t", " ")}`).join("");
    counter.textContent = matching.length === cards.length ? `${cards.length} shown here` : `${matching.length} of ${cards.length} match${beside}`;
    place.textContent = `page ${page + 1} of ${last + 1}`;
    pager.hidden = last === 0;
    pager.querySelector("[data-step='-1']").disabled = page === 0;
    pager.querySelector("[data-step='1']").disabled = page === last;
  };

  const again = () => {
    page = 0;
    show();
  };
  const unpin = () => {
    pinned = [];
    document.querySelector(".mark.chosen")?.classList.remove("chosen");
  };
  const clear = () => {
    unpin();
    selects.forEach((select) => (select.value = ""));
    search.value = "";
    if (toggle) toggle.checked = false;
  };
  selects.forEach((select) =>
    select.addEventListener("change", () => {
      unpin();
      again();
    }),
  );
  search.addEventListener("input", again);
  toggle?.addEventListener("change", again);
  document.getElementById("reset").addEventListener("click", () => {
    clear();
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

  // A mark of a chart chooses what it stands for; a value that no list offers is kept beside the lists.
  const choose = (mark) => {
    clear();
    const chart = mark.closest(".chart");
    for (const tag of `${mark.dataset.tags}\n${chart.dataset.tags}`.split("\n").filter(Boolean)) {
      const [name, value] = tag.split("\t");
      const select = selects.find((list) => list.dataset.filter === name);
      if (select && [...select.options].some((option) => option.value === value)) select.value = value;
      else pinned.push(tag);
    }
    mark.classList.add("chosen");
    again();
    document.getElementById("counterexamples").scrollIntoView();
  };
  for (const mark of document.querySelectorAll(".mark")) {
    mark.addEventListener("click", () => choose(mark));
    mark.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(mark);
    });
  }

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
