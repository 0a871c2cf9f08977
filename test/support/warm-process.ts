/**
 * A process that runs one command of the built program after the other (warm-bin.ts). Each runs the program's main module anew; what
 * that imports stays loaded.
 */

import { Writable } from "node:stream";

export interface WarmCommand {
  readonly args: readonly string[];
  readonly cwd: string;
  /** All of it: nothing stays of the command before. */
  readonly env: Readonly<Record<string, string>>;
}

export interface WarmEnded {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const MAIN = new URL("../../dist/main.js", import.meta.url);
let commands = 0;

async function run({ args, cwd, env }: WarmCommand): Promise<WarmEnded> {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...args);
  const [stdout, stderr] = [takeStream("stdout"), takeStream("stderr")];
  commands += 1;
  await import(`${MAIN}?${commands}`);
  const { exitCode } = process;
  process.exitCode = undefined;
  for (const event of ["SIGINT", "SIGTERM", "SIGHUP", "message"]) process.removeAllListeners(event);
  return { exitCode: Number(exitCode), stdout: stdout(), stderr: stderr() };
}

/** @returns what was written to it since. */
function takeStream(name: "stdout" | "stderr"): () => string {
  const chunks: Buffer[] = [];
  const value = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  Object.defineProperty(process, name, { value, configurable: true });
  return () => Buffer.concat(chunks).toString();
}

function listen(): void {
  process.once("message", async (command: WarmCommand) => {
    const ended = await run(command);
    listen();
    process.send?.(ended);
  });
  // The program has let go of it.
  process.channel?.ref();
}
listen();
