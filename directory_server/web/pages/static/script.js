"use strict";

// Search as you type, notifications, copy buttons, keyboard shortcuts. Every page also works without this script.

const labels = document.body.dataset;

const addCopyButton = (element) => {
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
  const block = element.closest("pre");
  if (!block) return element.before(button);
  let frame = block.closest(".code");
  if (!frame) {
    frame = document.createElement("figure");
    frame.className = "code plain";
    block.replaceWith(frame);
    frame.append(document.createElement("figcaption"), block);
  }
  frame.querySelector("figcaption").append(button);
};
document.querySelectorAll("[data-copyable], .docs-page pre code").forEach(addCopyButton);

for (const heading of document.querySelectorAll(".docs-page :is(h2, h3, h4)[id]")) {
  const link = document.createElement("a");
  link.className = "anchor";
  link.href = `#${heading.id}`;
  link.ariaLabel = heading.textContent;
  link.textContent = "#";
  heading.append(" ", link);
}

// Only the parts of the chosen editor are shown. The choice is remembered on every page.
const remembered = () => document.cookie.match(/(?:^|; )editor=([\w-]+)/)?.[1];
const remember = (editor) => { document.cookie = `editor=${editor}; path=/; max-age=31536000; samesite=lax`; };
const chooser = document.querySelector("div.chooser");
const choose = (editor) => {
  const select = chooser.querySelector("select");
  for (const button of chooser.querySelectorAll("button")) button.ariaPressed = String(button.value === editor);
  select.value = editor;
  if (select.selectedIndex < 0) select.value = "";
  select.classList.toggle("chosen", select.value !== "");
  for (const part of document.querySelectorAll("[data-editor]")) part.hidden = part.dataset.editor !== editor;
  for (const part of document.querySelectorAll("[data-editors]")) {
    part.hidden = !part.dataset.editors.split(" ").includes(editor);
    if (part.matches(".setup")) part.open = !part.hidden;
  }
};
if (chooser) {
  const known = [...chooser.querySelectorAll("button, option")].map((each) => each.value).filter(Boolean);
  const store = (editor) => {
    if (!editor) return;
    choose(editor);
    remember(editor);
  };
  chooser.hidden = false;
  document.body.classList.add("one-editor");
  choose(known.includes(remembered()) ? remembered() : known[0]);
  chooser.addEventListener("click", (event) => store(event.target.closest("button")?.value));
  chooser.addEventListener("change", (event) => store(event.target.value));
}

