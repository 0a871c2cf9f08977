import { describe, expect, it } from "vitest";
import { ExactNumber } from "../../../src/actions/exact-number.ts";
import { checkItem } from "./check-item.ts";

const NOW = 1_780_000_000;
const DAY = 86_400;
const sale = { eventId: "e", ticketId: "t", userId: "u", price: "1", orderTime: 1767225600 };
const event = { eventId: "e", currency: "EUR" };

const rulesOf = (action: string, data: object): readonly string[] =>
  checkItem({ action, data }, NOW).map(({ rule, field }) => `${rule} ${field}`);
/** Of one field of an event. */
const rulesIn = (field: string, value: unknown): readonly string[] =>
  checkItem({ action: "newEvent", data: { ...event, [field]: value } }, NOW).map(({ rule }) => rule);
const onlyOf = (action: string, data: object) => {
  const [problem, ...more] = checkItem({ action, data }, NOW);
  expect(more).toEqual([]);
  return problem;
};

describe("an action by itself", () => {
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
    ["newEvent", { ...event, startTime: 1_780_000_020, endTime: 1_780_000_010 }, ["end-before-start endTime"]],
    ["newEvent", { ...event, startTime: NOW, endTime: 0 }, []],
    ["newEvent", { ...event, startTime: NOW, endTime: NOW }, []],
    ["updateEvent", { eventId: "e", startTime: null, endTime: NOW }, []],
    ["updateEvent", { eventId: "e", startTime: "20", endTime: NOW }, ["field-type startTime"]],
  ])("%s of %o breaks %j", (action, data, rules) => expect(rulesOf(action, data)).toEqual(rules));

  it.each([null, 7, [], {}, { action: "soldTicket" }, { action: "x", data: sale }, { action: "soldTicket", data: [] }])(
    "says of %j only what is wrong with its form",
    (item) => expect(checkItem(item).length).toBeGreaterThan(0),
  );
});

describe("characters that nobody sees", () => {
  it.each([
    ["ticketId", "t\u0001x", "control character U+0001"],
    ["eventId", "e\u0081", "control character U+0081"],
    ["userId", "anna\u200b@example.com", "invisible character U+200B"],
    ["userId", "u1\u2028u2", "invisible character U+2028"],
    ["ticketId", "\u{e0041}t", "invisible character U+E0041"],
  ])("are reported in %s %j", (field, value, what) => {
    const problem = onlyOf("soldTicket", { ...sale, [field]: value });
    expect(problem).toMatchObject({ rule: "control-character", field, value, pointer: `/data/${field}` });
    expect(problem?.message).toBe(`${field} holds the ${what}.`);
  });

  it("are reported in an nftId, a wallet, public texts and attributes too, where a text may have lines and joiners", () => {
    const family = "👨\u200d👩\u200d👧 Zoë\u200f\n\tline two\r\n";
    const metadataAttributes = [{ trait_type: "Row", value: "7\u0085" }];
    expect(rulesIn("eventName", family)).toEqual([]);
    expect(rulesIn("eventName", "a\u000bb")).toEqual(["control-character"]);
    expect(rulesIn("eventName", "a\ufeffb")).toEqual(["control-character"]);
    expect(rulesOf("soldTicket", { ...sale, metadataAttributes })).toEqual(["control-character metadataAttributes"]);
    expect(rulesOf("updateTicket", { nftId: "A\u200b-1-2", imageUrl: "" })).toEqual(["control-character nftId"]);
    expect(rulesOf("claimedTicket", { ticketId: "t", orderTime: NOW, to: "anna\u200b.eth" })).toContain(
      "control-character to",
    );
  });
});

