/** Which candidates are deeds that the environment has accepted already (design, Identity). */

import { open } from "node:fs/promises";
import { actionSpec } from "../../actions/actions.ts";
import { parseJson } from "../../actions/json.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  type AcceptedDeed,
  acceptedData,
  acceptedDeeds,
  areAccepted,
  type IndexedDeed,
  type TriedDeed,
  triedDeeds,
} from "../ledger/memory.ts";
import type { Pending } from "../ledger/pending.ts";
import { type Candidate, type CandidateLines, candidateFiles, identityOf } from "./candidates.ts";
import { contentAt, identityAt, RECORD_BYTES, readOrigin } from "./index-file.ts";

const VERDICTS = [
  "new",
  "sent",
  // Accepted with other content.
  "changed",
  // Another run may still bring it to the service.
  "pending",
  // The same deed stands earlier in this input; whether that one is sent, its row tells.
  "repeated",
  // A scan without time whose like was accepted.
  "undecidable",
  // New, unless an accepted deed of the same time turns out to be it with other content.
  "unmatched",
] as const;
type Verdict = Exclude<(typeof VERDICTS)[number], "unmatched">;

/** One verdict per candidate; candidates may be asked for again and again. */
export interface Verdicts {
  of(candidate: Candidate): Verdict;
  /** Whether the candidate's deed is repeated further on. */
  isRepeated(candidate: Candidate): boolean;
  /** The accepted deed that a changed candidate differs from. */
  changedFrom(candidate: Candidate): AcceptedDeed | undefined;
}

/** The candidates of one identity whose kind forms a history, beside what was accepted of it. */
interface History {
  readonly tried: readonly TriedDeed[];
  readonly seqs: number[];
  readonly contents: Buffer[];
  isTimed: boolean;
}

/**
 * Judges all candidates, in their order. Reads the index only.
 *
 * @param ledger the memory to compare with; undefined when there is none, or all is to be sent again.
 * @param pending identities (hex) of actions that another run may still bring to the service.
 * @param lines of the candidates, for the few of which more than their digests is asked.
 */
export async function judge(
  directory: string,
  candidates: number,
  ledger: Ledger | undefined,
  pending: Pending,
  lines: CandidateLines,
): Promise<Verdicts> {
  const verdicts = new Uint8Array(candidates);
  const earlier = new Map<number, AcceptedDeed>();
  const unmatched = new Map<number, AcceptedDeed[]>();
  const inInput = new Map<string, number>();
  const repeated = new Set<string>();
  const histories = new Map<string, History>();
  const set = (seq: number, verdict: (typeof VERDICTS)[number]): void => {
    verdicts[seq] = VERDICTS.indexOf(verdict);
  };

  const judgeOne = (seq: number, block: Buffer, at: number, isAccepted: boolean): void => {
    const { action, untimed, keyed } = readOrigin(block, at);
    const rule = keyed ? "once" : actionSpec(action).identity.rule;
    // newEvent and soldTicket that repeat within one input have rules of their own.
    const mayRepeat = rule === "once" && action !== "newEvent" && action !== "soldTicket";
    if (ledger === undefined && pending.size === 0 && !mayRepeat) return;
    const identity = identityAt(block, at);
    const content = contentAt(block, at);
    const key = identity.toString("hex");
    if (pending.has(key)) {
      set(seq, "pending");
      return;
    }
    if (rule === "once" && isAccepted) {
      set(seq, "sent");
      return;
    }
    const deeds = ledger === undefined ? [] : acceptedDeeds(ledger, identity);
    switch (rule) {
      case "once": {
        const deed = deeds.find((each) => each.content.equals(content) || isUnknownContent(each)) ?? deeds.at(-1);
        if (deed === undefined) {
          if (!mayRepeat) return;
          if (inInput.has(key)) {
            set(seq, "repeated");
            repeated.add(key);
          } else inInput.set(key, 1);
        } else if (deed.content.equals(content) || isUnknownContent(deed)) set(seq, "sent");
        else {
          set(seq, "changed");
          earlier.set(seq, deed);
        }
        return;
      }
      case "counted": {
        if (deeds.length === 0) return;
        if (untimed) {
          set(seq, "undecidable");
          return;
        }
        const seen = (inInput.get(key) ?? 0) + 1;
        inInput.set(key, seen);
        if (seen <= deeds.length) set(seq, "sent");
        return;
      }
      case "sequence": {
        if (deeds.length === 0 || ledger === undefined) return;
        const tried = inPlace(triedDeeds(ledger, identity));
        const history = histories.get(key) ?? { tried, seqs: [], contents: [], isTimed: true };
        histories.set(key, history);
        history.seqs.push(seq);
        history.contents.push(Buffer.from(content));
        if (untimed) history.isTimed = false;
        return;
      }
    }
  };

  await using index = await open(candidateFiles(directory).index, "r");
  const block = Buffer.allocUnsafe(RECORD_BYTES * 8192);
  for (let seq = 0; seq < candidates; ) {
    const { bytesRead } = await index.read(block, 0, block.length, seq * RECORD_BYTES);
    if (bytesRead === 0) throw new Error("the candidates' index is shorter than it should be");
    // Of an export that is sent every night nearly all is known and unchanged, so that is asked first, for many at once.
    const accepted = ledger === undefined ? undefined : areAccepted(ledger, deedsOf(block.subarray(0, bytesRead)));
    for (let number = 0; number < bytesRead / RECORD_BYTES; number += 1, seq += 1)
      judgeOne(seq, block, number * RECORD_BYTES, accepted?.[number] === 1);
  }
  for (const { tried, seqs, contents, isTimed } of histories.values()) {
    if (!isTimed) {
      const old = oldLength(
        tried.map(({ content }) => content),
        contents,
      );
      for (const [at, { isTaken }] of tried.slice(tried.length - old).entries()) {
        const seq = seqs[at];
        if (isTaken && seq !== undefined) set(seq, "sent");
      }
      continue;
    }
    const accepted = tried.filter(({ isTaken }) => isTaken);
    const { matches, left } = matchTimed(
      accepted.map(({ content }) => content),
      contents,
    );
    const others = left.flatMap((at) => accepted[at] ?? []);
    for (const [at, seq] of seqs.entries()) {
      if (matches.has(at)) set(seq, "sent");
      else if (others.length > 0) {
        set(seq, "unmatched");
        unmatched.set(seq, others);
      }
    }
  }

  /** Where deeds have times, an accepted one of the same time is the same deed: its buyer or price was changed. */
  const settle = (candidate: Candidate): void => {
    const { seq } = candidate;
    const others = unmatched.get(seq) ?? [];
    unmatched.delete(seq);
    const time = orderTimeOf(lines.of(candidate).toString("utf8"), "data");
    const at = ledger === undefined ? -1 : others.findIndex((deed) => orderTimeOf(acceptedData(ledger, deed)) === time);
    const [deed] = at === -1 ? [] : others.splice(at, 1);
    set(seq, deed === undefined ? "new" : "changed");
    if (deed !== undefined) earlier.set(seq, deed);
  };

  return {
    of(candidate) {
      if (VERDICTS[verdicts[candidate.seq] ?? 0] === "unmatched") settle(candidate);
      return VERDICTS[verdicts[candidate.seq] ?? 0] as Verdict; // settled above
    },
    isRepeated: (candidate) => repeated.size > 0 && repeated.has(identityOf(candidate).toString("hex")),
    changedFrom: ({ seq }) => earlier.get(seq),
  };
}

