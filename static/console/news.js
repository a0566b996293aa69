// Asks for news of the page while somebody looks at it: a figure that changed is shown, the rows stay as they are.
"use strict";

(() => {
  const EVERY_MS = 10000;
  for (const place of document.querySelectorAll("[data-news]")) {
    const every = Number(place.dataset.every) || EVERY_MS;
    let tag = null;
    const ask = async () => {
      if (!document.hidden) {
        try {
          const answer = await fetch(place.dataset.news, { headers: tag ? { "If-None-Match": tag } : {} });
          if (answer.ok && !answer.redirected) {
            tag = answer.headers.get("ETag");
            const text = (await answer.text()).trim();
            if (place.innerHTML.trim() !== text) place.innerHTML = text;
          }
        } catch { /* the server is away for a moment; asked again */ }
      }
      setTimeout(ask, every);
    };
    setTimeout(ask, every);
  }
})();