// The page of an entry has the steps of one editor, and links to those of the others. The script loads only these.
document.addEventListener("click", async (event) => {
  const link = event.target.closest("nav.chooser a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  remember(new URL(link).searchParams.get("editor"));
  const response = await fetch(link.href).catch(() => null);
  const page = response?.ok && new DOMParser().parseFromString(await response.text(), "text/html");
  const card = page && page.querySelector(".install");
  if (!card) return location.assign(link.href);
  const current = document.querySelector(".install");
  const open = [...current.querySelectorAll(".way")].map((way) => way.open);
  current.replaceWith(document.adoptNode(card));
  card.querySelectorAll("details.way").forEach((way, index) => { way.open = open[index]; });
  card.querySelectorAll("[data-copyable]").forEach(addCopyButton);
  const chosen = card.querySelector(".chooser > [aria-current]") ?? card.querySelector(".chooser summary");
  chosen.focus();
});

// On a narrow screen the filters cover the page: they stay until the reader has chosen all.
document.addEventListener("click", (event) => {
  const filter = event.target.closest("#facets [data-filter]");
  if (filter && location.hash === "#facets") filter.hash = "facets";
});

// A long README is folded until the reader opens it, or follows a link into it.
for (const text of document.querySelectorAll("[data-fold]")) {
  if (text.scrollHeight < 1400) continue;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "secondary unfold";
  button.textContent = text.dataset.fold;
  const unfold = () => { text.classList.remove("folded"); button.remove(); };
  button.addEventListener("click", unfold);
  text.addEventListener("focusin", unfold);
  addEventListener("hashchange", unfold);
  addEventListener("beforeprint", unfold);
  text.classList.add("folded");
  text.after(button);
}

const box = document.getElementById("q");
if (box) {
  let controller = new AbortController();
  let timer = 0;
  let typing = false;
  let currentQuery = "";
  let shownQuery = "";

  const pageOf = () => location.pathname + location.search;
  let currentPage = pageOf();

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
        shownQuery = wordsOf(new URL(address, location));
        updateCounts();
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

  const wordsOf = (url) => { const given = new URL(url).searchParams; return given.get("q") || given.get("keywords") || ""; };

  const search = () => {
    const query = box.value.trim();
    if (query === currentQuery) return;
    currentQuery = query;
    const sort = new URL(location).searchParams.get("sort");
    const address = query ? "/?" + new URLSearchParams({ q: query, ...(sort && { sort }) }) : "/";
    // The back button returns to the page before typing began.
    history[typing ? "replaceState" : "pushState"](null, "", address);
    currentPage = pageOf();
    typing = true;
    load(address);
  };

  currentQuery = shownQuery = wordsOf(location);

  box.addEventListener("input", (event) => {
    clearTimeout(timer);
    if (event.isComposing) return;
    suggest();
    // An unfinished filter would be an invalid search.
    if (list.hidden || !typed().includes(":")) timer = setTimeout(search, 200);
  });
  box.addEventListener("compositionend", () => { timer = setTimeout(search, 200); });
  box.addEventListener("blur", () => { typing = false; hideSuggestions(); });
  box.form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    hideSuggestions();
    search();
  });
  addEventListener("popstate", async () => {
    // A link to a part of the page, as that of the filters, fires this event too.
    if (pageOf() === currentPage) return;
    currentPage = pageOf();
    clearTimeout(timer);
    typing = false;
    currentQuery = box.value = wordsOf(location);
    await load(location.href);
    // The part that the address names was replaced: name it again.
    if (location.hash && pageOf() === currentPage) location.replace(location.hash);
  });

  // Suggestions of filters for the word at the cursor (ARIA Authoring Practices, combobox with list autocomplete).
  const list = document.getElementById("suggestions");
  const MOST = 8;
  let chosen = -1;
  box.setAttribute("role", "combobox");
  box.setAttribute("aria-autocomplete", "list");
  box.setAttribute("aria-controls", list.id);
  box.setAttribute("aria-expanded", "false");

  const hideSuggestions = () => {
    list.hidden = true;
    chosen = -1;
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  };

  // The filter that is being typed: it may have spaces inside quotation marks.
  const typed = () => /(?:^|\s)((?:[a-z]+:"[^"]*|[a-z]{2,}:?[^\s":]*))$/i.exec(box.value.slice(0, box.selectionStart))?.[1] ?? "";

  const normal = (words) => words.trim().replace(/\s+/g, " ");

  // The number of entries with `filter`, of the words around the one that is typed: empty if the list is of other words.
  const countOf = (filter) => {
    const end = box.selectionStart;
    const others = `${box.value.slice(0, end - typed().length)} ${box.value.slice(end)}`;
    if (normal(others) !== normal(shownQuery)) return "";
    return document.querySelector(`[data-filter="${CSS.escape(filter)}"] .count`)?.textContent ?? "";
  };

  const updateCounts = () => {
    for (const option of list.children) option.querySelector(".count").textContent = countOf(option.dataset.value);
  };

  const offered = JSON.parse(list.dataset.offered);

  const choices = (word) => {
    const lowered = word.toLowerCase().replaceAll('"', "");
    const known = [...document.querySelectorAll("[data-filter]")].map((link) => link.dataset.filter);
    for (const [name, values] of Object.entries(offered)) {
      known.push(...(lowered.includes(":") ? values.map((value) => `${name}:${value}`) : [`${name}:`]));
    }
    const matches = known.filter((each) => each.toLowerCase().replaceAll('"', "").startsWith(lowered) && each !== word);
    const whole = lowered.includes(":") ? matches : matches.filter((each) => each.endsWith(":"));
    return [...new Set(whole)].slice(0, MOST);
  };

  const accept = (filter) => {
    const end = box.selectionStart;
    const before = box.value.slice(0, end - typed().length) + filter + (filter.endsWith(":") ? "" : " ");
    box.value = before + box.value.slice(end).trimStart();
    box.setSelectionRange(before.length, before.length);
    box.focus();
    hideSuggestions();
    box.dispatchEvent(new Event("input"));
  };

  const suggest = () => {
    hideSuggestions();
    const word = typed();
    const found = word ? choices(word) : [];
    if (!found.length) return;
    list.replaceChildren(...found.map((filter, index) => {
      const option = document.createElement("li");
      option.id = `suggestion-${index}`;
      option.role = "option";
      option.ariaSelected = "false";
      option.dataset.value = filter;
      const code = document.createElement("code");
      code.textContent = filter;
      const words = document.createElement("span");
      words.className = "words";
      words.textContent = document.querySelector(`[data-filter="${CSS.escape(filter)}"] .name`)?.textContent ?? "";
      const number = document.createElement("span");
      number.className = "count";
      option.append(code, words, number);
      // The field keeps the focus.
      option.addEventListener("mousedown", (event) => { event.preventDefault(); accept(filter); });
      return option;
    }));
    updateCounts();
    list.hidden = false;
    box.setAttribute("aria-expanded", "true");
  };

  box.addEventListener("keydown", (event) => {
    if (list.hidden || event.isComposing) return;
    const options = [...list.children];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      options[chosen]?.setAttribute("aria-selected", "false");
      chosen = (chosen + step + options.length + (chosen < 0 && step < 0 ? 1 : 0)) % options.length;
      options[chosen].setAttribute("aria-selected", "true");
      options[chosen].scrollIntoView({ block: "nearest" });
      box.setAttribute("aria-activedescendant", options[chosen].id);
    } else if (event.key === "Enter" && chosen >= 0) {
      event.preventDefault();
      accept(options[chosen].dataset.value);
    } else if (event.key === "Escape") {
      event.preventDefault();
      hideSuggestions();
    }
  });

  document.getElementById("shortcut").hidden = !matchMedia("(hover: hover)").matches;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
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