/**
 * A deed that was rejected and tried again stands where it was tried first, as it does in the export; otherwise the
 * history of a ticket would never again look like its rows.
 */
function inPlace(tried: readonly TriedDeed[]): readonly TriedDeed[] {
  const history: TriedDeed[] = [];
  for (const deed of tried) {
    const at = history.findIndex(({ isTaken, content }) => !isTaken && content.equals(deed.content));
    if (at === -1) history.push(deed);
    else history[at] = deed;
  }
  return history;
}

/** An imported deed, of which only the ids are known. */
export function isUnknownContent({ content }: AcceptedDeed): boolean {
  return content.every((byte) => byte === 0);
}

/** The orderTime of an action's data, as JSON text, or of the data under a key of it. */
function orderTimeOf(text: string | undefined, key?: string): unknown {
  if (text === undefined) return undefined;
  const value = parseJson(text) as Record<string, unknown>; // written by us
  const data = key === undefined ? value : (value[key] as Record<string, unknown>); // likewise
  return data.orderTime;
}

/**
 * How many of `input`, from its beginning, are old: the longest end of `accepted` that stands, in order, at the beginning
 * of the input, so that A→B→A is kept and repeating an export sends nothing.
 */
export function oldLength(accepted: readonly Buffer[], input: readonly Buffer[]): number {
  for (let length = Math.min(accepted.length, input.length); length > 0; length -= 1) {
    const isEnd = input
      .slice(0, length)
      .every((content, at) => accepted[accepted.length - length + at]?.equals(content));
    if (isEnd) return length;
  }
  return 0;
}

/**
 * Where every deed of a history carries its time, equal ones are surely the same deed, wherever they stand: an export of
 * an earlier day, one whose older rows are gone, one into which a row came late. The k-th of `input` that are equal is
 * the k-th accepted one like it.
 *
 * @returns which of `input` were accepted, and which of `accepted` are not among them.
 */
export function matchTimed(
  accepted: readonly Buffer[],
  input: readonly Buffer[],
): { readonly matches: ReadonlySet<number>; readonly left: readonly number[] } {
  const open = new Map<string, number[]>();
  for (const [at, content] of accepted.entries()) {
    const key = content.toString("hex");
    const places = open.get(key);
    if (places === undefined) open.set(key, [at]);
    else places.push(at);
  }
  const matches = new Set<number>();
  for (const [at, content] of input.entries()) {
    if (open.get(content.toString("hex"))?.shift() !== undefined) matches.add(at);
  }
  return { matches, left: [...open.values()].flat().sort((a, b) => a - b) };
}

function deedsOf(records: Buffer): readonly IndexedDeed[] {
  return Array.from({ length: records.length / RECORD_BYTES }, (_, number) => ({
    identity: identityAt(records, number * RECORD_BYTES),
    content: contentAt(records, number * RECORD_BYTES),
  }));
}
