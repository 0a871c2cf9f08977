/** The WebAssembly module of lanes.ts. */

import {
  AGAIN_IF,
  type Code,
  constant,
  END,
  get,
  I32_ADD,
  I32_SUB,
  LOOP,
  list,
  load,
  moduleOf,
  set,
  store,
  tee,
  unsigned,
  V128,
  wide,
} from "../wasm.ts";

/** Instructions of four words at once. */
const ADD = wide(0xae);
const XOR = wide(0x51);
const AND = wide(0x4e);
const OR = wide(0x50);
const SELECT = wide(0x52);
const SHIFT_LEFT = wide(0xab);
const SHIFT_RIGHT = wide(0xad);
const ALL_LANES = wide(0x11);
const loadIntoAllLanes = (offset: number): Code => [...wide(0x09), 2, ...unsigned(offset)];
const shuffle = (one: Code, other: Code, bytes: Code): Code => [...one, ...other, ...wide(0x0d), ...bytes];
const shiftRight = (word: Code, by: number): Code => [...word, ...constant(by), ...SHIFT_RIGHT];
const rotate = (word: Code, by: number): Code => [
  ...shiftRight(word, by),
  ...word,
  ...constant(32 - by),
  ...SHIFT_LEFT,
  ...OR,
];

/** The first primes. */
const primes = (count: number): readonly number[] => {
  const found: number[] = [];
  for (let number = 2; found.length < count; number += 1)
    if (found.every((by) => number % by !== 0)) found.push(number);
  return found;
};

/** The first 32 bits of the fraction of a root, in whole numbers. */
function fractionOfRoot(prime: number, degree: bigint): number {
  const target = BigInt(prime) << (32n * degree);
  let low = 0n;
  let high = 1n << 40n;
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** degree <= target) low = middle;
    else high = middle;
  }
  return Number(low & 0xffffffffn);
}

const ROUNDS = 64;

/** Where the parameters and the other locals stand. */
const LANE_NUMBERS = [0, 1, 2, 3] as const;
const message = (lane: number): number => lane;
const BLOCKS = 4;
const OUT = 5;
const PARAMETERS = 6;
const digest = (word: number): number => PARAMETERS + word;
const state = (word: number): number => PARAMETERS + 8 + word;
const schedule = (word: number): number => PARAMETERS + 16 + (word % 16);
const spare = (number: number): number => PARAMETERS + 32 + number;
const LOCALS = 42;

const ofWords = (words: readonly number[]): Code =>
  words.flatMap((word) => [0, 1, 2, 3].map((byte) => 4 * word + byte));
/** Bytes of each word in the other order: messages are big-endian. */
const TURNED: Code = [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12];

/** Four words of each of four messages → the first words of all, the second words, and so on; back likewise. */
function transpose(from: (number: number) => number, to: (number: number) => number): Code {
  const pair = (one: number, other: number, words: readonly number[]): Code =>
    shuffle(get(one), get(other), ofWords(words));
  const LOW = [0, 4, 1, 5];
  const HIGH = [2, 6, 3, 7];
  return [
    ...[...pair(from(0), from(1), LOW), ...set(spare(4))],
    ...[...pair(from(0), from(1), HIGH), ...set(spare(5))],
    ...[...pair(from(2), from(3), LOW), ...set(spare(6))],
    ...[...pair(from(2), from(3), HIGH), ...set(spare(7))],
    ...[...pair(spare(4), spare(6), [0, 1, 4, 5]), ...set(to(0))],
    ...[...pair(spare(4), spare(6), [2, 3, 6, 7]), ...set(to(1))],
    ...[...pair(spare(5), spare(7), [0, 1, 4, 5]), ...set(to(2))],
    ...[...pair(spare(5), spare(7), [2, 3, 6, 7]), ...set(to(3))],
  ];
}

const turned = (local: number): Code => shuffle(get(local), get(local), TURNED);

