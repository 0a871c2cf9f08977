import { expect, test } from "vitest";
import type { PromiseStatus } from "../../../src/sandbox/view.ts";
import { type Field, makeContext, type Options, openField, verbs } from "../../support/context.ts";
import { startService } from "../../support/service.ts";

const SALES = `action,eventId,currency,ticketId,userId,price
newEvent,E,EUR,,,
soldTicket,E,,T1,ann,1
soldTicket,E,,T2,bob,2
`;

/** A field in which three actions were accepted. */
async function streamed(settings = "statusPath: /actions/{actionPromise}"): Promise<Field> {
  const field = await openField(settings);
  await field.write("sales.csv", SALES);
  expect((await field.stream(["sales.csv"])).exitCode).toBe(0);
  return field;
}

/** By event or ticket. */
function set(field: Field, statuses: Readonly<Record<string, PromiseStatus>>): void {
  for (const { actionPromise, ticketId, eventId } of field.sandbox.engine.processed()) {
    const wanted = statuses[ticketId ?? eventId ?? ""];
    if (wanted !== undefined) field.sandbox.engine.setStatus(actionPromise ?? "", wanted);
  }
}

const ask = (field: Field, options: Partial<Options<"remoteStatus">> = {}, env: NodeJS.ProcessEnv = {}) =>
  field.ask("remoteStatus", { flags: { retries: 0 }, ...options }, env);

async function askDocument(field: Field, options: Partial<Options<"remoteStatus">> = {}) {
  const { out, exitCode } = await ask(field, { ...options, json: true });
  const document: Record<string, unknown> = JSON.parse(out);
  expect(document.exitCode).toBe(exitCode);
  return document;
}

test("status --remote: counts by status, says what did not reach the blockchain, and ends with 4", async () => {
  const field = await streamed();
  set(field, { E: "confirmed", T1: "waiting_funds", T2: "error" });
  const { exitCode, out, said } = await ask(field);
  expect(exitCode).toBe(4);
  expect(out).toBe(`3 promises of 1 run
status         promises  meaning
─────────────  ────────  ────────────────────────────
confirmed      1         final
error          1         did not reach the blockchain
waiting_funds  1         on its way
`);
  expect(said).toBe("1 promise did not reach the blockchain. docs/design/ledger.md has the query that lists them.");
});

test("status --remote: asks only about what is not final, whatever became known before", async () => {
  const field = await streamed();
  set(field, { E: "confirmed", T1: "pending", T2: "no_broadcast_required" });
  expect(await askDocument(field)).toMatchObject({ answers: 3, final: 2, unknown: 0, exitCode: 0 });
  // Nobody asks again about what is final, so nobody learns of this.
  set(field, { E: "error", T1: "confirmed" });
  expect(await askDocument(field)).toMatchObject({ answers: 1, final: 3, failed: 0, statuses: { confirmed: 2 } });
  expect(await askDocument(field)).toEqual({
    ...{ environment: "local", run: null, runs: 1, promises: 3, unknown: 0, final: 3, failed: 0, notFound: 0 },
    statuses: { confirmed: 2, no_broadcast_required: 1 },
    ...{ answers: 0, unreadable: 0, stopped: null, exitCode: 0 },
  });
});

test("status --remote: a run that is named is asked about alone", async () => {
  const field = await streamed();
  await field.write("more.csv", "action,eventId,ticketId,userId,price\nsoldTicket,E,T3,cem,1\n");
  const run = (await field.stream(["more.csv"])).summary?.run ?? "";
  set(field, { E: "confirmed", T1: "confirmed", T2: "confirmed", T3: "wont_broadcast" });
  const document = await askDocument(field, { run });
  expect(document).toMatchObject({ run, runs: 1, promises: 1, failed: 1, exitCode: 4 });
  expect(await askDocument(field)).toMatchObject({ runs: 2, promises: 4, answers: 3, exitCode: 4 });
  const unknown = await ask(field, { run: "nobodys" });
  expect([unknown.exitCode, unknown.said]).toEqual([2, expect.stringContaining("has no run nobodys")]);
});

