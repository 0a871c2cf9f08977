/** The files of deploy/ hold what docs/scale-out.md#where-it-runs says of them. */

import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { USER } from "../../support/config-files.ts";
import { readPage } from "../../support/pages.ts";
import { openFolders } from "../config/folders.ts";

/** Longer than the longest wait for an answer. */
const GRACE_S = 150;

const page = readPage("docs/scale-out.md");

test("cronjob.yaml: one at a time, never again by itself, and no key in it", () => {
  const [, cronJob] = parseAllDocuments(readPage("deploy/kubernetes/cronjob.yaml")).map((each) => each.toJS());
  const { concurrencyPolicy, jobTemplate } = cronJob.spec;
  const { backoffLimit, template } = jobTemplate.spec;
  const { containers, restartPolicy, terminationGracePeriodSeconds } = template.spec;
  expect([concurrencyPolicy, backoffLimit, restartPolicy]).toEqual(["Forbid", 0, "Never"]);
  expect(terminationGracePeriodSeconds).toBe(GRACE_S);
  for (const { name, value } of containers[0].env) expect(name.includes("KEY") && value, name).toBeFalsy();
});

describe("several machines", () => {
  const documents = parseAllDocuments(readPage("deploy/kubernetes/scale-out.yaml")).map((each) => {
    expect(each.errors).toEqual([]);
    return each.toJS();
  });
  const ofKind = (kind: string) => documents.find((each) => each.kind === kind);
  const publisher = ofKind("CronJob").spec.jobTemplate.spec;
  const worker = ofKind("Deployment").spec.template.spec;
  const { services, configs } = parse(readPage("deploy/scale-out/compose.yaml"), { merge: true });

  test("one publisher at a time, pods whose secrets are files, and time to finish a request", () => {
    expect(ofKind("CronJob").spec.concurrencyPolicy).toBe("Forbid");
    expect(publisher).toMatchObject({ backoffLimit: 0, template: { spec: { restartPolicy: "Never" } } });
    for (const pod of [publisher.template.spec, worker]) {
      expect(pod.terminationGracePeriodSeconds).toBe(GRACE_S);
      for (const { env } of [...(pod.initContainers ?? []), ...pod.containers])
        expect(env.map(({ name }: { name: string }) => name)).toEqual(["TICKETS_ENV", "TICKETS_CONFIG"]);
    }
    expect(services.worker).toMatchObject({ read_only: true, stop_grace_period: `${GRACE_S}s` });
  });

  test("every command and flag of theirs is one that there is, and every config can be read", async () => {
    const commands: readonly (readonly string[])[] = [
      ...[...publisher.template.spec.initContainers, ...publisher.template.spec.containers, ...worker.containers].map(
        ({ args }: { args: readonly string[] }) => args,
      ),
      ...["sandbox", "worker", "publish", "follow"].map((name) => services[name].command),
    ];
    for (const [verb, ...words] of commands)
      for (const word of words.filter((each) => each.startsWith("--")))
        expect(readPage(`test/e2e/golden/${verb}.txt`), verb).toContain(`${word} `.trimEnd());
    for (const text of [readPage("deploy/scale-out/config.yaml"), ofKind("ConfigMap").data["config.yaml"]]) {
      await using folders = await openFolders({ [USER]: text });
      expect([...(await folders.load()).environments.keys()]).toHaveLength(1);
    }
  });

  test("the roles have their passwords from elsewhere, and rights on one schema", () => {
    const roles = readPage("deploy/scale-out/roles.sql");
    const made = [...roles.matchAll(/^CREATE ROLE (\w+) LOGIN;$/gm)].map(([, name]) => name);
    expect(made).toEqual(["tickets_publisher", "tickets_worker", "tickets_reader"]);
    expect(roles).not.toMatch(/SUPERUSER|CREATEROLE|CREATEDB|GRANT ALL|PASSWORD '/i);
    for (const name of made) expect(configs.passwords.content).toContain(`ALTER ROLE ${name} PASSWORD`);
  });
});

/** The units in a folder of their own, with a program at the place that they start. */
function openUnits(): { readonly folder: string; readonly write: (name: string, text: string) => string } {
  const folder = mkdtempSync(join(tmpdir(), "tickets-units-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "tickets"), "#!/bin/sh\n");
  chmodSync(join(folder, "tickets"), 0o755);
  return {
    folder,
    write(name, text) {
      writeFileSync(join(folder, name), text.replaceAll("/usr/local/bin/tickets", join(folder, "tickets")));
      return join(folder, name);
    },
  };
}

const UNITS = ["tickets-stream@.service", "tickets-stream@.timer", "tickets-failed@.service"];
const unit = (name: string): string => readPage(`deploy/systemd/${name}`);
const systemdAnalyze = (args: readonly string[]) => spawnSync("systemd-analyze", args, { encoding: "utf8" });

test("systemd finds nothing wrong with the units, and would say so", () => {
  const { write } = openUnits();
  const paths = UNITS.map((name) => write(name, unit(name)));
  const verify = () => systemdAnalyze(["verify", "--man=no", ...paths]);
  expect(verify()).toMatchObject({ status: 0, stdout: "", stderr: "" });
  write("tickets-stream@.service", unit("tickets-stream@.service").replace("ProtectHome=", "ProtectHouse="));
  expect(verify().stderr).toContain("ProtectHouse");
});

test("the service is exposed no more than the page says", () => {
  const { write } = openUnits();
  const path = write("tickets-stream@production.service", unit("tickets-stream@.service"));
  const [, told = ""] = /gives its exposure (\d\.\d) of 10/.exec(page) ?? [];
  const { status, stdout } = systemdAnalyze(["security", "--offline=true", `--threshold=${Number(told) * 10}`, path]);
  expect(stdout).toContain(`Overall exposure level for tickets-stream@production.service: ${told} `);
  expect(status).toBe(0);
});

test("the service lets a request finish, is never restarted, and reports how it ended", () => {
  const lines = unit("tickets-stream@.service").split("\n");
  for (const line of [
    ...["Type=oneshot", "Restart=no", "OnFailure=tickets-failed@%i.service", `TimeoutStopSec=${GRACE_S}`],
    ...["UMask=0077", "ProtectSystem=strict", "NoNewPrivileges=yes", "LoadCredential=api-key:/etc/tickets/%i.key"],
    "StateDirectory=tickets tickets/ledgers tickets/%i",
  ])
    expect(lines).toContain(line);
});

test("the page names every file of deploy/", () => {
  for (const file of [
    "Dockerfile",
    "compose.yaml",
    "kubernetes/cronjob.yaml",
    ...UNITS.map((name) => `systemd/${name}`),
  ])
    expect(page).toContain(`(../deploy/${file})`);
});