describe("a public text", () => {
  it.each([
    ["eventName", "J\ufffdrgen", "U+FFFD"],
    ["eventName", "CafÃ©", "Ã©"],
    ["eventName", "Ã–sterreich", "Ã–"],
    ["eventName", "20Â°", "Â°"],
    ["eventName", "Donâ€™t", "â€"],
    ["eventName", "Entrée mÃ©tÃ©o", "Ã©"],
    ["eventName", "Città 日本 CafÃ©", "Ã©"],
    ["eventName", "VoilÃ", "Ã"],
    ["eventName", "Ã la carte", "Ã"],
    ["eventId", "J\ufffdrgen", "U+FFFD"],
    ["eventName", "Kaj?te", "Kaj?te"],
    ["eventName", "Familie M?ller im Gr?nen", "M?ller"],
    ["eventName", "„K?ln“", "K?ln"],
    ["eventName", "GRO?E M?LLER", "GRO?E"],
    ["eventName", "Infos: example.com/a?b=c, Caf?s", "Caf?s"],
    ["eventName", "Rock &amp; Roll", "&amp;"],
    ["eventName", "Caf&eacute; &#8211; <b>live</b>", "&eacute;"],
    ["eventName", "<p>Doors 7 pm</p>", "<p>"],
    ["eventName", "Stra\\u00dfe", "\\u00df"],
    ["eventName", "L\\'été", "\\'"],
    ["eventName", "#REF!", "#REF!"],
    ["eventName", "Err:502", "Err:502"],
    ["eventName", "NULL", "NULL"],
    ["eventName", "nan", "nan"],
    ["eventName", "[object Object]", "[object Object]"],
  ])("that is %s %s looks damaged: %s", (field, text, found) => {
    const problem = onlyOf("newEvent", { ...event, [field]: text });
    const rule = text === "#REF!" && field === "eventId" ? "id-looks-mangled" : "text-looks-damaged";
    expect(problem).toMatchObject({ rule, field, value: text, message: expect.stringContaining(` holds ${found}`) });
    if (field === "eventId") return;
    const list = [{ trait_type: "A name of more than twenty letters", value: text }];
    for (const metadataAttributes of [list, JSON.stringify(list), JSON.stringify(list, null, 2)])
      expect(rulesOf("updateTicket", { ticketId: "t", metadataAttributes })).toEqual([
        "text-looks-damaged metadataAttributes",
      ]);
  });

  it.each([
    ...["Voilà", "à la carte", "Città di Nuit", "metà prezzo 10€", "10€", "Œuvre", "œuvre", "Škoda", "Žižkov"],
    ...["Αθήνα", "Ελλάδα", "Київ", "Москва", "Їжак", "🎉 Party", "Łódź", "Århus", "PERÚ", "JOSÉ", "naïve", "½ Preis"],
    ...["„Zitat“", "L’été", "«Œuvre»", "日本", "שלום", "Ý", "ß", "Ísland", "Ángel", "Àpreslo", "İstanbul", "한국"],
  ])("that is %s, read as windows-1252, looks damaged", (right) => {
    const text = new TextDecoder("windows-1252").decode(Buffer.from(right));
    expect(rulesIn("eventName", text)).toEqual(["text-looks-damaged"]);
  });

  it.each([
    ...["Café", "ÂNGELA", "AMANHÃ", "AMANHÃ…", "«AMANHû", "IRMÃO", "Ôâ", "日本", "€ 5", "CAFÉ’S PARTY", "Spaß…"],
    ...["IRMÃ™", "Œuvre", "«Été»", "BEYONCÉ’S", "L’ÉTÉ…", "Ã", "Škoda – Žižkov", "N° 5", "5° Ã5", "CRÉÉ® 2026"],
    ...["voilà…”", "OÙ\u00a0?", "Who?", "Who? What?", "Who?What?Where", "¿Qué?", "?", "A ?b", "1?2", "Caf?"],
    ...["?sterreich"],
    ...["https://example.com/?a=b", "example.com/x?y", "see index.php?id here", "mailto:a@example.com?subject=x"],
    ...["Null", "Nan", "None", "N/A", "TRUE", "-", "#MeToo!", "#1", "null problem", "03. Nov"],
    ...["R&B; Soul & Funk", "a < b > c", "<3", "AT&T", "C:\\new"],
  ])("that is %s looks sound", (eventName) => expect(rulesIn("eventName", eventName)).toEqual([]));

  it.each([
    ["Live at https://anna:secret@live.example.com/room", ["url-with-login"]],
    ["Questions: anna@example.com, https://example.com", []],
    ["https://example.com/a:b@c", []],
  ])("%j breaks %j", (text, rules) => {
    expect(rulesIn("eventName", text)).toEqual(rules);
    const list = [
      { trait_type: "Row", value: 1 },
      { trait_type: "Stream", value: text },
    ];
    for (const metadataAttributes of [list, JSON.stringify(list)])
      expect(rulesOf("updateTicket", { ticketId: "t", metadataAttributes })).toEqual(
        rules.map((rule) => `${rule} metadataAttributes`),
      );
  });
});

