/** What becomes public as code or in another alphabet, and what only looks so. */

import { expect, test } from "vitest";
import { draftOf } from "../../../src/actions/draft.ts";
import { decodeMarkup } from "../../../src/actions/mangled.ts";
import { checkDraft } from "../../../src/check/check-draft.ts";
import { markupIn } from "../../../src/check/text-flaws.ts";

const rulesOf = (eventName: string) =>
  checkDraft(draftOf("newEvent", { eventId: "E-1", currency: "EUR", eventName }), 0).map(({ rule }) => rule);

test.each([
  ["Rock &amp; Roll &#8211; Winter", ["html"], "Rock & Roll – Winter"],
  ["Caf&eacute; &Uuml;ber&#x20;&szlig;", ["html"], "Café Über ß"],
  ["Caf&#xE9 &#252ber", ["html"], "Café über"],
  ["<b>Night</b><br />of <a href='x'>it</a>", ["html"], "Night of it"],
  ["<p>Gala</p><p>Night</p>", ["html"], "Gala Night"],
  ["<![CDATA[Gala]]><script>x</script>", ["html"], "Galax"],
  ["K%F6ln%20Live", [], "K%F6ln%20Live"],
  ["Tom\\'s", ["escapes"], "Tom's"],
  ["Tom\\'s Caf&eacute;", ["html", "escapes"], "Tom's Café"],
  ["Gro\\u00dfe Nacht", ["escapes"], "Große Nacht"],
  ["Rock%20%C3%BCber", [], "Rock über"],
  ["https://shop.example/?a=1&amp;b=2", ["html"], "https://shop.example/?a=1&b=2"],
] as const)("%s holds markup", (text, codings, decoded) => {
  expect(markupIn(text)).toMatchObject({ codings, decoded });
});

test.each([
  ...["Rock & Roll", "AT&T; and more", "a < b and c > d", "<3 hearts", "100% Techno", "C:\\new", "R&B; Soul"],
  ...["The &#1 Night", "https://shop.example/?a=1&b=%20"],
])("%s holds none", (text) => {
  expect(markupIn(text)).toBeUndefined();
});

test("what no name stands for is left as it is", () => {
  expect(decodeMarkup("&unknown; &#0; &#99999999;", "html")).toBe("&unknown; &#0; &#99999999;");
});

test.each([
  ...["Çèìíèé êîíöåðò", "¯ó³ty Koncert", "£ódŸ", "Kýþ Gecesi", "Ýstanbul", "×åéìåñéíÞ", "CafŽ", "GrŸ§e"],
  ...["MŸnchen", "H„nde", "K”ln", "Caf‚", "No‰l", "SofĂ\u00ada", "GonzĂĄlez", "ÄŚeskĂˇ", "DvoĹ™Ăˇk", "K├Âln"],
  ...["ƒRƒ“ƒT[ƒg", "РљРѕРЅС†РµСЂС‚"],
])("%s was read in another encoding", (text) => {
  expect(rulesOf(text)).toEqual(["text-looks-damaged"]);
});

test.each([
  ...["Gala {{date}}", "%EVENT% live", '{"en":"Gala","de":"Ball"}', "[:en]Gala[:de]Ball[:]"],
  ...['a:1:{s:2:"en";s:4:"Gala";}', "=?UTF-8?Q?Gala?=", "K=C3=B6ln live"],
])("%s is code and no text", (text) => {
  expect(rulesOf(text)).toEqual(["text-looks-damaged"]);
});

test.each([
  ...["Große Nacht", "Jäääär", "Þórður í Íslandi", "Íþrótt", "L·la", "£20 Konzert", "Łódź", "CAFÉ MÜLLER"],
  ...["5 m² Zimmer", "Noël à l’Île-d’Yeu", "Český Krumlov", "10½ Stunden", "Сёстры и Рёва", "[SOLD OUT] Gala"],
  ...["100% Techno 50%"],
])("%s is as it was written", (text) => {
  expect(rulesOf(text)).toEqual([]);
});
