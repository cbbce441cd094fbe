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
  const boxes = document.getElementById("boxes");
  let page = 0;
  let pinned = [];

  const matches = (entry, wanted, words) =>
    entry.sides.some((tags) => wanted.every((tag) => tags.has(tag))) && words.every((word) => entry.words.includes(word));

  // What is chosen stands behind the # of the address, as name=value: a reload, or whoever is sent it, sees the same.
  // Nothing is sent to a server, and a signed address stays valid.
  const view = () => {
    const chosen = selects.filter((select) => select.value !== "").map((select) => [select.dataset.filter, select.value]);
    const beside = pinned.concat(toggle?.checked ? [toggle.dataset.tag] : []).map((tag) => tag.split("\t"));
    const rest = [["search", search.value.trim()], ["boxes", boxes.checked ? "" : "off"], ["page", page ? String(page + 1) : ""]];
    return new URLSearchParams([...chosen, ...beside, ...rest.filter(([, value]) => value)]).toString();
  };
  const keep = () => history.replaceState(null, "", `${location.pathname}${location.search}${view() && "#"}${view()}`);

  const matching = () => {
    const wanted = selects.filter((select) => select.value !== "").map((select) => `${select.dataset.filter}\t${select.value}`).concat(pinned, toggle?.checked ? [toggle.dataset.tag] : []);
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    return cards.filter((entry) => matches(entry, wanted, words));
  };

  const show = () => {
    const chosen = matching();
    const last = Math.max(0, Math.ceil(chosen.length / size) - 1);
    page = Math.min(page, last);
    const shown = new Set(chosen.slice(page * size, (page + 1) * size));
    for (const entry of cards) entry.card.hidden = !shown.has(entry);
    const beside = pinned.map((tag) => `, ${tag.replace(/^label:/, "").replace("\t", " ")}`).join("");
    counter.textContent = chosen.length === cards.length ? `${cards.length} shown here` : `${chosen.length} of ${cards.length} match${beside}`;
    place.textContent = `page ${page + 1} of ${last + 1}`;
    pager.hidden = last === 0;
    pager.querySelector("[data-step='-1']").disabled = page === 0;
    pager.querySelector("[data-step='1']").disabled = page === last;
  };

  const again = () => {
    page = 0;
    show();
    keep();
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
  // A value that no list offers is kept beside the lists.
  const take = (name, value) => {
    const select = selects.find((list) => list.dataset.filter === name);
    if (select && [...select.options].some((option) => option.value === value)) select.value = value;
    else if (toggle?.dataset.tag === `${name}\t${value}`) toggle.checked = true;
    else pinned.push(`${name}\t${value}`);
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
    keep();
    document.getElementById("counterexamples").scrollIntoView();
  });

  const drawBoxes = () => document.body.classList.toggle("no-boxes", !boxes.checked);
  boxes.addEventListener("change", () => {
    drawBoxes();
    keep();
  });

  // A mark of a chart chooses what it stands for.
  const choose = (mark) => {
    clear();
    const chart = mark.closest(".chart");
    for (const tag of `${mark.dataset.tags}\n${chart.dataset.tags}`.split("\n").filter(Boolean)) take(...tag.split("\t"));
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

  // The link of a case opens the page of the list that it is on; what is chosen stays where it is among that.
  const openCase = (entry) => {
    if (!matching().includes(entry)) clear();
    page = Math.floor(matching().indexOf(entry) / size);
    show();
    entry.card.scrollIntoView({ behavior: "instant" });
  };
  const openView = (params) => {
    clear();
    const { search: words = "", boxes: drawn = "", page: nth = "1", ...chosen } = Object.fromEntries(params);
    Object.entries(chosen).forEach(([name, value]) => take(name, value));
    search.value = words;
    boxes.checked = drawn !== "off";
    drawBoxes();
    page = Math.max(0, Math.trunc(Number(nth)) - 1) || 0;
    show();
    document.getElementById("counterexamples").scrollIntoView({ behavior: "instant" });
  };
  const followAddress = () => {
    const named = location.hash.slice(1);
    const entry = cards.find(({ card }) => card.id === named);
    if (entry) openCase(entry);
    else if (named.includes("=")) openView(new URLSearchParams(named));
    else show();
    if (!entry && named.startsWith("case-")) counter.textContent = `${named.slice(5)} is not among the ${cards.length} here`;
  };
  addEventListener("hashchange", followAddress);
  // A link to a section would put its name in the place of what is chosen.
  document.querySelector("nav").addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || !view()) return;
    event.preventDefault();
    document.querySelector(link.hash).scrollIntoView();
  });

  document.body.classList.add("with-script");
  followAddress();
})();
