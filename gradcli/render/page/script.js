"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const elementsOf = (name) => all("[data-el]").filter((cell) => cell.dataset.el === name);

  // A box that scrolls can be reached by keyboard.
  const reach = (box) => {
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  };

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
  for (const line of all(".copies, .hint")) line.hidden = false;
  for (const button of all("[data-copy]")) copying(button, button.dataset.copy);

  // ---- an element of a gradient: its column, the weights and the terms of its sum ----

  const pinned = () => {
    try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; }
  };
  const figureOf = (name) => all("figure[data-of]").find(
    (figure) => all("[data-sum]", figure).some((item) => item.dataset.sum === name));

  // Scrolls the box around a column sideways until the column is seen beside the labels of rows.
  const reveal = (head) => {
    const box = head.closest(".scroll"), frame = box.getBoundingClientRect();
    const here = head.getBoundingClientRect(), label = box.querySelector("tbody th");
    const left = label ? Math.min(label.getBoundingClientRect().right, frame.left + frame.width / 2) : frame.left;
    if (here.left < left) box.scrollLeft -= left - here.left;
    else if (here.right > frame.right) box.scrollLeft += here.right - frame.right;
  };

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
    reveal(all(".matrix thead [data-el]", figure).find((cell) => cell.dataset.el === name));
    const item = all("[data-sum]", figure).find((each) => each.dataset.sum === name);
    const sum = figure.querySelector(".sum");
    if (sum.innerHTML !== item.innerHTML) sum.innerHTML = item.innerHTML;
    reach(sum);
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
      const box = walk.querySelector(`.node[data-node="${node}"]`);
      box.classList.add("now");
      centre(box);
      for (const edge of all(`.edge[data-to="${node}"]`, walk)) {
        edge.classList.add("now", ...(way === "back" ? ["back"] : []));
      }
    };
    const centre = (box) => {
      const drawing = walk.querySelector(".drawing");
      const here = box.getBoundingClientRect(), frame = drawing.getBoundingClientRect();
      drawing.scrollLeft += here.left + here.width / 2 - frame.left - frame.width / 2;
      drawing.scrollTop += here.top + here.height / 2 - frame.top - frame.height / 2;
    };
    walk.addEventListener("click", (event) => {
      const box = event.target.closest(".node");
      const place = box ? items.findIndex((item) => item.dataset.node === box.dataset.node) : -1;
      if (place < 0) return;
      slider.value = place + 1;
      show();
    });
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

  addEventListener("resize", () => all(".scroll, .sum").forEach(reach));
  all(".scroll, .sum").forEach(reach);
})();
