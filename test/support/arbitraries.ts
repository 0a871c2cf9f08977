/** Random actions, histories and broken actions, derived from the field and action tables. */

import fc, { type Arbitrary } from "fast-check";
import {
  ACTION_NAMES,
  type Action,
  type ActionData,
  type ActionName,
  acceptedFields,
  actionSpec,
} from "../../src/actions/actions.ts";
import { CURRENCY_CODES, isWithdrawnCurrency } from "../../src/actions/currencies.ts";
import { ExactNumber } from "../../src/actions/exact-number.ts";
import { FIELD_NAMES, type FieldKind, type FieldName, type FieldSpec, fieldSpec } from "../../src/actions/fields.ts";
import type { ActionRule } from "../../src/rules.ts";
import { webUrl } from "./texts.ts";

export interface ValueOptions {
  /** Only values that a cell of a CSV file holds as they are: trimmed, not blank, no null. */
  readonly forCells?: boolean;
}

const U64_MAX = 18446744073709551615n;

/** A valid value of a field. */
function fieldArbitrary(name: FieldName, options: ValueOptions = {}): Arbitrary<unknown> {
  const spec = fieldSpec(name);
  const value = VALUES[spec.kind](spec, options);
  return spec.default === undefined || options.forCells
    ? value
    : fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: fc.constant(spec.default) });
}

const text = (maxLength: number, { forCells }: ValueOptions): Arbitrary<string> => {
  const short = fc.oneof(
    { weight: 8, arbitrary: fc.string({ unit: "grapheme-composite", minLength: 1, maxLength: 12 }) },
    {
      weight: 2,
      arbitrary: fc.constantFrom('a "b", c', "1,5;2\t3", "=1+1", "Zoë 🎟", "<b>&amp;</b>", "__proto__", "\\x"),
    },
    // The longest that is allowed, in code points that take two UTF-16 units each.
    { weight: 1, arbitrary: fc.constant("🎫".repeat(maxLength)) },
  );
  return short
    .map((value) => Array.from(value).slice(0, maxLength).join(""))
    .filter((value) => value.trim() !== "" && (!forCells || (value.trim() === value && !/[\r\n\0\ufeff]/.test(value))));
};

const VALUES = {
  id: (spec, options) => text(spec.maxLength ?? 255, options),
  text: (spec, options) => text(spec.maxLength ?? 255, options),
  url: (spec) => webUrl.filter((url) => url.length <= (spec.maxLength ?? 255)),
  currency: () => fc.constantFrom(...CURRENCY_CODES.filter((code) => !isWithdrawnCurrency(code))),
  latitude: () => degrees(90),
  longitude: () => degrees(180),
  u64: () =>
    fc.oneof(
      fc.nat(),
      fc.integer({ min: 1_600_000_000, max: 2_000_000_000 }),
      fc.bigInt({ min: 0n, max: U64_MAX }).map(exact),
      fc.constantFrom(exact(U64_MAX), exact(2n ** 53n), exact(2n ** 53n + 1n)),
    ),
  nftId: () =>
    fc
      .tuple(fc.constantFrom("SANDBOX", "MATIC", "A-B"), fc.nat(), fc.nat())
      .map(([chain, event, token]) => `${chain}-${event}-${token}`),
  price: () =>
    fc.oneof(
      fc.nat().map(String),
      fc
        .tuple(fc.nat({ max: 9999 }), fc.nat({ max: 99 }))
        .map(([whole, cents]) => `${whole}.${String(cents).padStart(2, "0")}`),
      fc.constantFrom("0", "0.10", "12.500", "12345678901234567890.12"),
    ),
  wallet: () =>
    fc.oneof(
      fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => `0x${Buffer.from(bytes).toString("hex")}`),
      fc.constantFrom(
        CHECKSUMMED,
        "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
        "tz1VSUr8wwNhLAzempoch5d6hLRiTh8Cjcjb",
      ),
    ),
  metadata: (_spec, options) => {
    const attribute = fc.record(
      {
        trait_type: text(20, options),
        value: fc.oneof(text(20, options), fc.integer(), fc.boolean()),
        display_type: fc.constantFrom("number", "date"),
      },
      { requiredKeys: ["trait_type", "value"] },
    );
    const list = fc.array(attribute, { maxLength: 4 });
    return fc.oneof(
      list,
      list.map((attributes) => JSON.stringify(attributes)),
    );
  },
  uuid: () => fc.uuid(),
} as const satisfies Record<FieldKind, (spec: FieldSpec, options: ValueOptions) => Arbitrary<unknown>>;

/** An EIP-55 example address. */
const CHECKSUMMED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

/** A number where it is exact, as parseJson gives it. */
function exact(value: bigint): number | ExactNumber {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : new ExactNumber(String(value));
}

