import { describe, expect, it } from "vitest";
import { checkAction } from "../../../src/check/shape.ts";

const sale = { eventId: "e", ticketId: "t", userId: "u", price: "1", orderTime: 1767225600 };
const rulesOf = (action: string, data: object): readonly string[] =>
  checkAction({ action, data }).map(({ rule, field }) => `${rule} ${field}`);

describe("an action by itself", () => {
  it("shares one empty list when it is sound", () => {
    const first = checkAction({ action: "soldTicket", data: sale });
    expect(first).toEqual([]);
    expect(checkAction({ action: "newEvent", data: { eventId: "e", currency: "EUR" } })).toBe(first);
  });

  it("says the same of all of which only the time is missing", () => {
    const scan = (ticketId: string) => checkAction({ action: "scannedTicket", data: { ticketId } });
    expect(scan("a").map(({ rule }) => rule)).toEqual(["order-time-missing"]);
    expect(scan("a")).toEqual(scan("b"));
  });

  it.each([
    ["soldTicket", { ...sale, orderTime: undefined }, ["order-time-missing orderTime"]],
    ["updateTicket", { nftId: "E-1-2", imageUrl: null }, ["update-without-change undefined"]],
    ["updateTicket", { ticketId: "t", imageUrl: "" }, []],
    ["updateEvent", { eventId: "e" }, ["update-without-change undefined"]],
    ["updateEvent", { eventId: "e", startTime: 0 }, []],
    [
      "soldTicket",
      { ...sale, price: "1,5", orderTime: undefined },
      ["price-invalid price", "order-time-missing orderTime"],
    ],
    ["soldTicket", { ...sale, orderTime: null }, ["field-null orderTime", "order-time-missing orderTime"]],
    ["newEvent", { eventId: "e", currency: "EUR", startTime: 20n, endTime: 10 }, ["end-before-start endTime"]],
    ["newEvent", { eventId: "e", currency: "EUR", startTime: 20, endTime: 0 }, []],
    ["newEvent", { eventId: "e", currency: "EUR", startTime: 20, endTime: 20 }, []],
    ["updateEvent", { eventId: "e", startTime: null, endTime: 10 }, []],
    ["updateEvent", { eventId: "e", startTime: "20", endTime: 10 }, ["field-type startTime"]],
  ])("%s of %o breaks %j", (action, data, rules) => expect(rulesOf(action, data)).toEqual(rules));

  it.each([
    ["ticketId", "t\u0001x", "control character U+0001"],
    ["eventId", "e\u0081", "control character U+0081"],
    ["userId", "anna\u200b@example.com", "invisible character U+200B"],
    ["userId", "u1\u2028u2", "invisible character U+2028"],
    ["ticketId", "\u{e0041}t", "invisible character U+E0041"],
  ])("tells what nobody sees in %s %j", (field, value, what) => {
    expect(checkAction({ action: "soldTicket", data: { ...sale, [field]: value } })).toMatchObject([
      { rule: "control-character", field, value, pointer: `/data/${field}`, message: `${field} holds the ${what}.` },
    ]);
  });

  it("tells it of an nftId, a wallet, public texts and attributes too, where a text may have lines and joiners", () => {
    const event = { eventId: "e", currency: "EUR" };
    const family = "👨\u200d👩\u200d👧 Zoë\u200f\n\tline two\r\n";
    const metadataAttributes = [{ trait_type: "Row", value: "7\u0085" }];
    expect(rulesOf("newEvent", { ...event, eventName: family })).toEqual([]);
    expect(rulesOf("newEvent", { ...event, eventName: "a\u000bb" })).toEqual(["control-character eventName"]);
    expect(rulesOf("newEvent", { ...event, eventName: "a\ufeffb" })).toEqual(["control-character eventName"]);
    expect(rulesOf("soldTicket", { ...sale, metadataAttributes })).toEqual(["control-character metadataAttributes"]);
    expect(rulesOf("updateTicket", { nftId: "A\u200b-1-2", imageUrl: "" })).toEqual(["control-character nftId"]);
    expect(rulesOf("claimedTicket", { ticketId: "t", orderTime: 1767225600, to: "anna\u200b.eth" })).toContain(
      "control-character to",
    );
  });

  it.each([
    [1767225600000, "looks like milliseconds", "Give 1767225600, which is 2026-01-01 00:00:00 UTC."],
    [1767225600000000, "looks like microseconds", "Give 1767225600, which is 2026-01-01 00:00:00 UTC."],
    [1767225600123456789n, "looks like nanoseconds", "Give 1767225600, which is 2026-01-01 00:00:00 UTC."],
  ])("takes %s for a time in another unit", (orderTime, message, hint) => {
    const [finding, ...more] = checkAction({ action: "soldTicket", data: { ...sale, orderTime } });
    expect(more).toEqual([]);
    expect(finding).toMatchObject({
      rule: "looks-like-milliseconds",
      field: "orderTime",
      value: String(orderTime),
      hint,
    });
    expect(finding?.message).toContain(message);
  });

  it.each([
    [20260501, "the digits of a date; the service reads Unix seconds, so 1970-08-23 11:55:01 UTC.", "yyyyMMdd"],
    [202605012000, "the digits of a date", '"yyyyMMddHHmm"'],
    [20260501200000n, "the digits of a date", '"yyyyMMddHHmmss"'],
    [46143, "the number that a spreadsheet has for 2026-05-01", "date and time"],
    [1767225, "a thousandth of Unix seconds", "unix-ms"],
  ])("takes %s for no Unix time", (orderTime, message, hint) => {
    const found = checkAction({ action: "soldTicket", data: { ...sale, orderTime } });
    expect(found).toMatchObject([{ rule: "looks-like-no-unix-time", field: "orderTime", value: String(orderTime) }]);
    expect(found[0]?.message).toContain(`looks like ${message}`);
    expect(found[0]?.hint).toContain(hint);
  });

  it.each([20261301, 20260532, 99991231, 1767225600, 170_000_000_000_0])("has no such doubt of %s", (orderTime) => {
    const found = checkAction({ action: "soldTicket", data: { ...sale, orderTime } });
    expect(found.map(({ rule }) => rule)).not.toContain("looks-like-no-unix-time");
  });

  it.each([
    ["eventName", "J\ufffdrgen", "U+FFFD"],
    ["eventName", "CafÃ©", "Ã©"],
    ["eventName", "Ã–sterreich", "Ã–"],
    ["eventName", "20Â°", "Â°"],
    ["eventName", "Donâ€™t", "â€"],
    ["eventId", "J\ufffdrgen", "U+FFFD"],
  ])("takes %s %s for damaged", (field, text, found) => {
    const event = { eventId: "e", currency: "EUR", [field]: text };
    expect(checkAction({ action: "newEvent", data: event })).toMatchObject([
      { rule: "text-looks-damaged", field, value: text, message: expect.stringContaining(found) },
    ]);
  });

  it.each([
    ...[
      "Voilà",
      "à la carte",
      "Città di Nuit",
      "metà prezzo 10€",
      "10€",
      "Œuvre",
      "œuvre",
      "Škoda",
      "Žižkov",
      "İstanbul",
    ],
    ...["Αθήνα", "Ελλάδα", "Київ", "Москва", "Їжак", "🎉 Party", "Łódź", "Århus", "PERÚ", "JOSÉ", "naïve", "½ Preis"],
    ...["„Zitat“", "L’été", "«Œuvre»", "日本", "שלום", "Ý", "ß", "Ísland", "Ángel", "Àpreslo"],
  ])("takes %s, read as windows-1252, for damaged", (right) => {
    const text = new TextDecoder("windows-1252").decode(Buffer.from(right));
    expect(rulesOf("newEvent", { eventId: "e", currency: "EUR", eventName: text })).toEqual([
      "text-looks-damaged eventName",
    ]);
  });

  it.each(["VoilÃ", "Ã la carte", "Entrée mÃ©tÃ©o", "Città 日本 CafÃ©"])(
    "takes %s for damaged in part",
    (eventName) => {
      expect(rulesOf("newEvent", { eventId: "e", currency: "EUR", eventName })).toEqual([
        "text-looks-damaged eventName",
      ]);
    },
  );

  it.each([
    ...[
      "Café",
      "ÂNGELA",
      "AMANHÃ",
      "AMANHÃ…",
      "«AMANHû",
      "IRMÃO",
      "Ôâ",
      "日本",
      "€ 5",
      "CAFÉ’S PARTY",
      "Spaß…",
      "IRMÃ™",
    ],
    ...["Œuvre", "«Été»", "BEYONCÉ’S", "L’ÉTÉ…", "Ã", "Škoda – Žižkov", "N° 5", "5° Ã5", "CRÉÉ® 2026"],
  ])("takes %s for sound", (eventName) => {
    expect(checkAction({ action: "newEvent", data: { eventId: "e", currency: "EUR", eventName } })).toEqual([]);
  });

  it.each([
    ["Kaj?te", "Kaj?te"],
    ["Familie M?ller im Gr?nen", "M?ller"],
    ["„K?ln“", "K?ln"],
    ["GRO?E M?LLER", "GRO?E"],
    ["Infos: example.com/a?b=c, Caf?s", "Caf?s"],
  ])("takes %s for damaged, of which a letter became a question mark", (eventName, word) => {
    expect(checkAction({ action: "newEvent", data: { eventId: "e", currency: "EUR", eventName } })).toMatchObject([
      {
        rule: "text-looks-damaged",
        message: `eventName holds ${word}, with a question mark for a letter.`,
      },
    ]);
    const metadataAttributes = [{ trait_type: "Block", value: eventName }];
    for (const attributes of [metadataAttributes, JSON.stringify(metadataAttributes)])
      expect(rulesOf("updateTicket", { ticketId: "t", metadataAttributes: attributes })).toEqual([
        "text-looks-damaged metadataAttributes",
      ]);
  });

  it.each([
    ...["Who?", "Who? What?", "Who?What?Where", "¿Qué?", "?", "A ?b", "1?2", "Caf?", "?sterreich"],
    ...["https://example.com/?a=b", "example.com/x?y", "see index.php?id here", "mailto:a@example.com?subject=x"],
  ])("takes the question mark of %s for one", (eventName) => {
    expect(rulesOf("newEvent", { eventId: "e", currency: "EUR", eventName })).toEqual([]);
  });

  const NO_TEXTS = ["#REF!", "Err:502", "NULL", "nan", "[object Object]"];
  it.each(NO_TEXTS)("takes %s for no public text", (text) => {
    expect(checkAction({ action: "newEvent", data: { eventId: "e", currency: "EUR", eventName: text } })).toMatchObject(
      [
        {
          rule: "text-looks-damaged",
          field: "eventName",
          value: text,
          message: expect.stringContaining(`holds ${text}, `),
        },
      ],
    );
    expect(rulesOf("soldTicket", { ...sale, name: text })).toEqual(["text-looks-damaged name"]);
    const list = [{ trait_type: "A name of more than twenty letters", value: text }];
    for (const metadataAttributes of [list, JSON.stringify(list), JSON.stringify(list, null, 2)])
      expect(rulesOf("updateTicket", { ticketId: "t", metadataAttributes })).toEqual([
        "text-looks-damaged metadataAttributes",
      ]);
  });

  it.each(["Null", "Nan", "None", "N/A", "TRUE", "-", "#MeToo!", "#1", "null problem", "03. Nov"])(
    "takes %s for a public text",
    (eventName) => expect(rulesOf("newEvent", { eventId: "e", currency: "EUR", eventName })).toEqual([]),
  );

  it.each([0, 1767225600, 99_999_999_999, 18446744073709551615n])("takes %s for seconds", (orderTime) => {
    expect(checkAction({ action: "soldTicket", data: { ...sale, orderTime } })).toEqual([]);
  });

  it.each([1767225600000.5, Number.POSITIVE_INFINITY])("has no opinion on %s", (orderTime) => {
    expect(rulesOf("soldTicket", { ...sale, orderTime })).toEqual(["u64-invalid orderTime"]);
  });

  it("looks at every time of an event", () => {
    const data = { eventId: "e", currency: "EUR", startTime: 1767225600000, endTime: 1767225700000 };
    expect(rulesOf("newEvent", data)).toEqual(["looks-like-milliseconds startTime", "looks-like-milliseconds endTime"]);
  });

  it.each([
    "1.84E+10",
    "12345.0",
    "#N/A",
    "#VALUE!",
    "null",
    '="00123"',
    "'00123",
    '"00123"',
    "123456789012345000",
    "1234567890123400",
    "####",
    "TRUE",
    "{{ticket.id}}-1",
    "E-\u0024{order.id}-1",
    "%id%",
    "...",
    "unbekannt",
    "n.a.",
    "k. A.",
    "#NV",
    "#¿NOMBRE?",
    "Err:502",
    "WAHR",
    "1.84E10",
    "03. Nov",
    "12-janv.",
    "Jan-12",
  ])("finds that %s is no id", (id) => {
    expect(rulesOf("soldTicket", { ...sale, ticketId: id })).toEqual(["id-looks-mangled ticketId"]);
    expect(rulesOf("resoldTicket", { ticketId: "t", userId: id, price: "1", orderTime: 1 })).toEqual([
      "id-looks-mangled userId",
    ]);
    expect(rulesOf("newEvent", { eventId: id, currency: "EUR" })).toEqual(["id-looks-mangled eventId"]);
  });

  it.each([
    ["'NFT-1-2", "id-looks-mangled nftId"],
    ["CafÃ©-1-2", "text-looks-damaged nftId"],
  ])("looks at an nftId as at any id: %s", (nftId, expected) => {
    expect(rulesOf("scannedTicket", { nftId, orderTime: 1767225600 })).toEqual([expected]);
  });

  it.each([
    ['="00123"', "by each with in and match"],
    ["'00123", "Export again without the apostrophe."],
    ["'+49", "csv: {guards: strip}"],
    ['"00123"', "in quotes twice"],
    ["1.84E+10", "don't open and save the file in a spreadsheet"],
    ["123456789012345000", "don't open and save the file in a spreadsheet"],
    ["12-{{id}}", "Check why the export left the placeholder."],
    ["TRUE", "Check why the export has no value there."],
    ["03. Nov", "don't open and save the file in a spreadsheet"],
    ["1.84E10", "Export the id as text"],
  ])("tells how %s becomes an id again", (ticketId, hint) => {
    const [finding] = checkAction({ action: "soldTicket", data: { ...sale, ticketId } });
    expect(finding?.hint).toContain(hint);
  });

  it.each([
    "18400000000",
    "1E5",
    "A1.84E+10",
    "1.5",
    "Null",
    "-1",
    "unknown-7",
    "#1",
    "1+1",
    "O'Hara",
    'Hall "A"',
    "1234567890123450",
    "123456789012345100",
    "012345678901234500",
    "TRUE-1",
    "{7}",
    "M%C3%BCnchen",
    "Err:7",
    "#N/A-7",
    "Wahr",
    "1.5E3",
    "12-JAN",
    "set-12",
    "Jan-123",
    "32-Jan",
    "2026-05-01",
    "3-Nov-26",
    "Marta 12",
  ])("takes %s for an id", (id) => expect(rulesOf("soldTicket", { ...sale, ticketId: id })).toEqual([]));

  it.each([null, 7, [], {}, { action: "soldTicket" }, { action: "x", data: sale }, { action: "soldTicket", data: [] }])(
    "says of %j only what is wrong with its form",
    (item) => expect(checkAction(item).length).toBeGreaterThan(0),
  );
});
