/** The files of deploy/ hold what docs/deploy.md says of them. */

import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { readPage } from "../../support/pages.ts";

/** Longer than the longest wait for an answer. */
const GRACE_S = 150;

const page = readPage("docs/deploy.md");

test("compose.yaml: the job is not restarted, keeps its ledger, and has time to finish a request", () => {
  const { services, volumes } = parse(readPage("deploy/compose.yaml"));
  expect(services.stream).toMatchObject({
    restart: "no",
    read_only: true,
    cap_drop: ["ALL"],
    stop_grace_period: `${GRACE_S}s`,
    volumes: ["ledger:/var/lib/tickets", "promises:/data", "../fixtures:/exports:ro"],
  });
  expect(Object.keys(volumes)).toEqual(["sandbox", "ledger", "promises"]);
});

test("cronjob.yaml: one at a time, never again by itself, without rights, on a volume", () => {
  const [claim, cronJob] = parseAllDocuments(readPage("deploy/kubernetes/cronjob.yaml")).map((each) => each.toJS());
  expect(claim).toMatchObject({ kind: "PersistentVolumeClaim", spec: { accessModes: ["ReadWriteOncePod"] } });
  const { concurrencyPolicy, jobTemplate } = cronJob.spec;
  expect([cronJob.apiVersion, cronJob.kind, concurrencyPolicy]).toEqual(["batch/v1", "CronJob", "Forbid"]);
  const { backoffLimit, podFailurePolicy, template } = jobTemplate.spec;
  expect(backoffLimit).toBe(0);
  expect(podFailurePolicy.rules).toEqual([{ action: "FailJob", onExitCodes: { operator: "NotIn", values: [0] } }]);
  const { containers, restartPolicy, securityContext, terminationGracePeriodSeconds, volumes } = template.spec;
  expect([restartPolicy, terminationGracePeriodSeconds]).toEqual(["Never", GRACE_S]);
  expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
  const [{ securityContext: own, volumeMounts, env }] = containers;
  expect(own).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  const named = new Set(volumes.map(({ name }: { name: string }) => name));
  for (const { name } of volumeMounts) expect(named).toContain(name);
  expect(volumeMounts[0]).toMatchObject({ name: "ledger", mountPath: "/var/lib/tickets" });
  expect(volumes[0].persistentVolumeClaim.claimName).toBe(claim.metadata.name);
  const key = env.find(({ name }: { name: string }) => name === "TICKETS_PRODUCTION_API_KEY");
  expect(key).not.toHaveProperty("value");
});

test("the image ends as its program ends: no shell before it, no root, a volume for the ledger, health by the last success", () => {
  const lines = readPage("deploy/Dockerfile").split("\n");
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith("FROM ")));
  for (const line of [
    "USER node",
    'ENTRYPOINT ["tickets"]',
    "STOPSIGNAL SIGTERM",
    'VOLUME ["/var/lib/tickets", "/data"]',
  ])
    expect(last).toContain(line);
  expect(last.find((line) => line.startsWith("HEALTHCHECK "))).toContain(
    'CMD ["tickets", "status", "--max-age", "26h", "--quiet"]',
  );
  expect(lines.filter((line) => line.startsWith("FROM ")).length).toBe(2);
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

test("CI runs what .ci/run says, and a release is tested, named as its tag, and published with provenance", () => {
  const [ci, release] = ["ci", "release"].map((name) => parse(readPage(`.github/workflows/${name}.yml`)));
  expect(ci.permissions).toEqual({ contents: "read" });
  expect(ci.jobs.run.steps.at(-1).run).toMatch(/ \.ci\/run$/);
  const { test, publish } = release.jobs;
  expect([test.uses, publish.needs]).toEqual(["./.github/workflows/ci.yml", "test"]);
  expect(publish.permissions).toEqual({ contents: "read", "id-token": "write" });
  expect(publish.steps.at(-1).run).toBe("npm publish --provenance --access public");
});

test("the page names every file of deploy/, and gives every exit code its row", () => {
  for (const file of [
    "Dockerfile",
    "compose.yaml",
    "kubernetes/cronjob.yaml",
    ...UNITS.map((name) => `systemd/${name}`),
  ])
    expect(page).toContain(`(../deploy/${file})`);
  const section = page.slice(page.indexOf("### Exit codes"), page.indexOf("## Container"));
  const codes = [...section.matchAll(/^\| (\d+(?:, \d+)*) \|/gm)].flatMap(([, told = ""]) => told.split(", "));
  const known = [
    ...readFileSync(new URL("../../../docs/cli.md", import.meta.url), "utf8").matchAll(
      /^\| (\d+(?:, \d+)*) \| .* \| .* \|$/gm,
    ),
  ].flatMap(([, told = ""]) => told.split(", "));
  expect(known.length).toBeGreaterThan(10);
  // A fault in tickets itself is nothing that a scheduler knows more about.
  expect(codes.toSorted()).toEqual(known.filter((code) => code !== "1").toSorted());
});
