/** The page at the sandbox's address: what is registered, to look at. Plain HTML, no script, everything escaped. */

import { cleanText } from "../actions/text.ts";
import type { CallbackCounts } from "./callbacks.ts";
import type { Engine } from "./engine.ts";

const SHOWN = 25;

/** userId and wallets are not shown: the page needs no key. */
export function renderPage(engine: Engine, faults: number, callbacks: CallbackCounts): string {
  const { events, tickets, actions } = engine.latest(SHOWN);
  const counts = engine.counts();
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Sandbox</title>
<style>
  body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #1c1c1c; background: #fff }
  h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
  table { border-collapse: collapse; width: 100% } caption { text-align: left; color: #595959 }
  th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #ddd; vertical-align: top; overflow-wrap: anywhere }
  .error { color: #a30000 }
</style>
<h1>Sandbox of the ticket service</h1>
<p>Nothing here leaves this machine. Instance ${escapeHtml(engine.instanceId)}, ${counts.requests} requests,
${counts.accepted} actions accepted, ${counts.refused} refused, ${counts.events} events, ${counts.tickets} tickets,
${faults} fault rules, callbacks ${callbacks.delivered} delivered, ${callbacks.failed} failed, ${callbacks.dropped} dropped.</p>
${table(
  "Actions",
  ["action", "accepted", "refused"],
  Object.entries(counts.byAction).map(([action, { accepted, refused }]) => [action, accepted, refused]),
)}
${table(
  "Last events",
  ["eventId", "name", "currency", "tickets"],
  events.map(({ eventId, fields, tickets: sold }) => [eventId, fields.eventName, fields.currency, sold]),
)}
${table(
  "Last tickets",
  ["nftId", "ticketId", "eventId", "name", "price", "state", "scans", "claimed"],
  tickets.map(({ nftId, ticketId, eventId, fields, state, scans, claimed }) => [
    nftId,
    ticketId,
    eventId,
    fields.name,
    fields.price,
    state,
    scans,
    claimed ? "yes" : "",
  ]),
)}
${table(
  "Last actions",
  ["seq", "action", "of", "status", "actionPromise"],
  actions.map(({ seq, action, eventId, ticketId, nftId, status, code, rule, actionPromise }) => [
    seq,
    action,
    ticketId ?? nftId ?? eventId,
    [status, code, rule].filter(Boolean).join(" "),
    actionPromise,
  ]),
)}
</html>
`;
}

function table(title: string, head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const cells = (row: readonly unknown[], tag: "td" | "th") =>
    row.map((cell) => `<${tag}>${escapeHtml(cleanText(String(cell ?? ""), 120))}</${tag}>`).join("");
  return `<h2>${escapeHtml(title)}</h2>
<table>
<tr>${cells(head, "th")}</tr>
${rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("\n")}
</table>`;
}

/** Makes text safe in HTML, in and outside of attributes. */
function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
