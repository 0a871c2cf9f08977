/**
 * With which keys a ledger was used, so that it can be told whether an environment is the same account at the same service:
 * short salted digests, and never a key.
 */

import { type Ledger, readMeta, writeMeta } from "./ledger.ts";

/** Digests of the keys that a ledger was used with, the latest last, and the salt that they were made with. */
export interface UsedKeys {
  readonly salt: string;
  readonly digests: readonly string[];
}

/** Gives the digest of a key with a salt. */
export type DigestOfKey = (salt: string) => string;

/** Key in the ledger's meta table. */
const DIGESTS = "key_digests";

/** Keys are seldom replaced. */
const KEPT = 5;

export function usedKeys(ledger: Ledger): UsedKeys {
  const digests = readMeta(ledger, DIGESTS) ?? "";
  return { salt: readMeta(ledger, "ledger_id") ?? "", digests: digests.split(" ").filter((digest) => digest !== "") };
}

/** Undefined where no key is known that the ledger was used with. */
export function wasUsedWith({ salt, digests }: UsedKeys, digestOf: DigestOfKey): boolean | undefined {
  return digests.length === 0 ? undefined : digests.includes(digestOf(salt));
}

/** The ledger is used with this key from now on. */
export function noteKey(ledger: Ledger, digestOf: DigestOfKey): void {
  const { salt, digests } = usedKeys(ledger);
  const digest = digestOf(salt);
  if (digests.at(-1) === digest) return;
  const kept = [...digests.filter((each) => each !== digest), digest].slice(-KEPT);
  ledger.transaction(() => writeMeta(ledger, DIGESTS, kept.join(" ")));
}
