/** `--metrics` and `onEnd`: those who watch the nights hear of each, also of one that failed. */

import { chmodSync } from "node:fs";
import { expect, test } from "vitest";
import { selfSigned } from "../support/certificate.ts";
import { openSales } from "../support/service.ts";
import { LONG } from "../support/walks.ts";

const sampleOf = (metrics: string, name: string): number =>
  Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, "m").exec(metrics)?.[1]);

test("a night that failed keeps the last success, and both reach the user's program", async () => {
  const { place, service } = await openSales(3);
  place.write(
    "heard.sh",
    '#!/bin/sh\n{ echo "$TICKETS_EXIT_CODE $TICKETS_PLAYGROUND_API_KEY"; cat; } >> heard\nexit 1\n',
  );
  chmodSync(place.path("heard.sh"), 0o700);
  const config = `environments:\n  playground:\n    baseUrl: ${service.baseUrl}\n    onEnd: [./heard.sh]\n`;
  place.write("tickets.config.yaml", config);
  const send = ["stream", "sales.csv", "--action", "soldTicket", "--env", "playground", "--metrics", "t.prom"];
  const untrusted = await place.tickets(send, service);
  expect(untrusted).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("onEnd: would run a program") });
  await place.tickets(["env", "--trust"]);

  const good = await place.summary(send, service);
  expect(good.exitCode).toBe(0);
  expect(good.stderr).toContain("onEnd: command ");
  const first = place.read("t.prom");
  expect(sampleOf(first, "tickets_last_run_exit_code")).toBe(0);
  expect(first).toContain('tickets_last_run_actions{environment="playground",outcome="accepted"} 3\n');

  const bad = await place.tickets(send, { env: { ...service.env, TICKETS_PLAYGROUND_API_KEY: "" } });
  expect(bad.exitCode).toBe(5);
  const second = place.read("t.prom");
  expect(sampleOf(second, "tickets_last_run_exit_code")).toBe(5);
  const success = "tickets_last_success_timestamp_seconds";
  expect(sampleOf(first, success)).toBeGreaterThan(0);
  expect(sampleOf(second, success)).toBe(sampleOf(first, success));

  const dry = await place.tickets(["stream", "sales.csv", "--env", "playground", "--dry-run"], service);
  expect(dry.exitCode).toBe(0);
  expect((await place.tickets(["status", "--env", "playground", "--metrics", "s.prom"], service)).exitCode).toBe(0);
  expect(place.read("s.prom").replaceAll(/last_run_timestamp.*/g, "")).toBe(
    second.replaceAll(/last_run_timestamp.*/g, ""),
  );
  expect(place.read("heard").split("\n")).toEqual([
    "0 ",
    good.stdout.trim(),
    "5 ",
    expect.stringMatching(
      /^\{"error":\{"code":"authentication-failed","message":"No key for playground: .*"exitCode":5\}$/,
    ),
    "",
  ]);
});

test("an authority of NODE_EXTRA_CA_CERTS is trusted, and without it nothing is sent", LONG, async () => {
  const authority = selfSigned("localhost");
  const { place, service } = await openSales(3, { tls: authority });
  place.write("ca.pem", authority.cert);
  place.write("tickets.config.yaml", `environments:\n  playground:\n    baseUrl: ${service.baseUrl}\n`);
  const send = ["stream", "sales.csv", "--action", "soldTicket", "--env", "playground", "TICKETS_RETRIES=0"];
  const strange = await place.tickets(send, service);
  expect(strange).toMatchObject({ exitCode: 7, stderr: expect.stringContaining("Nothing of chunk 1") });
  expect(service.sent()).toEqual([]);
  const known = await place.tickets(send, {
    env: { ...service.env, NODE_EXTRA_CA_CERTS: place.path("ca.pem") },
  });
  expect([known.exitCode, service.sent().length]).toEqual([0, 3]);
});
