import { fold } from "../actions/nearest.ts";

/** What exports call a line of totals, folded (`fold`): lower case, without blanks, `_` and `-`. */
const TOTALS_WORDS: ReadonlySet<string> = new Set([
  ...["total", "totals", "subtotal", "grandtotal", "sum", "totalsum", "sumtotal", "overalltotal"], // English
  ...["summe", "summen", "gesamt", "gesamtsumme", "gesamtbetrag", "zwischensumme", "endsumme", "insgesamt"], // German
  ...["totaux", "soustotal", "totalgénéral", "totalgeneral", "somme"], // French
  ...["totale", "totali", "subtotale", "totalegenerale", "somma"], // Italian
  ...["totales", "suma", "sumatotal", "importetotal"], // Spanish
  ...["totais", "totalgeral", "soma"], // Portuguese
  ...["totaal", "subtotaal", "eindtotaal", "som"], // Dutch
  ...["summa", "totalsumma", "totalt", "ialt", "samlet", "sammanlagt", "yhteensä"], // Swedish, Danish, Norwegian, Finnish
  ...["razem", "łącznie", "ogółem", "celkem", "součet", "spolu", "összesen", "ukupno", "skupaj"], // Polish, Czech, Slovak, Hungarian, Croatian, Slovene
  ...["toplam", "geneltoplam", "σύνολο", "итого", "всего", "разом", "общо"], // Turkish, Greek, Russian, Ukrainian, Bulgarian
  ...["合計", "総計", "小計", "合计", "总计", "總計", "小计", "합계", "총계", "المجموع", "الإجمالي", "סהכ"], // Japanese, Chinese, Korean, Arabic, Hebrew
]);

/** What they call a number of rows, likewise. Alone such a word may be anything; before a colon and a number it is that. */
const COUNT_WORDS: ReadonlySet<string> = new Set([
  ...["count", "totalcount", "quantity", "anzahl", "gesamtanzahl", "gesamtzahl", "stückzahl"], // English, German
  ...["quantité", "quantità", "cantidad", "quantidade", "aantal", "antal", "antall", "lukumäärä"], // Romance, Dutch, Nordic
  ...["ilość", "liczba", "počet", "količina", "adet", "количество", "кількість"], // Slavic, Turkish
]);

/** A word, a colon and a number, which may have its currency beside it: `Anzahl: 2`, `Summe: 1.250,00 EUR`. */
const WITH_NUMBER = /^([^\d:=]+)[:=][\s\p{Sc}]*[+-]?\d[\d\s.,'’]*(?:\p{Sc}|[A-Z]{3})?$/u;

const LONGEST = 40;

/** Whether the text is such a word, alone or with its number, and nothing else. */
export function isTotalsWord(text: string): boolean {
  if (text.length > LONGEST) return false;
  if (!/\d/.test(text)) return TOTALS_WORDS.has(folded(text));
  if (!text.includes(":") && !text.includes("=")) return false;
  const [, before] = WITH_NUMBER.exec(text.trim()) ?? [];
  if (before === undefined) return false;
  const word = folded(before);
  return TOTALS_WORDS.has(word) || COUNT_WORDS.has(word);
}

const folded = (word: string): string => fold(word.trim().replace(/[\s:.=]+$/, ""));
