/** A line of totals below the rows of an export: it looks like a ticket, and is called a sum. */

import { fold } from "../actions/nearest.ts";
import type { Row } from "../read/row.ts";
import type { MappingRule } from "../rules.ts";
import { quoted } from "../text.ts";
import type { Mapped } from "./mapper.ts";

/** What the row gives, or the problem that it calls itself a sum. */
export function refuseTotals(row: Row, mapped: Mapped, header: readonly string[] = []): Mapped {
  if (mapped.kind === "skipped") return mapped;
  const word = totalsWord(row, mapped);
  if (word === undefined) return mapped;
  const column = header[cellsOf(row).findIndex((cell) => cell.trim() === word.trim())] ?? "";
  return totalsRow(word.trim(), column, mapped);
}

function cellsOf(row: Row): readonly string[] {
  if (row.kind === "object") return [];
  return row.kind === "cells" ? row.whole() : (row.cells ?? []);
}

type Read = Exclude<Mapped, { kind: "skipped" }>;

/** The word by which the row calls itself a sum: as the id of its ticket, or first in a row that is mostly empty. */
function totalsWord(row: Row, mapped: Read): string | undefined {
  if (row.kind === "malformed") return firstWord(cellsOf(row)); // too short to be a ticket
  for (const draft of mapped.kind === "actions" ? mapped.drafts : mapped.attempted) {
    const id = draft.text("ticketId");
    if (id !== undefined && isTotalsWord(id)) return id;
  }
  if (row.kind !== "cells") return undefined;
  const [first = ""] = row.cells;
  if (first !== "" && !isTotalsWord(first)) return undefined;
  // Besides the first, only the cells that its actions need are at hand.
  const cells = row.whole();
  return cells.filter(isFilled).length * 2 <= cells.length ? firstWord(cells) : undefined;
}

function firstWord(cells: readonly string[]): string | undefined {
  for (const cell of cells) if (isFilled(cell)) return isTotalsWord(cell) ? cell : undefined;
  return undefined;
}

const isFilled = (cell: string): boolean => cell.charCodeAt(0) > 32 || cell.trim() !== "";

function totalsRow(word: string, column: string, mapped: Read): Mapped {
  const problem = {
    rule: "totals-line" satisfies MappingRule,
    value: word,
    message: `The row is a line of totals: it is called ${quoted(word)}.`,
    hint: `Leave it out of the export, or name it in skip of the source: skip: {${column === "" ? "COLUMN" : quoted(column)}: ${quoted(word)}}.`,
  };
  if (mapped.kind === "invalid") return { ...mapped, problems: [problem, ...mapped.problems] };
  return { kind: "invalid", problems: [problem], attempted: mapped.drafts };
}

/** What exports call a line of totals, folded (`fold`): lower case, without blanks, `_` and `-`. */
const TOTALS_WORDS: ReadonlySet<string> = new Set([
  ...[
    "total",
    "totals",
    "subtotal",
    "grandtotal",
    "nettotal",
    "grosstotal",
    "sum",
    "totalsum",
    "sumtotal",
    "overalltotal",
  ], // English
  ...["totalamount", "totalsales", "totaltickets"],
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

/** A word, a colon and a number, which may have its currency beside it, or a number in parentheses: `Summe: 1.250,00 EUR`, `TOTAL (22)`. */
const WITH_NUMBER = /^([^\d:=(]+)(?:[:=][\s\p{Sc}]*[+-]?\d[\d\s.,'’]*(?:\p{Sc}|[A-Z]{3})?|\(\d[\d.,]*\))$/u;

const LONGEST = 40;

/** Whether the text is such a word, alone or with its number, and nothing else. */
export function isTotalsWord(text: string): boolean {
  if (text.length > LONGEST) return false;
  if (!/\d/.test(text)) return TOTALS_WORDS.has(folded(text));
  if (!/[:=(]/.test(text)) return false;
  const [, before] = WITH_NUMBER.exec(text.trim()) ?? [];
  if (before === undefined) return false;
  const word = folded(before);
  return TOTALS_WORDS.has(word) || COUNT_WORDS.has(word);
}

const folded = (word: string): string => fold(word.trim().replace(/[\s:.=]+$/, ""));
