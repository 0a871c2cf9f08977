/** The files of deploy/ hold what docs/scale-out.md#where-it-runs says of them. */

import { spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { USER } from "../../support/config-files.ts";
import { openFolder } from "../../support/folder.ts";
import { readPage } from "../../support/pages.ts";
import { openFolders } from "../config/folders.ts";

/** Longer than the longest wait for an answer. */
const GRACE_S = 150;

const page = readPage("docs/scale-out.md");

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

describe("several machines", () => {
  const documents = parseAllDocuments(readPage("deploy/kubernetes/scale-out.yaml")).map((each) => {
    expect(each.errors).toEqual([]);
    return each.toJS();
  });
  const ofKind = (kind: string) => documents.find((each) => each.kind === kind);
  const publisher = ofKind("CronJob").spec.jobTemplate.spec;
  const worker = ofKind("Deployment").spec.template.spec;
  const { services } = parse(readPage("deploy/scale-out/compose.yaml"), { merge: true });

  test("in Kubernetes: pods without rights, whose secrets are files, and which have time to finish a request", () => {
    expect(publisher).toMatchObject({
      backoffLimit: 0,
      activeDeadlineSeconds: 43_200,
      template: { spec: { restartPolicy: "Never" } },
    });
    expect(publisher.template.spec.hostname).toBe("tickets-publisher");
    for (const pod of [publisher.template.spec, worker]) {
      expect(pod.terminationGracePeriodSeconds).toBe(GRACE_S);
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
      const named = new Set(pod.volumes.map(({ name }: { name: string }) => name));
      for (const { securityContext, resources, volumeMounts, env } of [
        ...(pod.initContainers ?? []),
        ...pod.containers,
      ]) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
        expect(Object.keys(resources)).toEqual(["requests", "limits"]);
        for (const { name } of volumeMounts) expect(named).toContain(name);
        expect(env.map(({ name }: { name: string }) => name)).toEqual([
          "TICKETS_ENV",
          "TICKETS_CONFIG",
          "NODE_EXTRA_CA_CERTS",
        ]);
      }
    }
    expect(worker.containers[0].readinessProbe.exec.command).toEqual([
      "tickets",
      "status",
      "--max-age",
      "26h",
      "--quiet",
    ]);
    expect(ofKind("CronJob").spec.concurrencyPolicy).toBe("Forbid");
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
  const folder = openFolder();
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
  const [, reported = ""] = /gives its exposure (\d\.\d) of 10/.exec(page) ?? [];
  const { status, stdout } = systemdAnalyze([
    "security",
    "--offline=true",
    `--threshold=${Number(reported) * 10}`,
    path,
  ]);
  expect(stdout).toContain(`Overall exposure level for tickets-stream@production.service: ${reported} `);
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
