"use strict";

// Search as you type, notifications, copy buttons, keyboard shortcuts. Every page also works without this script.

const labels = document.body.dataset;

for (const element of document.querySelectorAll("[data-copyable]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "secondary copy";
  button.textContent = labels.copy;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(element.textContent);
    } catch {
      // Without TLS, browsers offer no clipboard API. Select the text for copying by hand.
      getSelection().selectAllChildren(element);
      return;
    }
    button.textContent = labels.copied;
    setTimeout(() => { button.textContent = labels.copy; }, 2000);
  });
  (element.closest("pre") ?? element).before(button);
}

const box = document.getElementById("q");
if (box) {
  let controller = new AbortController();
  let timer = 0;
  let currentQuery = new URL(location).searchParams.get("q") ?? "";
  let typing = false;

  const load = async (address) => {
    controller.abort();
    controller = new AbortController();
    const current = document.getElementById("results");
    current.classList.add("waiting");
    try {
      const response = await fetch(address, { headers: { Accept: "text/html" }, signal: controller.signal });
      if (response.redirected) {
        location.assign(response.url);
        return;
      }
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const results = page.getElementById("results");
      if (results) {
        document.getElementById("search-status").textContent = page.getElementById("results-title").textContent;
        document.title = page.title;
        document.querySelector("#new-servers a").href = page.querySelector("#new-servers a").getAttribute("href");
        document.getElementById("search").className = page.getElementById("search").className;
        current.replaceWith(document.adoptNode(results));
      } else {
        current.replaceChildren(...page.querySelectorAll(".message h1, .message p:not(.status-code)"));
        current.classList.remove("waiting");
      }
    } catch (error) {
      if (error.name === "AbortError") return;
      current.classList.remove("waiting");
      throw error;
    }
  };

  const search = () => {
    const query = box.value.trim();
    if (query === currentQuery) return;
    currentQuery = query;
    const address = query ? "/?" + new URLSearchParams({ q: query }) : "/";
    // The back button returns to the page before typing began.
    history[typing ? "replaceState" : "pushState"](null, "", address);
    typing = true;
    load(address);
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
    currentQuery = box.value = new URL(location).searchParams.get("q") ?? "";
    load(location.href);
  });

  document.getElementById("shortcuts").hidden = !matchMedia("(hover: hover)").matches;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const inside = event.target.closest("input, textarea, select");
    if (event.key === "/" && !inside) {
      event.preventDefault();
      box.focus();
      box.select();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const links = [...document.querySelectorAll("#results h3 a")];
    const index = links.indexOf(document.activeElement);
    if (!step || !links.length || (index < 0 && event.target !== box)) return;
    event.preventDefault();
    (links[index + step] ?? (step < 0 ? box : links[index])).focus();
  });

  const notice = document.getElementById("new-servers");
  let added = 0;
  new EventSource("/news").addEventListener("added", (event) => {
    added += JSON.parse(event.data).added;
    notice.firstElementChild.textContent = (added === 1 ? notice.dataset.one : notice.dataset.other).replace("{count}", added.toLocaleString());
    notice.hidden = false;
  });
}
