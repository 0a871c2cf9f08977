// The sandbox's page: asks the sandbox for what it shows, a page at a time, and hears by server-sent events when something has
// changed. Whatever comes from the sandbox is put in as text, never as HTML.

const $ = (id) => document.getElementById(id);
const view = $("view");

// ---- text ----

const numbers = new Intl.NumberFormat("en");
const number = (value) => numbers.format(value);

/** Control characters and those that turn the direction of a text, as their codes. */
const visible = (text) =>
  String(text).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    character === "\n" ? character : `\\u{${character.codePointAt(0).toString(16)}}`,
  );

function shortened(text) {
  const characters = [...visible(text)];
  return characters.length > 80 ? `${characters.slice(0, 80).join("")}…` : characters.join("");
}

/** In local time; the day only where it is another one. Swedish writes both as ISO 8601 does. */
function time(at) {
  const [then, today] = [new Date(at).toLocaleString("sv"), new Date().toLocaleDateString("sv")];
  return then.startsWith(today) ? then.slice(today.length + 1) : then;
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
    else setAll(element, part);
  }
  return element;
}

function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
}

/** Whether a view is being drawn anew by itself. */
let refreshing = false;
/** The view that somebody is about to see, until it is drawn: whatever was in use before is left. */
let opening;

/** Somebody reads, marks or types there. */
function isInUse() {
  const isMarked = getSelection()?.isCollapsed === false;
  const isFocused = document.activeElement !== view && view.contains(document.activeElement);
  return isMarked || isFocused || view.querySelector("details[open], .extended") !== null;
}

function draw(...parts) {
  if (!refreshing || !isInUse()) view.replaceChildren(h("div", parts));
}

const idText = (text) => h("span.id", visible(text));
const timeOf = (at) => h("time", { datetime: new Date(at).toISOString(), title: new Date(at).toISOString() }, time(at));
const hashOf = (kind, id) => `#/${kind}/${encodeURIComponent(id)}`;
const linkTo = (kind, id) => h("a.id", { href: hashOf(kind, id) }, shortened(id));
const button = (text, act, kind = "button") =>
  h(kind, { type: "button", onclick: () => Promise.resolve().then(act).catch(showError) }, text);

/** Only what was refused has a colour. */
const badge = (word, isRefused = false) => h(`span.badge${isRefused ? ".refused" : ""}`, visible(word));

/**
 * A table that becomes cards on a phone, where a cell stands beside the name of its column. Roles are named, since cards are no table
 * to a browser. `columns` gives the cell of each column; `more` asks for the items after the last one, and how many there are already.
 */
function listOf(caption, columns, { items, hasMore = false }, more) {
  if (items.length === 0) return h("p.panel", "None.");
  const names = Object.keys(columns);
  const rowOf = (item) => {
    const cells = names.map((name) => columns[name](item));
    for (const [at, cell] of cells.entries()) setAll(cell, { role: "cell", "data-label": names[at] });
    return h("tr", { role: "row" }, cells);
  };
  const head = names.map((name) =>
    h(
      "th",
      { scope: "col", role: "columnheader", class: columns[name](items[0]).classList.contains("n") && "n" },
      name,
    ),
  );
  const body = h("tbody", { role: "rowgroup" }, items.map(rowOf));
  const list = h(
    "table.cards",
    { role: "table" },
    h("caption.unseen", caption),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, head)),
    body,
  );
  let last = items.at(-1);
  const load = async () => {
    const next = await more(last, body.childElementCount);
    last = next.items.at(-1);
    list.classList.add("extended");
    body.append(...next.items.map(rowOf));
    line.hidden = !next.hasMore;
  };
  const line = h("p.row", { hidden: !hasMore }, button("More", load));
  return [h("div.scroll", list), line];
}

const pairs = (...all) =>
  h(
    "dl.panel.pairs",
    all.map(([name, ...value]) => [h("dt", name), h("dd", value)]),
  );

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

