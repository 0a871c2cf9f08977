/** Deeds that a key of their source identifies. */

import { type ActionData, type ActionName, actionSpec } from "../../actions/actions.ts";
import { contentText, digestHex, digestOf, identityText } from "../../actions/identity.ts";
import type { AcceptedDeed } from "../../ledger/deeds.ts";
import { keyedDeeds } from "../../ledger/keyed-deeds.ts";
import type { Candidate } from "../candidates/candidates.ts";
import { CONTENT_BYTES } from "../files/index-file.ts";
import {
  type GivenKeyDeed,
  type KeyTry,
  type KeyVerdict,
  type KnownKeyDeed,
  matchKey,
} from "../histories/match-key.ts";
import { deedsBeside, type FoundDeed } from "./accepted-under-other-keys.ts";
import { historyDeed } from "./deed-contents.ts";
import { type DeedGroup, triedOf } from "./deed-group.ts";
import type { FoundVerdicts } from "./verdicts.ts";

interface KnownOfKey extends KnownKeyDeed {
  /** Undefined for what is pending. */
  readonly accepted: FoundDeed | undefined;
}

interface GivenOfKey extends GivenKeyDeed {
  /** Of what is not open: one of its row. */
  readonly candidate: Candidate;
}

function keyDeed(action: ActionName, content: string, read: () => ActionData) {
  let known: ActionData | undefined;
  const data = (): ActionData => {
    known ??= read();
    return known;
  };
  return { ...historyDeed(action, content, data), data, subject: subjectOf(data()) };
}

function subjectOf({ eventId, ticketId, nftId }: ActionData): string {
  if (ticketId != null) return `ticket:${ticketId}`;
  return nftId == null ? `event:${eventId ?? ""}` : `nft:${nftId}`;
}

function knownUnderKey(group: DeedGroup): readonly KnownOfKey[] {
  const { action } = group;
  const deedOf = (content: string, read: () => ActionData, accepted: FoundDeed | undefined): KnownOfKey => ({
    ...keyDeed(action, content, read),
    isPending: accepted === undefined,
    accepted,
  });
  return [
    ...group.tried.flatMap((deed) =>
      deed.isTaken ? deedOf(deed.content.toString("hex"), () => group.dataOf(deed) ?? {}, deed) : [],
    ),
    ...group.pending.map(({ content, data = {} }) => deedOf(content, () => data, undefined)),
  ];
}

/** The candidates of one key, beside what was accepted under it. */
export class KeyedDeeds {
  readonly #group: DeedGroup;
  readonly #found: FoundVerdicts;
  /** What was accepted under the key, oldest first, then what is pending. */
  readonly #known: readonly KnownOfKey[];

  constructor(group: DeedGroup, found: FoundVerdicts) {
    this.#group = group;
    this.#found = found;
    this.#known = knownUnderKey(group);
  }

  /** What the row says of those under its key, unless the key is not its own. */
  judge(): void {
    const known = this.#known;
    const verdicts = matchKey(this.#rowsWithKey(), {
      known,
      tries: this.#tries(),
      rule: actionSpec(this.#group.action).identity,
      isApart: (deed) => this.#isApart(deed),
    });
    const [first] = this.#group.candidates;
    for (const [{ isOpen, candidate, subject }, verdict] of verdicts) {
      if (!isOpen) continue;
      const of = verdict.kind === "known" ? known[verdict.of]?.accepted : undefined;
      const beside = of === undefined ? known.filter((deed) => deed.subject === subject) : [{ accepted: of }];
      const sources = (beside.length === 0 ? [undefined] : beside).map((each) =>
        this.#otherSource(candidate, each?.accepted, first),
      );
      const source = sources.find((each) => each !== undefined);
      if (source !== undefined && verdict.kind !== "pending")
        this.#found.set(candidate.seq, "key shared", { kind: "key of source", source });
      else this.#set(candidate, verdict);
    }
  }

