import { describe, expect, it } from "vitest";
import type { Action, ActionData, ActionName } from "../../../src/actions/actions.ts";
import { contentText, DIGEST_BYTES, digestOf, identityText, recipientsAgree } from "../../../src/actions/identity.ts";
import { stringifyJson } from "../../../src/actions/json.ts";

const of = (action: ActionName, data: ActionData): Action => ({ action, data });
const LOWER = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed";
const CHECKSUMMED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

/** Pairs with a title that shows both; bigints too. */
const titled = (pairs: readonly (readonly [Action, Action])[]) =>
  pairs.map(([a, b]) => [stringifyJson(a), stringifyJson(b), a, b] as const);

describe("the same deed", () => {
  it.each(
    titled([
      [of("newEvent", { eventId: "e", currency: "EUR" }), of("newEvent", { eventId: "e", currency: "USD" })],
      [
        of("soldTicket", { eventId: "e", ticketId: "t", userId: "u", price: "1" }),
        of("soldTicket", { eventId: "f", ticketId: "t", userId: "v", price: "2" }),
      ],
      [of("checkedInTicket", { ticketId: "t" }), of("checkedInTicket", { ticketId: "t", orderTime: 5 })],
      [of("invalidatedTicket", { nftId: "A-1-2" }), of("invalidatedTicket", { nftId: "A-1-2", orderTime: 5 })],
      [of("claimedTicket", { ticketId: "t", to: LOWER }), of("claimedTicket", { ticketId: "t", to: CHECKSUMMED })],
      [of("scannedTicket", { ticketId: "t", orderTime: 5 }), of("scannedTicket", { ticketId: "t", orderTime: 5n })],
      [
        of("resoldTicket", { ticketId: "t", userId: "a", price: "1" }),
        of("resoldTicket", { ticketId: "t", userId: "b", price: "2" }),
      ],
      [of("updateTicket", { ticketId: "t", nftId: null, imageUrl: "" }), of("updateTicket", { ticketId: "t" })],
    ]),
  )("%s is %s", (_, __, a, b) => expect(identityText(a)).toBe(identityText(b)));

  it.each(
    titled([
      [of("checkedInTicket", { ticketId: "t" }), of("invalidatedTicket", { ticketId: "t" })],
      [of("checkedInTicket", { ticketId: "A-1-2" }), of("checkedInTicket", { nftId: "A-1-2" })],
      [of("scannedTicket", { ticketId: "t", orderTime: 12 }), of("scannedTicket", { ticketId: "t1", orderTime: 2 })],
      [of("newEvent", { eventId: '","', currency: "EUR" }), of("newEvent", { eventId: "", currency: "EUR" })],
    ]),
  )("%s is not %s", (_, __, a, b) => expect(identityText(a)).not.toBe(identityText(b)));
});

describe("claims of one ticket", () => {
  it.each<[string, ActionData, ActionData, boolean]>([
    ["the same wallet", { to: LOWER }, { to: CHECKSUMMED }, true],
    ["the user that one lacks", { to: LOWER }, { to: LOWER, userId: "u" }, true],
    ["nothing that both give", { to: LOWER }, { userId: "u" }, true],
    ["another user", { to: LOWER, userId: "u" }, { to: LOWER, userId: "v" }, false],
    ["another wallet, for one that is no 0x address in its case", { to: "tz1a" }, { to: "tz1A" }, false],
  ])("with %s agree, or don't", (_, one, other, agree) => {
    expect(recipientsAgree(one, other)).toBe(agree);
    expect(recipientsAgree(other, one)).toBe(agree);
  });
});

describe("the same content", () => {
  const sale = { eventId: "e", ticketId: "t", userId: "u", price: "1" };
  it.each(
    titled([
      [of("soldTicket", sale), of("soldTicket", { price: "1", userId: "u", ticketId: "t", eventId: "e" })],
      [of("soldTicket", { ...sale, imageUrl: "" }), of("soldTicket", sale)],
      [
        of("newEvent", { eventId: "e", currency: "EUR", startTime: 0 }),
        of("newEvent", { eventId: "e", currency: "EUR" }),
      ],
      [of("soldTicket", { ...sale, orderTime: 7 }), of("soldTicket", { ...sale, orderTime: 7n })],
      [of("soldTicket", { ...sale, to: LOWER }), of("soldTicket", { ...sale, to: CHECKSUMMED })],
      [of("updateEvent", { eventId: "e", shopUrl: null }), of("updateEvent", { eventId: "e" })],
      [
        of("soldTicket", { ...sale, metadataAttributes: '[ {"value":"A","trait_type":"Row"} ]' }),
        of("soldTicket", { ...sale, metadataAttributes: [{ trait_type: "Row", value: "A" }] }),
      ],
    ]),
  )("%s and %s", (_, __, a, b) => expect(contentText(a)).toBe(contentText(b)));

  it.each(
    titled([
      [of("updateEvent", { eventId: "e", shopUrl: "" }), of("updateEvent", { eventId: "e" })],
      [of("updateEvent", { eventId: "e", startTime: 0 }), of("updateEvent", { eventId: "e", startTime: null })],
      [of("soldTicket", { ...sale, price: "1.0" }), of("soldTicket", sale)],
      [of("soldTicket", { ...sale, name: "" }), of("soldTicket", sale)],
      [
        of("soldTicket", { ...sale, metadataAttributes: [{ trait_type: "Row", value: "1" }] }),
        of("soldTicket", { ...sale, metadataAttributes: [{ trait_type: "Row", value: 1 }] }),
      ],
      [
        of("soldTicket", {
          ...sale,
          metadataAttributes: [
            { trait_type: "a", value: 1 },
            { trait_type: "b", value: 2 },
          ],
        }),
        of("soldTicket", {
          ...sale,
          metadataAttributes: [
            { trait_type: "b", value: 2 },
            { trait_type: "a", value: 1 },
          ],
        }),
      ],
      [
        of("resoldTicket", { ticketId: "t", userId: "a", price: "1" }),
        of("resoldTicket", { ticketId: "t", userId: "b", price: "1" }),
      ],
    ]),
  )("is not that of %s and %s", (_, __, a, b) => expect(contentText(a)).not.toBe(contentText(b)));

  it("has digests of 16 bytes", () => {
    expect(digestOf("a")).toHaveLength(DIGEST_BYTES);
    expect(digestOf("a").toString("hex")).toBe("ca978112ca1bbdcafac231b39a23dc4d");
  });
});
