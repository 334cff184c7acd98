// The script of the API reference. All pages work without it. It shows search results while the user types, adds buttons
// that copy samples, and adds a form to each operation that sends a request to this server.
//
// The token of the form is stored in a variable only: it is not stored in the browser, and it is sent only to the API of
// this server.

"use strict";

/** An element with properties and children. */
function element(name, properties = {}, ...children) {
  const created = Object.assign(document.createElement(name), properties);
  created.append(...children);
  return created;
}

/* The URLs of the single page of earlier versions: /docs#createVpc. */

function followOldFragment() {
  if (location.pathname !== "/docs" || location.hash.length < 2) return;
  const link = document.getElementById(location.hash.slice(1))?.querySelector("a");
  if (link?.closest(".operations li, .names li")) location.replace(link.href);
}

/* Search */

const SEARCH_DELAY_MS = 150;

function searchWhileTyping() {
  const [field, found] = [document.getElementById("find"), document.getElementById("found")];
  let timer;
  let pending;
  const clear = () => found.replaceChildren();
  async function search() {
    pending?.abort();
    const query = field.value.trim();
    if (!query) return clear();
    pending = new AbortController();
    try {
      const response = await fetch(`/docs?${new URLSearchParams({ q: query })}`, { signal: pending.signal, credentials: "omit" });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const results = page.getElementById("results");
      if (!response.ok || !results) return clear();
      // The page of a search has an element with this ID.
      results.id = "results-below";
      found.replaceChildren(document.adoptNode(results));
    } catch (error) {
      if (error.name !== "AbortError") clear();
    }
  }
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, SEARCH_DELAY_MS);
  });
  field.form.addEventListener("keydown", (event) => {
    const links = [...found.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (event.key === "Escape" && links.length) {
      clear();
      field.focus();
    } else if (event.key === "ArrowDown" && links.length) {
      links[Math.min(at + 1, links.length - 1)].focus();
    } else if (event.key === "ArrowUp" && at >= 0) {
      (links[at - 1] ?? field).focus();
    } else {
      return;
    }
    event.preventDefault();
  });
  // A result can be on this page.
  found.addEventListener("click", (event) => event.target.closest("a") && setTimeout(() => { clear(); document.activeElement.blur(); }));
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, textarea, select");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.select();
  });
}

/* Samples */

function addCopyButtons() {
  if (!navigator.clipboard) return;
  for (const code of document.querySelectorAll("pre[data-client], .setup pre")) {
    const button = element("button", { type: "button", className: "copy", textContent: "Copy" });
    const text = code.textContent;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    });
    code.before(button);
  }
}

/* The form that sends a request */

let token = "";
let lastId = 0;

function labeled(label, field, hint) {
  field.id = `try-${++lastId}`;
  const row = element("div", { className: "field" }, element("label", { htmlFor: field.id, textContent: label }), field);
  if (hint) {
    const description = element("p", { className: "hint", id: `${field.id}-hint`, textContent: hint });
    field.setAttribute("aria-describedby", description.id);
    row.append(description);
  }
  return row;
}

function tokenField() {
  const field = element("input", { type: "password", className: "token", autocomplete: "off", spellcheck: false, value: token });
  field.addEventListener("input", () => {
    token = field.value;
    for (const other of document.querySelectorAll("input.token")) if (other !== field) other.value = token;
  });
  return labeled("Token", field, "The token is not stored: enter it again after you reload the page.");
}

/** The form of an operation, from the tables of the page. */
function createForm(article) {
  const { method } = article.dataset;
  const form = element("form", { autocomplete: "off" });
  form.append(tokenField());
  const inputs = [];
  for (const { dataset } of article.querySelectorAll(".parameters tbody tr")) {
    const isRequired = "required" in dataset;
    const input = element("input", { autocomplete: "off", spellcheck: false, required: isRequired, value: isRequired ? dataset.example : "" });
    inputs.push({ name: dataset.name, location: dataset.in, input });
    form.append(labeled(`${dataset.name} (${dataset.in})`, input, isRequired || !dataset.example ? "" : `Optional. Example: ${dataset.example}`));
  }
  let body;
  if (article.querySelector("pre.body") || ["POST", "PUT"].includes(method)) {
    body = element("textarea", { spellcheck: false, value: article.querySelector("pre.body")?.textContent ?? "" });
    form.append(labeled("Body (JSON)", body));
  }
  const button = element("button", { type: "submit", className: method === "DELETE" ? "danger" : "main", textContent: `Send ${method} request` });
  const note = method === "GET" ? [] : [element("p", { className: "hint", textContent: "The request changes data on this server." })];
  const output = element("output");
  form.append(button, ...note, output);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    button.disabled = true;
    send(article, inputs, body, output).finally(() => { button.disabled = false; });
  });
  return form;
}

/** A value in a path. The browser would resolve dots, so that the request would be another operation. */
function pathSegment(name, value) {
  if (/^\.{1,2}$/.test(value)) throw new Error(`${name} must not be ${value}`);
  return encodeURIComponent(value);
}

/** The URL of a request. It is always on this server. */
function requestUrl(path, inputs) {
  const values = new Map(inputs.filter(({ location }) => location === "path").map(({ name, input }) => [name, input.value]));
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => pathSegment(name, values.get(name) ?? ""));
  const url = new URL(filled, location.origin);
  for (const { name, location, input } of inputs) if (location === "query" && input.value) url.searchParams.set(name, input.value);
  if (url.origin !== location.origin) throw new Error("The URL is not on this server");
  return url;
}

async function send(article, inputs, body, output) {
  const show = (status, className, text) => output.replaceChildren(element("p", { className: `status ${className}`, textContent: status }), element("pre", { textContent: text }));
  try {
    const headers = new Headers();
    if (token) headers.set("Authorization", `Bearer ${token.trim()}`);
    for (const { name, location, input } of inputs) if (location === "header" && input.value) headers.set(name, input.value);
    if (body?.value.trim()) headers.set("Content-Type", "application/json");
    const response = await fetch(requestUrl(article.dataset.try, inputs), {
      method: article.dataset.method,
      headers,
      body: body?.value.trim() || undefined,
      // The session of the console is not used, only the token.
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
      referrerPolicy: "no-referrer",
    });
    const text = await response.text();
    const tag = response.headers.get("etag");
    const status = `${response.status} ${response.statusText}`.trim() + (tag ? `, ETag ${tag}` : "");
    show(status, response.ok ? "good" : "bad", pretty(text));
  } catch (error) {
    show("No response", "bad", `${error.message}. The server may have processed the request.`);
  }
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function addForms() {
  for (const article of document.querySelectorAll("article[data-try]")) {
    const details = element("details", { className: "try" }, element("summary", { textContent: "Try it" }));
    details.addEventListener("toggle", () => details.querySelector("form") || details.append(createForm(article)), { once: true });
    article.append(details);
  }
}

followOldFragment();
searchWhileTyping();
addCopyButtons();
addForms();
