// The sandbox's page: asks the sandbox for what it shows, a page at a time, and hears by server-sent events when something has
// changed. Whatever comes from the sandbox is put in as text, never as HTML.

const $ = (id) => document.getElementById(id);
const view = $("view");

// ---- text ----

const numbers = new Intl.NumberFormat("en");
const number = (value) => numbers.format(value);
const count = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;

/** Control characters and those that turn the direction of a text, as their codes. */
const visible = (text) =>
  String(text).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    character === "\n" ? character : `\\u{${character.codePointAt(0).toString(16)}}`,
  );

function shortened(text) {
  const characters = [...visible(text)];
  return characters.length > 80 ? `${characters.slice(0, 80).join("")}…` : characters.join("");
}

function time(at) {
  const then = new Date(at);
  const local = new Date(at - then.getTimezoneOffset() * 60_000).toISOString();
  const [day, clock] = [local.slice(0, 10), local.slice(11, 19)];
  return then.toDateString() === new Date().toDateString() ? clock : `${day} ${clock}`;
}

const json = (value) => JSON.stringify(value, null, 2);

// ---- elements ----

/**
 * Makes an element: `h("p.soft", { id: "x" }, "text", [more])`. Objects are attributes, of which undefined and false ones are left
 * out; text stays text.
 */
function h(kind, ...parts) {
  const [tag, ...classes] = kind.split(".");
  const element = document.createElement(tag);
  element.classList.add(...classes);
  for (const part of parts.flat(Infinity)) {
    if (part === undefined || part === null) continue;
    if (typeof part === "string" || part instanceof Node) element.append(part);
    else for (const [name, value] of Object.entries(part)) setOn(element, name, value);
  }
  return element;
}

function setOn(element, name, value) {
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
}

const draw = (...parts) => view.replaceChildren(h("div", parts));
const idText = (text) => h("span.id", visible(text));
const timeOf = (at) => h("time", { datetime: new Date(at).toISOString(), title: new Date(at).toISOString() }, time(at));
const hashOf = (kind, id) => `#/${kind}/${encodeURIComponent(id)}`;
const linkTo = (kind, id) => h("a.id", { href: hashOf(kind, id) }, shortened(id));
const button = (text, act, kind = "button") =>
  h(kind, { type: "button", onclick: () => Promise.resolve().then(act).catch(tell) }, text);

const GOOD = new Set(["success", "confirmed", "no_broadcast_required", "valid"]);
const BAD = new Set(["error", "wont_broadcast", "invalidated"]);
const badge = (word) => h(`span.badge.${GOOD.has(word) ? "good" : BAD.has(word) ? "bad" : "wait"}`, visible(word));

/** A table that becomes cards on a phone. Roles are named, since the cards are no table to a browser. */
function table(caption, columns, rows) {
  const head = columns.map((name) => h("th", { scope: "col", role: "columnheader" }, name));
  return h(
    "div.scroll",
    h(
      "table.cards",
      { role: "table" },
      h("caption.unseen", caption),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, head)),
      h("tbody", { role: "rowgroup" }, rows),
    ),
  );
}

/** @param cells each its classes, such as `.wide`, and what it holds. */
const row = (attributes, ...cells) =>
  h(
    "tr",
    { role: "row", ...attributes },
    cells.map(([classes, ...content]) => h(`td${classes}`, { role: "cell" }, content)),
  );

const pairs = (...all) =>
  h(
    "dl.panel.pairs",
    all.map(([name, ...value]) => [h("dt", name), h("dd", value)]),
  );

/** A button that asks for more, as long as there is more: `load` says so. */
function moreButton(text, hasMore, load) {
  const line = h("p.row", { hidden: !hasMore });
  line.append(
    button(text, async () => {
      line.hidden = !(await load());
    }),
  );
  return line;
}

// ---- asking ----

const KEPT = "sandbox page";
/** The header that lets this page look, `{name: value}`. */
let pass = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");

