// The console's keys. Off in fields, off with a modifier held, and off for good where the person says so.
"use strict";

(() => {
  const STORED = "makegood-keys";
  const PREFIX_MS = 1500; // how long "g" waits for its second key
  const SEARCH = "/repairs/#search"; // for pages that have none of their own
  const PLACES = { h: "/", q: "/repairs/", a: "/approvals/", u: "/runs/", t: "/tools/", p: "/policies/", r: "/reports/", j: "/journal/" };
  const sheet = document.getElementById("keys");
  const box = document.getElementById("keys-on");
  if (!sheet || !box) return;

  let prefixUntil = 0;
  const isOn = () => {
    try { return localStorage.getItem(STORED) !== "off"; } catch { return true; }
  };
  box.checked = isOn();
  box.addEventListener("change", () => {
    try { localStorage.setItem(STORED, box.checked ? "on" : "off"); } catch { /* it then holds for this page only */ }
  });
  document.getElementById("keys-open").addEventListener("click", () => sheet.showModal());

  const inField = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;
  const rows = () => [...document.querySelectorAll("[data-row]")];
  const move = (step) => {
    const all = rows();
    if (!all.length) return;
    const index = all.indexOf(document.activeElement);
    const next = index < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(index + step, 0), all.length - 1);
    all[next].focus();
  };
  const press = (name) => {
    const target = document.querySelector(`[data-key="${name}"]`);
    if (!target) return;
    if (target.matches("button, a")) target.click(); else target.focus();
  };

  // To where this page belongs: what its head names, else its part of the console, else home. Who came from there gets
  // it back as they left it, narrowed and scrolled.
  const up = () => {
    const ways = document.querySelectorAll('[data-key="u"], .bar [aria-current="page"], .bar .brand');
    const way = [...ways].sort((one, other) => rank(one) - rank(other)).find((one) => one.pathname !== location.pathname);
    if (!way) return;
    const from = document.referrer ? new URL(document.referrer) : null;
    if (from?.origin === location.origin && from.pathname === way.pathname) history.back(); else location.assign(way.href);
  };
  const rank = (way) => way.matches('[data-key="u"]') ? 0 : way.matches(".brand") ? 2 : 1;

  const ACTS = {
    "?": () => sheet.showModal(),
    j: () => move(1),
    k: () => move(-1),
    o: () => { if (document.activeElement.matches("[data-row]")) document.activeElement.click(); },
    "/": () => { if (document.querySelector('[data-key="/"]')) press("/"); else location.assign(SEARCH); },
    c: () => press("c"),
    a: () => press("a"),
    e: () => press("e"),
    u: up,
    h: () => press("h"),
    x: () => document.activeElement.closest("tr")?.querySelector("[data-tick]")?.click(),
    b: () => press("b"),
    n: () => press("n"),
  };

  if (location.pathname + location.hash === SEARCH) press("/");

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (inField(event.target) || sheet.open || !box.checked) return;
    const now = Date.now();
    if (now < prefixUntil && event.key in PLACES) {
      prefixUntil = 0;
      event.preventDefault();
      location.assign(PLACES[event.key]);
    } else if (event.key === "g") {
      prefixUntil = now + PREFIX_MS;
    } else if (Object.hasOwn(ACTS, event.key)) {
      event.preventDefault();
      ACTS[event.key]();
    }
  });
})();
