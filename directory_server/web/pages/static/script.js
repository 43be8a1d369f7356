"use strict";

// Every page works without this. Search as you type, news, copying, keys.

const words = document.body.dataset;

for (const shown of document.querySelectorAll("[data-copyable]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet copy";
  button.textContent = words.copy;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(shown.textContent);
    } catch {
      // Without TLS browsers have no clipboard for pages: the person copies what is selected.
      getSelection().selectAllChildren(shown);
      return;
    }
    button.textContent = words.copied;
    setTimeout(() => { button.textContent = words.copy; }, 2000);
  });
  (shown.closest("pre") ?? shown).before(button);
}

const box = document.getElementById("q");
if (box) {
  let asking = new AbortController();
  let timer = 0;
  let asked = new URL(location).searchParams.get("q") ?? "";
  let typing = false;

  const show = async (address) => {
    asking.abort();
    asking = new AbortController();
    const found = document.getElementById("found");
    found.classList.add("waiting");
    try {
      const answer = await fetch(address, { headers: { Accept: "text/html" }, signal: asking.signal });
      if (answer.redirected) {
        location.assign(answer.url);
        return;
      }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById("found");
      if (fresh) {
        document.getElementById("state").textContent = page.getElementById("found-title").textContent;
        document.title = page.title;
        document.querySelector("#news a").href = page.querySelector("#news a").getAttribute("href");
        document.getElementById("search").className = page.getElementById("search").className;
        found.replaceWith(document.adoptNode(fresh));
      } else {
        found.replaceChildren(...page.querySelectorAll(".blank h1, .blank p:not(.number)"));
        found.classList.remove("waiting");
      }
    } catch (error) {
      if (error.name === "AbortError") return;
      found.classList.remove("waiting");
      throw error;
    }
  };

  const search = () => {
    const wanted = box.value.trim();
    if (wanted === asked) return;
    asked = wanted;
    const address = wanted ? "/?" + new URLSearchParams({ q: wanted }) : "/";
    // One step back leads to what there was before the typing began.
    history[typing ? "replaceState" : "pushState"](null, "", address);
    typing = true;
    show(address);
  };

  box.addEventListener("input", (event) => {
    clearTimeout(timer);
    if (!event.isComposing) timer = setTimeout(search, 200);
  });
  box.addEventListener("compositionend", () => { timer = setTimeout(search, 200); });
  box.addEventListener("blur", () => { typing = false; });
  box.form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    search();
  });
  addEventListener("popstate", () => {
    clearTimeout(timer);
    typing = false;
    asked = box.value = new URL(location).searchParams.get("q") ?? "";
    show(location.href);
  });

  document.getElementById("keys").hidden = !matchMedia("(hover: hover)").matches;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const inside = event.target.closest("input, textarea, select");
    if (event.key === "/" && !inside) {
      event.preventDefault();
      box.focus();
      box.select();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const links = [...document.querySelectorAll("#found h3 a")];
    const here = links.indexOf(document.activeElement);
    if (!step || !links.length || (here < 0 && event.target !== box)) return;
    event.preventDefault();
    (links[here + step] ?? (step < 0 ? box : links[here])).focus();
  });

  const news = document.getElementById("news");
  let added = 0;
  new EventSource("/news").addEventListener("added", (event) => {
    added += JSON.parse(event.data).added;
    news.firstElementChild.textContent = (added === 1 ? news.dataset.one : news.dataset.other).replace("{count}", added.toLocaleString());
    news.hidden = false;
  });
}
