import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ACTION_NAMES, type ActionName, acceptedFields } from "../../../src/actions/actions.ts";
import { coercerOf, compileField } from "../../../src/actions/coerce.ts";
import { Draft, draftOf, itemOf } from "../../../src/actions/draft.ts";
import type { FieldName } from "../../../src/actions/fields.ts";
import { identityOf } from "../../../src/actions/identity.ts";
import { parseJson, stringifyJson } from "../../../src/actions/json.ts";
import type { Finding } from "../../../src/actions/problem.ts";
import { checkAction, checkDraft } from "../../../src/check/shape.ts";
import { actionArbitrary, mutate } from "../../support/arbitraries.ts";
import { codePoint } from "../../support/texts.ts";

const NOW = 1_790_000_000;

const ALL = ACTION_NAMES.flatMap((action) => acceptedFields(action).map((field) => [action, field] as const));

/** What is likely to be taken for ordinary, and the pieces that are not. */
const PIECES = [
  ..."aZ0 -._/?#%&=+,:;@'\"\\{}[]()<>|^~!*$\t\n",
  ...[
    "Ã",
    "Â",
    "â€™",
    "é",
    "ö",
    "ß",
    "»",
    "…",
    "\ufffd",
    "\u00a0",
    "\u200b",
    "\u2028",
    "\ud800",
    "\udc00",
    "東京",
    "Ἀθῆναι",
    "🎟",
  ],
  ...[
    "null",
    "NaN",
    "undefined",
    "#REF!",
    "Err:502",
    "TRUE",
    "1.84E+10",
    "03. Nov",
    "12345678901234500",
    "{{id}}",
    "%ID%",
  ],
  ...["http://", "https://", "xn--", "example.com", "localhost", "a:b@", "Kaj?te", ".5", "00", "e5", "-1-2", "0x"],
  ...[
    "[",
    "]",
    '{"trait_type":"Row","value":',
    '"value":',
    '"display_type":"date"',
    "},",
    "\\u00e9",
    "\\ud83c",
    "1e400",
  ],
  ...["2026-05-01T20:00:00", "Z", "+02:00", "1767225600", "EUR", "DEM", "6f1c2a52-7a41-4c0e-9d3e-52e0f6a1b0c7"],
];
const anyText = fc
  .oneof(
    fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((pieces) => pieces.join("")),
    fc.string({ unit: codePoint, maxLength: 12 }),
    fc.string({ unit: fc.constantFrom(..."0123456789"), maxLength: 20 }),
  )
  .map((text) => text.trim())
  .filter((text) => text !== "");

/** Lists of attributes whose texts are anything. */
const attributes = fc.array(
  fc.record(
    { trait_type: anyText, value: fc.oneof(anyText, fc.integer(), fc.double()), display_type: anyText },
    { requiredKeys: ["trait_type", "value"] },
  ),
  { maxLength: 3 },
);
const attributesAsText = fc
  .tuple(attributes, fc.constantFrom(undefined, 1))
  .map(([list, indent]) => JSON.stringify(list, undefined, indent));

/** The value of a valid action as a cell holds it. */
const validTexts = (action: ActionName, field: FieldName) =>
  actionArbitrary({ action, forCells: true })
    .map(({ data }) => data[field])
    .filter((value) => value != null && value !== "")
    .map((value) => (typeof value === "string" ? value : stringifyJson(value)));

describe.each(ALL)("%s.%s", (action, field) => {
  const settings = { clearWord: "\\clear", zone: "Europe/Berlin" };
  const read = compileField(action, field, settings);
  const exact = coercerOf(action, field, settings);
  const special = field === "metadataAttributes" ? [attributesAsText] : [];

  it("reads any text as its exact rules do", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, validTexts(action, field), ...special), (text) => {
        const [draft, findings, exactFindings] = [new Draft(action), [] as Finding[], [] as Finding[]];
        read(text, draft, findings);
        const value = exact(text, exactFindings);
        expect(findings).toEqual(exactFindings);
        expect(itemOf(draft).data[field]).toEqual(value === 0 ? 0 : value);
        if (value === undefined) return;
        const { json } = identityOf(draft);
        expect(json).toBe(`{"action":"${action}","data":{"${field}":${stringifyJson(value)}}}`);
        const expected = checkAction({ action, data: { [field]: value } }, NOW);
        expect(checkDraft(draft, NOW)).toEqual(expected);
        const isReported = expected.some(({ pointer }) => pointer?.startsWith(`/data/${field}`) === true);
        // Times are compared with today only when the draft is checked.
        if (draft.isOrdinary && !/Time$/.test(field)) expect(isReported).toBe(false);
      }),
    );
  });
});

describe("the draft of typed data", () => {
  it("is judged and known as the data is", () => {
    const texts = fc.dictionary(
      fc.constantFrom(...ALL.map(([, field]) => field), "strange"),
      fc.oneof(anyText, fc.jsonValue()),
    );
    const items = fc.oneof(
      actionArbitrary(),
      attributesAsText.map((text) => ({ action: "updateTicket", data: { metadataAttributes: parseJson(text) } })),
      fc.record({ action: fc.constantFrom(...ACTION_NAMES), data: texts }),
      actionArbitrary().chain((action) => mutate(action).map(({ item }) => item)),
    );
    fc.assert(
      fc.property(items, (item) => {
        const { action, data } = Object(item);
        if (!ACTION_NAMES.includes(action) || typeof data !== "object" || data === null || Array.isArray(data)) return;
        const draft = draftOf(action, data);
        expect(itemOf(draft)).toEqual({ action, data });
        expect(checkDraft(draft, NOW)).toEqual(checkAction({ action, data }, NOW));
        expect(identityOf(draft).json).toBe(stringifyJson({ action, data }));
      }),
      { numRuns: 2000 },
    );
  });

  it("of an ordinary action is ordinary", () => {
    const row = { trait_type: "Row", value: "Rang – Süd" };
    const sale = {
      ...{ eventId: "e-1", ticketId: "K-1", userId: "Zoë “7”", price: "12.50", orderTime: NOW, name: "Été 東京" },
      ...{ imageUrl: "https://media.example.com/a.png?x=1#top", to: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" },
      metadataAttributes: [row, { trait_type: "Seat", value: 7, display_type: "number" }],
    };
    expect(draftOf("soldTicket", sale).isOrdinary).toBe(true);
  });
});