describe("an id", () => {
  it.each([
    ...["1.84E+10", "12345.0", "123456789012345000", "1234567890123400", "####"].map((id) => [id, "in a spreadsheet"]),
    ...["#N/A", "#VALUE!", "#NV", "#¿NOMBRE?", "Err:502"].map((id) => [id, "in a spreadsheet"]),
    ...['="00123"', "'00123", "'+49", '"00123"'].map((id) => [id, "without the signs around the id"]),
    ...["null", "N/A", "TRUE", "None", "...", "-", "\\N"].map((id) => [id, "why the export has no value"]),
    ...["{{ticket.id}}-1", "E-\u0024{order.id}-1", "%id%", "12-{{id}}"].map((id) => [id, "left the placeholder"]),
    ["*0047110012*", "Code 39"],
    ["1.84E10", "Export the id as text"],
    ["1,001", "don't open and save the file in a spreadsheet"],
    ["12,345,678", "don't open and save the file in a spreadsheet"],
    ["2-Jan", "Export again with the ids as text"],
    ["03. Mrz", "Export again with the ids as text"],
  ])("that is %s looks mangled: %s", (id, hint) => {
    expect(onlyOf("soldTicket", { ...sale, ticketId: id })).toMatchObject({
      rule: "id-looks-mangled",
      field: "ticketId",
      hint: expect.stringContaining(hint ?? ""),
    });
    expect(rulesOf("soldTicket", { ...sale, userId: id })).toEqual(["id-looks-mangled userId"]);
    expect(rulesIn("eventId", id)).toEqual(["id-looks-mangled"]);
  });

  it.each([
    ...["18400000000", "1E5", "A1.84E+10", "1.5", "Null", "-1", "unknown-7", "#1", "1+1", "O'Hara", 'Hall "A"'],
    ...["(A)", "1,01", "0,001", "1,0011"],
    ...["1234567890123450", "123456789012345100", "012345678901234500", "TRUE-1", "{7}", "M%C3%BCnchen", "Err:7"],
    ...["#N/A-7", "Wahr", "1.5E3", "12-JAN", "set-12", "32-Jan", "2026-05-01", "Marta 12", "Caf?s", "a&amp;b"],
  ])("that is %s does not", (id) => expect(rulesOf("soldTicket", { ...sale, ticketId: id })).toEqual([]));

  it.each([
    ["'NFT-1-2", "id-looks-mangled nftId"],
    ["CafÃ©-1-2", "text-looks-damaged nftId"],
  ])("of the service is looked at as any id: %s", (nftId, expected) => {
    expect(rulesOf("scannedTicket", { nftId, orderTime: NOW })).toEqual([expected]);
  });
});