function keepPass(headers) {
  pass = headers;
  sessionStorage.setItem(KEPT, JSON.stringify(headers));
}

/** A link that `tickets sandbox` printed ends in the page's token, which should not stay in the address. */
function takeToken() {
  const { hash } = location;
  if (hash.length < 2 || hash.startsWith("#/")) return;
  keepPass({ "X-Page-Token": hash.slice(1) });
  history.replaceState(null, "", "#/");
}

class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Integers beyond what a number holds stay the text that they are. */
const exact = (_key, value, context) =>
  typeof value === "number" && /^-?\d+$/.test(context?.source ?? "") && !Number.isSafeInteger(value)
    ? context.source
    : value;

/** Ends what a view asks for when another one is shown. */
let leaving = new AbortController();

async function ask(path, { method = "GET", body } = {}) {
  const headers = { ...pass, ...(body !== undefined && { "Content-Type": "application/json" }) };
  const { signal } = leaving;
  const answer = await fetch(path, { method, headers, signal, ...(body !== undefined && { body }) });
  const text = await answer.text();
  const said = text === "" ? {} : JSON.parse(text, exact);
  if (!answer.ok) throw new Refusal(answer.status, said.message ?? `HTTP ${answer.status}`);
  return said;
}

const control = (what, parameters = {}) => ask(`/control/${what}?${new URLSearchParams(parameters)}`);

/** The same; undefined where there is no such thing. */
async function find(what, parameters) {
  try {
    return await control(what, parameters);
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return undefined;
    throw error;
  }
}

// ---- the parts of an action ----

const nameOf = ({ action }) => visible(action ?? "no action");

function aboutOf({ ticketId, nftId, eventId }) {
  if (ticketId !== null) return linkTo("ticket", ticketId);
  if (nftId !== null) return linkTo("nft", nftId);
  return eventId === null ? h("span.soft", "nothing") : linkTo("event", eventId);
}

const outcomeOf = ({ status, code, rule }) => [badge(status), status === "error" ? [" ", idText(rule ?? code)] : []];

const promiseOf = ({ actionPromise, promiseStatus }) =>
  actionPromise === null ? [] : [linkTo("promise", actionPromise), " ", badge(promiseStatus)];

function dataOf({ data, isCut }) {
  // What was cut is no JSON.
  const text = isCut ? `${data}\n… cut here; the record has all of it` : json(JSON.parse(data, exact));
  return h("details", h("summary", "data"), h("pre", { tabindex: "0" }, visible(text)));
}

const requestOf = ({ seq, item, request }) =>
  h("a", { href: `#/request/${seq - item}` }, `request ${number(request)}, item ${number(item + 1)}`);

/** What a table of actions can show of each. */
const CELLS = {
  time: ({ at }) => [".time", timeOf(at)],
  action: (action) => ["", nameOf(action)],
  about: (action) => ["", aboutOf(action)],
  outcome: (action) => ["", outcomeOf(action)],
  promise: (action) => [".wide", promiseOf(action)],
  request: (action) => ["", requestOf(action)],
  data: (action) => [".wide", dataOf(action)],
};

const rowOf = (columns, action, more = {}) =>
  row({ "data-seq": String(action.seq), ...more }, ...columns.map((name) => CELLS[name](action)));

// ---- views: each draws itself; what it returns is called when something has changed, and while promises are on their way ----

/** Draws anew, unless somebody reads, marks or types there. */
async function unlessInUse(redraw) {
  const isMarked = getSelection()?.isCollapsed === false;
  const isFocused = document.activeElement !== view && view.contains(document.activeElement);
  if (!isMarked && !isFocused && view.querySelector("details[open]") === null) await redraw();
}

const NOTHING_YET = ["Nothing was processed yet. In another shell: ", h("code", "tickets stream FILE --env local")];

const ACTIVITY = ["time", "action", "about", "outcome", "promise"];