function degrees(limit: number): Arbitrary<number> {
  return fc
    .oneof(fc.double({ min: -limit, max: limit, noNaN: true }), fc.constantFrom(-limit, limit, 52.5))
    .map((value) => (value === 0 ? 0 : value)); // JSON has no negative zero
}

/** Valid optional fields of an action, any of them; in updates some are null. */
function optionalArbitrary(action: ActionName, options: ValueOptions): Arbitrary<Record<string, unknown>> {
  const { optional, updates } = actionSpec(action);
  const fields = optional.map((name) => {
    const value = fieldArbitrary(name, options);
    const given = updates && !options.forCells ? fc.option(value, { freq: 5 }) : value;
    return [name, given] as const;
  });
  return fc.record(Object.fromEntries(fields), { requiredKeys: [] }).map((data) => ({ ...data }));
}

/** A valid action by itself: every required field, one of the exclusive ones, and any of the optional ones. */
export function actionArbitrary({
  action,
  ...options
}: ValueOptions & { readonly action?: ActionName } = {}): Arbitrary<Action> {
  const names = action === undefined ? fc.constantFrom(...ACTION_NAMES) : fc.constant(action);
  return names.chain((name) => {
    const { required, exclusive, anyOf } = actionSpec(name);
    const always = fc.record(Object.fromEntries(required.map((field) => [field, fieldArbitrary(field, options)])));
    const one = exclusive.length === 0 ? fc.constant([]) : fc.constantFrom(...exclusive).map((field) => [field]);
    const some = anyOf.length === 0 ? fc.constant([]) : fc.subarray([...anyOf], { minLength: 1 });
    const chosen = fc
      .tuple(one, some)
      .chain(([a, b]) =>
        fc.record(Object.fromEntries([...a, ...b].map((field) => [field, fieldArbitrary(field, options)]))),
      );
    return fc
      .tuple(always, chosen, optionalArbitrary(name, options))
      .map(([a, b, c]) => ({ action: name, data: { ...a, ...b, ...c } as ActionData })); // values as the table says
  });
}

// ---- histories ----

export interface HistoryOptions extends ValueOptions {
  readonly maxLength?: number;
  /** Names some tickets by the nftId that a new sandbox gives them. */
  readonly byNftId?: boolean;
}

interface ModelTicket {
  readonly ticketId: string;
  readonly nftId: string;
  holder: string;
  state: "valid" | "checked-in" | "invalidated";
  claimed: boolean;
}

/** A sequence of actions that a new service accepts whole, one after the other. */
export function historyArbitrary({
  maxLength = 60,
  byNftId = false,
  ...options
}: HistoryOptions = {}): Arbitrary<readonly Action[]> {
  const step = fc.constantFrom(...WEIGHTED).chain((action) =>
    fc.record({
      action: fc.constant(action),
      pick: fc.nat(),
      byNftId: byNftId ? fc.boolean() : fc.constant(false),
      id: text(40, options),
      required: fc.record({ currency: fieldArbitrary("currency"), price: fieldArbitrary("price") }),
      // Callbacks would go out to wherever the random address points.
      optional: optionalArbitrary(action, options).map(({ callbackUrl: _, ...data }) => data),
      recipient: fc.record({ to: fieldArbitrary("to"), userId: text(40, options) }, { requiredKeys: [] }),
    }),
  );
  return fc.array(step, { minLength: 1, maxLength, size: "max" }).map((steps) => {
    const events: { eventId: string; tokens: number }[] = [];
    const tickets: ModelTicket[] = [];
    const history: Action[] = [];
    const push = (action: ActionName, data: Record<string, unknown>): void => {
      history.push({ action, data: data as ActionData }); // values as the table says
    };
    for (const { action, pick, byNftId: named, id, required, optional, recipient } of steps) {
      const unique = (known: number) => `${id}-${known + 1}`;
      const event = events[pick % Math.max(1, events.length)];
      const live = tickets.filter(
        ({ state, claimed }) => state === "valid" || (state === "checked-in" && action === "claimedTicket" && !claimed),
      );
      const ticket = live[pick % Math.max(1, live.length)];
      if (action === "newEvent" || event === undefined) {
        const eventId = unique(events.length);
        events.push({ eventId, tokens: 0 });
        push("newEvent", { eventId, currency: required.currency, ...(action === "newEvent" && optional) });
      } else if (action === "updateEvent") push(action, { eventId: event.eventId, ...optional });
      else if (action === "soldTicket" || ticket === undefined) {
        event.tokens += 1;
        const ticketId = unique(tickets.length);
        const holder = `user-${pick % 7}`;
        const nftId = `SANDBOX-${events.indexOf(event) + 1}-${event.tokens}`;
        tickets.push({ ticketId, nftId, holder, state: "valid", claimed: false });
        const base = { eventId: event.eventId, ticketId, userId: holder, price: required.price };
        push("soldTicket", { ...base, ...(action === "soldTicket" && optional) });
      } else {
        const by = named ? { nftId: ticket.nftId } : { ticketId: ticket.ticketId };
        if (action === "resoldTicket") {
          ticket.holder = `${ticket.holder === "user-1" ? "user-2" : "user-1"}`;
          push(action, { ...by, userId: ticket.holder, price: required.price, ...optional });
        } else if (action === "claimedTicket") {
          if (ticket.claimed) continue;
          ticket.claimed = true;
          const { to, userId } = recipient;
          const given = { ...(to !== undefined && { to }), ...(userId !== undefined && { userId }) };
          push(action, {
            ...by,
            ...(Object.keys(given).length === 0 ? { userId: ticket.holder } : given),
            ...optional,
          });
        } else {
          if (action === "checkedInTicket") ticket.state = "checked-in";
          if (action === "invalidatedTicket") ticket.state = "invalidated";
          push(action, { ...by, ...optional });
        }
      }
    }
    return history;
  });
}

