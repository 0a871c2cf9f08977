import { Failure } from "../failure.ts";
import { quoted } from "../text.ts";

/** Keys and indexes from the top of the config, such as `["sources", "orders", "actions", 1]`. */
export type RulePath = readonly (string | number)[];

/** A source's rules that can't be carried out, by themselves or with the columns of a file. Ends the run before anything is sent. */
export class MappingError extends Failure {
  readonly keys: RulePath;
  /** `keys` as text: `sources.orders.actions[1].soldTicket.fields.price.from`. */
  readonly path: string;
  /** What else is wrong with the same rules. */
  others: readonly MappingError[] = [];

  constructor(keys: RulePath, what: string, hint?: string) {
    const path = formatPath(keys);
    super("usage", `${path}: ${what}`, hint === undefined ? {} : { hint });
    this.name = "MappingError";
    this.keys = keys;
    this.path = path;
  }
}

/** Collects the faults of several parts, so that all are reported at once. */
export interface Faults {
  /** Undefined where the work ended in a `MappingError`. */
  readonly attempt: <T>(work: () => T) => T | undefined;
  /** Throws the first fault found, with the others in it. */
  readonly throwAny: () => void;
}

export function collectFaults(): Faults {
  const found = new Map<string, MappingError>();
  return {
    attempt: (work) => {
      try {
        return work();
      } catch (cause) {
        if (!(cause instanceof MappingError)) throw cause;
        if (!found.has(cause.message)) found.set(cause.message, cause);
        return undefined;
      }
    },
    throwAny: () => {
      const [first, ...others] = found.values();
      if (first === undefined) return;
      first.others = others;
      throw first;
    },
  };
}

function formatPath(keys: RulePath): string {
  return keys
    .map((key, at) => {
      if (typeof key === "number") return `[${key}]`;
      if (!/^[\w-]+$/.test(key)) return `[${JSON.stringify(key)}]`;
      return at === 0 ? key : `.${key}`;
    })
    .join("");
}

/** How messages show a header or a key. */
export const quote = (header: string): string => quoted(header, 60);

const MOST_LISTED = 30;

export function listed(names: readonly string[]): string {
  const more = names.length > MOST_LISTED ? `, ... (${names.length})` : "";
  return names.slice(0, MOST_LISTED).map(quote).join(", ") + more;
}
