/**
 * The table of currencies, as text. Which codes ISO 4217 lists, and their digits, is from `currency-codes`, whose list is
 * of 2024-06-25; what has come and gone since is from CLDR, which is kept up to date. `npm run generate` writes it, a
 * test pins it.
 */

import cldr from "cldr-core/supplemental/currencyData.json" with { type: "json" };
import { data as listed } from "currency-codes";
import * as z from "zod";

export const CURRENCY_TABLE = "src/actions/currency-table.ts";

/** What ISO 4217 says and CLDR says otherwise. */
const ISO_SAYS = {
  /** El Salvador took the dollar in 2001; ISO 4217 lists its colón on. */
  stillListed: ["SVC"],
  /** A unit of account, which have no digits; this one has. */
  digits: { XAD: 2 } as Readonly<Record<string, number>>,
};

/** Codes that ISO 4217 no longer listed on 2024-06-25 (its table A.3). CLDR lacks some, and has others that ISO never took up. */
const WITHDRAWN_BEFORE =
  "ADP AFA ALK AOK AON AOR ARA ARP ARY ATS AYM AZM BAD BEC BEF BEL BGJ BGK BGL BOP BRB BRC BRE BRN BRR BUK BYB BYR CHC CNX " +
  "CSD CSJ CSK CYP DDM DEM ECS ECV EEK EQE ESA ESB ESP FIM FRF GEK GHC GHP GNE GNS GQE GRD GWE GWP HRD HRK IEP ILP ILR ISJ " +
  "ITL LAJ LSM LTL LTT LUC LUF LUL LVL LVR MAF MGF MLF MRO MTL MTP MVQ MXP MZE MZM NIC NLG PEH PEI PES PLZ PTE RHD ROK ROL " +
  "RUR SDD SDP SIT SKK SLL SRG STD SUR TJR TMM TPE TRL UAK UGS UGW USS UYN UYP VEB VEF VNC XEU XFO XFU XRE YDD YUD YUM YUN " +
  "ZAL ZMK ZRN ZRZ ZWC ZWD ZWL ZWN ZWR";

const { fractions, region } = z
  .object({
    fractions: z.record(z.string(), z.object({ _digits: z.string() })),
    region: z.record(
      z.string(),
      z.array(z.record(z.string(), z.object({ _to: z.string().optional(), _tender: z.string().optional() }))),
    ),
  })
  .parse(cldr.supplemental.currencyData);

/** Where and how long a code was used, as CLDR has it. `ZZ` stands for no region: metals and units of account. */
const uses = Object.entries(region).flatMap(([place, entries]) =>
  entries.flatMap((entry) =>
    Object.entries(entry).map(([code, { _to, _tender }]) => ({
      code,
      place,
      hasEnded: _to !== undefined,
      isTender: _tender !== "false",
    })),
  ),
);

/** The text of `CURRENCY_TABLE`. */
export function currencyTable(): string {
  const byDigits = Map.groupBy([...digitsByCode()], ([, digits]) => digits ?? "none");
  const groups = [...byDigits].sort(([one], [other]) => (String(one) < String(other) ? -1 : 1));
  const entries = groups.map(
    ([digits, codes]) =>
      `  ${digits}:${wordsText(
        codes.map(([code]) => code),
        "    ",
      )},`,
  );
  return `/** Written by \`npm run generate\` from CLDR and ISO 4217. Change scripts/currencies.ts, or the packages that it reads. */

/** Every code that ISO 4217 lists or listed lately, by the digits of its minor unit; \`none\` are those that are no money. */
export const CODES_BY_DIGITS: Readonly<Record<string, string>> = {
${entries.join("\n")}
};

/** The codes that ISO 4217 no longer lists. */
export const WITHDRAWN_CODES: string =${wordsText([...withdrawnCodes()], "  ")};
`;
}

const CODES_PER_LINE = 27;

/** The codes in order, as text of several lines where they are many. */
function wordsText(codes: readonly string[], indent: string): string {
  const sorted = codes.toSorted();
  const lines = Array.from({ length: Math.ceil(sorted.length / CODES_PER_LINE) }, (_, at) =>
    sorted.slice(at * CODES_PER_LINE, (at + 1) * CODES_PER_LINE).join(" "),
  );
  return lines.length === 1 ? ` "${lines[0]}"` : `\n${indent}"${lines.join(` " +\n${indent}"`)}"`;
}

function digitsByCode(): ReadonlyMap<string, number | null> {
  const byList = new Map(listed.map(({ code, digits }) => [code, digits]));
  // What CLDR has beside ISO 4217's list is new, or is no tender of a region, such as the yuan of Hong Kong.
  const added = uses.filter(
    ({ code, place, hasEnded, isTender }) => !byList.has(code) && !hasEnded && (isTender || place === "ZZ"),
  );
  return new Map(
    [...byList.keys(), ...added.map(({ code }) => code)].map((code) => {
      const count = ISO_SAYS.digits[code] ?? (isMoney(code) ? (byList.get(code) ?? digitsByCldr(code)) : null);
      return [code, count];
    }),
  );
}

/** Of the codes that begin with X, those that are tender somewhere; the others are metals, units of account and tests. */
function isMoney(code: string): boolean {
  return !code.startsWith("X") || uses.some((use) => use.code === code && use.place !== "ZZ" && use.isTender);
}

/** CLDR counts the digits that people write, which for old currencies may be fewer than ISO 4217's. */
function digitsByCldr(code: string): number {
  return Number((fractions[code] ?? fractions.DEFAULT)?._digits);
}

/** A currency is withdrawn once CLDR knows of its end in every region. */
function withdrawnCodes(): ReadonlySet<string> {
  const ended = listed.flatMap(({ code }) => {
    const places = uses.filter((use) => use.code === code);
    return places.length > 0 && places.every(({ hasEnded }) => hasEnded) ? [code] : [];
  });
  return new Set([...WITHDRAWN_BEFORE.split(" "), ...ended.filter((code) => !ISO_SAYS.stillListed.includes(code))]);
}
