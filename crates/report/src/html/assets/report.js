// Life for the report pages: theme, filters and sorting on the overview, stepping on a finding.
// Pages are complete without it. It reads only what the page holds and loads nothing.
"use strict";

(function theme() {
  const button = document.querySelector(".theme");
  const root = document.documentElement;
  const store = {
    // Storage is refused to pages opened from disk in some browsers.
    get() { try { return localStorage.getItem("leakproof-theme"); } catch { return null; } },
    set(value) { try { localStorage.setItem("leakproof-theme", value); } catch { /* kept for this page only */ } },
  };
  const saved = store.get();
  if (saved === "dark" || saved === "light") root.dataset.theme = saved;
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    store.set(root.dataset.theme);
  });
})();

function typing(event) {
  return event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
}

(function overview() {
  const form = document.querySelector(".filters");
  const table = document.querySelector(".leaks");
  if (!form || !table) return;
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row, order) => ({
    row,
    order,
    data: row.dataset,
    text: (row.textContent + " " + row.dataset.id).toLowerCase(),
    link: row.querySelector("a").href,
  }));
  const chips = Array.from(form.querySelectorAll("[data-facet]"));
  const facets = [...new Set(chips.map((chip) => chip.dataset.facet))];
  const search = form.elements.q;
  const file = form.elements.file || { value: "" };
  const state = { chosen: {}, sort: null, down: false };
  form.hidden = false;

  function reset() {
    for (const facet of facets) state.chosen[facet] = new Set();
    if (facets.includes("status")) state.chosen.status.add("open");
    search.value = "";
    file.value = "";
  }

  // What a row answers to each question; a facet's own choice does not count for its own counts.
  function matches(entry, words, except) {
    if (file.value && entry.data.file !== file.value) return false;
    for (const facet of facets) {
      const chosen = state.chosen[facet];
      if (facet !== except && chosen.size && !chosen.has(entry.data[facet])) return false;
    }
    return words.every((word) => entry.text.includes(word));
  }

  function apply() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const entry of rows) {
      const match = matches(entry, words, null);
      if (entry.row.hidden === match) entry.row.hidden = !match;
      if (match) shown += 1;
    }
    recount(words);
    form.querySelector("output").textContent = shown === rows.length ? `${shown} leaks` : `${shown} of ${rows.length} leaks`;
    document.querySelector("table + .none").hidden = shown > 0;
    form.querySelector(".clear").hidden = location.hash.length < 2 && hash() === "";
    const address = hash();
    if (address !== location.hash.slice(1)) history.replaceState(null, "", address ? "#" + address : location.pathname + location.search);
  }

  function recount(words) {
    for (const facet of facets) {
      const counts = new Map();
      for (const entry of rows) {
        if (matches(entry, words, facet)) counts.set(entry.data[facet], (counts.get(entry.data[facet]) || 0) + 1);
      }
      for (const chip of chips.filter((c) => c.dataset.facet === facet)) {
        const count = counts.get(chip.dataset.value) || 0;
        chip.querySelector("b").textContent = count;
        chip.classList.toggle("zero", count === 0);
        chip.setAttribute("aria-pressed", state.chosen[facet].has(chip.dataset.value));
      }
    }
  }

  // The filters as an address, so that a view can be linked and the back button returns to it.
  function hash() {
    const query = new URLSearchParams();
    if (search.value) query.set("q", search.value);
    if (file.value) query.set("file", file.value);
    for (const facet of facets) {
      const values = [...state.chosen[facet]];
      if (facet === "status" && values.length === 1 && values[0] === "open") continue;
      if (values.length || facet === "status") query.set(facet, values.join(","));
    }
    if (state.sort) query.set("sort", (state.down ? "-" : "") + state.sort);
    return query.toString();
  }

  function readHash() {
    reset();
    const query = new URLSearchParams(location.hash.slice(1));
    search.value = query.get("q") || "";
    file.value = query.get("file") || "";
    for (const facet of facets) {
      if (query.has(facet)) state.chosen[facet] = new Set(query.get(facet).split(",").filter(Boolean));
    }
    const sort = query.get("sort") || "";
    sortBy(sort.replace(/^-/, "") || null, sort.startsWith("-"));
    apply();
  }

  const surety = { witnessed: 0, feasible: 1, assumed: 2 };
  const keys = {
    what: (e) => e.text,
    fn: (e) => e.row.cells[1].textContent,
    place: (e) => e.data.file + ":" + e.data.line.padStart(9, "0"),
    sure: (e) => String(surety[e.data.evidence]),
    len: (e) => e.row.cells[4].textContent.padStart(6, "0"),
  };

  function sortBy(sort, down) {
    if (!keys[sort]) sort = null;
    const changed = sort !== state.sort || down !== state.down;
    state.sort = sort;
    state.down = down;
    if (!changed) return;
    const list = rows.map((entry) => ({ entry, key: sort ? keys[sort](entry) : "" }));
    const sign = down ? -1 : 1;
    list.sort((a, b) => (a.key < b.key ? -sign : a.key > b.key ? sign : a.entry.order - b.entry.order));
    body.append(...list.map((item) => item.entry.row));
    for (const head of table.tHead.rows[0].cells) {
      if (head.dataset.sort === sort) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
  }

  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const same = state.sort === head.dataset.sort;
      sortBy(same && state.down ? null : head.dataset.sort, same && !state.down);
      apply();
    });
  }
  for (const chip of chips) {
    chip.addEventListener("click", () => {
      const chosen = state.chosen[chip.dataset.facet];
      if (!chosen.delete(chip.dataset.value)) chosen.add(chip.dataset.value);
      apply();
    });
  }
  for (const bar of document.querySelectorAll("[data-file]:is(button)")) {
    bar.addEventListener("click", () => {
      file.value = file.value === bar.dataset.file ? "" : bar.dataset.file;
      apply();
    });
  }
  let waiting = 0;
  search.addEventListener("input", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(apply);
  });
  if (form.elements.file) file.addEventListener("change", apply);
  form.querySelector(".clear").addEventListener("click", () => {
    reset();
    sortBy(null, false);
    apply();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const first = Array.from(body.rows).find((row) => !row.hidden);
    if (first) first.querySelector("a").click();
  });
  addEventListener("hashchange", readHash);
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target === search) search.blur();
    if (typing(event)) return;
    if (event.key === "/") {
      event.preventDefault();
      search.focus();
    }
    const step = { j: 1, k: -1 }[event.key];
    if (step) {
      const visible = Array.from(body.rows).filter((row) => !row.hidden);
      const now = visible.indexOf(document.activeElement.closest("tr"));
      const next = visible[Math.max(0, Math.min(visible.length - 1, now + step))];
      if (next) next.querySelector("a").focus();
    }
  });
  readHash();
})();

