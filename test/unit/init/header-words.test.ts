/** What the names of columns and the words of cells say, in several languages. */

import { expect, test } from "vitest";
import { FIELD_NAMES } from "../../../src/actions/fields.ts";
import {
  minorUnitsIn,
  saysGone,
  saysIn,
  saysSold,
  type TimeKind,
  tellsSale,
  tellsSurcharge,
  tellsTicketPrice,
  tellsTotal,
  timeKindOf,
  WORDS,
  wordsOf,
} from "../../../src/init/header-words.ts";

// A column of any other name is for the user to give to one of these.
test("every field has words by which a column of an export is known, but for these", () => {
  expect(FIELD_NAMES.filter((name) => !Object.hasOwn(WORDS, name))).toEqual([
    ...["shopUrl", "coverImageUrl", "coverMediaUrl", "defaultNftImageUrl", "defaultNftMediaUrl"],
    ...["latitude", "longitude", "callbackUrl", "nftId", "imageUrl", "mediaUrl", "to"],
    ...["metadataAttributes", "metadataTemplateId", "name", "description"],
  ]);
});

test.each([
  ["Ticket ID", "ticket,id"],
  ["ticketId", "ticket,id"],
  ["N° billet", "n,billet"],
  ["Événement", "evenement"],
])("%s is made of %s", (name, words) => {
  expect(wordsOf(name).join()).toBe(words);
});

test.each<[string, TimeKind | undefined]>([
  ["Sold at", "sale"],
  ["Bestelldatum", "sale"],
  ["Scanned at", "entry"],
  ["Storniert am", "loss"],
  ["Claimed at", "claim"],
  ["Resold on", "resale"],
  ["Event start", "other"],
  ["Geburtsdatum", "other"],
  ["created_at", "any"],
  ["unix_ts", "any"],
  ["Gate", undefined],
  ["Scanned or refunded at", undefined],
])("a time called %s is one of a %s", (name, kind) => {
  expect(timeKindOf(name)).toBe(kind);
});

test.each([
  ["bezahlt", [true, false, false]],
  ["Remboursé", [false, true, false]],
  ["CHECKED_IN", [false, false, true]],
  ["offen", [false, false, false]],
])("a status %s says sold, gone, in: %j", (value, says) => {
  expect([saysSold, saysGone, saysIn].map((say) => say(value))).toEqual(says);
});

test.each([
  ["Unit price", [true, false, false]],
  ["Order total", [false, true, false]],
  ["Tickets total", [false, true, false]],
  ["Total fees", [false, true, true]],
  ["Price incl. fees", [false, true, false]],
])("an amount called %s is of a ticket, in all, a surcharge: %j", (name, tells) => {
  expect([tellsTicketPrice, tellsTotal, tellsSurcharge].map((tell) => tell(name))).toEqual(tells);
});

test("an amount says what it counts", () => {
  expect(["price_cents", "amount_minor", "Discount percent"].map(minorUnitsIn)).toEqual([
    "hundredths",
    "by currency",
    undefined,
  ]);
});

test("a column is of a sale where it names an order, a buyer or a ticket", () => {
  expect(["Order #", "Kunde", "Barcode", "Products sold", "Venue"].map(tellsSale)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});