test("status --remote: a signal ends the asking; what was answered is kept", async () => {
  const { field, env } = await answeredBy(503);
  const asked = makeContext(field.folder, { ...field.env, ...env });
  const reporter = { ...asked.context.reporter, progress: () => asked.stop("SIGINT") };
  const call = { json: true, flags: { retries: 8 } };
  await expect(verbs.remoteStatus(call, { ...asked.context, reporter })).rejects.toBe("SIGINT");
});

test("status --remote: without a statusPath says where it would stand, and asks nobody", async () => {
  const field = await streamed("retries: 0");
  const { exitCode, said } = await ask(field);
  expect(exitCode).toBe(2);
  expect(said).toBe(`local has no statusPath, so nobody can be asked about its promises.
Set it in the config, with the path that the service's documentation gives: environments: {local: {statusPath: "/actions/{actionPromise}"}}`);
});

test("status --remote: a path that is not the service's is reported, however it answers", async () => {
  const field = await streamed("statusPath: /nowhere/{actionPromise}");
  const missing = await ask(field);
  expect(missing.exitCode).toBe(4);
  expect(missing.out).toContain("not found  3         the service does not know these promises");
  expect(missing.said).toContain(
    "local does not know 3 promises (HTTP 404), or has forgotten them. Is statusPath (/nowhere/{actionPromise}) right?",
  );
  const refused = await ask(await streamed("statusPath: '/control/faults?{actionPromise}'"));
  expect(refused.exitCode).toBe(4);
  expect(refused.said).toContain("3 answers did not say what became of their promises: the answer has no status.");
  const method = await ask(await streamed("statusPath: '/control/status?of={actionPromise}'"));
  expect(method.exitCode).toBe(9);
  expect(method.said).toContain("local refused to give the status of a promise: HTTP 405. Is statusPath");
  expect(method.said).toContain('The answer was: {"message":"Method Not Allowed"}');
});

test("status --remote: a wrong key is 5, and no service 7", async () => {
  const field = await streamed();
  const wrong = await ask(field, {}, { TICKETS_LOCAL_API_KEY: "another-key-altogether" });
  expect(wrong.exitCode).toBe(5);
  expect(wrong.said).toContain(
    "Authentication failed (HTTP 403): local did not accept the key from environment variable TICKETS_LOCAL_API_KEY",
  );
  const none = await ask(field, {}, { TICKETS_LOCAL_API_KEY: "" });
  expect([none.exitCode, none.said]).toEqual([5, expect.stringContaining("No key for local")]);
  await field.sandbox[Symbol.asyncDispose]();
  const gone = await ask(field);
  expect(gone.exitCode).toBe(7);
  expect(gone.said).toMatch(
    /^Could not reach http:\/\/127\.0\.0\.1:\d+ after 1 attempt \(ECONNREFUSED.*\)\. 0 of 3 promises are final\. What was answered is kept; the same command asks about the rest\.$/,
  );
});

/** A field whose sales went to a service that answers every question with this status. */
async function answeredBy(status: number) {
  const service = await startService();
  const env = { TICKETS_LOCAL_BASE_URL: service.baseUrl, TICKETS_LOCAL_API_KEY: service.key };
  const field = await openField("statusPath: /actions/{actionPromise}");
  await field.write("sales.csv", SALES);
  expect((await field.stream(["sales.csv"], {}, { env })).exitCode).toBe(0);
  const answer = { status, body: "", headers: { "Retry-After": "0" } };
  service.behave({ answer: ({ method }) => (method === "GET" ? answer : undefined) });
  return { field, env };
}

test("status --remote: a service that does not do this is asked no more", async () => {
  const { field, env } = await answeredBy(501);
  const { exitCode, said } = await ask(field, { flags: { retries: 8 } }, env);
  expect([exitCode, said]).toEqual([
    9,
    "local refused to give the status of a promise: HTTP 501, not implemented by the service. Is statusPath (/actions/{actionPromise}) right? The answer was: (empty). 0 of 3 promises are final. What was answered is kept; the same command asks about the rest.",
  ]);
});

test("status --remote: without a ledger there is nothing to ask", async () => {
  const field = await openField("statusPath: /actions/{actionPromise}");
  expect(await ask(field)).toMatchObject({
    exitCode: 2,
    said: expect.stringContaining("There is no ledger of local at"),
  });
});
