// What htmx leaves to us where a page asks for news: nothing is asked while nobody looks, nothing but news ever, and no
// answer is shown twice. A case's page also tells whether somebody works on it.
"use strict";

(() => {
  const NEWS = /^\/[\w/-]+\/(news|progress|reading|here)(\?|$)/; // no other address, whatever a page may have been made to hold
  const SLOWEST = 10_000; // ms
  let active = false;
  for (const kind of ["keydown", "pointerdown", "input"]) {
    document.addEventListener(kind, () => { active = true; }, { passive: true });
  }
  const on = (name, act) => document.addEventListener(`htmx:${name}`, (event) => act(event.detail, event));

  // A place with data-slower, in ms, asks ever more seldom; a tab that is looked at again asks at once.
  const waits = new WeakMap();
  const early = ({ elt, triggeringEvent }) => {
    if (!elt.dataset.slower || triggeringEvent) return false;
    const { gap, until } = waits.get(elt) ?? { gap: Number(elt.dataset.slower), until: 0 };
    if (performance.now() < until) return true;
    waits.set(elt, { gap: Math.min(gap * 1.5, SLOWEST), until: performance.now() + gap });
    return false;
  };

  on("confirm", (asks, event) => { if (document.hidden || !NEWS.test(asks.path) || early(asks)) event.preventDefault(); });
  on("configRequest", ({ elt, verb, headers, parameters }) => {
    if (verb === "get") {
      const known = [elt.dataset.tag, elt.dataset.out].filter(Boolean).join(", ");
      if (known) headers["If-None-Match"] = known;
      return;
    }
    parameters.said = elt.dataset.tag || "";
    parameters.out = elt.dataset.out || "";
    parameters.active = active ? "1" : "";
    active = false;
  });
  on("beforeOnLoad", ({ elt, xhr, pathInfo }, event) => {
    const [asked, came] = [pathInfo.finalRequestPath, pathInfo.responsePath].map((path) => path?.split("?")[0]);
    if (asked !== came) event.preventDefault(); // it was led elsewhere
    else if (xhr.getResponseHeader("HX-Retarget")) elt.dataset.out = xhr.getResponseHeader("ETag"); // logged out, or in again: what the page shows stays
    else if (xhr.status < 400) {
      elt.dataset.tag = xhr.getResponseHeader("ETag") || elt.dataset.tag || "";
      if (elt.dataset.out) document.getElementById("told").replaceChildren(); // logged in again, in another tab
      delete elt.dataset.out;
    }
  });
})();
