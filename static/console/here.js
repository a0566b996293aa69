// A case's page: tells that it is open and worked on, shows what it is told, and keeps what was typed in this tab.
"use strict";

(() => {
  const EVERY_MS = 10000;
  const form = document.querySelector("[data-here]");
  if (!form) return;
  const place = form.querySelector("[role=status]");
  let active = false;
  for (const kind of ["keydown", "pointerdown", "input"]) {
    document.addEventListener(kind, () => { active = true; }, { passive: true });
  }

  const tell = async () => {
    if (document.hidden) return;
    const said = new FormData(form);
    if (active) said.set("active", "1");
    active = false;
    try {
      const answer = await fetch(form.action, { method: "POST", body: said });
      if (!answer.ok || answer.redirected) return;
      const text = (await answer.text()).trim();
      if (place.dataset.said !== text) place.innerHTML = text;
      place.dataset.said = text;
    } catch { /* the server is away for a moment; told again */ }
  };
  const again = async () => { await tell(); setTimeout(again, EVERY_MS); };
  document.addEventListener("visibilitychange", tell);
  again();

  // Drafts: what is typed into a case's forms is there again after the page was loaded anew, until it is sent.
  const MINE = `makegood-draft:${form.dataset.who}:`;
  const key = (field) => `${MINE}${location.pathname}:${field.id}`;
  const kept = (field) => field.id && field.name !== "proof" && field.matches("textarea, input[type=text]") && field.closest("main form[method=post]");
  const store = (act) => { try { return act(sessionStorage); } catch { return null; /* without storage nothing is kept */ } };
  for (const field of document.querySelectorAll("main form[method=post] textarea, main form[method=post] input[type=text]")) {
    if (!kept(field)) continue;
    const text = store((all) => all.getItem(key(field)));
    if (!text || field.value) continue;
    field.value = text;
    field.closest("details")?.setAttribute("open", "");
  }
  document.addEventListener("input", (event) => {
    if (kept(event.target)) store((all) => event.target.value ? all.setItem(key(event.target), event.target.value) : all.removeItem(key(event.target)));
  });
  document.addEventListener("submit", (event) => {
    store((all) => {
      for (const field of event.target.elements) if (kept(field)) all.removeItem(key(field));
      if (event.target.action.endsWith("/logout/")) for (const name of Object.keys(all)) if (name.startsWith(MINE)) all.removeItem(name);
    });
  });
})();
