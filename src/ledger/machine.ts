/** Which machine a file is on, in a ledger that several machines share. */

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { cleanText } from "../actions/text.ts";
import type { Ledger } from "./ledger.ts";

let name: string | undefined;

/**
 * This machine as a shared ledger names it: host, `#`, and the beginning of `thisMachine`, since hosts may be called alike. A
 * ledger of one machine names none.
 */
export function machineOf({ kind }: Pick<Ledger, "kind">): string | undefined {
  if (kind === "sqlite") return undefined;
  name ??= `${hostname().replaceAll(/[^\w.-]/g, "_")}#${thisMachine().slice(0, 8)}`;
  return name;
}

/** Whether a ledger means this machine; where it names none, there is only one. */
export const isHere = (ledger: Pick<Ledger, "kind">, machine: string | undefined): boolean =>
  machine === undefined || machine === machineOf(ledger);

/** `web-1` of `web-1#4f2a9c01` */
export const hostOf = (machine: string): string => machine.split("#", 1)[0] ?? machine;

/** A path of this machine as the ledger holds it: `web-1#4f2a9c01:/srv/orders.ndjson`, or as it is in a ledger of one machine. */
export function toPlaced(ledger: Pick<Ledger, "kind">, path: string): string {
  const machine = machineOf(ledger);
  return machine === undefined ? path : `${machine}:${path}`;
}

/** A path, and the machine that it is on, where the ledger says. */
export interface Placed {
  readonly path: string;
  readonly machine: string | undefined;
}

export function fromPlaced(text: string): Placed {
  const [, machine, path] = /^([\w.-]+#[0-9a-f]*):(.*)$/s.exec(text) ?? [];
  return path === undefined ? { path: text, machine: undefined } : { path, machine };
}

/** A path for people: with its host where that is another one. */
export function shownPlace({ path, machine }: Placed): string {
  return machine === undefined || isHere({ kind: "postgres" }, machine) ? path : `${hostOf(machine)}:${path}`;
}

/** Which machine this is, as a digest; empty where the system does not say, as in many containers and on macOS. */
function thisMachine(): string {
  for (const place of ["/etc/machine-id", "/var/lib/dbus/machine-id"]) {
    const id = existsSync(place) ? cleanText(readFileSync(place, "utf8").trim(), 200) : "";
    if (id !== "") return createHash("sha256").update(`tickets ${id}`).digest("hex").slice(0, 16);
  }
  return "";
}