(function finding() {
  const stepper = document.querySelector(".stepper");
  if (!stepper) return;
  const notes = Array.from(document.querySelectorAll(".an[data-step]")).sort((a, b) => a.dataset.step - b.dataset.step);
  const text = stepper.querySelector("p");
  let current = -1;
  stepper.hidden = false;

  // Scrolls inside the code panel too, so that a step far to the right comes into view.
  function show(index, scroll) {
    if (!notes.length) return;
    current = Math.max(0, Math.min(notes.length - 1, index));
    const step = notes[current].dataset.step;
    for (const element of document.querySelectorAll("[data-step]")) {
      element.classList.toggle("now", element.dataset.step === step);
    }
    const number = document.createElement("b");
    number.textContent = `${current + 1}/${notes.length}`;
    text.replaceChildren(number, notes[current].querySelector("span").textContent);
    if (!scroll) return;
    notes[current].scrollIntoView({ block: "center", inline: "nearest" });
    const item = document.querySelector(`.steps [data-step="${step}"]`);
    const list = document.querySelector(".steps");
    if (item && list.scrollHeight > list.clientHeight) list.scrollTop = item.offsetTop - list.clientHeight / 2;
    history.replaceState(null, "", "#step-" + step);
  }

  function fromHash() {
    const step = /^#step-(\d+)$/.exec(location.hash);
    const index = step ? notes.findIndex((note) => note.dataset.step === step[1]) : -1;
    if (index >= 0) show(index, true);
  }

  function follow(rel) {
    const link = document.querySelector(`a[rel="${rel}"]`);
    if (link) link.click();
  }

  const moves = { n: 1, j: 1, ArrowRight: 1, p: -1, k: -1, ArrowLeft: -1 };
  addEventListener("keydown", (event) => {
    if (typing(event)) return;
    if (moves[event.key]) {
      event.preventDefault();
      show(current + moves[event.key], true);
    } else if (event.key === "]") follow("next");
    else if (event.key === "[") follow("prev");
    else if (event.key === "u") follow("up");
  });
  for (const button of stepper.querySelectorAll("[data-go]")) {
    button.addEventListener("click", () => show(current + Number(button.dataset.go), true));
  }
  for (const link of document.querySelectorAll("a[data-step]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      show(notes.findIndex((note) => note.dataset.step === link.dataset.step), true);
    });
  }
  addEventListener("hashchange", fromHash);
  text.textContent = `${notes.length} steps: press n, or the arrow`;
  fromHash();
})();
