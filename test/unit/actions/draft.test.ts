import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ACTION_NAMES, type ActionName, acceptedFields } from "../../../src/actions/actions.ts";
import { compileField, Draft, draftOf, itemOf } from "../../../src/actions/draft.ts";
import { type FieldName, isFieldName } from "../../../src/actions/fields.ts";
import { identityOf } from "../../../src/actions/identity.ts";
import { parseJson } from "../../../src/actions/json.ts";
import { faultIn } from "../../../src/actions/kinds.ts";
import type { Problem } from "../../../src/actions/problem.ts";
import { checkDraft } from "../../../src/check/check-draft.ts";
import { ACTION_RULES } from "../../../src/rules.ts";
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
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)));

describe.each(ALL)("%s.%s", (action, field) => {
  const read = compileField(action, field, { clearWord: "\\clear", zone: "Europe/Berlin" });
  const special = field === "metadataAttributes" ? [attributesAsText] : [];

  it("reads any text as the JSON that is right for it, or by the rule that this breaks", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, validTexts(action, field), ...special), (text) => {
        const [draft, problems] = [new Draft(action), [] as Problem[]];
        read(text, draft, problems);
        if (problems.length > 0) {
          expect(problems).toEqual([expect.objectContaining({ field, value: text })]);
          expect(draft.given.length).toBe(0);
          return;
        }
        const { json } = identityOf(draft);
        const { data } = parseJson(json) as { data: Record<string, unknown> };
        expect(Object.keys(data)).toEqual([field]);
        const found = checkDraft(draft, NOW);
        const [broken] = found.filter((each) => each.field === field && each.rule in ACTION_RULES);
        expect(broken?.rule).toBe(faultIn(field, data[field])?.rule);
        expect(draft.given.every(({ fault }) => fault === undefined)).toBe(broken === undefined);
        // As typed data, it is the same action with the same problems.
        expect(checkDraft(draftOf(action, data), NOW)).toEqual(found);
        expect(identityOf(draftOf(action, data)).json).toBe(json);
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
        for (const name of Object.keys(data).filter(isFieldName)) {
          const broken = data[name] === null ? undefined : faultIn(name, data[name])?.rule;
          expect(draft.get(name)?.fault?.rule).toBe(broken);
        }
        expect(identityOf(draft).json).toBe(JSON.stringify({ action, data }));
      }),
      { numRuns: 2000 },
    );
  });
});
