/** The files of deploy/ hold what docs/scale-out.md#where-it-runs says of them. */

import { spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { USER } from "../../support/config-files.ts";
import { openFolder } from "../../support/folder.ts";
import { readPage } from "../../support/pages.ts";
import { openFolders } from "../config/folders.ts";

/** Longer than the longest wait for an answer. */
const GRACE_S = 150;

const page = readPage("docs/scale-out.md");

/** What a program reads of the files for Kubernetes. */
const documents = ["cronjob", "scale-out"].flatMap((name) =>
  parseAllDocuments(readPage(`deploy/kubernetes/${name}.yaml`)).map((each) => {
    expect(each.errors).toEqual([]);
    return each.toJS();
  }),
);
const ofKind = (kind: string) => documents.filter((each) => each.kind === kind);
const JOBS = ofKind("CronJob").map(({ spec }) => ({ ...spec, ...spec.jobTemplate.spec }));
const [WORKER] = ofKind("Deployment").map(({ spec }) => spec.template.spec);
const PODS = [...JOBS.map(({ template }) => template.spec), WORKER];
const containersOf = ({ initContainers = [], containers }: (typeof PODS)[number]) => [...initContainers, ...containers];

test.each(JOBS)("a job of Kubernetes runs one at a time, and never again by itself", (job) => {
  expect(job).toMatchObject({ concurrencyPolicy: "Forbid", backoffLimit: 0 });
  expect(job.template.spec.restartPolicy).toBe("Never");
});

test.each(PODS)("a pod has no rights, its secrets are no values, and it has time to finish a request", (pod) => {
  expect(pod.terminationGracePeriodSeconds).toBe(GRACE_S);
  expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
  const volumes = pod.volumes.map(({ name }: { name: string }) => name);
  for (const { securityContext, volumeMounts, env } of containersOf(pod)) {
    const rights = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } };
    expect(securityContext).toEqual(rights);
    for (const { name } of volumeMounts) expect(volumes).toContain(name);
    expect(volumeMounts.some(({ mountPath }: { mountPath: string }) => mountPath === "/var/lib/tickets")).toBe(true);
    for (const { name, value } of env) if (/KEY|LEDGER_URL/.test(name)) expect(value).toBeUndefined();
  }
});

test("every command and flag of several machines is one that there is, and every config can be read", async () => {
  const { services } = parse(readPage("deploy/scale-out/compose.yaml"), { merge: true });
  const commands: readonly (readonly string[])[] = [
    ...PODS.flatMap(containersOf).map(({ args }) => args),
    ...["sandbox", "worker", "publish", "follow"].map((name) => services[name].command),
  ];
  for (const [verb, ...words] of commands)
    for (const word of words.filter((each) => each.startsWith("--")))
      expect(readPage(`test/e2e/golden/${verb}.txt`), verb).toContain(`${word} `.trimEnd());
  for (const text of [readPage("deploy/scale-out/config.yaml"), ofKind("ConfigMap")[0].data["config.yaml"]]) {
    await using folders = await openFolders({ [USER]: text });
    expect([...(await folders.load()).environments.keys()]).toHaveLength(1);
  }
});

test.each([
  [
    "Dockerfile: no shell before the program, no root, a volume for the ledger, health by the last success",
    ...["USER node", 'ENTRYPOINT ["tickets"]', "STOPSIGNAL SIGTERM", 'VOLUME ["/var/lib/tickets", "/data"]'],
    'HEALTHCHECK --interval=5m --timeout=30s --start-period=1h CMD ["tickets", "status", "--max-age", "26h", "--quiet"]',
  ],
  [
    "systemd/tickets-stream@.service: it lets a request finish, is never restarted, and reports how it ended",
    ...["Type=oneshot", "Restart=no", "OnFailure=tickets-failed@%i.service", `TimeoutStopSec=${GRACE_S}`],
    ...["UMask=0077", "ProtectSystem=strict", "NoNewPrivileges=yes", "LoadCredential=api-key:/etc/tickets/%i.key"],
    "StateDirectory=tickets tickets/ledgers tickets/%i",
  ],
  ["kubernetes/cronjob.yaml: one machine at a time has the ledger", "accessModes: [ReadWriteOncePod]"],
  [
    "kubernetes/scale-out.yaml: what is published belongs to one name, a night that waits ends, a worker shows old success",
    ...["hostname: tickets-publisher", "activeDeadlineSeconds: 43200"],
    "command: [tickets, status, --max-age, 26h, --quiet]",
  ],
])("%s", (what, ...lines) => {
  const [file = ""] = what.split(":");
  const [last = ""] = readPage(`deploy/${file}`)
    .split(/^FROM .*\n/m)
    .slice(-1);
  expect(last.split(/\n */)).toEqual(expect.arrayContaining(lines));
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

test("the page names every file of deploy/", () => {
  for (const file of [
    "Dockerfile",
    "compose.yaml",
    "kubernetes/cronjob.yaml",
    ...UNITS.map((name) => `systemd/${name}`),
  ])
    expect(page).toContain(`(../deploy/${file})`);
});