async function control(what, parameters = {}) {
  const path = `/control/${what}?${new URLSearchParams(parameters)}`;
  const answer = await fetch(path, { headers: { ...pass }, signal: leaving.signal });
  const text = await answer.text();
  const said = text === "" ? {} : JSON.parse(text, exact);
  if (!answer.ok) throw new Refusal(answer.status, said.message ?? `HTTP ${answer.status}`);
  return said;
}

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

const nameOf = ({ action }) => visible(action ?? "without action");

function aboutOf({ ticketId, nftId, eventId }) {
  if (ticketId !== null) return linkTo("ticket", ticketId);
  if (nftId !== null) return linkTo("nft", nftId);
  return eventId === null ? h("span.soft", "nothing") : linkTo("event", eventId);
}

/** Accepted, with its promise; or refused, and why. */
function outcomeOf({ status, code, rule, actionPromise, promiseStatus }) {
  if (status === "error") return [badge("refused", true), " ", linkTo("refused", rule ?? code)];
  return ["accepted ", linkTo("promise", actionPromise), " ", badge(promiseStatus)];
}

function dataOf({ data, isCut }) {
  // What was cut is no JSON.
  const text = isCut ? `${data}\n… cut here; the record has all of it` : json(JSON.parse(data, exact));
  return h("details", h("summary", "data"), h("pre", { tabindex: "0" }, visible(text)));
}

const requestOf = ({ request, item }) =>
  h("a", { href: hashOf("request", request) }, `request ${number(request)}, item ${number(item + 1)}`);

/** What tables of actions show of each. */
const CELLS = {
  time: ({ at }) => h("td.time", timeOf(at)),
  item: ({ item }) => h("td.soft", number(item + 1)),
  action: (action) => h("td", nameOf(action)),
  about: (action) => h("td", aboutOf(action)),
  outcome: (action) => h("td", outcomeOf(action)),
  request: (action) => h("td", requestOf(action)),
  data: (action) => h("td", dataOf(action)),
};
const columns = (...names) => Object.fromEntries(names.map((name) => [name, CELLS[name]]));
const OF_REQUEST = columns("item", "action", "about", "outcome", "data");
const REFUSED = columns("time", "action", "about", "outcome", "request", "data");
const HISTORY = columns("time", "action", "outcome", "request", "data");

/** `1.2 s` */
const duration = (ms) => (ms < 1000 ? `${number(ms)} ms` : `${number(Math.round(ms / 100) / 10)} s`);
const rate = ({ accepted, refused, ms }) => number(Math.round(((accepted + refused) * 1000) / Math.max(1, ms)));
const refusals = (kind, refused) => h(refused > 0 ? `${kind}.refused` : kind, number(refused));

/** What the table of requests shows of each. One that is under way has no answer yet. */
const REQUESTS = {
  time: ({ at }) => h("td.time", timeOf(at)),
  request: (request) =>
    h("td", h("a", { href: hashOf("request", request.number) }, `request ${number(request.number)}`)),
  actions: ({ kinds }) => h("td", kinds === "" ? h("span.soft", "nothing processed") : visible(kinds)),
  accepted: ({ accepted }) => h("td.n", number(accepted)),
  refused: ({ refused }) => refusals("td.n", refused),
  took: ({ ms }) => h("td.n", ms === null ? "under way" : duration(ms)),
  "actions/s": (request) => h("td.n", request.kinds === "" || request.ms === null ? "–" : rate(request)),
  answer: ({ answer }) => h("td", answer ?? "none yet"),
  fault: ({ fault }) => h("td", fault ?? ""),
};

// ---- views ----

async function showActivity() {
  const found = await control("requests");
  const command = h("code", "tickets stream FILE --env local");
  const list = listOf("Requests, the newest first", REQUESTS, found, (last) =>
    control("requests", { before: last.number }),
  );
  draw(
    h("h2", "Activity"),
    found.items.length === 0 ? h("p.panel", "No request yet. In another shell: ", command) : list,
  );
}

