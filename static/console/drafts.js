// Drafts: what is typed or chosen on a page is there again after it was loaded anew, in this tab, until it was sent and taken: who
// was led to the login in its place, or comes back from an answer that took nothing, finds it.
"use strict";

(() => {
  const place = document.querySelector("[data-drafts]"); // whose, and of which page
  if (!place) return;
  const FORMS = "main form[method=post]";
  const TYPED = "textarea, input[type=text], select";
  const PAGE = `makegood-draft:${place.dataset.drafts}:`;
  const MINE = PAGE.split(":", 2).join(":") + ":";
  const key = (field) => PAGE + field.id;
  const kept = (field) => field.id && field.name !== "proof" && field.matches(TYPED) && !field.readOnly && field.closest(FORMS);
  const store = (act) => { try { return act(sessionStorage); } catch { return null; /* without storage nothing is kept */ } };
  const keep = (field) => store((all) => field.value ? all.setItem(key(field), field.value) : all.removeItem(key(field)));
  const SENT = "makegood-sent";
  const again = new URL(document.referrer || location).pathname === "/admin/login/" || performance.getEntriesByType("navigation")[0]?.type === "back_forward";

  store((all) => {
    if (!again) for (const name of JSON.parse(all.getItem(SENT) || "[]")) all.removeItem(name);
    all.removeItem(SENT);
  });
  for (const field of document.querySelectorAll(`${FORMS} :is(${TYPED})`)) {
    if (!kept(field)) continue;
    if (field.value) keep(field); // what a refused form brought back
    else if (field.value = store((all) => all.getItem(key(field))) ?? "") field.closest("details")?.setAttribute("open", "");
  }
  document.addEventListener("input", ({ target }) => { if (kept(target)) keep(target); });
  document.addEventListener("submit", ({ target }) => store((all) => {
    all.setItem(SENT, JSON.stringify([...target.elements].filter(kept).map(key)));
    if (target.action.endsWith("/logout/")) for (const name of Object.keys(all)) if (name.startsWith(MINE)) all.removeItem(name);
  }));
})();