  /** Whether just this was rejected under the key, or accepted without it or under another one. */
  #isApart({ content, data }: GivenOfKey): boolean {
    const { inputs, ledger } = this.#group.options;
    const plain = digestOf(identityText({ action: this.#group.action, data: data() })).toString("hex");
    const others = triedOf(plain, this.#group.candidates, inputs, ledger && deedsBeside(ledger));
    const apart = [...this.#group.tried.filter(({ isTaken }) => !isTaken), ...others.filter(({ isTaken }) => isTaken)];
    return apart.some((deed) => deed.content.toString("hex") === content);
  }

  #set(candidate: Candidate, verdict: KeyVerdict<GivenOfKey>): void {
    const known = this.#known;
    const { seq, row, content } = candidate;
    switch (verdict.kind) {
      case "known": {
        const accepted = known[verdict.of]?.accepted;
        if (accepted === undefined) this.#found.set(seq, "pending");
        else {
          this.#found.setSentOrChanged(seq, content, accepted, this.#group.options.isFromRejects(row));
          if (known.length > 1) this.#found.bound.set(seq, accepted);
        }
        return;
      }
      case "pending":
        this.#found.set(seq, "pending");
        return;
      case "new":
        this.#found.set(seq, "new");
        this.#found.hasNewKeys = true;
        return;
      case "repeated":
        this.#found.setRepeated(seq, verdict.first.seq);
        return;
      case "of another": {
        const accepted = known[verdict.of]?.accepted;
        this.#found.set(seq, "key shared", accepted && { kind: "key shared", accepted });
        return;
      }
      case "of another given":
        this.#found.set(seq, "key shared", { kind: "key shared", at: verdict.at.candidate });
        return;
      case "differs":
        this.#found.set(seq, "key shared", { kind: "key repeated", at: verdict.at.candidate });
        return;
      case "unclear":
        this.#found.set(seq, "unclear", {
          kind: "unclear of row",
          accepted: verdict.left.flatMap((at) => known[at]?.accepted ?? []),
          given: verdict.given.map((each) => each.candidate),
        });
        return;
    }
  }

  #tries(): readonly KeyTry[] {
    return this.#group.tried.map((deed) => {
      const of = this.#known.findIndex(({ accepted }) => accepted === deed);
      return {
        content: deed.content.toString("hex"),
        subject: subjectOf(this.#group.dataOf(deed) ?? {}),
        isTaken: deed.isTaken,
        of: of === -1 ? undefined : of,
        ...this.#group.runOf(deed),
      };
    });
  }

  /** The candidates by row, each with what `tickets:actions` leaves out of it; of what happens once, each on its own. */
  #rowsWithKey(): readonly (readonly GivenOfKey[])[] {
    const given = this.#group.candidates.map(
      (candidate): GivenOfKey => ({
        ...keyDeed(candidate.action, candidate.content.toString("hex"), () => candidate.data),
        seq: candidate.seq,
        isOpen: true,
        candidate,
      }),
    );
    if (actionSpec(this.#group.action).identity === "once") return given.map((each) => [each]);
    return [...Map.groupBy(given, ({ candidate }) => candidate.row).values()].map((row) => {
      const done = row.slice(0, 1).flatMap(({ candidate, seq }) =>
        this.#group.options
          .leftOut(candidate.row)
          .filter(({ identity }) => identity === this.#group.identity)
          .map(({ action }): GivenOfKey => {
            const content = digestHex(contentText(action)).slice(0, CONTENT_BYTES * 2);
            return { ...keyDeed(action.action, content, () => action.data), seq, isOpen: false, candidate };
          }),
      );
      return [...done, ...row];
    });
  }

  /** The source of the deed that has the candidate's key, where it is another one that the config still has. */
  #otherSource(
    candidate: Candidate,
    deed: AcceptedDeed | undefined,
    first: Pick<Candidate, "input"> | undefined,
  ): string | undefined {
    const { ledger, inputs, sources } = this.#group.options;
    if (actionSpec(candidate.action).identity === "once") return undefined;
    const readAs = inputs[candidate.input]?.readAs;
    const inInput = first && inputs[first.input]?.readAs;
    if (deed === undefined || ledger === undefined) return inInput === readAs ? undefined : inInput;
    const data = this.#group.dataOf(deed);
    const plain = data && digestOf(identityText({ action: candidate.action, data }));
    const by =
      plain && keyedDeeds(ledger, plain).find((each) => each.runNo === deed.runNo && each.seq === deed.seq)?.by;
    // One that the config has no more was renamed.
    return by === undefined || by.source === readAs || !sources.has(by.source) ? undefined : by.source;
  }
}
