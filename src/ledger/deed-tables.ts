/** The tables of deeds. */

import { MOST_RECORDS, RECORD_BYTES } from "./deed-block.ts";

/**
 * Most deeds stand in parts, which never change: a part is many blocks, each as large as a page, in one
 * order, and `fences` has the first 32 bits of each block. A block's number is that of its part times 2^24 and its place in it.
 * `token` is random: a part that was written in a transaction that came to nothing is not taken for another of its number.
 */
const DEED_PARTS = `
CREATE TABLE deed_parts (
  part INTEGER PRIMARY KEY,
  token INTEGER NOT NULL,
  deeds INTEGER NOT NULL,
  fences BLOB NOT NULL
) STRICT;
CREATE TABLE deed_blocks (
  block INTEGER PRIMARY KEY,
  count INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;
`;

const BYTES = Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte)).toString("hex");

/** SQL: a byte of a record as a number. */
const byteAt = (at: number, place = "place"): string =>
  `(instr(byte, substr(bytes, ${RECORD_BYTES} * (${place}) + ${at + 1}, 1)) - 1)`;
const numberAt = (at: number): string =>
  `(((${byteAt(at)} * 256 + ${byteAt(at + 1)}) * 256 + ${byteAt(at + 2)}) * 256 + ${byteAt(at + 3)})`;
/** Where a buyer's id ends, which is where that of the next record begins. */
const holderEnd = (place: string): string =>
  `(((${byteAt(36, place)} % 64 * 256 + ${byteAt(37, place)}) * 256 + ${byteAt(38, place)}) * 256 + ${byteAt(39, place)})`;

/** All deeds, wherever they stand, for people and for what reads all of them. To look for one, it reads every block. */
const DEEDS_VIEW = `
CREATE VIEW deeds AS
WITH RECURSIVE places (place) AS (SELECT 0 UNION ALL SELECT place + 1 FROM places WHERE place < ${MOST_RECORDS - 1}),
all_bytes (byte) AS (SELECT X'${BYTES}')
SELECT identity, run_no, seq, content, taken, event_no, holder FROM loose_deeds
UNION ALL
SELECT substr(bytes, ${RECORD_BYTES} * place + 1, 16), ${numberAt(24)}, ${numberAt(28)}, substr(bytes, ${RECORD_BYTES} * place + 17, 8),
  ${byteAt(36)} / 128, nullif(${numberAt(32)}, 0),
  CASE WHEN ${byteAt(36)} / 64 % 2 = 1 THEN CAST(substr(bytes, ${RECORD_BYTES} * count + 1 + (CASE place WHEN 0 THEN 0 ELSE ${holderEnd("place - 1")} END),
    ${holderEnd("place")} - (CASE place WHEN 0 THEN 0 ELSE ${holderEnd("place - 1")} END)) AS TEXT) END
FROM deed_blocks JOIN places ON place < count JOIN all_bytes;
`;

/**
 * `loose_deeds` are rows, since few came at a time, or since they may be forgotten again. `event_no` and `holder` are of accepted
 * sales: the event, as `event_numbers` numbers it, and the buyer. All that is known of most tickets stands there.
 */
export const DEED_TABLES = `
CREATE TABLE loose_deeds (
  identity BLOB NOT NULL,
  run_no INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  content BLOB NOT NULL,
  taken INTEGER NOT NULL,
  event_no INTEGER,
  holder TEXT,
  PRIMARY KEY (identity, run_no, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE event_numbers (event_no INTEGER PRIMARY KEY, event_id TEXT NOT NULL UNIQUE) STRICT;
${DEED_PARTS}${DEEDS_VIEW}`;
