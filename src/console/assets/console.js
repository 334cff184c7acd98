// The console's script. Pages work without it. It adds local times, live updates, drafts, file drop zones and
// the search box and the keyboard shortcuts of the desk.
(() => {
  "use strict";
  // The server writes times in UTC. The page shows all of them in the time zone of the browser, except ages. The tooltips
  // have the exact time in both zones.
  const timeFormat = (dateStyle, timeStyle) => new Intl.DateTimeFormat(undefined, { dateStyle, timeStyle });
  const exactFormat = timeFormat("medium", "long");
  const dayFormat = timeFormat("full");
  const zonedFormat = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit", timeZoneName: "short" });
  const shownFormats = { time: timeFormat("medium", "short"), clock: timeFormat(undefined, "short"), zoned: zonedFormat };
  function localizeTimes(root) {
    for (const time of root.querySelectorAll("time[datetime]:not([data-localized])")) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      const format = shownFormats[time.dataset.shown ?? "time"];
      if (format) time.textContent = format.format(at);
      time.title = `${exactFormat.format(at)} · ${time.title}`;
      time.dataset.localized = "";
    }
    const days = [...root.querySelectorAll(".day:not([data-localized])")];
    for (const parent of new Set(days.map((day) => day.parentNode))) localizeDays(days.filter((day) => day.parentNode === parent));
  }
  // The server groups entries by days in UTC.
  function localizeDays(days) {
    const localDays = new Map();
    for (const entry of days.flatMap((day) => [...day.querySelectorAll(":scope > ol > li")])) {
      const heading = dayFormat.format(new Date(entry.querySelector("time").dateTime));
      if (!localDays.has(heading)) {
        const day = days[0].cloneNode(true);
        day.dataset.localized = "";
        day.querySelector("h2").textContent = heading;
        day.querySelector("ol").replaceChildren();
        localDays.set(heading, day);
      }
      localDays.get(heading).querySelector("ol").append(entry);
    }
    days[0].before(...localDays.values());
    for (const day of days) day.remove();
  }
  localizeTimes(document);
  // The days of a filter are days in the time zone of the browser. The server gets the offset of this zone from UTC at
  // the start or the end of the day.
  for (const offset of document.querySelectorAll("input[data-offset-of]")) {
    const field = document.getElementById(offset.dataset.offsetOf);
    const update = () => {
      const [year, month, day] = field.value.split("-").map(Number);
      const at = new Date(year, month - 1, day + Number(offset.dataset.daysLater));
      offset.value = Number.isNaN(at.getTime()) ? "" : -at.getTimezoneOffset();
    };
    // Before the request that the change causes.
    document.addEventListener("change", update, true);
    update();
    for (const label of field.labels) label.textContent = label.textContent.replace(" (UTC)", "");
  }
  document.addEventListener("htmx:load", (event) => localizeTimes(event.detail.elt.parentNode ?? document));
  // Buttons that fill a suggested range into its field.
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button[data-fill]");
    const field = button && document.getElementById(button.dataset.fill);
    if (!field) return;
    field.value = button.dataset.value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  });
  // After the check of a range that the user changed, the other ranges of the form are checked again.
  document.addEventListener("htmx:afterRequest", ({ detail: { elt, requestConfig } }) => {
    if (requestConfig.triggeringEvent?.type !== "input" || !elt.form) return;
    for (const other of elt.form.querySelectorAll("[hx-trigger$='garth:check']")) if (other !== elt) htmx.trigger(other, "garth:check");
  });
  // Copy buttons of secrets and unsent texts, if the browser has a clipboard API.
  for (const button of document.querySelectorAll("button[data-copy]")) {
    const copied = document.getElementById(button.dataset.copy);
    if (!copied || !navigator.clipboard) continue;
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(copied.value ?? copied.textContent);
        button.textContent = "Copied";
      } catch {
        if (copied.select) copied.select();
        else getSelection().selectAllChildren(copied);
        button.textContent = "Press Ctrl+C";
      }
    });
  }
  // Focus the error summary, for screen readers.
  document.querySelector(".alert[tabindex]")?.focus();

  document.documentElement.classList.add("script");
  const user = document.body.dataset.user ?? "";

  // Live updates: each message triggers an event, and the affected parts of the page reload themselves with
  // htmx.
  const streamUrl = document.body.dataset.live;
  if (streamUrl && "EventSource" in window) {
    let source = null;
    let lastMessageId = null;
    let pending = new Set();
    let timer = 0;
    const triggerEvents = () => {
      timer = 0;
      for (const name of pending) htmx.trigger(document.body, name);
      pending = new Set();
    };
    const receive = (message) => {
      lastMessageId = message.lastEventId;
      for (const line of message.data.split("\n")) {
        const [kind, id] = line.split(" ");
        pending.add("garth:event").add(`garth:${kind}`).add(`garth:${kind}-${id}`);
      }
      // Combine messages that arrive together.
      timer ||= setTimeout(triggerEvents, 150);
    };
    const setLost = (isLost) => document.body.classList.toggle("lost", isLost);
    const connect = () => {
      const address = new URL(streamUrl, location.href);
      if (lastMessageId) address.searchParams.set("after", lastMessageId);
      source = new EventSource(address);
      source.onopen = () => setLost(false);
      source.addEventListener("change", receive);
      source.onerror = () => {
        setLost(true);
        // The browser reconnects by itself, unless the server rejected the connection.
        if (source?.readyState === EventSource.CLOSED) reconnectOrLogIn();
      };
    };
    const reconnectOrLogIn = async () => {
      const page = await fetch(location.href, { method: "HEAD", redirect: "manual" }).catch(() => null);
      if (page?.type !== "opaqueredirect") return setTimeout(() => source && connect(), 10_000);
      const link = document.createElement("a");
      link.href = location.href;
      link.textContent = "Log in again";
      warning.replaceChildren("You are logged out. ", link);
    };
    // A hidden tab closes its connection. When it is shown again, it reconnects and receives the missed
    // messages.
    const connectWhileVisible = () => {
      if (document.hidden) {
        source?.close();
        source = null;
      } else if (!source) {
        connect();
      }
    };
    document.addEventListener("visibilitychange", connectWhileVisible);
    addEventListener("pagehide", () => { source?.close(); source = null; });
    addEventListener("pageshow", connectWhileVisible);
    const warning = document.createElement("p");
    warning.className = "connection";
    warning.setAttribute("role", "status");
    warning.textContent = "Connection lost. This page may be out of date. Reconnecting…";
    document.body.append(warning);
    connectWhileVisible();
  }

  // Updates preserve an open confirmation, an unsaved selection and the focused row.
  let hasUnsavedSelection = false;
  document.addEventListener("change", (event) => { hasUnsavedSelection ||= Boolean(event.target.closest?.("#handling")); });
  document.addEventListener("htmx:oobBeforeSwap", ({ detail: { target, fragment } }) => {
    for (const open of target.querySelectorAll("details[open]")) {
      const name = open.querySelector("summary").textContent;
      const replacement = [...fragment.querySelectorAll("details")].find((details) => details.querySelector("summary").textContent === name);
      if (replacement) replacement.open = true;
    }
    const handling = hasUnsavedSelection && target.querySelector("#handling");
    if (handling) fragment.querySelector("#handling")?.replaceWith(handling);
  });
  let focusedUrl = null;
  document.addEventListener("htmx:beforeSwap", ({ detail: { target } }) => {
    // htmx can replace several parts of the page. Remember the focused link only if this part contains it.
    if (target.contains(document.activeElement)) focusedUrl = document.activeElement.getAttribute("href");
  });
  document.addEventListener("htmx:afterSettle", () => {
    if (focusedUrl && document.activeElement === document.body) document.querySelector(`:is([data-rows], #vpc) a[href="${CSS.escape(focusedUrl)}"]`)?.focus();
    focusedUrl = null;
    // Closed and open tickets have different text boxes. If a ticket was closed or reopened, reload the page.
    // Drafts preserve the text.
    const [head, boxes] = [document.querySelector("#head"), document.querySelector(".compose, #below")];
    if (!head || !boxes || "closed" in head.dataset === "closed" in boxes.dataset) return;
    if (boxes.matches(".compose") || !("closed" in head.dataset)) location.reload();
    else if (!document.querySelector("#closed-meanwhile")) {
      // A tenant cannot always reply to a closed ticket, so the box remains until the user has copied the
      // text.
      const note = Object.assign(document.createElement("p"), { id: "closed-meanwhile", className: "alert", textContent: "This ticket was closed. Your text is still below." });
      note.setAttribute("role", "status");
      boxes.before(note);
    }
  });
  // After a form is submitted, the address bar shows the URL of its target. Show the URL of the page instead,
  // so that a reload does not submit the form again.
  const pagePath = document.querySelector("#head")?.dataset.at;
  if (pagePath && location.pathname !== pagePath) history.replaceState(null, "", pagePath);

  // Preserve open <details> elements when htmx replaces the page of a VPC.
  let openSummaries = [];
  const summaryOf = (details) => details.querySelector("summary")?.textContent;
  document.addEventListener("htmx:beforeSwap", ({ detail: { target } }) => {
    if (target.id === "vpc") openSummaries = [...target.querySelectorAll("details[open]")].map(summaryOf);
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const details of document.querySelectorAll("#vpc details")) details.open ||= openSummaries.includes(summaryOf(details));
    openSummaries = [];
  });

  // The buttons for selected rows are disabled until a row is selected. The checkbox in the header selects all rows.
  const rowBoxes = () => [...document.querySelectorAll("#list input[type=checkbox][form=bulk]")];
  function updateBulkButtons() {
    const form = document.querySelector("form#bulk");
    const selected = rowBoxes().filter((box) => box.checked).length;
    for (const button of form?.querySelectorAll("button") ?? []) button.disabled = selected === 0;
    const all = document.querySelector("#list [data-select-all]");
    if (!all) return;
    all.hidden = false;
    all.checked = selected > 0 && selected === rowBoxes().length;
    all.indeterminate = selected > 0 && !all.checked;
  }
  document.addEventListener("change", ({ target }) => {
    if (target.matches("[data-select-all]")) for (const box of rowBoxes()) box.checked = target.checked;
    updateBulkButtons();
  });
  addEventListener("pageshow", updateBulkButtons);
  updateBulkButtons();

  // Preserve the selected rows when htmx replaces a list.
  let selectedNames = [];
  document.addEventListener("htmx:beforeSwap", ({ detail: { target } }) => {
    if (target.id === "list") selectedNames = [...target.querySelectorAll("input[type=checkbox][form]:checked")].map((box) => box.name);
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const box of document.querySelectorAll("#list input[type=checkbox][form]")) box.checked ||= selectedNames.includes(box.name);
    selectedNames = [];
    updateBulkButtons();
  });

  // The sidebar of a ticket stays in view while the page scrolls, if all of it fits into the window.
  function placeSidebar() {
    const sidebar = document.querySelector(".context");
    sidebar?.classList.toggle("fits", sidebar.offsetHeight + 32 <= innerHeight);
  }
  const sidebarSizes = new ResizeObserver(placeSidebar);
  function observeSidebar() {
    sidebarSizes.disconnect();
    const sidebar = document.querySelector(".context");
    if (sidebar) sidebarSizes.observe(sidebar);
  }
  addEventListener("resize", placeSidebar);
  document.addEventListener("htmx:afterSettle", observeSidebar);
  observeSidebar();

  // Drafts: unsent text is stored in the browser, with the names of selected files. A page cannot select files.
  const DRAFT_TTL_MS = 14 * 24 * 3600 * 1000;
  const drafts = {
    // A form that was opened for an account has its own draft, until the user enters another account.
    key(form) {
      const account = form.dataset.draftAccount;
      const isFor = account && form.querySelector("[name=account_id]")?.value.trim() === account;
      return `garth:draft:${user}:${form.dataset.draft}${isFor ? `-${account}` : ""}`;
    },
    // The key under which each form has stored its draft.
    keys: new WeakMap(),
    forget(form) {
      for (const key of [drafts.key(form), drafts.keys.get(form)]) if (key) localStorage.removeItem(key);
    },
    fields: (form) => [...form.querySelectorAll("textarea, input[type=text], input:not([type]), select")].filter((field) => field.name && field.name !== "find"),
    read(key) {
      try { return JSON.parse(localStorage.getItem(key)); } catch { return null; }
    },
    // The names of the selected files; without any, of the files that are still to be selected again.
    fileNames(form) {
      const inputs = [...form.querySelectorAll("input[type=file]")].flatMap((input) => [...input.files]);
      const waiting = [...form.querySelectorAll("[data-drop]")].flatMap((zone) => zone.waiting ?? []).map(({ file }) => file);
      const names = [...inputs, ...waiting].map((file) => file.name);
      return names.length ? names : drafts.missingFiles.get(form) ?? [];
    },
    missingFiles: new WeakMap(),
    write(form) {
      const files = drafts.fileNames(form);
      const values = Object.fromEntries(drafts.fields(form).filter((field) => field.value !== drafts.originalValues.get(field)).map((field) => [field.name, field.value]));
      try {
        const key = drafts.key(form);
        if (drafts.keys.get(form) !== key) drafts.forget(form);
        drafts.keys.set(form, key);
        if (Object.keys(values).length || files.length) localStorage.setItem(key, JSON.stringify({ at: Date.now(), values, files }));
        else localStorage.removeItem(key);
      } catch { /* The storage is full or disabled. */ }
    },
    // The values that the server rendered.
    originalValues: new WeakMap(),
  };
  try {
    // Delete the draft of a text that was sent successfully.
    const sent = sessionStorage.getItem("garth:sent");
    sessionStorage.removeItem("garth:sent");
    if (sent && document.querySelector(".notice")) localStorage.removeItem(sent);
    for (const key of Object.keys(localStorage).filter((key) => key.startsWith("garth:draft:"))) {
      if (!(drafts.read(key)?.at > Date.now() - DRAFT_TTL_MS)) localStorage.removeItem(key);
    }
  } catch { /* The storage is disabled. */ }
  function restoreDraft(form) {
    // The text of a refused form is not sent yet, so it remains a draft.
    const isRefused = form.parentElement.querySelector(".alert") !== null;
    for (const field of drafts.fields(form)) drafts.originalValues.set(field, isRefused || field.tagName === "TEXTAREA" ? "" : field.value);
    let stored = null;
    try { stored = drafts.read(drafts.key(form)); } catch { return; }
    drafts.keys.set(form, drafts.key(form));
    // The draft of a form for an account never changes the account.
    const account = form.dataset.draftAccount;
    if (account && (stored?.values?.account_id ?? account) !== account) stored = null;
    const empty = drafts.fields(form).every((field) => field.tagName !== "TEXTAREA" || field.value.trim() === "");
    // A form with errors already has the submitted text.
    if (stored && empty && !isRefused) {
      for (const field of drafts.fields(form)) if (stored.values?.[field.name] !== undefined) field.value = stored.values[field.name];
      const note = document.createElement("p");
      note.className = "hint draft";
      note.append("Restored an unsent draft. ");
      if (stored.files?.length) {
        drafts.missingFiles.set(form, stored.files);
        note.append(`Select these files again: ${stored.files.join(", ")}. `);
      }
      const discard = document.createElement("button");
      discard.type = "button";
      discard.className = "link";
      discard.textContent = "Discard draft";
      discard.addEventListener("click", () => {
        for (const field of drafts.fields(form)) field.value = drafts.originalValues.get(field) ?? "";
        drafts.missingFiles.delete(form);
        drafts.write(form);
        note.remove();
      });
      note.append(discard);
      form.prepend(note);
    }
    form.addEventListener("input", () => drafts.write(form));
    form.querySelector("a[data-discard]")?.addEventListener("click", () => {
      try { drafts.forget(form); } catch { /* The storage is disabled. */ }
    });
    // A form can have several boxes, each with its own draft and its own submit button.
    form.closest("form").addEventListener("submit", (event) => {
      if (event.submitter?.value === "preview" || (event.submitter && !form.contains(event.submitter))) return;
      try { sessionStorage.setItem("garth:sent", drafts.key(form)); } catch { /* The draft remains. */ }
    });
  }

  // The unsent reply to a ticket that was closed meanwhile.
  for (const card of document.querySelectorAll("[data-unsent][hidden]")) {
    const draft = drafts.read(`garth:draft:${user}:${card.dataset.unsent}`);
    if (!draft?.values?.description && !draft?.files?.length) continue;
    card.querySelector("textarea").value = draft.values?.description ?? "";
    card.hidden = false;
    const unsentFiles = card.querySelector(".unsent-files");
    if (!unsentFiles || !draft.files?.length) continue;
    unsentFiles.querySelector("strong").textContent = draft.files.join(", ");
    unsentFiles.hidden = false;
  }

  // An error is outdated after its field was changed.
  function removeError(field) {
    field.closest(".wrong")?.querySelector(".reason")?.remove();
    field.closest(".wrong")?.classList.remove("wrong");
    field.removeAttribute("aria-invalid");
    for (const link of document.querySelectorAll(`.alert a[href="#${CSS.escape(field.id)}"]`)) {
      const alert = link.closest(".alert");
      link.closest("li")?.remove();
      const left = alert.querySelectorAll("li").length;
      if (left) alert.querySelector("strong").textContent = left === 1 ? "There is 1 problem." : `There are ${left} problems.`;
      else alert.remove();
    }
  }
  document.addEventListener("htmx:beforeRequest", ({ detail: { elt } }) => {
    // A preview shows a text that is changed since it was refused.
    const preview = elt.matches("button[value=preview]") && elt.getAttribute("hx-target")?.match(/^#(.*)-preview$/);
    const field = preview && elt.form?.elements[preview[1]];
    if (field && field.value !== field.defaultValue) removeError(field);
    // The notice is about the list before it is filtered.
    if (elt.matches("form.filters")) document.querySelector("main .notice")?.remove();
  });

  // Files are checked against the limits and uploaded one by one.
  function setUpDropZone(zone) {
    const input = zone.querySelector("input[type=file]");
    const list = zone.querySelector(".queue");
    const kinds = zone.dataset.kinds.split(",");
    const waiting = [];
    zone.waiting = waiting;
    // A draft has the names of the files.
    const storeDraft = () => zone.dispatchEvent(new Event("input", { bubbles: true }));
    const add = (files) => {
      for (const file of files) {
        const row = document.createElement("li");
        const name = document.createElement("span");
        const state = document.createElement("span");
        const bar = document.createElement("progress");
        name.textContent = file.name;
        state.className = "state";
        bar.max = 1;
        bar.value = 0;
        row.append(name, state);
        list.append(row);
        const kind = file.name.toLowerCase().match(/\.[^.]*$/)?.[0] ?? "";
        const busy = waiting.filter((upload) => !upload.started).length;
        const error = !kinds.includes(kind) ? `Accepted types: ${kinds.join(", ")}. Write a link to the file instead.`
          : file.size > Number(zone.dataset.bytes) ? "The file is too large"
          : file.size === 0 ? "The file is empty"
          : busy >= Number(zone.dataset.most) ? "Too many files" : "";
        const removeButton = (remove) => {
          const button = document.createElement("button");
          button.type = "button";
          button.className = "link";
          button.textContent = "Remove";
          button.addEventListener("click", () => { remove(); row.remove(); });
          return button;
        };
        if (error) {
          state.append(error, " ", removeButton(() => {}));
          row.className = "failed";
          continue;
        }
        state.append(bar);
        const upload = { file, row, state, bar, started: false };
        if (!zone.dataset.to) state.replaceChildren(removeButton(() => { waiting.splice(waiting.indexOf(upload), 1); storeDraft(); }));
        waiting.push(upload);
      }
      if (zone.dataset.to) sendFiles(zone, zone.dataset.to);
      else storeDraft();
    };
    zone.querySelector("[data-choose]").addEventListener("click", () => input.click());
    input.addEventListener("change", () => { add(input.files); input.value = ""; });
    for (const name of ["dragenter", "dragover"]) {
      zone.addEventListener(name, (event) => { event.preventDefault(); zone.classList.add("over"); });
    }
    for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("over"));
    zone.addEventListener("drop", (event) => { event.preventDefault(); add(event.dataTransfer.files); });
  }
  // A file that is dropped outside of a drop zone must not replace the page.
  for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());

  /** Uploads the waiting files one by one. Resolves to true if all uploads succeeded. */
  async function sendFiles(zone, to) {
    if (zone.sending) return zone.sending;
    zone.sending = (async () => {
      let succeeded = true;
      for (let upload; (upload = zone.waiting.find((candidate) => !candidate.started));) {
        upload.started = true;
        const error = await sendFile(upload, to);
        succeeded &&= !error;
        upload.row.className = error ? "failed" : "sent";
        upload.state.textContent = error || "Attached";
        if (!error && zone.dataset.most) zone.dataset.most = Math.max(0, Number(zone.dataset.most) - 1);
      }
      zone.waiting.length = 0;
      return succeeded;
    })();
    const succeeded = await zone.sending;
    zone.sending = null;
    return succeeded;
  }
  function sendFile({ file, state, bar }, to) {
    return new Promise((resolve) => {
      const form = new FormData();
      form.append("file", file);
      const request = new XMLHttpRequest();
      request.open("POST", to);
      request.setRequestHeader("HX-Request", "true");
      state.replaceChildren(bar);
      request.upload.onprogress = (event) => { bar.value = event.loaded / (event.total || 1); };
      request.onerror = () => resolve("Connection lost");
      request.onload = () => {
        if (request.status < 300) return resolve("");
        if (request.status === 401) return resolve("You are logged out");
        const page = new DOMParser().parseFromString(request.responseText, "text/html");
        resolve((page.querySelector("main .empty p") ?? page.body).textContent.trim() || "Upload failed");
      };
      request.send(form);
    });
  }

  /** Stores the failed uploads, to be shown on the next page. */
  function storeFailedUploads(zone) {
    const reasonOf = (row) => row.querySelector(".state").firstChild?.textContent ?? "";
    const failed = [...(zone?.querySelectorAll(".failed") ?? [])].map((row) => `${row.firstChild.textContent}: ${reasonOf(row)}`);
    try { if (failed.length) sessionStorage.setItem("garth:unattached", JSON.stringify(failed)); } catch { /* The current page has shown them. */ }
  }
  try {
    const failed = JSON.parse(sessionStorage.getItem("garth:unattached"));
    sessionStorage.removeItem("garth:unattached");
    if (failed && document.querySelector(".notice")) {
      const alert = document.createElement("div");
      alert.className = "alert";
      alert.setAttribute("role", "alert");
      alert.append(...failed.map((text) => Object.assign(document.createElement("p"), { textContent: `Not attached: ${text}` })));
      document.querySelector("main").prepend(alert);
    }
  } catch { /* No failed uploads. */ }

  // A form with files: submit the form first, then upload the files to the new ticket.
  function sendWithFiles(form) {
    const zone = form.querySelector("[data-drop]");
    form.addEventListener("submit", async (event) => {
      if (event.submitter?.value === "preview") return;
      if (!zone?.waiting?.length) return storeFailedUploads(zone);
      event.preventDefault();
      const button = event.submitter;
      if (button) button.disabled = true;
      try {
        const response = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
        if (!response.redirected) {
          // The form has errors: replace it with the response, and keep the selected files.
          const page = new DOMParser().parseFromString(await response.text(), "text/html");
          const main = document.querySelector("main");
          const newMain = document.importNode(page.querySelector("main"), true);
          main.replaceWith(newMain);
          const newZone = newMain.querySelector("[data-drop]");
          if (newZone) newZone.replaceWith(zone);
          htmx.process(newMain);
          initialize(newMain);
          newMain.querySelector(".alert[tabindex]")?.focus();
          return;
        }
        const ticketUrl = new URL(response.url);
        const token = form.querySelector("[name=form_token]").value;
        await sendFiles(zone, `${ticketUrl.pathname}/attachments?form_token=${token}`);
        storeFailedUploads(zone);
        location.assign(response.url);
      } catch {
        const note = document.createElement("p");
        note.className = "alert";
        note.setAttribute("role", "alert");
        note.textContent = "Connection lost. Your text is still here. Try again in a moment.";
        form.prepend(note);
      } finally {
        if (button) button.disabled = false;
      }
    });
  }

  // Keyboard shortcuts: data-key is the key that opens, presses or focuses an element.
  function press(element) {
    if (element.matches("summary")) {
      element.parentElement.open = true;
      // Focus the text box, so that the next characters are text and not shortcuts.
      const find = (selector) => element.parentElement.querySelector(selector);
      (find("textarea") ?? find("button"))?.focus();
    } else if (element.matches("input, textarea")) {
      element.focus();
      element.select?.();
    } else {
      element.click();
    }
  }
  async function showKeys(address) {
    const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
    const dialog = document.createElement("dialog");
    dialog.setAttribute("aria-label", "Keyboard shortcuts");
    dialog.append(document.importNode(page.querySelector("#keys"), true));
    const form = document.createElement("form");
    form.method = "dialog";
    const button = document.createElement("button");
    button.textContent = "Close";
    form.append(button);
    dialog.append(form);
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }
  function moveRow(step) {
    const rows = [...document.querySelectorAll("[data-rows] tbody th a")];
    if (!rows.length) return;
    const at = rows.indexOf(document.activeElement);
    rows[Math.min(rows.length - 1, Math.max(0, at + step))].focus();
  }
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest?.("input, textarea, select, dialog");
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.form) {
      event.preventDefault();
      // If the form has several boxes, submit only the box with the focus.
      const box = event.target.closest("[data-draft]");
      if (!box && event.target.form.querySelector("[data-draft]")) return;
      const closing = box?.querySelector("button[type=submit][name=close]");
      // With Shift, the reply also closes the ticket. Other boxes do not have this button.
      if (event.shiftKey && document.querySelector("[data-desk]") && box && !closing) return;
      event.target.form.requestSubmit((event.shiftKey && closing) || box?.querySelector("button[type=submit]:not([name])"));
      return;
    }
    if (event.key === "Escape" && document.querySelector("[data-desk]")) {
      const confirmation = document.querySelector("details.confirm[open]");
      if (confirmation) confirmation.open = false;
      (confirmation?.querySelector("summary") ?? document.body).focus();
      if (event.target.matches?.("input, textarea, select")) event.target.blur();
      // A browser would clear a search.
      if (event.target.matches?.("input[type=search]")) event.preventDefault();
      return;
    }
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") {
      // The queue of the desk has its own search.
      const box = document.querySelector('main [data-key="/"]') ?? document.querySelector("#find");
      if (box) press(box);
      event.preventDefault();
      return;
    }
    if (!document.querySelector("[data-desk]")) return;
    const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (event.key === "?") showKeys("/desk/keys");
    else if (event.key === "g") location.assign("/desk");
    else if (event.key === "t") location.assign(document.querySelector("a#new-ticket")?.href ?? "/desk/tickets/new");
    else if (event.key === "j") moveRow(1);
    else if (event.key === "k") moveRow(-1);
    else if (target) press(target);
    else return;
    event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    const keys = event.target.closest?.('[data-key="?"]');
    const insert = event.target.closest?.("[data-insert]");
    if (keys) {
      event.preventDefault();
      showKeys(keys.href);
    } else if (insert) {
      event.preventDefault();
      const box = document.querySelector(insert.dataset.insert);
      box.value = box.value.trim() ? `${box.value.trimEnd()}\n\n${insert.dataset.text}` : insert.dataset.text;
      box.dispatchEvent(new Event("input", { bubbles: true }));
      box.focus();
      removeError(box);
      // The preview is no longer what is sent.
      document.querySelector("#canned")?.replaceChildren();
      const choice = document.querySelector("#canned-choice");
      if (choice) choice.value = "";
    }
    // A click elsewhere closes a confirmation.
    for (const open of document.querySelectorAll("details.confirm[open]")) {
      if (!open.contains(event.target)) open.open = false;
    }
  });

  // The search box: the arrow keys move through the results, and Escape closes them.
  document.querySelector(".find")?.addEventListener("keydown", (event) => {
    const box = document.querySelector("#find");
    const results = document.querySelector("#find-results");
    const stops = [box, ...results.querySelectorAll("a")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      stops[Math.min(stops.length - 1, Math.max(0, stops.indexOf(document.activeElement) + step))].focus();
    } else if (event.key === "Escape") {
      results.replaceChildren();
      box.focus();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  });

  // A form whose unsaved changes would be lost: leaving the page, and replacing its list, need a confirmation. A field
  // that has its first value again is not changed.
  const guarded = document.querySelector("form[data-unsaved]");
  if (guarded) {
    let isSubmitted = false;
    const isChanged = (field) => {
      if (field.matches("[type=checkbox], [type=radio]")) return field.checked !== field.defaultChecked;
      if (field.matches("select")) return field.selectedIndex !== Math.max(0, [...field.options].findIndex((option) => option.defaultSelected));
      return field.matches("input, textarea") && field.value !== field.defaultValue;
    };
    const hasChanges = (part) => [...guarded.elements].some((field) => part.contains(field) && isChanged(field));
    guarded.addEventListener("submit", () => { isSubmitted = true; });
    addEventListener("pageshow", () => { isSubmitted = false; });
    addEventListener("beforeunload", (event) => { if (!isSubmitted && hasChanges(document)) event.preventDefault(); });
    document.addEventListener("htmx:confirm", (event) => {
      const { target, issueRequest } = event.detail;
      if (target?.id !== "list" || !hasChanges(target)) return;
      event.preventDefault();
      if (confirm(guarded.dataset.unsaved)) issueRequest(true);
    });
  }

  function initialize(root) {
    for (const form of root.querySelectorAll("[data-draft]")) restoreDraft(form);
    for (const zone of root.querySelectorAll("[data-drop]")) if (!zone.waiting) setUpDropZone(zone);
    for (const form of root.querySelectorAll("form[data-with-files]")) sendWithFiles(form);
    localizeTimes(root);
  }
  initialize(document);
})();
