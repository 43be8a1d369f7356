"use strict";

// Browsers lend the clipboard to pages under TLS or on localhost alone; elsewhere people mark the text.
for (const button of navigator.clipboard ? document.querySelectorAll("button[data-copy]") : []) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = button.dataset.done;
    setTimeout(() => (button.textContent = label), 2000);
  });
}

// What an editor asks first, asked from here: the key goes where it goes in an editor, in the header.
async function tools(endpoint, key, unknown) {
  const answer = await fetch(endpoint, {
    method: "POST",
    credentials: "omit",
    headers: {
      Authorization: `Bearer ${key}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  if (answer.status === 401) throw new Error(unknown);
  const message = await answer.json();
  if (message.error) throw new Error(message.error.message);
  return message.result.tools.map((tool) => tool.name).join(", ");
}

for (const form of document.querySelectorAll("form[data-test]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const said = form.querySelector(".result");
    let good = true;
    try {
      said.textContent = `${form.dataset.good} ${await tools(form.dataset.test, form.elements.key.value.trim(), form.dataset.unknown)}`;
    } catch (error) {
      good = false;
      said.textContent = `${form.dataset.bad} ${error.message}`;
    }
    said.className = `result notice ${good ? "good" : "bad"}`;
    said.hidden = false;
  });
}
