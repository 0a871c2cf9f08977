/** The key that a served sandbox asks for. */

import { randomBytes } from "node:crypto";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { errorCode, Failure } from "../failure.ts";
import { quotedInShell } from "../text.ts";

const KEY_VARIABLE = "TICKETS_SANDBOX_API_KEY";

export interface ServiceKey {
  readonly value: string;
  /** What stands for it in a shell command, without showing it. */
  readonly inShell: string;
}

/**
 * The key in `TICKETS_SANDBOX_API_KEY`, else in the file, which is made where it is missing.
 *
 * @throws Failure `usage` for a key that can't be had or sent, `storage` for a file that can't be written.
 */
export function findKey(env: Readonly<Record<string, string | undefined>>, keyFile: string): ServiceKey {
  const value = env[KEY_VARIABLE];
  if (value !== undefined && value !== "") {
    assertSendable(value, `The variable ${KEY_VARIABLE}`);
    return { value, inShell: `"$${KEY_VARIABLE}"` };
  }
  return { value: keptKey(keyFile), inShell: `$(cat ${quotedInShell(keyFile)})` };
}

/** The key in the file, made at the first start. A key of a sandbox opens nothing of value, but is kept like any other. */
function keptKey(keyFile: string): string {
  try {
    const made = randomBytes(24).toString("base64url");
    const file = openSync(keyFile, "wx", 0o600);
    writeFileSync(file, `${made}\n`);
    closeSync(file);
    return made;
  } catch (cause) {
    if (errorCode(cause) !== "EEXIST")
      throw new Failure("storage", `Could not write the key file ${keyFile}.`, {
        hint: "Check who may write in its folder, or name another state directory with TICKETS_STATE_DIR.",
        cause,
      });
  }
  const kept = readFileSync(keyFile, "utf8").trim();
  assertSendable(kept, `The key file ${keyFile}`);
  return kept;
}

/** A header can hold it, so that a client can send it. */
function assertSendable(key: string, what: string): void {
  if (!/^[!-~]+$/.test(key))
    throw new Failure("usage", `${what} holds no usable key.`, {
      hint: "A key consists of visible ASCII characters without spaces.",
    });
}
