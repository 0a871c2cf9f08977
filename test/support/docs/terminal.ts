/** A shell in which a reader of a page types: folder and variables stay from one command to the next. */

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";

export interface Printed {
  /** Standard output and standard error, as they stand one behind the other on a screen. */
  readonly output: string;
  readonly exitCode: number;
}

export interface Terminal {
  /** Types a command. It may go on when this resolves, with what it printed up to `until`. */
  type(command: string, until?: string): Promise<Printed>;
  /** The end of the command that goes on, when it is this one. */
  ended(command: string): Promise<Printed> | undefined;
  /** Ctrl-C, and the end of the shell and of all that runs in it. */
  stop(): Promise<void>;
  /** Ends all of it at once. */
  close(): void;
}

export function openTerminal(folder: string, env: Readonly<Record<string, string | undefined>>): Terminal {
  // In a group of its own, so that what it started ends with it.
  const shell = spawn("sh", [], { cwd: folder, env, stdio: ["pipe", "pipe", "ignore"], detached: true });
  shell.stdin.on("error", () => undefined); // after `close`
  let screen = "";
  let look = (): void => undefined;
  shell.stdout.on("data", (chunk: Buffer) => {
    screen += chunk.toString();
    look();
  });
  shell.stdin.write("exec 2>&1\n");
  // Its screen closes when nothing that could write on it is left.
  const isClosed = new Promise((resolve) => shell.on("close", resolve));
  let going: { readonly command: string; readonly end: RegExp } | undefined;

  const seen = (isThere: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      look = () => {
        if (isThere()) resolve();
      };
      look();
    });

  async function end(mark: RegExp): Promise<Printed> {
    await seen(() => mark.test(screen));
    const [, output = "", code = ""] = mark.exec(screen) ?? [];
    going = undefined;
    return { output, exitCode: Number(code) };
  }

  return {
    async type(command, until) {
      if (going !== undefined) throw new Error(`"${going.command}" goes on in this terminal`);
      const mark = `end-${randomUUID()}`;
      screen = "";
      // `$?` stays what the command ended with.
      shell.stdin.write(`{\n${command}\n} </dev/null; code=$?; printf '%s %s\\n' ${mark} $code; (exit $code)\n`);
      going = { command, end: new RegExp(`^([\\s\\S]*)${mark} (\\d+)\\n$`) };
      if (until === undefined) return await end(going.end);
      await seen(() => screen.includes(until));
      return { output: screen, exitCode: 0 };
    },
    ended: (command) => (going?.command === command ? end(going.end) : undefined),
    async stop() {
      if (shell.pid === undefined) return;
      process.kill(-shell.pid, "SIGINT");
      await isClosed;
    },
    close() {
      if (shell.pid !== undefined && shell.exitCode === null && shell.signalCode === null)
        process.kill(-shell.pid, "SIGKILL");
    },
  };
}
