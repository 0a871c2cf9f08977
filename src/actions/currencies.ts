/** ISO 4217: the codes in use, the codes withdrawn, and the digits of their minor units. */

import { data as listed } from "currency-codes";

/** Codes that ISO 4217 took up after the package's list of 2024-06-25, with their digits. */
const ADDED_SINCE: readonly (readonly [code: string, digits: number])[] = [
  ["XAD", 2],
  ["XCG", 2],
];

/**
 * Codes that ISO 4217 no longer lists (its table A.3). Fixed here and not asked of `Intl`, whose answer differs between
 * versions of Node: the same file must have the same problems everywhere.
 */
const WITHDRAWN = new Set(
  (
    "ADP AFA ALK AOK AON AOR ARA ARP ARY ATS AYM AZM BAD BEC BEF BEL BGJ BGK BGL BOP BRB BRC BRE BRN BRR BUK BYB BYR CHC CNX " +
    "CSD CSJ CSK CYP DDM DEM ECS ECV EEK EQE ESA ESB ESP FIM FRF GEK GHC GHP GNE GNS GQE GRD GWE GWP HRD HRK IEP ILP ILR ISJ " +
    "ITL LAJ LSM LTL LTT LUC LUF LUL LVL LVR MAF MGF MLF MRO MTL MTP MVQ MXP MZE MZM NIC NLG PEH PEI PES PLZ PTE RHD ROK ROL " +
    "RUR SDD SDP SIT SKK SLL SRG STD SUR TJR TMM TPE TRL UAK UGS UGW USS UYN UYP VEB VEF VNC XEU XFO XFU XRE YDD YUD YUM YUN " +
    "ZAL ZMK ZRN ZRZ ZWC ZWD ZWL ZWN ZWR"
  ).split(" "),
);

const CURRENT: ReadonlyMap<string, number> = new Map([
  ...listed.map(({ code, digits }) => [code, digits] as const),
  ...ADDED_SINCE,
]);

/** Codes beginning with X that are money; the others are metals, units of account, tests: they have no minor unit. */
const MONEY_WITH_X = new Set(["XAD", "XAF", "XCD", "XCG", "XOF", "XPF"]);

const isMoney = (code: string): boolean => !code.startsWith("X") || MONEY_WITH_X.has(code);

/** Every code that ISO 4217 lists or once listed, in order. */
export const CURRENCY_CODES: readonly string[] = [...new Set([...CURRENT.keys(), ...WITHDRAWN])].sort();

/** The codes that someone may have meant: current ones that are money. */
export const COMMON_CURRENCIES: readonly string[] = [...CURRENT.keys()].filter(isMoney);

export function isCurrency(code: string): boolean {
  return CURRENT.has(code) || WITHDRAWN.has(code);
}

/** True for a code that ISO 4217 once listed and no longer does. */
export function isWithdrawnCurrency(code: string): boolean {
  return WITHDRAWN.has(code) && !CURRENT.has(code);
}

/** Decimal digits of a currency's minor unit; undefined for what is not money or not in the current list. */
export function currencyDigits(code: string): number | undefined {
  return isMoney(code) ? CURRENT.get(code) : undefined;
}

/** The most that any currency has. */
export const MOST_CURRENCY_DIGITS: number = Math.max(...COMMON_CURRENCIES.map((code) => CURRENT.get(code) ?? 0));