/** @param seen the last line of the record that was shown before. */
async function showActivity(before, seen = Number.MAX_SAFE_INTEGER) {
  const { actions, hasMore } = await control("actions", before === undefined ? {} : { before });
  const focused = document.activeElement?.closest?.("tr")?.dataset.seq;
  const rows = actions.map((action) => rowOf(ACTIVITY, action, { class: action.seq > seen && "new" }));
  draw(
    h("h2", before === undefined ? "Activity" : "Activity before this"),
    rows.length === 0
      ? h("p.panel", before === undefined ? NOTHING_YET : "That is all.")
      : table("What was processed", ACTIVITY, rows),
    moreButton("Older", hasMore, () => go("actions", actions.at(-1).seq)),
  );
  if (focused !== undefined) view.querySelector(`[data-seq="${focused}"] a`)?.focus({ preventScroll: true });
  return before === undefined ? () => showActivity(undefined, actions[0]?.seq ?? 0) : undefined;
}

async function showRequests(before) {
  const { requests, hasMore } = await control("requests", before === undefined ? {} : { before });
  const rows = requests.map(({ request, seq, at, items, lastAction }) =>
    row(
      {},
      [".time", timeOf(at)],
      ["", h("a", { href: `#/request/${seq}` }, `request ${number(request)}`)],
      ["", number(items)],
      [".soft", nameOf({ action: lastAction })],
    ),
  );
  draw(
    h("h2", before === undefined ? "Requests" : "Requests before these"),
    h("p.soft", "Those of which something was processed, the newest first."),
    rows.length === 0
      ? h("p.panel", "None yet.")
      : table("Requests", ["time", "request", "items", "last action"], rows),
    moreButton("Older", hasMore, () => go("requests", requests.at(-1).seq)),
  );
  return before === undefined ? () => unlessInUse(showRequests) : undefined;
}

async function showRequest(seq) {
  const { items, hasMore } = await control("request", { seq });
  const [first] = items;
  if (first === undefined) return showNothing(`No request begins at line ${seq} of the record.`);
  const sectionOf = (action) =>
    h(
      "section.panel.row",
      h("span.soft", number(action.item + 1)),
      h("strong", nameOf(action)),
      aboutOf(action),
      outcomeOf(action),
      promiseOf(action),
      dataOf(action),
    );
  const list = h("div", items.map(sectionOf));
  draw(
    h("h2", `Request ${number(first.request)}`),
    h("p.soft", "Its items with their data, in their order. Processed at ", timeOf(first.at), "."),
    list,
    moreButton("More", hasMore, async () => {
      const next = await control("request", { seq, from: list.children.length });
      list.append(...next.items.map(sectionOf));
      return next.hasMore;
    }),
  );
  return undefined;
}

/** A value as it is; addresses are no links, since the page leads nowhere else. */
const textOf = (value) => visible(typeof value === "string" ? value : JSON.stringify(value));

function fieldsOf({ fields, onChain }) {
  const chained = (name, value) => {
    const written = onChain[name];
    if (written === undefined) return "no";
    return JSON.stringify(written) === JSON.stringify(value) ? "yes" : idText(textOf(written));
  };
  const rows = Object.entries(fields).map(([name, value]) =>
    row(
      {},
      ["", h("strong", visible(name))],
      [".wide", value === "" ? h("span.soft", "blank") : textOf(value)],
      [".wide.soft", chained(name, value)],
    ),
  );
  return [h("h3", "Fields"), table("Fields", ["field", "value", "on the blockchain"], rows)];
}

const HISTORY = ["time", "action", "outcome", "promise", "request", "data"];

/** @param ask for the part of the history before a line of the record. */
function historyOf({ actions, hasMore }, ask) {
  const toRow = (action) => rowOf(HISTORY, action);
  const history = table("History, the newest first", HISTORY, actions.map(toRow));
  const body = history.querySelector("tbody");
  const more = moreButton("Older", hasMore, async () => {
    const older = await ask(Number(body.lastElementChild.dataset.seq));
    body.append(...older.actions.map(toRow));
    return older.hasMore;
  });
  const isEmpty = actions.length === 0;
  return [h("h3", "History"), isEmpty ? h("p.panel", "Nothing was sent about it by this id.") : [history, more]];
}

