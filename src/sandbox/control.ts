/** `/control/…`: what the sandbox has done, to look at; and faults, statuses and templates, to rehearse with. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { ExactNumber } from "../actions/exact-number.ts";
import type { MetadataAttribute } from "../actions/fields.ts";
import { Failure } from "../failure.ts";
import type { Callbacks } from "./callbacks.ts";
import type { Engine } from "./engine.ts";
import { type FaultScript, type Faults, parseFaultScript } from "./faults.ts";
import { notFound, Refused, readJson, sendJson } from "./http.ts";
import { PROMISE_STATUSES } from "./view.ts";

/** What a running sandbox is made of. */
export interface Service {
  readonly engine: Engine;
  readonly faults: Faults;
  readonly callbacks: Callbacks;
  readonly onError: ((error: unknown) => void) | undefined;
  /** Ends it. */
  readonly signal: AbortSignal;
}

export interface Visit {
  readonly service: Service;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Last step of the path. */
  readonly last: string;
  readonly query: URLSearchParams;
}

export type Methods = Readonly<Record<string, (visit: Visit) => void | Promise<void>>>;

/** A `*` stands for the last step of the path. */
export const CONTROL: Readonly<Record<string, Methods>> = {
  "/control/processed": { GET: dumpProcessed },
  "/control/state": showing(stateOf),
  // For the page, in parts: `before` and `from` say where one begins.
  "/control/requests": showing(({ engine }, query) => engine.requests(beforeIn(query))),
  "/control/request": showing(({ engine }, query) =>
    engine.request(numberIn(query, "number", 0), numberIn(query, "from", 0)),
  ),
  "/control/refused": showing(({ engine }, query) => engine.refused(query.get("reason") ?? undefined, beforeIn(query))),
  "/control/ticket": showing(({ engine }, query) => {
    const nftId = query.get("nftId");
    return engine.ticketHistory(nftId === null ? { ticketId: query.get("id") ?? "" } : { nftId }, beforeIn(query));
  }),
  "/control/event": showing(({ engine }, query) => engine.eventHistory(query.get("id") ?? "", beforeIn(query))),
  "/control/search": showing(({ engine }, query) => engine.search(query.get("id") ?? "")),
  "/control/changes": { GET: sendChanges },
  "/control/faults": {
    GET: ({ service: { faults }, response }) => sendJson(response, 200, faults.current()),
    PUT: async (visit) => useFaults(visit, faultsIn(await bodyOf(visit))),
    DELETE: (visit) => useFaults(visit, { rules: [] }),
  },
  "/control/status": { PUT: setStatus },
  "/control/templates/*": { PUT: setTemplate },
};

const bodyOf = async ({ request }: Visit): Promise<unknown> => (await readJson(request)).value;

export function sendFound(response: ServerResponse, found: object | undefined): void {
  if (found === undefined) throw notFound();
  sendJson(response, 200, found);
}

function showing(look: (service: Service, query: URLSearchParams) => object | undefined): Methods {
  return { GET: ({ service, response, query }) => sendFound(response, look(service, query)) };
}

function numberIn(query: URLSearchParams, name: string, otherwise: number): number {
  const given = query.get(name) ?? "";
  return /^\d{1,15}$/.test(given) ? Number(given) : otherwise;
}
const beforeIn = (query: URLSearchParams): number => numberIn(query, "before", Number.MAX_SAFE_INTEGER);

/** Characters: a write for each line would take twice as long. */
const DUMPED_AT_ONCE = 65_536;

/** The whole record as NDJSON, or what follows `?after=SEQ`. */
async function dumpProcessed({ service, response, query }: Visit): Promise<void> {
  const after = Number(query.get("after") ?? 0);
  if (!Number.isSafeInteger(after)) throw new Refused(400, "after is not a whole number.");
  response.writeHead(200, { "Content-Type": "application/x-ndjson" });
  await pipeline(function* () {
    let lines = "";
    for (const action of service.engine.processed({ after })) {
      lines += `${JSON.stringify(action)}\n`;
      if (lines.length < DUMPED_AT_ONCE) continue;
      yield lines;
      lines = "";
    }
    yield lines;
  }, response);
}

/** One event (`?eventId=`) or ticket (`?ticketId=`, `?nftId=`), or the counts. */
function stateOf(service: Service, query: URLSearchParams): object | undefined {
  const { engine } = service;
  const [eventId, ticketId, nftId] = ["eventId", "ticketId", "nftId"].map((name) => query.get(name));
  if (ticketId != null) return engine.ticket({ ticketId });
  if (nftId != null) return engine.ticket({ nftId });
  return eventId == null ? countsOf(service) : engine.event(eventId);
}

const countsOf = ({ engine: { instanceId, createdAt, counts }, callbacks }: Service) => ({
  ...{ instanceId, createdAt, ...counts() },
  callbacks: callbacks.counts(),
});

const LOOKED_EVERY_MS = 500;

/**
 * Server-sent events: the counts, now and whenever they have changed, whoever changed them. It looks twice a second, as long as
 * someone listens.
 */
async function sendChanges({ service, response }: Visit): Promise<void> {
  const { faults, signal } = service;
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const end = AbortSignal.any([signal, gone.signal]);
  let last = "";
  while (!end.aborted) {
    const { script, requests } = faults.current();
    const text = JSON.stringify({ ...countsOf(service), faults: script.rules.length, faultRequests: requests });
    if (text !== last && !response.writableNeedDrain) {
      response.write(`data: ${text}\n\n`);
      last = text;
    }
    await delay(LOOKED_EVERY_MS, undefined, { signal: end }).catch(() => undefined);
  }
  response.end();
}

function faultsIn(body: unknown): FaultScript {
  try {
    return parseFaultScript(body, "sent");
  } catch (error) {
    throw error instanceof Failure ? new Refused(400, error.message) : error;
  }
}

function useFaults({ service: { faults }, response }: Visit, script: FaultScript): void {
  faults.set(script);
  sendJson(response, 200, faults.current());
}

const statusSchema = z.strictObject({ actionPromise: z.string(), status: z.enum(PROMISE_STATUSES) });

async function setStatus(visit: Visit): Promise<void> {
  const { success, data } = statusSchema.safeParse(await bodyOf(visit));
  if (!success) throw new Refused(400, `Send actionPromise, and status: one of ${PROMISE_STATUSES.join(", ")}.`);
  if (!visit.service.engine.setStatus(data.actionPromise, data.status)) throw notFound();
  sendJson(visit.response, 200, data);
}

const attributesSchema = z.array(
  z.strictObject({
    trait_type: z.string(),
    value: z.union([z.string(), z.number(), z.instanceof(ExactNumber), z.boolean()]),
    display_type: z.string().exactOptional(),
  }),
);

async function setTemplate(visit: Visit): Promise<void> {
  const { service, response, last } = visit;
  const { success, data } = attributesSchema.safeParse(await bodyOf(visit));
  if (!success || !z.guid().safeParse(last).success)
    throw new Refused(400, "Send a list of {trait_type, value, display_type?} to a UUID.");
  const attributes: readonly MetadataAttribute[] = data;
  service.engine.setTemplate(last, attributes);
  sendJson(response, 200, attributes);
}