async function showRequest(id) {
  const found = await find("request", { number: id });
  if (found === undefined) return showNothing(`There was no request ${visible(id)}.`);
  const { at, ms, answer, fault, accepted, refused } = found.request;
  const more = (_last, from) => control("request", { number: id, from });
  draw(
    h("h2", `Request ${visible(id)}`),
    pairs(
      ["came", timeOf(at)],
      ["took", ms === null ? "under way" : duration(ms)],
      ["answer", answer ?? "none yet"],
      ["fault", fault ?? "none"],
      ["accepted", number(accepted)],
      ["refused", refusals("span", refused)],
    ),
    h("h3", "Items, in their order"),
    listOf("Items", OF_REQUEST, found, more),
  );
}

/** @param reason only what was refused for it, where there is one. */
async function showRefused(reason) {
  const wanted = reason === undefined ? {} : { reason };
  const found = await control("refused", wanted);
  const choice = (text, of, href) => h("a.choice", { href, "aria-current": of === reason && "true" }, text);
  draw(
    h("h2", "Refused"),
    h(
      "p.row",
      choice("all", undefined, "#/refused"),
      found.reasons.map(({ reason: of, count }) =>
        choice(`${visible(of)} ${number(count)}`, of, hashOf("refused", of)),
      ),
    ),
    listOf("Refused actions, the newest first", REFUSED, found, ({ seq }) =>
      control("refused", { ...wanted, before: seq }),
    ),
  );
}

/** A value as it is; addresses are no links, since the page leads nowhere else. */
const textOf = (value) => visible(typeof value === "string" ? value : JSON.stringify(value));

function fieldsOf({ fields, onChain }) {
  const chained = (name, value) => {
    const written = onChain[name];
    if (written === undefined) return "no";
    return JSON.stringify(written) === JSON.stringify(value) ? "yes" : idText(textOf(written));
  };
  const columns = {
    field: ([name]) => h("td", h("strong", visible(name))),
    value: ([, value]) => h("td", value === "" ? h("span.soft", "blank") : textOf(value)),
    "on-chain": ([name, value]) => h("td.soft", chained(name, value)),
  };
  return [h("h3", "Fields"), listOf("Fields", columns, { items: Object.entries(fields) })];
}

/** What was sent about a ticket or an event, which may have been refused before it was registered. */
async function showHistory(kind, by, title, summaryOf) {
  const found = await find(kind, by);
  const id = Object.values(by)[0];
  if (found === undefined)
    return showNothing(`No ${kind} is registered as ${visible(id)}, and nothing was sent about it.`);
  const known = found.view;
  draw(
    h(
      "h2",
      title,
      " ",
      idText(known?.[`${kind}Id`] ?? id),
      " ",
      badge(known ? (known.state ?? "registered") : "not registered"),
    ),
    known && pairs(...summaryOf(known)),
    h("h3", "History"),
    listOf("History, the newest first", HISTORY, found, ({ seq }) => control(kind, { ...by, before: seq })),
    known && fieldsOf(known),
  );
}

const showTicket = (by) =>
  showHistory("ticket", by, "Ticket", ({ eventId, nftId, fields, scans, claimed }) => [
    ["event", linkTo("event", eventId)],
    ["nftId", idText(nftId)],
    ["holder", visible(fields.userId ?? "nobody")],
    ["wallet", idText(fields.to)],
    ["scans", number(scans)],
    ["claimed", claimed ? "yes" : "no"],
  ]);

const showEvent = (id) =>
  showHistory("event", { id }, "Event", ({ fields, number: nth, tickets }) => [
    ["name", visible(fields.eventName || "blank")],
    ["number", number(nth)],
    ["tickets", number(tickets)],
  ]);

async function showPromise(id) {
  const { promise } = await control("search", { id });
  if (promise === null) return showNothing(`No action was given the promise ${visible(id)}.`);
  draw(
    h("h2", "Promise ", idText(id)),
    pairs(
      ["status", badge(promise.promiseStatus)],
      ["action", nameOf(promise)],
      ["about", aboutOf(promise)],
      ["given", timeOf(promise.at), " in ", requestOf(promise)],
    ),
    dataOf(promise),
  );
}