async function showTicket(by) {
  const found = await find("ticket", by);
  if (found === undefined) return showNothing(`No ticket is registered as ${visible(by.id ?? by.nftId)}.`);
  const { view: ticket } = found;
  const { fields } = ticket;
  draw(
    h("h2", "Ticket ", idText(ticket.ticketId), " ", badge(ticket.state)),
    pairs(
      ["event", linkTo("event", ticket.eventId)],
      ["nftId", idText(ticket.nftId)],
      ["holder", visible(fields.userId ?? "nobody")],
      ["wallet", idText(fields.to)],
      ["scans", number(ticket.scans)],
      ["claimed", ticket.claimed ? "yes" : "no"],
    ),
    historyOf(found, (before) => control("ticket", { ...by, before })),
    fieldsOf(ticket),
  );
  return () => unlessInUse(() => showTicket(by));
}

async function showEvent(id) {
  const found = await find("event", { id });
  if (found === undefined) return showNothing(`No event is registered as ${visible(id)}.`);
  const { view: event } = found;
  draw(
    h("h2", "Event ", idText(event.eventId)),
    pairs(
      ["name", visible(event.fields.eventName || "blank")],
      ["number", number(event.number)],
      ["tickets", number(event.tickets)],
    ),
    historyOf(found, (before) => control("event", { id, before })),
    fieldsOf(event),
  );
  return () => unlessInUse(() => showEvent(id));
}

const STATUSES = [
  ...["waiting_broadcast", "waiting_funds", "pending", "confirmed", "error", "wont_broadcast"],
  "no_broadcast_required",
];

async function showPromise(id) {
  const { promise } = await control("search", { id });
  if (promise === null) return showNothing(`No action was given the promise ${visible(id)}.`);
  const said = h("span", { role: "status" });
  const now = h("span", badge(promise.promiseStatus));
  const choice = h(
    "select",
    { id: "status" },
    STATUSES.map((each) => h("option", each)),
  );
  choice.value = promise.promiseStatus;
  const set = async () => {
    await ask("/control/status", { method: "PUT", body: json({ actionPromise: id, status: choice.value }) });
    now.replaceChildren(badge(choice.value));
    said.textContent = "Set.";
  };
  draw(
    h("h2", "Promise ", idText(id)),
    pairs(
      ["status", now],
      ["action", nameOf(promise)],
      ["about", aboutOf(promise)],
      ["given", timeOf(promise.at), " in ", requestOf(promise)],
    ),
    dataOf(promise),
    h(
      "p.row",
      h("label", { for: "status" }, "What the service says of it from now on:"),
      choice,
      button("Set", set),
      said,
    ),
  );
  return undefined;
}

async function showSearch(id) {
  const { ticketId, eventId, promise, tickets, events } = await control("search", { id });
  if (ticketId !== null) return location.replace(hashOf("ticket", ticketId));
  if (eventId !== null) return location.replace(hashOf("event", eventId));
  if (promise !== null) return location.replace(hashOf("promise", id));
  const list = (title, kind, ids) =>
    ids.length === 0
      ? []
      : [
          h("h3", title),
          h(
            "ul",
            ids.map((each) => h("li", linkTo(kind, each))),
          ),
        ];
  draw(
    h("h2", `Nothing is spelt just “${shortened(id)}”`),
    tickets.length + events.length === 0
      ? h("p.panel", "No ticket, event, nftId or promise of this sandbox is, and none begins with it.")
      : h("p", "These begin with it:"),
    list("Tickets", "ticket", tickets),
    list("Events", "event", events),
  );
  return undefined;
}

