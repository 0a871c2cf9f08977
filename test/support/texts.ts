/**
 * Random texts as fast-check's own `unit: "binary"` and `webUrl` give them. Those list every character of Unicode first, to
 * read texts backwards, which takes each process of tests seconds.
 */

import fc, { type Arbitrary } from "fast-check";

const SURROGATES = { first: 0xd800, count: 0x800 };
const LAST = 0x10ffff;

/** Any character but a lone surrogate: a `unit` of texts. */
export const codePoint: Arbitrary<string> = fc.nat({ max: LAST - SURROGATES.count }).map(
  (place) => String.fromCodePoint(place < SURROGATES.first ? place : place + SURROGATES.count),
  (text) => {
    const point = typeof text === "string" ? text.codePointAt(0) : undefined;
    if (point === undefined || text !== String.fromCodePoint(point) || !String(text).isWellFormed())
      throw new Error("no character");
    return point < SURROGATES.first ? point : point - SURROGATES.count;
  },
);

const ALPHANUMERIC = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
/** A character of a path, or with `more` of a query or a fragment, now and then one that needs its percent signs. */
const part = (more = ""): Arbitrary<string> =>
  fc.string({
    unit: fc.oneof(
      { weight: 10, arbitrary: fc.constantFrom(...ALPHANUMERIC, ..."-._~!$&'()*+,;=:@", ...more) },
      { weight: 1, arbitrary: codePoint.map((text) => encodeURIComponent(text)) },
    ),
    maxLength: 8,
  });

/** A web address, with a path, a query and a fragment at times. */
export const webUrl: Arbitrary<string> = fc
  .tuple(
    fc.constantFrom("http", "https"),
    fc.webAuthority({ size: "small" }),
    fc.array(part(), { size: "small" }),
    fc.option(part("/?")),
    fc.option(part("/?")),
  )
  .map(([scheme, authority, path, query, fragment]) =>
    [
      `${scheme}://${authority}`,
      ...path.map((segment) => `/${segment}`),
      query === null ? "" : `?${query}`,
      fragment === null ? "" : `#${fragment}`,
    ].join(""),
  );
