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

function shortened(text, most) {
  const characters = [...visible(text)];
  return characters.length > most ? `${characters.slice(0, most).join("")}…` : characters.join("");
}

const two = (value) => String(value).padStart(2, "0");

function time(at) {
  const then = new Date(at);
  const clock = [then.getHours(), then.getMinutes(), then.getSeconds()].map(two).join(":");
  const isToday = then.toDateString() === new Date().toDateString();
  return isToday ? clock : `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())} ${clock}`;
}

// ---- elements ----

/** Makes an element; attributes that are undefined or false are left out, children that are text are put in as text. */
function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== null));
  return element;
}

const timeOf = (at) => h("time", { datetime: new Date(at).toISOString(), title: new Date(at).toISOString() }, time(at));
const linkTo = (kind, id, text = shortened(id, 80)) =>
  h("a", { href: `#/${kind}/${encodeURIComponent(id)}`, class: "id" }, text);

const GOOD = new Set(["success", "confirmed", "no_broadcast_required", "valid"]);
const BAD = new Set(["error", "wont_broadcast", "invalidated"]);
const badge = (word) =>
  h("span", { class: `badge ${GOOD.has(word) ? "good" : BAD.has(word) ? "bad" : "wait"}` }, visible(word));

/** A table that becomes cards on a phone. Roles are named, since the cards are no table to a browser. */
function table(caption, columns, rows) {
  const head = columns.map(({ name, kind }) => h("th", { scope: "col", role: "columnheader", class: kind }, name));
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: "cards", role: "table" },
      h("caption", { class: "unseen" }, caption),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, head)),
      h("tbody", { role: "rowgroup" }, rows),
    ),
  );
}