/** Bad days to try, each as a script of faults. */
const PRESETS = [
  ["Too many requests, twice", { fault: "status", status: 429, retryAfter: 2, times: 2 }],
  ["No answer after processing", { fault: "drop", when: "after", times: 1 }],
  ["Every third is 503", { on: { every: 3 }, fault: "status", status: 503 }],
  ["Slow", { fault: "latency", ms: [500, 2000] }],
  ["One in a hundred refused", { fault: "failure-items", items: { every: 100 } }],
  ["Promises end in error", { fault: "promise-status", items: { every: 100 } }],
];

async function showFaults() {
  const { requests, script } = await ask("/control/faults");
  const rules = count(script.rules.length, "rule");
  const said = h("p", { role: "status" }, `${rules}; ${count(requests, "request")} since they were set.`);
  const text = h("textarea", { id: "script", spellcheck: "false" });
  text.value = json(script);
  const send = async (options) => {
    try {
      const set = (await ask("/control/faults", options)).script;
      text.value = json(set);
      said.className = "good";
      said.textContent =
        set.rules.length === 0 ? "No faults any more." : `In force: ${count(set.rules.length, "rule")}.`;
    } catch (error) {
      said.className = "bad";
      said.textContent = visible(error.message);
    }
  };
  const presets = PRESETS.map(([name, rule]) =>
    button(name, () => {
      text.value = json({ rules: [rule] });
    }),
  );
  draw(
    h("h2", "Faults"),
    h("p", "What goes wrong with the requests to come. They are counted from 1 again when a script is set."),
    h("div.row", { role: "group", "aria-label": "Scripts to begin with" }, presets),
    h("label", { for: "script" }, "Script, as JSON"),
    text,
    h(
      "p.row",
      button("Set faults", () => send({ method: "PUT", body: text.value }), "button.first"),
      button("Clear", () => send({ method: "DELETE" })),
    ),
    said,
  );
  return undefined;
}

function showNothing(text) {
  draw(h("h2", "Not found"), h("p.panel", text));
}

function showLocked() {
  const key = h("input", { id: "key", type: "password", autocomplete: "off", required: true });
  const enter = (event) => {
    event.preventDefault();
    keepPass({ "X-Api-Key": key.value });
    void listen();
    void show();
  };
  draw(
    h("h2", "Who may look"),
    h(
      "p",
      "Open the link that ",
      h("code", "tickets sandbox"),
      " printed. Or give the sandbox's key: it is in ",
      h("code", "sandbox.key"),
      " beside the sandbox's state.",
    ),
    h("form.panel", { onsubmit: enter }, h("label", { for: "key" }, "Key"), h("p.row", key, h("button.first", "Look"))),
  );
}

// ---- where one is ----

/** The views by the first step of the address, each with the part of the page that it belongs to. */
const VIEWS = {
  "": [() => showActivity(), "#/"],
  actions: [showActivity, "#/"],
  requests: [showRequests, "#/requests"],
  request: [showRequest, "#/requests"],
  ticket: [(id) => showTicket({ id })],
  nft: [(nftId) => showTicket({ nftId })],
  event: [showEvent],
  promise: [showPromise],
  search: [showSearch],
  faults: [showFaults, "#/faults"],
};

function go(kind, id) {
  location.hash = hashOf(kind, id);
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Draws the view that is shown anew, where it can change. */
let redraw;

async function show() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const [, name = "", argument] = /^#\/([a-z]*)(?:\/(.*))?$/.exec(location.hash) ?? [];
  const [showIt, part] = VIEWS[name] ?? VIEWS[""];
  for (const link of document.querySelectorAll("nav a"))
    if (link.getAttribute("href") === part) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  redraw = undefined;
  if (pass === null) return showLocked();
  try {
    const again = await showIt(argument === undefined ? undefined : decoded(argument));
    if (!signal.aborted) redraw = again;
  } catch (error) {
    tell(error);
  }
  return undefined;
}

