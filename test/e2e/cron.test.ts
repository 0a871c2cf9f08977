/** Nights under Debian's cron, by the very lines of docs/nightly.md; a night is a minute here. */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openWorkplace, type Workplace } from "../support/bin.ts";
import { blocksOf } from "../support/docs/blocks.ts";
import { ROOT, readPage } from "../support/pages.ts";
import { type Service, startService } from "../support/service.ts";
import { salesTable } from "../support/tables.ts";
import { LONG } from "../support/walks.ts";

const CRON = "/usr/sbin/cron";
/** Mounts and processes of its own: no night outlives it. */
const UNSHARED = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
const HAS_CRON =
  existsSync(CRON) && process.getuid?.() === 0 && spawnSync("unshare", [...UNSHARED, "true"]).status === 0;
const NEEDS = HAS_CRON ? "" : " (needs Debian's cron, root, and the right to mount)";

const EVENTS = `eventId,eventName,currency,shopUrl,startTime
E-1,Opening night,EUR,https://tickets.example.com/e-1,2026-12-31T20:00:00+01:00
`;

const EXIT_CODE_0 = /^tickets_last_run_exit_code\{environment="production"\} 0$/m;

test.skipIf(!HAS_CRON)(
  `the recipes run under cron: the first night's mail says that its ledger is new, a good night sends none, a bad one what the page says, and the metrics tell both${NEEDS}`,
  LONG,
  async () => {
    const place = openWorkplace();
    const recipe = (begins: string, folder: string): string => {
      const blocks = blocksOf(readPage("docs/nightly.md")).filter(({ text }) => text.startsWith(begins));
      expect(
        blocks.map(({ text }) => text),
        `blocks that begin with ${begins}`,
      ).toHaveLength(1);
      return (blocks[0]?.text ?? "")
        .replaceAll("/opt/ticket-stream", ROOT.replace(/\/$/, ""))
        .replace("/srv/exports", folder)
        .replace("--quiet", "--quiet --metrics tickets.prom");
    };
    const metricsOf = (name: string): string =>
      existsSync(place.path(`${name}/tickets.prom`)) ? place.read(`${name}/tickets.prom`) : "";
    const nights = [
      { name: "line", command: `cd ${place.path("line")} `, service: await startService() },
      { name: "script", command: place.path("night.sh"), service: await startService() },
    ];
    for (const { name, service } of nights) furnish(place, name, service);
    writeFileSync(place.path("night.sh"), recipe("#!/bin/sh\n", place.path("script")), { mode: 0o755 });
    const line = recipe("0 3 * * * ", place.path("line")).replace("0 3 * * *", "* * * * *");
    const cron = await startCron(place.path("cron"), `${line}* * * * * ${place.path("night.sh")}\n`);

    const sent = async (actions: number): Promise<void> => {
      for (const { name, service } of nights) {
        await cron.seen(place.path(name), () =>
          metricsOf(name).includes(`outcome="accepted"} ${actions}\n`) ? true : undefined,
        );
        expect(metricsOf(name)).toMatch(EXIT_CODE_0);
        expect(service.sent()).toHaveLength(4 + (actions === 1 ? 1 : 0));
      }
    };
    const mailOf = (command: string, said: string): Promise<string> =>
      cron.seen(cron.mailFolder, () => cron.mails().find((text) => text.includes(command) && text.includes(said)));

    await sent(4);
    for (const { command } of nights) expect(await mailOf(command, " NEW")).toContain("production (http://127.0.0.1:");

    for (const { name } of nights) place.write(`${name}/sales.csv`, salesTable(4));
    await sent(1);

    const bad = `${salesTable(4)}E-1,T-5,user-5,free,1700000005\n`;
    for (const { name } of nights) place.write(`${name}/sales.csv`, bad);
    const mails = [];
    for (const { name, command } of nights) {
      mails.push(await mailOf(command, 'sales.csv:6 price: "free"'));
      expect(metricsOf(name)).toMatch(/^tickets_last_run_exit_code\{environment="production"\} 3$/m);
    }
    for (const mail of mails) {
      expect(mail).toMatch(/^X-Cron-Env: <SHELL=\/bin\/sh>$/m);
      expect(mail).toMatch(/^X-Cron-Env: <PATH=\/usr\/bin:\/bin>$/m);
      expect(mail).toMatch(/^X-Cron-Env: <LOGNAME=root>$/m);
      expect(mail).toContain("6 rows: 5 mapped, 1 invalid. Nothing was sent.");
    }
    expect(mails[1]).toMatch(/^Rows are invalid, so nothing was sent: /m);
    // The night between them sent one sale, and no mail.
    expect(cron.mails().filter((text) => !text.includes(" NEW") && !text.includes("1 invalid"))).toEqual([]);
    for (const { service } of nights) expect(service.sent()).toHaveLength(5);
  },
);

function furnish(place: Workplace, name: string, service: Service): void {
  mkdirSync(place.path(name));
  place.write(`${name}/events.csv`, EVENTS);
  place.write(`${name}/sales.csv`, salesTable(3));
  writeFileSync(place.path(`${name}/key`), service.key, { mode: 0o600 });
  const settings = [`baseUrl: ${service.baseUrl}`, "apiKey: {file: key}", "stateDir: state"];
  place.write(`${name}/tickets.config.yaml`, `environments:\n  production:\n    ${settings.join("\n    ")}\n`);
}

/**
 * Starts cron with a spool, a process id file and a mailer of its own. They are mounted for its process alone and gone with it: the
 * cron of this machine sees none of them, and this one no crontab but the given.
 */
async function startCron(folder: string, crontab: string) {
  const mailFolder = join(folder, "mails");
  for (const name of ["spool", "run", "none", "sbin", "mails"]) mkdirSync(join(folder, name), { recursive: true });
  copyFileSync(CRON, join(folder, "sbin", "cron"));
  const mailer = `#!/bin/sh\ncat > ${folder}/mail.$$ && mv ${folder}/mail.$$ ${mailFolder}\n`;
  writeFileSync(join(folder, "sbin", "sendmail"), mailer, { mode: 0o755 });
  writeFileSync(join(folder, "spool", "root"), crontab, { mode: 0o600 });
  writeFileSync(join(folder, "nothing"), "");
  const mounts = {
    spool: "/var/spool/cron/crontabs",
    run: "/run",
    none: "/etc/cron.d",
    nothing: "/etc/crontab",
    sbin: "/usr/sbin",
  };
  const mounting = Object.entries(mounts).map(([own, at]) => `mount --bind ${join(folder, own)} ${at}`);
  const starting = [...mounting, "exec /usr/sbin/cron -f"].join(" && ");
  const cron = spawn("unshare", [...UNSHARED, "sh", "-c", starting], { stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(cron, "exit");
  onTestFinished(async () => {
    cron.kill("SIGKILL"); // no other signal ends it, and what it started ends with it
    await ended;
  });
  return {
    mailFolder,
    mails: () => readdirSync(mailFolder).map((name) => readFileSync(join(mailFolder, name), "utf8")),
    /** What `look` finds, asked each time something changes in a folder, for as long as cron runs. */
    async seen<T>(changing: string, look: () => T | undefined): Promise<T> {
      const { promise, resolve } = Promise.withResolvers<T>();
      const ask = (): void => {
        const found = look();
        if (found !== undefined) resolve(found);
      };
      const watcher = watch(changing, ask);
      ask();
      try {
        return await Promise.race([promise, ended.then(() => expect.unreachable("cron ended"))]);
      } finally {
        watcher.close();
      }
    },
  };
}
