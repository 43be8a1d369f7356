"use strict";

// Browsers offer the clipboard API only under TLS or on localhost. Elsewhere the copy buttons stay hidden.
for (const button of navigator.clipboard ? document.querySelectorAll("button[data-copy]") : []) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = button.dataset.done;
    setTimeout(() => (button.textContent = label), 2000);
  });
}

// On a narrow page the tabs are a row that scrolls.
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// Parts that say how far work is are loaded again until the work has ended, or nobody has looked for long.
let loads = 0;
const live = setInterval(async () => {
  if (document.hidden) return;
  const parts = document.querySelectorAll("[data-live]");
  if (!parts.length || ++loads > 600) return clearInterval(live);
  const response = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  const page = new DOMParser().parseFromString(response?.ok ? await response.text() : "", "text/html");
  for (const part of parts) {
    const next = page.getElementById(part.id);
    if (!next) return clearInterval(live);
    part.replaceWith(document.adoptNode(next));
    showLocalTimes(next);
  }
}, 3000);

// Times are in UTC without this script.
const languages = navigator.languages.filter((tag) => tag.split("-")[0] === document.documentElement.lang);
const showLocalTimes = (part) => {
  for (const time of part.querySelectorAll("time[data-local]")) {
    const style = time.dataset.local === "time" ? {} : { dateStyle: "medium" };
    time.title = time.textContent;
    time.textContent = new Intl.DateTimeFormat(
      languages.length ? languages : document.documentElement.lang,
      { ...style, timeStyle: "short" },
    ).format(new Date(time.dateTime));
  }
};
showLocalTimes(document);

// List the tools as an editor does, with the key in the Authorization header.
async function listTools(endpoint, key, unauthorized) {
  const response = await fetch(endpoint, {
    method: "POST",
    credentials: "omit",
    headers: {
      Authorization: `Bearer ${key}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  if (response.status === 401) throw new Error(unauthorized);
  const message = await response.json();
  if (message.error) throw new Error(message.error.message);
  return message.result.tools.map((tool) => tool.name).join(", ");
}

for (const form of document.querySelectorAll("form[data-test]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const result = form.querySelector(".result");
    let passed = true;
    try {
      result.textContent = `${form.dataset.passed} ${await listTools(form.dataset.test, form.elements.key.value.trim(), form.dataset.unauthorized)}`;
    } catch (error) {
      passed = false;
      result.textContent = `${form.dataset.failed} ${error.message}`;
    }
    result.className = `result notice ${passed ? "good" : "bad"}`;
    result.hidden = false;
  });
}
