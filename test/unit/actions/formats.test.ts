import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ExactNumber, typeName } from "../../../src/actions/exact-number.ts";
import type { FieldName } from "../../../src/actions/fields.ts";
import { faultIn, KINDS } from "../../../src/actions/kinds.ts";
import { ACTION_RULES } from "../../../src/rules.ts";

import { webUrl } from "../../support/texts.ts";

/** What is wrong with a value, but no warning. */
const faultOf = (field: FieldName, value: unknown) => {
  const fault = faultIn(field, value);
  return fault !== undefined && ACTION_RULES[fault.rule].severity === "error" ? fault : undefined;
};

const ruleOf = (field: FieldName, value: unknown): string | undefined => faultOf(field, value)?.rule;

const faultsOf = (field: FieldName, value: unknown): readonly string[] => {
  const fault = faultIn(field, value);
  return fault === undefined ? [] : [fault.rule];
};

const shown = (value: unknown): string => JSON.stringify(value).slice(0, 80);

const LONG_URL = (length: number): string =>
  `https://example.com/${"a".repeat(length - "https://example.com/".length)}`;

/** Beside what is made of the tables at random (json-schema.test.ts). */
const GOOD: readonly (readonly [FieldName, unknown])[] = [
  ["ticketId", " a "],
  ["eventName", "  "],
  ["shopUrl", "http://example.com"],
  ["shopUrl", "HTTPS://EXAMPLE.COM:8443/a?b=c#d"],
  ["shopUrl", "https://user:pass@example.com/"],
  ["shopUrl", "https://müller.example/straße"],
  ["shopUrl", "http://[::1]/a"],
  ["imageUrl", LONG_URL(255)],
  ["currency", "XCG"],
  ["currency", "DEM"],
  ["longitude", -0],
  ["nftId", "POLYGON-MAIN-17-0042"],
  ["price", "007"],
  ["price", "99999999999999999999999999.999999999999"],
  ["to", "0x52908400098527886E0F7030069857D2E4169EE7"],
  ["metadataTemplateId", "3F2504E0-4F89-11D3-9A0C-0305E82C3301"],
  ["metadataAttributes", [{ trait_type: "Serial", value: new ExactNumber("18446744073709551615") }]],
];

const BAD: readonly (readonly [FieldName, unknown, string])[] = [
  ["eventId", "", "id-empty"],
  ["ticketId", 17, "field-type"],
  ["eventId", "a".repeat(256), "too-long"],
  ["eventId", "😀".repeat(256), "too-long"],
  ["ticketId", "a\ud800", "text-not-unicode"],
  ["name", "x".repeat(129), "too-long"],
  ["eventName", ["a"], "field-type"],
  ["callbackUrl", "", "url-invalid"],
  ["shopUrl", "example.com", "url-invalid"],
  ["shopUrl", "javascript:alert(1)", "url-invalid"],
  ["shopUrl", "https:///example.com", "url-invalid"],
  ["shopUrl", " https://example.com", "url-invalid"],
  ["shopUrl", "https://example.com/a b", "url-invalid"],
  ["shopUrl", "https://exa\nmple.com/", "url-invalid"],
  ["shopUrl", "https://example.com:65536/", "url-invalid"],
  ["imageUrl", LONG_URL(256), "too-long"],
  ["imageUrl", "https://example.com/\ud83d", "text-not-unicode"],
  ["currency", "EURO", "currency-unknown"],
  ["currency", "eur", "currency-unknown"],
  ["currency", " EUR", "currency-unknown"],
  ["latitude", 90.0001, "latitude-range"],
  ["latitude", Number.NaN, "latitude-range"],
  ["latitude", new ExactNumber("12345678901234567890"), "latitude-range"],
  ["latitude", "52.5", "field-type"],
  ["longitude", -180.5, "longitude-range"],
  ["startTime", -1, "u64-invalid"],
  ["startTime", 1.5, "u64-invalid"],
  ["startTime", 2 ** 53, "u64-invalid"],
  ["endTime", new ExactNumber("18446744073709551616"), "u64-invalid"],
  ["endTime", "1767225600", "field-type"],
  ["nftId", "MATIC-12", "nft-id-invalid"],
  ["nftId", "-1-2", "nft-id-invalid"],
  ["nftId", "A B-1-2", "nft-id-invalid"],
  ["nftId", "A-1-2\n", "nft-id-invalid"],
  ["nftId", "A-1-٢", "nft-id-invalid"],
  ["price", 12.5, "field-type"],
  ["price", "", "price-invalid"],
  ["price", "12,50", "price-invalid"],
  ["price", "-1", "price-invalid"],
  ["price", ".5", "price-invalid"],
  ["price", "1e3", "price-invalid"],
  ["price", "12.50\n", "price-invalid"],
  ["price", "١٢", "price-invalid"],
  ["to", "0x123", "wallet-invalid"],
  ["to", "0x52908400098527886e0f7030069857d2e4169eeg", "wallet-invalid"],
  ["to", "0x52908400098527886e0f7030069857d2e4169ee7 ", "wallet-invalid"],
  ["to", "52908400098527886e0f7030069857d2e4169ee7", "wallet-invalid"],
  ...["null", "NULL", "None", "undefined", "NaN", "n/a", "\\N", "-", "0", "(null)"].map(
    (text) => ["to", text, "wallet-invalid"] as const,
  ),
  ["metadataTemplateId", "template-7", "uuid-invalid"],
  ["metadataAttributes", "Row A", "metadata-invalid"],
  ["metadataAttributes", "null", "metadata-invalid"],
  ["metadataAttributes", ["Row"], "metadata-invalid"],
  ["metadataAttributes", [{ trait_type: "Row" }], "metadata-invalid"],
  ["metadataAttributes", [{ trait_type: "Row", value: null }], "metadata-invalid"],
  ["metadataAttributes", [{ trait_type: "Row", value: { a: 1 } }], "metadata-invalid"],
  ["metadataAttributes", [{ trait_type: "Row", value: new ExactNumber("1e400") }], "metadata-invalid"],
  ["metadataAttributes", [{ trait_type: "Row", value: "A", max_value: 1 }], "metadata-invalid"],
  ["metadataAttributes", [{ trait_type: "Row", value: "\ud800" }], "metadata-invalid"],
  ["metadataAttributes", '[{"trait_type":"Row","value":1e400}]', "metadata-invalid"],
  ["metadataAttributes", '[{"trait_type":"Row","trait_type":"Seat","value":"A"}]', "json-duplicate-key"],
];

