import { describe, expect, it } from "vitest";
import type { ActionData, ActionName } from "../../../src/actions/actions.ts";
import { draftOf } from "../../../src/actions/draft.ts";
import { ExactNumber } from "../../../src/actions/exact-number.ts";
import { identityOf } from "../../../src/actions/identity.ts";
import { formOf } from "../../../src/actions/marks.ts";

const of = (action: ActionName, data: ActionData, key?: string) =>
  identityOf(Object.assign(draftOf(action, data), { key }));

describe("mark", () => {
  const cases: readonly (readonly [string, ActionName, ActionData, string | undefined, string])[] = [
    ["of what happens once: none", "soldTicket", { ticketId: "t", orderTime: 5 }, "key", ""],
    ["of a scan without a time: none", "scannedTicket", { ticketId: "t" }, undefined, ""],
    ["of a claim: its wallet, whatever its case", "claimedTicket", { to: "0xABC", userId: "u" }, undefined, "w:0xabc"],
    ["of a resale with a time: that", "resoldTicket", { userId: "u", price: "1", orderTime: 5 }, undefined, "t:5"],
  ];
  it.each(cases)("%s", (_name, action, data, key, mark) => {
    expect(of(action, data, key).mark).toBe(mark);
  });
});

describe("content", () => {
  const same: readonly (readonly [string, ActionName, object, object])[] = [
    ["numbers by their value", "soldTicket", { price: "18" }, { price: "18.00" }],
    ["zeros in front", "soldTicket", { price: "0.5" }, { price: "00.50" }],
    ["the order of fields", "soldTicket", { price: "1", userId: "u" }, { userId: "u", price: "1" }],
    ["the ticket's own id", "soldTicket", { ticketId: "a", price: "1" }, { ticketId: "b", price: "1" }],
    ["defaults of what is sent once", "newEvent", { currency: "EUR", eventName: "" }, { currency: "EUR" }],
    ["null in updates", "updateTicket", { imageUrl: "x", mediaUrl: null }, { imageUrl: "x" }],
    ["the case of an address", "soldTicket", { to: "0xAbC" }, { to: "0xabc" }],
    [
      "metadata as text",
      "updateTicket",
      { metadataAttributes: [{ trait_type: "Row", value: 1 }] },
      { metadataAttributes: '[{"value":1,"trait_type":"Row"}]' },
    ],
  ];
  it.each(same)("is the same whatever %s", (_name, action, one, other) => {
    expect(of(action, one).content).toBe(of(action, other).content);
  });

  const others: readonly (readonly [string, ActionName, object, object])[] = [
    ["a default in an update clears", "updateTicket", { imageUrl: "", mediaUrl: "x" }, { mediaUrl: "x" }],
    ["another price", "soldTicket", { price: "18" }, { price: "18.01" }],
    ["the event of a sale", "soldTicket", { eventId: "a" }, { eventId: "b" }],
    ["another wallet that is no 0x one", "soldTicket", { to: "Abc" }, { to: "abc" }],
    ["a user of digits and a price", "resoldTicket", { userId: "1" }, { price: "1" }],
  ];
  it.each(others)("differs: %s", (_name, action, one, other) => {
    expect(of(action, one).content).not.toBe(of(action, other).content);
  });

  it("comes with the action as it is sent, digits untouched", () => {
    const { json } = of("soldTicket", {
      ticketId: "t",
      price: "18.00",
      orderTime: new ExactNumber("18446744073709551615"),
    });
    expect(json).toBe(
      '{"action":"soldTicket","data":{"ticketId":"t","price":"18.00","orderTime":18446744073709551615}}',
    );
  });
});

describe("texts that ledgers hold", () => {
  const WALLET = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
  const ROW = '[ {"value":1.50,"trait_type":"Row"} ]';
  const late = { ticketId: "t1", orderTime: new ExactNumber("18446744073709551615") };
  const party = { eventId: "e 1", currency: "EUR", eventName: "Été – 東京", latitude: 52.5, longitude: 0 };
  const sale = { eventId: "e1", ticketId: "t\u0000#2", userId: "u1", price: "018.500", to: WALLET, name: "N" };
  /** As they were written when the first ledgers were: another text would make an accepted action look new. */
  const pinned: readonly (readonly [ActionName, ActionData, string | undefined, string, string, string])[] = [
    ["newEvent", { ...party, startTime: 1781285400 }, undefined, "e:e 1", "", "Gv5RZlEJ14TM61aG-W8tgm"],
    ["updateEvent", { eventId: "e1", shopUrl: "", endTime: 0 }, undefined, "e:e1", "c:=", '{"endTime":0,"shopUrl":""}'],
    ["soldTicket", { ...sale, orderTime: 1768600000 }, undefined, "t:t\u0001\u0001#2", "", "z2sm5fvQzv80Cx6UqPkLuP"],
    [
      "updateTicket",
      { nftId: "E-1-2", metadataAttributes: ROW },
      undefined,
      "n:E-1-2",
      "c:=",
      "UbMf1EfsRgamWbtMfMd849",
    ],
    [
      "resoldTicket",
      { ticketId: "t1", userId: "u2", price: "7" },
      "line#3",
      "t:t1",
      "k:line#-3",
      '{"price":7,"userId":"u2"}',
    ],
    ["scannedTicket", late, undefined, "t:t1", "t:18446744073709551615", "bh8__48XPYbux9Z556NF3d"],
    [
      "claimedTicket",
      { ticketId: "t1", to: WALLET },
      undefined,
      "t:t1",
      `w:${WALLET.toLowerCase()}`,
      "xz9sxN3ygV3PxMw8btEUyG",
    ],
    ["claimedTicket", { ticketId: "t1", userId: "Ann #1" }, undefined, "t:t1", "u:Ann #-1", '{"userId":"Ann #1"}'],
    ["invalidatedTicket", { ticketId: "t1" }, undefined, "t:t1", "", "{}"],
  ];
  it.each(pinned)("of a %s stay to the byte", (action, data, key, subject, mark, content) => {
    const identity = of(action, data, key);
    expect([identity.subject, identity.mark, identity.content]).toEqual([subject, mark.replace("=", content), content]);
  });
});

describe("what else the plan asks", () => {
  it("knows the owner, and of an event the currency", () => {
    expect(of("resoldTicket", { userId: "u" }).owner).toBe("u");
    expect(of("claimedTicket", { userId: "u" }).owner).toBeUndefined();
    expect(of("updateEvent", { eventId: "e", currency: "EUR" }).owner).toBe("EUR");
  });

  it("caps times at what a number holds", () => {
    expect(of("scannedTicket", { orderTime: new ExactNumber("18446744073709551615") }).time).toBe(
      Number.MAX_SAFE_INTEGER,
    );
    expect(of("scannedTicket", {}).time).toBeUndefined();
  });

  it.each([
    ["t:123", "t:123"],
    ["t:00123", "t:123"],
    ["t:0", "t:0"],
    ["t:00", "t:0"],
    ["t:123.0", "t:123"],
    ["t:A 1", "t:A 1"],
    ["t:A\u00a0 1 ", "t:A 1"],
    ["t:A\u20131", "t:A-1"],
    ["t:Mu\u0308ller", "t:M\u00fcller"],
    ["e:\uff11\uff12", "e:12"],
    ["t:007-A", "t:007-A"],
  ])("folds %j to %j", (subject, form) => expect(formOf(subject)).toBe(form));
});