describe("a URL", () => {
  it.each([
    "https://anna:secret@example.com/a.png",
    "https://anna@example.com/",
    "http://:secret@example.com:8080/?a=b",
    "https://anna%40x:s@example.com/",
  ])("with a login would be published with it: %s", (url) => {
    expect(rulesIn("coverImageUrl", url)).toEqual(["url-with-login"]);
    expect(rulesIn("callbackUrl", url)).toEqual(["url-with-login"]);
  });

  it.each([
    ["coverImageUrl", "https://anna:secret@example.com/a.png", "https://…@example.com/a.png"],
    ["coverImageUrl", "https://anna:se@cret@a.b/", "https://…@a.b/"],
    ["callbackUrl", "http://:secret@10.0.0.1/", "http://…@10.0.0.1/"],
    [
      "eventName",
      "Live at https://anna:secret@a.example/ or https://b.example/",
      "Live at https://…@a.example/ or https://b.example/",
    ],
  ])("%s %s: its login is in no message", (field, value, shown) => {
    const found = onlyOf("newEvent", { ...event, [field]: value });
    expect(found?.value).toBe(shown);
    expect(JSON.stringify(found)).not.toMatch(/anna|secret/);
  });

  it.each([
    ["https://example.com/100%zz", "%"],
    ["https://example.com/<a>", "<"],
    ["https://example.com/{id}", "{id}"],
    ["https://example.com\\a.png", "\\"],
    ["https://example.com/{{seat}}.png", "{{seat}}"],
    ["https://example.com/a|b", "|"],
    ["https://example.com/?a=1&amp;b=2", "&amp;"],
    ["https://example.com/#REF!", "#REF!"],
  ])("that can't be meant so is reported: %s", (shopUrl, found) => {
    const problem = onlyOf("newEvent", { ...event, shopUrl });
    expect(problem?.rule).toBe("text-looks-damaged");
    expect(problem?.message).toContain(`shopUrl holds ${found}, which`);
  });

  it.each([
    ...["", "https://example.com/a@b.png", "https://example.com./", "https://shop_1.example.com/a%20b"],
    ...["https://[2001:db8::1]/a", "https://example.com/日本?q=ü", "https://example.com/?a=1&b=2;c"],
    ...["https://example.com/#!a", "https://example.com/#NV"],
  ])("that may be meant so is taken: %s", (url) => expect(rulesIn("shopUrl", url)).toEqual([]));

  it.each(["#REF!", "#NV", "{{url}}"])("that is none has no other problem: %s", (url) =>
    expect(rulesIn("shopUrl", url)).toEqual(["url-invalid"]),
  );
});

describe("a time", () => {
  it.each([
    [1767225600000, "milliseconds"],
    [1767225600000000, "microseconds"],
    [new ExactNumber("1767225600123456789"), "nanoseconds"],
  ])("of a sale that is %s looks like another unit", (orderTime, unit) => {
    expect(onlyOf("soldTicket", { ...sale, orderTime })).toMatchObject({
      rule: "looks-like-milliseconds",
      field: "orderTime",
      value: String(orderTime),
      message: `orderTime looks like ${unit}; the service reads seconds.`,
      hint: "Give 1767225600, which is 2026-01-01 00:00:00 UTC.",
    });
  });

  it.each([
    [1_230_767_999, ["order-time-far"]],
    [1_230_768_000, []],
    [0, ["order-time-far"]],
    // The digits of a date, a spreadsheet's day, a thousandth of the seconds.
    [20260501, ["order-time-far"]],
    [202605012000, ["order-time-far"]],
    [20260501200000, ["order-time-far"]],
    [46143, ["order-time-far"]],
    [1767225, ["order-time-far"]],
    [NOW, []],
    [NOW + 900, []],
    [NOW + 901, ["order-time-far"]],
    [new ExactNumber("18446744073709551615"), ["order-time-far"]],
    [Number.POSITIVE_INFINITY, ["u64-invalid", "order-time-far"]],
  ])("of a sale, %s: %j", (orderTime, rules) => {
    const found = checkItem({ action: "soldTicket", data: { ...sale, orderTime } }, NOW);
    expect(found.map(({ rule }) => rule)).toEqual(rules);
  });

  it.each([
    [NOW + 9 * 365 * DAY, []],
    [NOW + 11 * 366 * DAY, ["event-time-far"]],
    [NOW - 11 * 366 * DAY, ["event-time-far"]],
    [1_767_225_600_000, ["looks-like-milliseconds"]],
    // Nothing is known of it.
    [0, []],
  ])("of an event, %s: %j", (time, rules) => {
    expect(rulesIn("startTime", time)).toEqual(rules);
    expect(rulesIn("endTime", time)).toEqual(rules);
  });
});
