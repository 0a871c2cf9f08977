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

/** Whether the text is such a word and nothing else. */
export function isTotalsWord(text: string): boolean {
  if (text.length > 40 || /\d/.test(text)) return false;
  return TOTALS_WORDS.has(fold(text.trim().replace(/[\s:.=]+$/, "")));
}

const BEGINNINGS = new Uint8Array(0x80).fill(1);
for (let code = 0x41; code <= 0x5a; code += 1) {
  const letter = String.fromCharCode(code).toLowerCase();
  const begins = [...TOTALS_WORDS].some((word) => word.startsWith(letter)) ? 1 : 0;
  BEGINNINGS[code] = begins;
  BEGINNINGS[code | 0x20] = begins;
}

/** Whether a text that begins with this byte of UTF-8 may be such a word. */
export const mayBeginTotalsWord = (byte: number): boolean => byte >= 0x80 || BEGINNINGS[byte] === 1;