function tell(error) {
  if (error.name === "AbortError") return undefined;
  if (error instanceof Refusal && error.status === 403) return showLocked();
  return draw(h("h2", "The sandbox did not answer"), h("p.panel", visible(error.message)));
}

// ---- what changes ----

const TOTALS = ["requests", "accepted", "refused", "events", "tickets", "faults"];

function tellTotals(totals) {
  $("totals").replaceChildren(
    ...TOTALS.map((name) =>
      h(
        "div",
        h("dt", name === "faults" ? "fault rules" : name),
        h("dd", { "data-total": name }, number(totals[name])),
      ),
    ),
  );
  const { delivered, failed, dropped } = totals.callbacks;
  const callbacks = ` Callbacks: ${number(delivered)} delivered, ${number(failed)} failed, ${number(dropped)} dropped.`;
  const isAny = delivered + failed + dropped > 0;
  $("instance").textContent = `Instance ${totals.instanceId}.${isAny ? callbacks : ""}`;
}

function tellConnection(state, text) {
  const connection = $("connection");
  connection.className = state;
  if (connection.textContent !== text) connection.textContent = text;
}

let refreshing = false;

async function refresh() {
  if (refreshing || document.hidden || redraw === undefined) return;
  refreshing = true;
  const { signal } = leaving;
  try {
    const again = await redraw();
    if (!signal.aborted && again !== undefined) redraw = again;
  } catch {
    // The connection's own words tell of it.
  } finally {
    refreshing = false;
  }
}

let listening = new AbortController();

/** Hears of changes until the sandbox ends, and again when it is back. A browser's own EventSource sends no headers. */
async function listen() {
  listening.abort();
  listening = new AbortController();
  const { signal } = listening;
  while (!signal.aborted && pass !== null) {
    try {
      const answer = await fetch("/control/changes", { headers: pass, signal });
      if (answer.status === 403) return tellConnection("lost", "Not let in");
      if (!answer.ok || answer.body === null) throw new Error(`HTTP ${answer.status}`);
      tellConnection("live", "Live");
      let rest = "";
      for await (const text of answer.body.pipeThrough(new TextDecoderStream())) {
        const events = (rest + text).split("\n\n");
        rest = events.pop();
        const last = events.at(-1);
        if (last === undefined) continue;
        tellTotals(JSON.parse(last.replace(/^data: /, "")));
        void refresh();
      }
      throw new Error("it ended");
    } catch {
      if (signal.aborted) return undefined;
      tellConnection("lost", "The sandbox has ended; trying again");
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
  return undefined;
}

// ---- keys ----

function step(by) {
  const links = [...view.querySelectorAll("tbody tr, section")].flatMap((each) => each.querySelector("a") ?? []);
  const at = links.findIndex((link) => link.closest("tr, section") === document.activeElement?.closest("tr, section"));
  links[Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
}

document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof Element && event.target.closest("input, textarea, select") !== null;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    if (isTyping) event.target.blur();
    else if (location.hash !== "#/") history.back();
  } else if (isTyping) return;
  else if (event.key === "/") {
    event.preventDefault();
    $("q").focus();
    $("q").select();
  } else if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
});

let suggesting = 0;

$("q").addEventListener("input", () => {
  clearTimeout(suggesting);
  suggesting = setTimeout(async () => {
    const id = $("q").value.trim();
    if (id === "" || pass === null) return;
    const found = await control("search", { id }).catch(() => undefined);
    if (found === undefined || $("q").value.trim() !== id) return;
    $("suggestions").replaceChildren(...[...found.tickets, ...found.events].map((value) => h("option", { value })));
  }, 200);
});

$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const id = $("q").value.trim();
  if (id === "") return;
  go("search", id);
  view.focus();
});

addEventListener("hashchange", () => {
  takeToken();
  void show();
});

// Promises go on by their age alone.
setInterval(refresh, 2000);

takeToken();
if (location.hash === "") history.replaceState(null, "", "#/");
void listen();
void show();