/** Sales are what most of a history is. */
const WEIGHTED: readonly ActionName[] = [...ACTION_NAMES, "soldTicket", "soldTicket", "soldTicket"];

// ---- one broken rule ----

export interface Mutant {
  /** No longer an action of its type, as a rule. */
  readonly item: unknown;
  /** The only error rule that it breaks. */
  readonly rule: ActionRule;
}

interface Mutation {
  readonly rule: ActionRule;
  /** The mutants of an action, or undefined where the rule can't be broken by it. */
  of(action: Action): Arbitrary<unknown> | undefined;
}

/** Breaks one rule of a valid action and says which. */
export function mutate(action: Action): Arbitrary<Mutant> {
  const possible = MUTATIONS.flatMap(({ rule, of }) => {
    const items = of(action);
    return items === undefined ? [] : [items.map((item): Mutant => ({ item, rule }))];
  });
  return fc.oneof(...possible);
}

/** The rules that `mutate` can break. */
export function mutatedRules(): readonly ActionRule[] {
  return [...new Set(MUTATIONS.map(({ rule }) => rule))];
}

const withData = ({ action, data }: Action, more: object) => ({ action, data: { ...data, ...more } });

function without({ action, data }: Action, name: string) {
  return { action, data: Object.fromEntries(Object.entries(data).filter(([field]) => field !== name)) };
}

/** Fields of the action that may be given a value without breaking another rule. */
function settable({ action, data }: Action): readonly FieldName[] {
  const { exclusive } = actionSpec(action);
  return acceptedFields(action).filter((name) => !exclusive.includes(name) || name in data);
}

/** A value that breaks `rule`, in any field that `chosen` picks. */
function badValue(
  rule: ActionRule,
  chosen: (spec: FieldSpec, name: FieldName) => boolean,
  value: (spec: FieldSpec) => Arbitrary<unknown>,
): Mutation {
  return {
    rule,
    of(action) {
      const names = settable(action).filter((name) => chosen(fieldSpec(name), name));
      if (names.length === 0) return undefined;
      return fc
        .constantFrom(...names)
        .chain((name) => value(fieldSpec(name)).map((bad) => withData(action, { [name]: bad })));
    },
  };
}

const ofKind = (rule: ActionRule, kind: FieldKind, ...values: readonly unknown[]): Mutation =>
  badValue(
    rule,
    (spec) => spec.kind === kind,
    () => fc.constantFrom(...values),
  );

const isText = (spec: FieldSpec): boolean => !["latitude", "longitude", "u64", "metadata"].includes(spec.kind);

const CONTRADICTED: readonly (readonly [ActionName, FieldName, ActionRule, unknown])[] = [
  ["updateTicket", "name", "update-ticket-name", "Seat 7"],
  ["updateTicket", "description", "update-ticket-description", "Row A"],
  ["updateEvent", "imageUrl", "update-event-image-url", "https://example.com/a.png"],
];