const row = (attributes, ...cells) =>
  h(
    "tr",
    { role: "row", ...attributes },
    cells.map(([kind, ...content]) => h("td", { role: "cell", class: kind }, ...content)),
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

async function ask(path, { method = "GET", body } = {}) {
  const headers = { ...pass, ...(body !== undefined && { "Content-Type": "application/json" }) };
  const answer = await fetch(path, { method, headers, ...(body !== undefined && { body }) });
  const text = await answer.text();
  const said = text === "" ? {} : JSON.parse(text, exact);
  if (!answer.ok) throw new Refusal(answer.status, said.message ?? `HTTP ${answer.status}`);
  return said;
}

const control = (what, parameters = {}) => ask(`/control/${what}?${new URLSearchParams(parameters)}`);

// ---- the parts of an action ----

const aboutOf = ({ ticketId, nftId, eventId }) =>
  ticketId !== null
    ? linkTo("ticket", ticketId)
    : nftId !== null
      ? linkTo("nft", nftId)
      : eventId !== null
        ? linkTo("event", eventId)
        : h("span", { class: "soft" }, "nothing");

const outcomeOf = ({ status, code, rule }) =>
  status === "success"
    ? badge("success")
    : [badge("error"), " ", h("span", { class: "id" }, visible(rule ?? code ?? ""))];

const promiseOf = ({ actionPromise, promiseStatus }) =>
  actionPromise === null ? [] : [linkTo("promise", actionPromise), " ", badge(promiseStatus)];

function pretty(data) {
  try {
    return JSON.stringify(JSON.parse(data, exact), null, 2);
  } catch {
    return data; // cut
  }
}

const bodyOf = ({ data, isCut }) =>
  h(
    "details",
    {},
    h("summary", {}, "data"),
    h("pre", { tabindex: "0" }, visible(pretty(data)), isCut ? "\n… cut here; the record has all of it" : ""),
  );

const requestOf = ({ seq, item, request }) =>
  h("a", { href: `#/request/${seq - item}` }, `request ${number(request)}`, `, item ${number(item + 1)}`);

// ---- views ----

/** What is shown now: `refresh` is called when something has changed, and while promises are on their way. */
let shown = { refresh: async () => undefined };

const moreButton = (text, onclick) => h("p", { class: "row" }, h("button", { type: "button", onclick }, text));

const ACTION_COLUMNS = [
  { name: "time" },
  { name: "action" },
  { name: "about" },
  { name: "outcome" },
  { name: "promise" },
];

function actionRow(action, isNew) {
  const cells = [
    ["time", timeOf(action.at)],
    ["", visible(action.action ?? "no action")],
    ["", aboutOf(action)],
    ["", ...[outcomeOf(action)].flat()],
    ["wide", ...promiseOf(action)],
  ];
  return row({ "data-seq": action.seq, class: isNew && "new" }, ...cells);
}

/** Rows that live changes may add before the oldest ones go. */
const MOST_ROWS = 200;

async function showActivity() {
  const { actions, hasMore } = await control("actions");
  const rows = h("div", {});
  const empty = h(
    "p",
    { class: "panel" },
    "Nothing was processed yet. In another shell: ",
    h("code", {}, "tickets stream FILE --env local"),
  );
  const fill = () => {
    const body = rows.querySelector("tbody");
    if (body === null) rows.replaceChildren(table("What was processed last", ACTION_COLUMNS, []));
    return rows.querySelector("tbody");
  };
  const put = (latest, isNew) => {
    const body = latest.length === 0 ? rows.querySelector("tbody") : fill();
    for (const action of latest.toReversed()) {
      const there = body.querySelector(`[data-seq="${action.seq}"]`);
      if (there === null) body.prepend(actionRow(action, isNew));
      else there.lastElementChild.replaceChildren(...promiseOf(action));
    }
    while ((body?.children.length ?? 0) > MOST_ROWS) body.lastElementChild.remove();
  };
  if (actions.length === 0) rows.append(empty);
  else put(actions, false);
  const older = moreButton("Older", async () => {
    const last = Number(rows.querySelector("tbody")?.lastElementChild?.dataset.seq ?? 1);
    await openPage("actions", last);
  });
  older.hidden = !hasMore;
  view.replaceChildren(h("h2", {}, "Activity"), rows, older);
  return {
    async refresh() {
      const now = await control("actions");
      const focused = document.activeElement?.closest?.("tr")?.dataset.seq;
      put(now.actions, true);
      older.hidden = !now.hasMore;
      if (focused !== undefined) rows.querySelector(`[data-seq="${focused}"] a`)?.focus();
    },
  };
}

const openPage = (kind, before) => {
  location.hash = `#/${kind}/${before}`;
};

async function showOlder(before) {
  const { actions, hasMore } = await control("actions", { before });
  view.replaceChildren(
    h("h2", {}, "Activity before this"),
    table(
      "What was processed earlier",
      ACTION_COLUMNS,
      actions.map((action) => actionRow(action, false)),
    ),
    hasMore ? moreButton("Older", () => openPage("actions", actions.at(-1).seq)) : h("p", {}, "That is all."),
  );
}

async function showRequests(before) {
  const { requests, hasMore } = await control("requests", before === undefined ? {} : { before });
  const columns = [{ name: "time" }, { name: "request" }, { name: "items", kind: "number" }, { name: "last action" }];
  const rows = requests.map(({ request, seq, at, items, lastAction }) =>
    row(
      {},
      ["time", timeOf(at)],
      ["", h("a", { href: `#/request/${seq}` }, `request ${number(request)}`)],
      ["number", number(items)],
      ["soft", visible(lastAction ?? "no action")],
    ),
  );
  view.replaceChildren(
    h("h2", {}, before === undefined ? "Requests" : "Requests before these"),
    h("p", { class: "soft" }, "Those of which something was processed, the newest first."),
    rows.length === 0 ? h("p", { class: "panel" }, "None yet.") : table("Requests", columns, rows),
    hasMore ? moreButton("Older", () => openPage("requests", requests.at(-1).seq)) : "",
  );
  return before === undefined ? { refresh: () => unlessInUse(() => showRequests()) } : undefined;
}

async function showRequest(seq) {
  const { items, hasMore } = await control("request", { seq });
  if (items.length === 0) return showNothing(`No request begins at line ${seq} of the record.`);
  const list = h("div", {});
  const add = (more) =>
    list.append(
      ...more.map((action) =>
        h(
          "section",
          { class: "panel row" },
          h("span", { class: "soft" }, number(action.item + 1)),
          h("strong", {}, visible(action.action ?? "no action")),
          aboutOf(action),
          ...[outcomeOf(action)].flat(),
          ...promiseOf(action),
          bodyOf(action),
        ),
      ),
    );
  add(items);
  const next = moreButton("More", async () => {
    const page = await control("request", { seq, from: list.children.length });
    add(page.items);
    next.hidden = !page.hasMore;
  });
  next.hidden = !hasMore;
  view.replaceChildren(
    h("h2", {}, `Request ${number(items[0].request)}`),
    h("p", { class: "soft" }, "Its items with their data, in their order. Processed at ", timeOf(items[0].at), "."),
    list,
    next,
  );
}

/** A value as it is; addresses are no links, since the page leads nowhere else. */
const textOf = (value) => (typeof value === "string" ? visible(value) : visible(JSON.stringify(value)));

function fieldsTable(fields, onChain) {
  const columns = [{ name: "field" }, { name: "value" }, { name: "on the blockchain" }];
  const rows = Object.entries(fields).map(([name, value]) => {
    const chain = onChain[name];
    const isSame = chain !== undefined && JSON.stringify(chain) === JSON.stringify(value);
    return row(
      {},
      ["", h("strong", {}, visible(name))],
      ["wide", value === "" ? h("span", { class: "soft" }, "blank") : textOf(value)],
      ["wide soft", chain === undefined ? "no" : isSame ? "yes" : h("span", { class: "id" }, textOf(chain))],
    );
  });
  return table("Fields", columns, rows);
}

function historyOf({ actions, hasMore }, more) {
  const columns = [
    ...[{ name: "time" }, { name: "action" }, { name: "outcome" }, { name: "promise" }, { name: "request" }],
    { name: "data" },
  ];
  const toRow = (action) =>
    row(
      { "data-seq": action.seq },
      ["time", timeOf(action.at)],
      ["", h("strong", {}, visible(action.action ?? "no action"))],
      ["", ...[outcomeOf(action)].flat()],
      ["wide", ...promiseOf(action)],
      ["", requestOf(action)],
      ["wide", bodyOf(action)],
    );
  if (actions.length === 0) return h("p", { class: "panel" }, "Nothing was sent about it by this id.");
  const made = table("History, the newest first", columns, actions.map(toRow));
  const next = moreButton("Older", async () => {
    const body = made.querySelector("tbody");
    const page = await more(Number(body.lastElementChild.dataset.seq));
    body.append(...page.actions.map(toRow));
    next.hidden = !page.hasMore;
  });
  next.hidden = !hasMore;
  return h("div", {}, made, next);
}

const pairs = (...all) =>
  h(
    "dl",
    { class: "panel pairs" },
    all.flatMap(([name, ...value]) => [h("dt", {}, name), h("dd", {}, ...value)]),
  );

async function showTicket(by) {
  const history = (before) => control("ticket", before === undefined ? by : { ...by, before });
  const found = await orNothing(() => history());
  if (found === undefined) return showNothing(`No ticket is registered as ${visible(by.id ?? by.nftId)}.`);
  const { view: ticket } = found;
  const { fields } = ticket;
  view.replaceChildren(
    h("h2", {}, "Ticket ", h("span", { class: "id" }, visible(ticket.ticketId)), " ", badge(ticket.state)),
    pairs(
      ["event", linkTo("event", ticket.eventId)],
      ["nftId", h("span", { class: "id" }, visible(ticket.nftId))],
      ["holder", visible(fields.userId ?? "nobody")],
      ["wallet", h("span", { class: "id" }, visible(fields.to ?? ""))],
      ["scans", number(ticket.scans)],
      ["claimed", ticket.claimed ? "yes" : "no"],
    ),
    h("h3", {}, "History"),
    historyOf(found, history),
    h("h3", {}, "Fields"),
    fieldsTable(fields, ticket.onChain),
  );
  return { refresh: () => unlessInUse(() => showTicket(by)) };
}

async function showEvent(id) {
  const history = (before) => control("event", before === undefined ? { id } : { id, before });
  const found = await orNothing(() => history());
  if (found === undefined) return showNothing(`No event is registered as ${visible(id)}.`);
  const { view: event } = found;
  view.replaceChildren(
    h("h2", {}, "Event ", h("span", { class: "id" }, visible(event.eventId))),
    pairs(
      ["name", visible(event.fields.eventName || "blank")],
      ["number", number(event.number)],
      ["tickets", number(event.tickets)],
    ),
    h("h3", {}, "History"),
    historyOf(found, history),
    h("h3", {}, "Fields"),
    fieldsTable(event.fields, event.onChain),
  );
  return { refresh: () => unlessInUse(() => showEvent(id)) };
}

const STATUSES = [
  ...["waiting_broadcast", "waiting_funds", "pending", "confirmed", "error", "wont_broadcast"],
  "no_broadcast_required",
];

async function showPromise(id) {
  const { promise } = await control("search", { id });
  if (promise === null) return showNothing(`No action was given the promise ${visible(id)}.`);
  const said = h("span", { role: "status" });
  const choice = h(
    "select",
    { id: "status" },
    STATUSES.map((each) => h("option", {}, each)),
  );
  choice.value = promise.promiseStatus;
  const set = async () => {
    await ask("/control/status", { method: "PUT", body: JSON.stringify({ actionPromise: id, status: choice.value }) });
    now.replaceChildren(badge(choice.value));
    said.textContent = "Set.";
  };
  const now = h("span", {}, badge(promise.promiseStatus));
  view.replaceChildren(
    h("h2", {}, "Promise ", h("span", { class: "id" }, visible(id))),
    pairs(
      ["status", now],
      ["action", visible(promise.action ?? "")],
      ["about", aboutOf(promise)],
      ["given", timeOf(promise.at), " in ", requestOf(promise)],
    ),
    bodyOf(promise),
    h(
      "p",
      { class: "row" },
      h("label", { for: "status" }, "What the service says of it from now on:"),
      choice,
      h("button", { type: "button", onclick: set }, "Set"),
      said,
    ),
  );
  return undefined;
}

async function showSearch(id) {
  const found = await control("search", { id });
  if (found.ticketId !== null) return go(`#/ticket/${encodeURIComponent(found.ticketId)}`);
  if (found.eventId !== null) return go(`#/event/${encodeURIComponent(found.eventId)}`);
  if (found.promise !== null) return go(`#/promise/${encodeURIComponent(id)}`);
  const list = (title, kind, ids) =>
    ids.length === 0
      ? ""
      : h(
          "div",
          {},
          h("h3", {}, title),
          h(
            "ul",
            {},
            ids.map((each) => h("li", {}, linkTo(kind, each))),
          ),
        );
  view.replaceChildren(
    h("h2", {}, `Nothing is spelt just “${shortened(id, 80)}”`),
    found.tickets.length + found.events.length === 0
      ? h("p", { class: "panel" }, "No ticket, event, nftId or promise of this sandbox is, and none begins with it.")
      : h("p", {}, "These begin with it:"),
    list("Tickets", "ticket", found.tickets),
    list("Events", "event", found.events),
  );
  return undefined;
}

/** Bad days to try, each as a script of faults. */
const PRESETS = [
  ["Too many requests, twice", { rules: [{ fault: "status", status: 429, retryAfter: 2, times: 2 }] }],
  ["No answer after processing", { rules: [{ fault: "drop", when: "after", times: 1 }] }],
  ["Every third is 503", { rules: [{ on: { every: 3 }, fault: "status", status: 503 }] }],
  ["Slow", { rules: [{ fault: "latency", ms: [500, 2000] }] }],
  ["One in a hundred refused", { rules: [{ fault: "failure-items", items: { every: 100 } }] }],
  ["Promises end in error", { rules: [{ fault: "promise-status", items: { every: 100 } }] }],
];

async function showFaults() {
  const { requests, script } = await ask("/control/faults");
  const said = h(
    "p",
    { role: "status" },
    `${count(script.rules.length, "rule")}; ${count(requests, "request")} since they were set.`,
  );
  const text = h("textarea", { id: "script", spellcheck: "false" });
  text.value = JSON.stringify(script, null, 2);
  const put = async (options) => {
    try {
      const { script: set } = await ask("/control/faults", options);
      text.value = JSON.stringify(set, null, 2);
      said.className = "good";
      said.textContent =
        set.rules.length === 0 ? "No faults any more." : `In force: ${count(set.rules.length, "rule")}.`;
    } catch (error) {
      said.className = "bad";
      said.textContent = visible(error.message);
    }
  };
  const presets = PRESETS.map(([name, rules]) =>
    h(
      "button",
      {
        type: "button",
        onclick: () => {
          text.value = JSON.stringify(rules, null, 2);
        },
      },
      name,
    ),
  );
  view.replaceChildren(
    h("h2", {}, "Faults"),
    h("p", {}, "What goes wrong with the requests to come. They are counted from 1 again when a script is set."),
    h("div", { class: "row", role: "group", "aria-label": "Scripts to begin with" }, presets),
    h("label", { for: "script" }, "Script, as JSON"),
    text,
    h(
      "p",
      { class: "row" },
      h(
        "button",
        { type: "button", class: "first", onclick: () => put({ method: "PUT", body: text.value }) },
        "Set faults",
      ),
      h("button", { type: "button", onclick: () => put({ method: "DELETE" }) }, "Clear"),
    ),
    said,
  );
  return undefined;
}

function showNothing(text) {
  view.replaceChildren(h("h2", {}, "Not found"), h("p", { class: "panel" }, text));
}

function showLocked() {
  const key = h("input", { id: "key", type: "password", autocomplete: "off", required: true });
  const enter = (event) => {
    event.preventDefault();
    keepPass({ "X-Api-Key": key.value });
    listen();
    void show();
  };
  view.replaceChildren(
    h("h2", {}, "Who may look"),
    h(
      "p",
      {},
      "Open the link that ",
      h("code", {}, "tickets sandbox"),
      " printed. Or give the sandbox's key: it is in ",
      h("code", {}, "sandbox.key"),
      " beside the sandbox's state.",
    ),
    h(
      "form",
      { onsubmit: enter, class: "panel" },
      h("label", { for: "key" }, "Key"),
      h("p", { class: "row" }, key, h("button", { class: "first" }, "Look")),
    ),
  );
}

// ---- where one is ----

async function orNothing(look) {
  try {
    return await look();
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return undefined;
    throw error;
  }
}

/** Draws anew, unless somebody reads or types there. */
async function unlessInUse(draw) {
  if (view.querySelector("details[open]") === null && !view.contains(document.activeElement?.closest("#view *")))
    await draw();
}

const VIEWS = {
  "": () => showActivity(),
  actions: (before) => showOlder(before),
  requests: (before) => showRequests(before),
  request: (seq) => showRequest(seq),
  ticket: (id) => showTicket({ id }),
  nft: (nftId) => showTicket({ nftId }),
  event: (id) => showEvent(id),
  promise: (id) => showPromise(id),
  search: (id) => showSearch(id),
  faults: () => showFaults(),
};

const PARTS = { actions: "#/", requests: "#/requests", request: "#/requests", faults: "#/faults", "": "#/" };

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function go(hash) {
  location.replace(hash);
}

let visit = 0;

async function show() {
  visit += 1;
  const mine = visit;
  const [, name = "", argument] = /^#\/([a-z]*)(?:\/(.*))?$/.exec(location.hash) ?? [];
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("href") === PARTS[name]) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  shown = { refresh: async () => undefined };
  if (pass === null) return showLocked();
  try {
    const next = await (VIEWS[name] ?? VIEWS[""])(argument === undefined ? undefined : decoded(argument));
    if (mine === visit && next !== undefined) shown = next;
  } catch (error) {
    tellTrouble(error);
  }
}