async function showSearch(id) {
  const { ticketId, eventId, promise, tickets, events } = await control("search", { id });
  if (ticketId !== null) return location.replace(hashOf("ticket", ticketId));
  if (eventId !== null) return location.replace(hashOf("event", eventId));
  if (promise !== null) return location.replace(hashOf("promise", id));
  const lines = (kind, ids) => ids.map((each) => h("li", `${kind} `, linkTo(kind, each)));
  draw(
    h("h2", `No exact match for “${shortened(id)}”`),
    tickets.length + events.length === 0
      ? h("p.panel", "No ticket, event, nftId or promise begins with it, and nothing was refused by that id.")
      : h("p", "These begin with it:"),
    h("ul", lines("ticket", tickets), lines("event", events)),
  );
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

/** The views by the first step of the address: each with its entry in the navigation, and whether it follows what changes. */
const VIEWS = {
  "": { show: showActivity, entry: "#/", isLive: true },
  request: { show: showRequest, entry: "#/", isLive: true },
  refused: { show: showRefused, entry: "#/refused", isLive: true },
  ticket: { show: (id) => showTicket({ id }), isLive: true },
  nft: { show: (nftId) => showTicket({ nftId }), isLive: true },
  event: { show: showEvent, isLive: true },
  promise: { show: showPromise, isLive: true },
  search: { show: showSearch },
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

/** The view that the address names, and draws it. */
function current() {
  const [, name = "", argument] = /^#\/([a-z]*)(?:\/(.*))?$/.exec(location.hash) ?? [];
  const shown = VIEWS[name] ?? VIEWS[""];
  return { ...shown, draw: () => shown.show(argument === undefined ? undefined : decoded(argument)) };
}

async function show() {
  leaving.abort();
  leaving = new AbortController();
  refreshing = false;
  const { entry, draw } = current();
  opening = draw;
  for (const link of document.querySelectorAll("nav a"))
    setAll(link, { "aria-current": link.getAttribute("href") === entry ? "page" : "false" });
  await (pass === null ? showLocked() : draw().catch(showError));
  if (opening === draw) opening = undefined;
}

function showError(error) {
  if (error.name === "AbortError") return;
  if (error instanceof Refusal && error.status === 403) return showLocked();
  return draw(h("h2", "The sandbox did not answer"), h("p.panel", visible(error.message)));
}

// ---- what changes ----

const TOTALS = ["requests", "accepted", "refused", "events", "tickets", "faults"];

function showTotals(totals) {
  $("totals").replaceChildren(
    ...TOTALS.map((name) => {
      const isRefused = name === "refused" && totals.refused > 0;
      return h(
        "div",
        h("dt", name === "faults" ? "fault rules" : name),
        h(isRefused ? "dd.refused" : "dd", { "data-total": name }, number(totals[name])),
      );
    }),
  );
  const { delivered, failed, dropped } = totals.callbacks;
  const callbacks = ` Callbacks: ${number(delivered)} delivered, ${number(failed)} failed, ${number(dropped)} dropped.`;
  const isAny = delivered + failed + dropped > 0;
  $("instance").textContent = `Instance ${totals.instanceId}.${isAny ? callbacks : ""}`;
}

function showConnection(state, text) {
  const connection = $("connection");
  connection.className = state;
  if (connection.textContent !== text) connection.textContent = text;
}

async function refresh() {
  const { isLive = false, draw } = current();
  if (refreshing || opening !== undefined || document.hidden || !isLive || pass === null) return;
  refreshing = true;
  // Why it fails, the line about the connection says.
  await draw().catch(() => undefined);
  refreshing = false;
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
      if (answer.status === 403) return showConnection("lost", "The sandbox does not know this page");
      if (!answer.ok || answer.body === null) throw new Error(`HTTP ${answer.status}`);
      showConnection("live", "Live");
      let rest = "";
      for await (const text of answer.body.pipeThrough(new TextDecoderStream())) {
        const events = (rest + text).split("\n\n");
        rest = events.pop();
        const last = events.at(-1);
        if (last === undefined) continue;
        showTotals(JSON.parse(last.replace(/^data: /, "")));
        void refresh();
      }
      throw new Error("it ended");
    } catch {
      if (signal.aborted) return undefined;
      showConnection("lost", "The sandbox has ended; trying again");
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}

// ---- keys ----

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
  }
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
