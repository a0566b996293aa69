// While a target is being read: asks whether it is done, then shows the page anew, with what was typed meanwhile.
"use strict";

(() => {
  const KEPT = `makegood-typed:${location.pathname}`;
  const EVERY_MS = 700;
  const box = document.querySelector("#why-decision");
  try {
    const kept = sessionStorage.getItem(KEPT);
    if (kept && box && !box.value) box.value = kept;
    sessionStorage.removeItem(KEPT);
  } catch { /* without storage nothing is kept */ }

  const head = document.querySelector("[data-reading]");
  if (!head) return;
  const again = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch(head.dataset.reading, { headers: { Accept: "application/json" } });
        if (answer.ok && !(await answer.json()).reading) {
          try { if (box) sessionStorage.setItem(KEPT, box.value); } catch { /* as above */ }
          location.reload();
          return;
        }
      } catch { /* the server is away for a moment; asked again */ }
    }
    setTimeout(again, EVERY_MS);
  };
  setTimeout(again, EVERY_MS);
})();
