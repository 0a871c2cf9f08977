/** A sandbox of a test's own, asked over HTTP with its key. */

import { onTestFinished } from "vitest";
import { type Sandbox, type SandboxOptions, startSandbox } from "../../src/sandbox/server.ts";
import { type Answer, type RequestOptions, send } from "./requests.ts";

export const JSON_TYPE = { "Content-Type": "application/json" };

export async function start(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ engine: { path: ":memory:" }, ...options });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  return sandbox;
}

/** @param body text and bytes as they are, anything else as JSON. */
export function call(
  sandbox: Sandbox,
  method: string,
  path: string,
  body?: unknown,
  more: RequestOptions = {},
): Promise<Answer> {
  return send(sandbox.url + path, {
    method,
    ...more,
    headers: { "X-Api-Key": sandbox.apiKey, ...JSON_TYPE, ...more.headers },
    ...(body !== undefined && {
      body: typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    }),
  });
}

export const stream = (sandbox: Sandbox, body: unknown, more?: RequestOptions) =>
  call(sandbox, "POST", "/stream", body, more);

/** What an answer in JSON says: whatever the test expects of it. */
export const said = ({ text }: Answer) => JSON.parse(text);

export const newEvent = (data: object = {}) => ({
  action: "newEvent",
  data: { eventId: "E1", currency: "EUR", ...data },
});
export const sold = (ticketId: string, data: object = {}) => ({
  action: "soldTicket",
  data: { eventId: "E1", ticketId, userId: "ann", price: "1", ...data },
});
/** Sales of tickets numbered from 0. */
export const sales = (count: number, prefix = "T", data: object = {}) =>
  Array.from({ length: count }, (_, at) => sold(`${prefix}${at}`, data));