function tellTrouble(error) {
  if (error instanceof Refusal && error.status === 403) return showLocked();
  view.replaceChildren(h("h2", {}, "The sandbox did not answer"), h("p", { class: "panel" }, visible(error.message)));
}

// ---- what changes ----

const TOTALS = [
  ["requests", "requests"],
  ["accepted", "accepted"],
  ["refused", "refused"],
  ["events", "events"],
  ["tickets", "tickets"],
  ["faults", "fault rules"],
];

function tellTotals(totals) {
  $("totals").replaceChildren(
    ...TOTALS.map(([name, words]) =>
      h("div", {}, h("dt", {}, words), h("dd", { "data-total": name }, number(totals[name]))),
    ),
  );
  const { delivered, failed, dropped } = totals.callbacks;
  const sum = delivered + failed + dropped;
  const callbacks =
    sum === 0
      ? ""
      : ` Callbacks: ${number(delivered)} delivered, ${number(failed)} failed, ${number(dropped)} dropped.`;
  $("instance").textContent = `Instance ${totals.instanceId}.${callbacks}`;
}

function tellConnection(state, text) {
  const connection = $("connection");
  connection.className = state;
  if (connection.textContent !== text) connection.textContent = text;
}

let refreshing = false;

async function refresh() {
  if (refreshing || document.hidden) return;
  refreshing = true;
  try {
    await shown.refresh();
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
    $("suggestions").replaceChildren(
      ...[...found.tickets, ...found.events].map((each) => h("option", { value: each })),
    );
  }, 200);
});

$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const id = $("q").value.trim();
  if (id === "") return;
  location.hash = `#/search/${encodeURIComponent(id)}`;
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
