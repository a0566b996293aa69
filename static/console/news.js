// Asks for news of the page while somebody looks at it: a figure that changed is shown, the rows stay as they are.
// Where the whole has come into another state, what may be done about it is another too: then the page is loaded anew.
"use strict";

(() => {
  const EVERY_MS = 10000;
  const stateOf = (place) => place.querySelector("[data-state]")?.dataset.state;
  for (const place of document.querySelectorAll("[data-news]")) {
    const every = Number(place.dataset.every) || EVERY_MS;
    const state = stateOf(place);
    let tag = null;
    const ask = async () => {
      if (!document.hidden) {
        try {
          const answer = await fetch(place.dataset.news, { headers: tag ? { "If-None-Match": tag } : {} });
          if (answer.ok && !answer.redirected) {
            tag = answer.headers.get("ETag");
            const text = (await answer.text()).trim();
            if (place.innerHTML.trim() !== text) place.innerHTML = text;
            if (stateOf(place) !== state) {
              location.reload();
              return;
            }
          }
        } catch { /* the server is away for a moment; asked again */ }
      }
      setTimeout(ask, every);
    };
    setTimeout(ask, every);
  }
})();