describe("formats of the fields", () => {
  it.each(GOOD.map(([field, value]) => [field, shown(value), value] as const))("%s takes %s", (field, _, value) => {
    expect(faultOf(field, value)).toBeUndefined();
  });

  it.each(BAD.map(([field, value, rule]) => [field, shown(value), rule, value] as const))(
    "%s refuses %s by %s",
    (field, _, rule, value) => {
      expect(ruleOf(field, value)).toBe(rule);
    },
  );

  it("says what was meant", () => {
    expect(faultOf("currency", "EURO")?.hint).toBe("Did you mean EUR?");
    expect(faultOf("currency", "eur")?.hint).toBe("Did you mean EUR?");
    expect(faultOf("price", "12,50")?.hint).toContain("decimal");
    expect(faultOf("price", "-5")?.hint).toContain("invalidatedTicket");
    expect(faultOf("startTime", 1.5)?.hint).toContain("no fraction");
    expect(faultOf("startTime", new ExactNumber("1e400"))?.hint).toContain("18446744073709551615");
    expect(faultOf("shopUrl", "https://example.com/a b")?.hint).toContain("%20");
  });

  it("points to the attribute, unless it stands inside a text", () => {
    const bad = [{ trait_type: "Row", value: "A" }, { trait_type: "Seat" }];
    expect(faultOf("metadataAttributes", bad)?.inside).toBe("/1");
    expect(faultOf("metadataAttributes", JSON.stringify(bad))?.inside).toBeUndefined();
  });
});

describe("URLs", () => {
  const isTaken = (url: string): boolean => KINDS.url.judge(url, Number.POSITIVE_INFINITY) === undefined;
  // Near misses of host names, which is where a lax expression accepts what URL refuses.
  const part = fc.string({ unit: fc.constantFrom(..."aZ019-.:/@%[]_x#?&=+\\ ü\t"), maxLength: 12 });
  const nearMiss = fc
    .tuple(
      fc.constantFrom("http://", "https://", "HTTPS://", "http:/", "https:"),
      fc.constantFrom("", "xn--", "1.2.3.", "a.b.", "xn--a.", "XN--", "0x1."),
      part,
      fc.constantFrom("", ".com", ".com:65536", ".com:99999", ".256", ".0x1", ".xn--a", ".museum/"),
      part,
    )
    .map((parts) => parts.join(""));

  it("accepts nothing that URL refuses, and only http and https", () => {
    fc.assert(
      fc.property(fc.oneof(nearMiss, webUrl, fc.string()), (text) => {
        if (!isTaken(text)) return;
        expect(URL.parse(text)).not.toBeNull();
        expect(new URL(text).protocol).toMatch(/^https?:$/);
      }),
      { numRuns: 10_000 },
    );
  });

  it("ends on long hostile hosts", () => {
    for (const text of [
      `https://${"a-".repeat(50_000)}`,
      `https://${"a.".repeat(50_000)}^`,
      `https://${"a".repeat(99_999)}`,
    ])
      expect(isTaken(text)).toBe(URL.parse(text) !== null);
  });
});

describe("wallet addresses", () => {
  // The test vectors of EIP-55.
  const VECTORS = [
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
    "0xde709f2102306220921060314715629080e2fb77",
    "0x27b1fdb04752bbc536007a920d24acb045561c26",
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
  ];

  it.each(VECTORS)("takes %s and its lower case", (address) => {
    expect(ruleOf("to", address)).toBeUndefined();
    expect(ruleOf("to", address.toLowerCase())).toBeUndefined();
    expect(faultsOf("to", address)).toEqual([]);
  });

  it("refuses a mixed-case address of which one letter has the other case", () => {
    for (const address of VECTORS.slice(4)) {
      for (let at = 2; at < address.length; at += 1) {
        const letter = address[at] ?? "";
        const other = letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();
        if (other === letter) continue;
        expect(ruleOf("to", address.slice(0, at) + other + address.slice(at + 1))).toBe("wallet-invalid");
      }
    }
  });

  it("calls other forms unusual", () => {
    expect(faultsOf("to", "tz1VSUr8wwNhLAzempoch5d6hLRiTh8Cjcjb")).toEqual(["wallet-unusual"]);
  });
});

it.each([
  [null, "null"],
  [[], "a list"],
  [new ExactNumber("18446744073709551616"), "a number"],
  [{}, "an object"],
])("the type of %s is called %s", (value, name) => expect(typeName(value)).toBe(name));
