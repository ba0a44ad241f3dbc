"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const elementsOf = (name) => all("[data-el]").filter((cell) => cell.dataset.el === name);

  // ---- copying ----

  const copy = async (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const area = document.body.appendChild(document.createElement("textarea"));
    area.value = text;
    area.select();
    document.execCommand("copy");
    area.remove();
  };
  const copying = (button, text) => button.addEventListener("click", async () => {
    const label = button.textContent;
    try {
      await copy(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not copied";
    }
    button.disabled = true;
    setTimeout(() => { button.textContent = label; button.disabled = false; button.focus(); }, 1200);
  });
  for (const line of all(".copies")) line.hidden = false;
  for (const button of all("[data-copy]")) copying(button, button.dataset.copy);

  // ---- an element of a gradient: its column, the weights and the terms of its sum ----

  const pinned = () => {
    try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; }
  };
  const figureOf = (name) => all("figure[data-of]").find(
    (figure) => all("[data-sum]", figure).some((item) => item.dataset.sum === name));

  const light = (name) => {
    for (const cell of all(".lit")) cell.classList.remove("lit");
    const figure = figureOf(name);
    if (!figure) return;
    for (const cell of elementsOf(name)) cell.classList.add("lit");
    for (const row of all(".matrix tbody tr", figure)) {
      const term = all("td[data-el]", row).find((cell) => cell.dataset.el === name);
      const weight = row.querySelector("td.seed[data-el]");
      if (!term || !weight || term.classList.contains("zero")) continue;
      for (const cell of elementsOf(weight.dataset.el)) cell.classList.add("lit");
    }
    const item = all("[data-sum]", figure).find((each) => each.dataset.sum === name);
    const sum = figure.querySelector(".sum");
    if (sum.innerHTML !== item.innerHTML) sum.innerHTML = item.innerHTML;
  };

  const pin = (name) => {
    const next = pinned() === name ? "" : name;
    history.replaceState(null, "", next ? "#" + encodeURIComponent(next) : location.pathname + location.search);
    showPinned();
  };
  const showPinned = () => {
    for (const cell of all(".pinned")) cell.classList.remove("pinned");
    for (const cell of all(".elements [data-el]")) cell.classList.toggle("pinned", cell.dataset.el === pinned());
    light(pinned());
  };

  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const go = (cell, key) => {
    const row = cell.parentElement, rows = all("tr", row.closest("tbody")), cells = all("td", row);
    if (key === "Home") return cells[0];
    if (key === "End") return cells.at(-1);
    const [down, right] = step[key] || [0, 0];
    const there = rows[rows.indexOf(row) + down];
    return there && all("td", there)[cells.indexOf(cell) + right];
  };
  for (const grid of all('table[role="grid"]')) {
    grid.classList.add("grid-ready");
    const cells = all("td[data-el]", grid);
    cells.forEach((cell, k) => { cell.tabIndex = k ? -1 : 0; });
    grid.addEventListener("keydown", (event) => {
      const cell = event.target.closest("td[data-el]");
      if (!cell) return;
      if (event.key === "Enter" || event.key === " ") pin(cell.dataset.el);
      else if (event.key === "Escape" && pinned()) pin(pinned());
      else {
        const next = go(cell, event.key);
        if (!next || !next.dataset.el) return;
        for (const each of cells) each.tabIndex = each === next ? 0 : -1;
        next.focus();
      }
      event.preventDefault();
    });
  }
  const named = (event) => {
    const cell = event.target.closest && event.target.closest("[data-el]");
    return cell && figureOf(cell.dataset.el) ? cell.dataset.el : "";
  };
  document.addEventListener("mouseover", (event) => { if (named(event)) light(named(event)); });
  document.addEventListener("focusin", (event) => { if (named(event)) light(named(event)); });
  document.addEventListener("mouseout", (event) => { if (named(event)) light(pinned()); });
  document.addEventListener("focusout", (event) => { if (named(event)) light(pinned()); });
  document.addEventListener("click", (event) => { if (named(event)) pin(named(event)); });
  addEventListener("hashchange", showPinned);
  showPinned();

  // ---- both passes, step by step ----

  for (const walk of all(".walk")) {
    const items = all(".passes > li", walk), stepper = walk.querySelector(".stepper");
    if (!stepper) continue;
    const slider = stepper.querySelector("input"), said = stepper.querySelector("output");
    const show = () => {
      const at = Number(slider.value);
      walk.classList.add("stepping");
      for (const part of all(".now, .done, .edge.back", walk)) part.classList.remove("now", "done", "back");
      items.slice(0, at).forEach((item) => {
        const node = walk.querySelector(`.node[data-node="${item.dataset.node}"]`);
        if (item.dataset.way === "forward") node.classList.add("done");
      });
      const item = items[at - 1];
      said.textContent = item ? `${at} of ${items.length}` : `${items.length} steps`;
      for (const button of all("button", stepper)) {
        button.disabled = button.dataset.by < 0 ? at <= 0 : at >= items.length;
      }
      if (!item) return;
      const { node, way } = item.dataset;
      item.classList.add("now");
      walk.querySelector(`.node[data-node="${node}"]`).classList.add("now");
      for (const edge of all(`.edge[data-to="${node}"]`, walk)) {
        edge.classList.add("now", ...(way === "back" ? ["back"] : []));
      }
    };
    slider.value = Math.min(1, items.length);
    slider.addEventListener("input", show);
    for (const button of all("button", stepper)) {
      button.addEventListener("click", () => {
        slider.value = Number(slider.value) + Number(button.dataset.by);
        show();
      });
    }
    stepper.hidden = false;
    show();
  }

  // ---- boxes that scroll can be reached by keyboard ----

  const reach = () => {
    for (const box of all(".scroll")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  addEventListener("resize", reach);
  reach();
})();