const MUTATIONS: readonly Mutation[] = [
  {
    rule: "item-shape",
    of: (action) =>
      fc.constantFrom<unknown>(
        null,
        7,
        "text",
        [action],
        { ...action, id: 1 },
        { action: action.action },
        { ...action, data: [] },
      ),
  },
  {
    rule: "action-unknown",
    of: (action) =>
      fc
        .constantFrom<unknown>("", "SoldTicket", "sellTicket", "__proto__", null, 3)
        .map((name) => ({ ...action, action: name })),
  },
  {
    rule: "field-unknown",
    of: (action) =>
      fc.constantFrom("eventid", "seat", "constructor", "").map((name) => withData(action, { [name]: "x" })),
  },
  {
    rule: "field-unknown",
    // As a parser of JSON gives it: an own key of that name.
    of: ({ action, data }) =>
      fc.constant({ action, data: Object.defineProperty({ ...data }, "__proto__", { value: "x", enumerable: true }) }),
  },
  {
    rule: "field-not-accepted",
    of(action) {
      const known = CONTRADICTED.filter(([name]) => name === action.action).map(([, field]) => field);
      const others = FIELD_NAMES.filter(
        (name) =>
          !acceptedFields(action.action).includes(name) && name !== "metadataTemplateId" && !known.includes(name),
      );
      return fc
        .constantFrom(...others)
        .chain((name) => fieldArbitrary(name).map((value) => withData(action, { [name]: value })));
    },
  },
  {
    rule: "metadata-template-id",
    of: (action) => fc.uuid().map((metadataTemplateId) => withData(action, { metadataTemplateId })),
  },
  ...CONTRADICTED.map(
    ([name, field, rule, value]): Mutation => ({
      rule,
      of: (action) => (action.action === name ? fc.constant(withData(action, { [field]: value })) : undefined),
    }),
  ),
  {
    rule: "field-required",
    of(action) {
      const names = actionSpec(action.action).required.filter(
        (name) => action.action !== "soldTicket" || name !== "userId",
      );
      return names.length === 0 ? undefined : fc.constantFrom(...names).map((name) => without(action, name));
    },
  },
  {
    rule: "sold-ticket-without-user",
    of: (action) => (action.action === "soldTicket" ? fc.constant(without(action, "userId")) : undefined),
  },
  {
    rule: "ticket-reference-missing",
    of: (action) =>
      actionSpec(action.action).exclusive.length === 0
        ? undefined
        : fc.constant(without(without(action, "ticketId") as Action, "nftId")), // still of its kind
  },
  {
    rule: "ticket-reference-both",
    of: (action) =>
      actionSpec(action.action).exclusive.length === 0
        ? undefined
        : fc.constant(withData(action, { ticketId: "T-1", nftId: "SANDBOX-1-1" })),
  },
  {
    rule: "claim-recipient-missing",
    of: (action) =>
      action.action === "claimedTicket" ? fc.constant(without(without(action, "to") as Action, "userId")) : undefined, // still of its kind
  },
  {
    rule: "field-null",
    of(action) {
      // In an update null says the same as leaving the field out.
      const { updates, required } = actionSpec(action.action);
      const names = settable(action).filter((name) => !updates || required.includes(name));
      if (names.length === 0) return undefined;
      return fc.constantFrom(...names).map((name) => withData(action, { [name]: null }));
    },
  },
  badValue("field-type", isText, () => fc.constantFrom<unknown>(7, true, [], {}, exact(U64_MAX))),
  badValue(
    "field-type",
    (spec) => !isText(spec) && spec.kind !== "metadata",
    () => fc.constantFrom<unknown>("7", true, [], {}),
  ),
  badValue(
    "too-long",
    (spec) => spec.maxLength !== undefined && spec.kind !== "url",
    ({ maxLength = 0 }) => fc.constantFrom("x".repeat(maxLength + 1), "🎫".repeat(maxLength + 1)),
  ),
  badValue(
    "too-long",
    (spec) => spec.kind === "url",
    ({ maxLength = 0 }) => fc.constant("https://example.com/".padEnd(maxLength + 1, "x")),
  ),
  ofKind("id-empty", "id", "", " ", "\t"),
  ofKind(
    "url-invalid",
    "url",
    "ftp://example.com/a.png",
    "example.com",
    "https://",
    "https://example.com/a b",
    "javascript:1",
  ),
  badValue(
    "url-invalid",
    (spec) => spec.kind === "url" && spec.default === undefined,
    () => fc.constant(""),
  ),
  ofKind("currency-unknown", "currency", "", "EURO", "eur", "E", "ZZZ"),
  ofKind("latitude-range", "latitude", 90.0001, -91, 1e300),
  ofKind("longitude-range", "longitude", 180.5, -181, -1e300),
  ofKind("u64-invalid", "u64", -1, 1.5, exact(U64_MAX + 1n)),
  ofKind("price-invalid", "price", "", "12,50", "-1", "1e3", "12.", ".5", "€5", " 5"),
  ofKind("nft-id-invalid", "nftId", "", "MATIC-12", "A B-1-2", "MATIC-1-x"),
  ofKind("wallet-invalid", "wallet", "", "0x123", CHECKSUMMED.replace("A", "a"), "my wallet"),
  ofKind(
    "metadata-invalid",
    "metadata",
    "x",
    {},
    7,
    [7],
    [{ trait_type: "Row" }],
    [{ trait: "Row", value: "A" }],
    "{}",
  ),
];
