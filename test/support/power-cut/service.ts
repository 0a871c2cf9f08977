/** A service that can be put back to what it had processed at a moment, and says when that was. */

import { randomUUID } from "node:crypto";
import { acceptedItem, type Item, type Service, type ServiceRequest, startService } from "../service.ts";

/** An action as the service processed it. */
interface Processed {
  /** `soldTicket T-1`. */
  readonly action: string;
  readonly eventId: string;
  /** Undefined where the service refused it. */
  readonly promise: string | undefined;
}

/** A request that was processed. */
export interface ProcessedRequest {
  readonly actions: readonly Processed[];
  /** Of the connection it came through, at the client. */
  readonly port: number;
  /** How long the log was by then: all that stands there was before, and its answer came later. */
  readonly loggedBytes: number;
}

export interface ServiceRules {
  /** Of more actions than these a request is too large (413). */
  readonly mostActions?: number;
  /** The answer to a request with this ticket is lost once it was processed. */
  readonly lostTicket?: string;
  /** These are always refused, one by one. */
  readonly refusedTicket: string;
}

export interface RememberingService {
  readonly env: Service["env"];
  /** All that it ever processed, in order. */
  readonly processed: () => readonly ProcessedRequest[];
  /** Puts it back to this. */
  restore(processed: readonly ProcessedRequest[]): void;
}

const nameOf = ({ action, data }: Item): string => `${action} ${data.ticketId ?? data.eventId}`;

export async function startRememberingService(
  { mostActions = Number.POSITIVE_INFINITY, lostTicket, refusedTicket }: ServiceRules,
  loggedBytes: () => number,
): Promise<RememberingService> {
  let processed: ProcessedRequest[] = [];
  const process = (item: Item): { readonly action: Processed; readonly result: unknown } => {
    const isRefused = item.data.ticketId === refusedTicket;
    const promise = isRefused ? undefined : randomUUID();
    const action = { action: nameOf(item), eventId: String(item.data.eventId), promise };
    const result =
      promise === undefined ? { status: "error", error: "no" } : { ...acceptedItem(item), actionPromise: promise };
    return { action, result };
  };
  const answer = ({ items, clientPort, headers }: ServiceRequest) => {
    if (headers["x-api-key"] !== service.key) return undefined;
    if (items.length > mostActions) return { status: 413, body: "{}" };
    const results = items.map(process);
    processed.push({ actions: results.map(({ action }) => action), port: clientPort, loggedBytes: loggedBytes() });
    if (lostTicket !== undefined && items.some(({ data }) => data.ticketId === lostTicket))
      return { status: 500, body: "{}" };
    return { status: 200, body: JSON.stringify({ status: "success", data: results.map(({ result }) => result) }) };
  };
  const service = await startService({ answer });
  return {
    env: service.env,
    processed: () => processed,
    restore(requests) {
      processed = [...requests];
    },
  };
}
