/**
 * The fast path: it tells at once that the reference, the schemas, would find nothing in most items, or nothing but in some
 * values of others. It may be wrong in one direction only: what it does not know it leaves to the reference, and it never
 * says what is wrong.
 */

import { ACTION_NAMES, acceptedFields, actionSpec } from "../../actions/actions.ts";
import { isCurrency, isWithdrawnCurrency } from "../../actions/currencies.ts";
import { isJsonObject } from "../../actions/exact-number.ts";
import { type FieldKind, type FieldName, type FieldSpec, fieldSpec, isFieldName } from "../../actions/fields.ts";
import { looksMangled, standsForNoText } from "../../actions/mangled-ids.ts";
import { mayBeDamaged } from "../damage.ts";
import { EARLIEST_ORDER, FARTHEST_EVENT, LATEST_ORDER_AHEAD } from "../far-times.ts";

type IsPlain = (value: unknown, now: number) => boolean;

const never: IsPlain = () => false;

const text =
  (pattern: RegExp, looksOdd: (value: string) => boolean = () => false) =>
  ({ maxLength = 255 }: FieldSpec): IsPlain =>
  (value) =>
    typeof value === "string" && value.length <= maxLength && pattern.test(value) && !looksOdd(value);

const degrees = (limit: number) => (): IsPlain => (value) => typeof value === "number" && Math.abs(value) <= limit;

/** Words without the signs of a login, a lost letter or misread UTF-8: nearly all. */
const WORDS = /^[ ->A-~\u00c0-\u00c2\u00c4-\u00ff]*$/;
/** Text that holds one of these is never plain. */
const ODD = /[?@\p{Cs}\p{Zl}\p{Zp}\ufeff]|(?![\t\n\r])\p{Cc}/u;

function isWords(value: unknown): boolean {
  if (typeof value !== "string" || standsForNoText(value)) return false;
  return WORDS.test(value) || !(ODD.test(value) || mayBeDamaged(value));
}

function isAttribute(attribute: unknown): boolean {
  if (!isJsonObject(attribute)) return false;
  for (const key in attribute) if (key !== "trait_type" && key !== "value" && key !== "display_type") return false;
  const { trait_type, value, display_type } = attribute;
  return (
    isWords(trait_type) &&
    (isWords(value) || typeof value === "number" || typeof value === "boolean") &&
    (display_type === undefined || isWords(display_type))
  );
}

const URL =
  /^https?:\/\/(?:(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,24}(?:[/?][\w\-./?&=+~:,;!$'()*]*)?$/i;

const KINDS: Record<FieldKind, (spec: FieldSpec, name: FieldName) => IsPlain> = {
  id: text(/^[!-~][ -~]*$/, looksMangled),
  text: text(/^/, (value) => !isWords(value)),
  // Only the reference knows whether the service can reach an address.
  url: (spec, name) => (name === "callbackUrl" ? never : text(URL)(spec)),
  currency: text(/^/, (value) => !isCurrency(value) || isWithdrawnCurrency(value)),
  latitude: degrees(90),
  longitude: degrees(180),
  u64: (_, name) => {
    const [past, ahead] = name === "orderTime" ? [Infinity, LATEST_ORDER_AHEAD] : [FARTHEST_EVENT, FARTHEST_EVENT];
    return (value, now) =>
      typeof value === "number" &&
      Number.isInteger(value) &&
      value >= Math.max(EARLIEST_ORDER, now - past) &&
      value <= now + ahead;
  },
  nftId: text(/^[A-Z]+-\d+-\d+$/, looksMangled),
  price: text(/^\d+(\.\d+)?$/),
  wallet: text(/^0x[0-9a-f]{40}$/),
  metadata: () => (value) => Array.isArray(value) && value.every(isAttribute),
  uuid: () => never,
};

/** What the fast path knows of an action. */
interface Known {
  readonly fields: ReadonlyMap<string, IsPlain>;
  /** Without one of these the reference has something to say. */
  readonly needed: readonly FieldName[];
  readonly exclusive: readonly FieldName[];
  readonly anyOf: readonly FieldName[];
  readonly updates: boolean;
}

const KNOWN: ReadonlyMap<unknown, Known> = new Map(
  ACTION_NAMES.map((action): [string, Known] => {
    const { required, optional, exclusive, anyOf, updates } = actionSpec(action);
    const kindOf = (name: FieldName): IsPlain => KINDS[fieldSpec(name).kind](fieldSpec(name), name);
    const fields = new Map(acceptedFields(action).map((name) => [name, kindOf(name)]));
    const needed = [...required, ...optional.filter((name) => name === "orderTime")];
    return [action, { fields, needed, exclusive, anyOf, updates }];
  }),
);

/** Whether the reference would find nothing in the item; false says nothing. Without `now` no time is known to be plain. */
export const isPlain = (item: unknown, now?: number): boolean => oddFieldsOf(item, now) === "none";

/**
 * The fields of an action whose values the reference may find something in, where it finds nothing else but what no single
 * value shows; `"none"` where it finds not even that. Undefined says nothing.
 */
export function oddFieldsOf(item: unknown, now: number = Number.NaN): readonly FieldName[] | "none" | undefined {
  if (!isJsonObject(item) || Object.keys(item).length !== 2) return undefined;
  const { action, data } = item;
  const known = KNOWN.get(action);
  if (known === undefined || !isJsonObject(data)) return undefined;
  let given = 0;
  let odd: FieldName[] | undefined;
  for (const name in data) {
    const isPlainValue = known.fields.get(name);
    if (isPlainValue === undefined) return undefined;
    const value = data[name];
    if (!isPlainValue(value, now)) {
      // Whether null may stand there is told by the action.
      if (value == null || !isFieldName(name)) return undefined;
      odd ??= [];
      odd.push(name);
    }
    given += 1;
  }
  return odd ?? (isWhole(known, data, given) ? "none" : []);
}

/** @param given the number of fields in it. */
function isWhole(
  { needed, exclusive, anyOf, updates }: Known,
  data: Readonly<Record<string, unknown>>,
  given: number,
): boolean {
  const isGiven = (name: FieldName): boolean => data[name] !== undefined;
  return (
    needed.every(isGiven) &&
    (exclusive.length === 0 || exclusive.filter(isGiven).length === 1) &&
    (anyOf.length === 0 || anyOf.some(isGiven)) &&
    // An update has more than its id, and nothing ends before it starts.
    !(updates && given < 2) &&
    !(isGiven("startTime") && isGiven("endTime") && Number(data.endTime) < Number(data.startTime))
  );
}
