/** When to try again. Pure: the clock and chance are given. */

const BASE_MS = 500;
const CAP_MS = 60_000;

/** The longest wait that a Retry-After may ask for. */
export const MAX_RETRY_AFTER_MS = 600_000;

/**
 * Milliseconds before retry number `attempt` (from 1): exponential with full jitter, at most 0.5 s before the first retry
 * and at most 60 s before any.
 *
 * @param chance a number from 0 to 1, such as `Math.random()`.
 */
export function backoffMs(attempt: number, chance: number): number {
  return Math.round(chance * Math.min(CAP_MS, BASE_MS * 2 ** Math.min(attempt - 1, 30)));
}

/**
 * What a Retry-After header asks for in milliseconds, at most ten minutes; undefined when it says nothing readable.
 * A date is read against the answer's own Date, so that a clock that is off does no harm.
 */
export function retryAfterMs(
  retryAfter: string | undefined,
  date: string | undefined,
  nowMs: number,
): number | undefined {
  if (retryAfter === undefined) return undefined;
  const text = retryAfter.trim();
  if (/^\d+$/.test(text)) return Math.min(MAX_RETRY_AFTER_MS, Number(text) * 1000);
  const until = parseHttpDate(text, nowMs);
  if (until === undefined) return undefined;
  const from = (date === undefined ? undefined : parseHttpDate(date.trim(), nowMs)) ?? nowMs;
  return Math.min(MAX_RETRY_AFTER_MS, Math.max(0, until - from));
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const TIME = String.raw`(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)`;

/** The three forms of RFC 9110, 5.6.7: IMF-fixdate, RFC 850 and asctime. */
const HTTP_DATES = [
  new RegExp(String.raw`^[A-Z][a-z]{2}, (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) ${TIME} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{5,8}, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) ${TIME} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`),
];

/** Milliseconds since 1970 of an HTTP date, or undefined when it is none. */
export function parseHttpDate(text: string, nowMs: number): number | undefined {
  for (const form of HTTP_DATES) {
    const parts = form.exec(text)?.groups;
    if (parts === undefined) continue;
    const month = MONTHS.indexOf(parts.month ?? "");
    if (month === -1) return undefined;
    let year = Number(parts.year);
    if (parts.year?.length === 2) {
      // A two-digit year that would lie more than 50 years ahead is the latest past year with the same digits.
      const latest = new Date(nowMs).getUTCFullYear() + 50;
      year += Math.floor((latest - year) / 100) * 100;
    }
    const second = Number(parts.second);
    const at = Date.UTC(year, month, Number(parts.day), Number(parts.hour), Number(parts.minute), second);
    // Date.UTC takes 31 April and 99 hours too, as later times; so does a leap second, which is one.
    const real = new Date(second === 60 ? at - 1000 : at);
    const isReal =
      real.getUTCDate() === Number(parts.day) &&
      real.getUTCHours() === Number(parts.hour) &&
      real.getUTCMinutes() === Number(parts.minute);
    return isReal ? at : undefined;
  }
  return undefined;
}