/** The sixteen words of the next block of each message. */
const readBlock = (): Code =>
  [0, 1, 2, 3].flatMap((group) => [
    ...LANE_NUMBERS.flatMap((lane) => [...get(message(lane)), ...load(16 * group), ...set(spare(lane))]),
    ...LANE_NUMBERS.flatMap((lane) => [...turned(spare(lane)), ...set(spare(lane))]),
    ...transpose(spare, (word) => schedule(4 * group + word)),
  ]);

function round(number: number): Code {
  // The eight words of the state move on by one in each round: so their names move, and not the words.
  const word = (letter: number): number => state((letter - number + 64) % 8);
  const [a, b, c, d, e, f, g, h] = [0, 1, 2, 3, 4, 5, 6, 7].map((letter) => get(word(letter))) as [
    Code,
    Code,
    Code,
    Code,
    Code,
    Code,
    Code,
    Code,
  ]; // as many
  const [second, fifteenth] = [get(schedule(number + 1)), get(schedule(number + 14))];
  const extended: Code = [
    ...[...get(schedule(number)), ...get(schedule(number + 9)), ...ADD],
    ...[...rotate(second, 7), ...rotate(second, 18), ...XOR, ...shiftRight(second, 3), ...XOR, ...ADD],
    ...[...rotate(fifteenth, 17), ...rotate(fifteenth, 19), ...XOR, ...shiftRight(fifteenth, 10), ...XOR, ...ADD],
    ...set(schedule(number)),
  ];
  const [first, sum] = [spare(0), spare(1)];
  return [
    ...(number < 16 ? [] : extended),
    ...[...h, ...get(schedule(number)), ...ADD, ...constant(0), ...loadIntoAllLanes(4 * number), ...ADD],
    ...[...rotate(e, 6), ...rotate(e, 11), ...XOR, ...rotate(e, 25), ...XOR, ...ADD],
    ...[...f, ...g, ...e, ...SELECT, ...ADD, ...set(first)],
    ...[...rotate(a, 2), ...rotate(a, 13), ...XOR, ...rotate(a, 22), ...XOR],
    // The majority of three bits.
    ...[...a, ...b, ...AND, ...c, ...a, ...b, ...XOR, ...AND, ...XOR, ...ADD, ...get(first), ...ADD, ...set(sum)],
    ...[...d, ...get(first), ...ADD, ...set(word(3))],
    ...[...get(sum), ...set(word(7))],
  ];
}

const EIGHT = [0, 1, 2, 3, 4, 5, 6, 7];

function body(): Code {
  const firstState = primes(EIGHT.length).map((prime) => fractionOfRoot(prime, 2n));
  return [
    ...list([[...unsigned(LOCALS), V128]]),
    ...EIGHT.flatMap((word) => [...constant(firstState[word] ?? 0), ...ALL_LANES, ...set(digest(word))]),
    ...LOOP,
    ...readBlock(),
    ...EIGHT.flatMap((word) => [...get(digest(word)), ...set(state(word))]),
    ...Array.from({ length: ROUNDS }, (_, number) => round(number)).flat(),
    ...EIGHT.flatMap((word) => [...get(digest(word)), ...get(state(word)), ...ADD, ...set(digest(word))]),
    ...LANE_NUMBERS.flatMap((lane) => [...get(message(lane)), ...constant(64), ...I32_ADD, ...set(message(lane))]),
    ...[...get(BLOCKS), ...constant(1), ...I32_SUB, ...tee(BLOCKS), ...AGAIN_IF, END],
    // Half of each digest.
    ...transpose(digest, schedule),
    ...LANE_NUMBERS.flatMap((lane) => [...get(OUT), ...turned(schedule(lane)), ...store(16 * lane)]),
    END,
  ];
}

/** `digest(message, message, message, message, blocks, out)`; its memory begins with the constants of the rounds. */
export function lanesModule(): Uint8Array {
  const constants = primes(ROUNDS).map((prime) => fractionOfRoot(prime, 3n));
  return moduleOf("digest", PARAMETERS, body(), constants.flatMap(bytesOf).flat());
}

const bytesOf = (word: number): readonly Code[] => [
  [word & 255],
  [(word >>> 8) & 255],
  [(word >>> 16) & 255],
  [word >>> 24],
];
