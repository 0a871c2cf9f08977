import { Failure } from "../failure.ts";

/** Keys and indexes from the top of the config, such as `["sources", "orders", "actions", 1]`. */
export type RulePath = readonly (string | number)[];

/** A source's rules that can't be carried out, by themselves or with the columns of a file. Ends the run before anything is sent. */
export class MappingError extends Failure {
  readonly keys: RulePath;
  /** `keys` as text: `sources.orders.actions[1].soldTicket.fields.price.from`. */
  readonly path: string;
  /** What is wrong, without the path. */
  readonly what: string;

  constructor(keys: RulePath, what: string, hint?: string) {
    const path = formatPath(keys);
    super("usage", `${path}: ${what}`, hint === undefined ? {} : { hint });
    this.name = "MappingError";
    this.keys = keys;
    this.path = path;
    this.what = what;
  }
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
