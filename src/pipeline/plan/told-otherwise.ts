/**
 * Deeds that may be accepted ones whose time is told otherwise. A source's zone is put right, or its log saved by a spreadsheet
 * that keeps no seconds: then each of its times is another one, and each of its deeds looks new, though nothing happened.
 */

/** A timed deed of a history. */
export interface TimedSaying {
  /** Its number among the deeds of its side. */
  readonly at: number;
  /** Seconds since 1970. */
  readonly time: bigint;
  /** What it says beside its time. */
  readonly rest: string;
}

/** A deed that would be sent. */
export interface OpenSaying extends TimedSaying {
  /** Place, among what the service was asked for, at which it rejected just this: what was accepted before is another one. -1 for none. */
  readonly rejectedAt: number;
}

/** A deed of the input beside the accepted ones that agree in the rest and lie within a zone's reach. */
export interface Compared {
  readonly at: number;
  /** What it may be; undefined where their times differ by nothing that a zone or lost seconds explain. */
  readonly retold: Retold | undefined;
}

/** The accepted deed that a deed may be. */
interface Retold extends Difference {
  readonly of: number;
}

interface Difference {
  /** By which a zone moved it; 0 where its seconds were cut off and no more. */
  readonly minutes: number;
  /** Their seconds agree, or they lie in one minute: chance alone hardly does that. */
  readonly isPlain: boolean;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
/** From the zone of UTC-12 to that of UTC+14. */
const REACH = 26 * HOUR;
/**
 * Minutes from which zones differ by half and three quarter hours too, such as those of Newfoundland, India and Nepal from UTC. A
 * guest who goes out and comes in again half an hour later is none of them.
 */
const ODD_ZONES_FROM = 150;

/**
 * Each accepted deed stands for one of the input at the most, the nearest first.
 *
 * @param open of a history.
 * @param missing accepted ones that the input does not have itself.
 * @returns those of `open` that have one to be compared with.
 */
export function findRetold(open: readonly OpenSaying[], missing: readonly TimedSaying[]): readonly Compared[] {
  const within = new Set<number>();
  const pairs: { readonly at: number; readonly apart: number; readonly retold: Retold }[] = [];
  for (const deed of open) {
    for (const accepted of missing) {
      const apart = Math.abs(Number(accepted.time - deed.time));
      if (accepted.rest !== deed.rest || apart === 0 || apart >= REACH + MINUTE) continue;
      if (accepted.at < deed.rejectedAt) continue;
      within.add(deed.at);
      const difference = differenceOf(Number(deed.time), Number(accepted.time));
      if (difference !== undefined) pairs.push({ at: deed.at, apart, retold: { ...difference, of: accepted.at } });
    }
  }
  const found = new Map<number, Retold>();
  const taken = new Set<number>();
  for (const { at, retold } of pairs.sort((one, other) => one.apart - other.apart)) {
    if (found.has(at) || taken.has(retold.of)) continue;
    found.set(at, retold);
    taken.add(retold.of);
  }
  return [...within].map((at) => ({ at, retold: found.get(at) }));
}

/** Undefined where neither a zone nor seconds that were cut off make one time of the other. */
function differenceOf(one: number, other: number): Difference | undefined {
  const [seconds, others] = [one % MINUTE, other % MINUTE];
  if (seconds !== others && seconds !== 0 && others !== 0) return undefined;
  const minutes = Math.abs(Math.floor(one / MINUTE) - Math.floor(other / MINUTE));
  if (minutes === 0) return { minutes, isPlain: true };
  const isOfZones =
    minutes * MINUTE <= REACH && (minutes % 60 === 0 || (minutes >= ODD_ZONES_FROM && [30, 45].includes(minutes % 60)));
  return isOfZones ? { minutes, isPlain: seconds === others && seconds !== 0 } : undefined;
}

/**
 * A zone moves all times of a file alike. So what few of a file's deeds show, of many that could, is chance: two times that have
 * seconds lie whole hours apart once in 3600, and times by the minute once in 60.
 */
const SHARE_IS_CHANCE_BELOW = { plain: 1 / 100, byTheMinute: 1 / 10 } as const;

/** @param compared all of one file. */
export function retoldAmong<C extends Compared>(compared: readonly C[]): readonly C[] {
  const moved = compared.filter(({ retold }) => (retold?.minutes ?? 0) !== 0);
  const alike = [...Map.groupBy(moved, ({ retold }) => retold?.minutes).values()].map(({ length }) => length);
  const share = Math.max(0, ...alike) / compared.length;
  return compared.filter(({ retold }) => {
    if (retold === undefined) return false;
    const { plain, byTheMinute } = SHARE_IS_CHANCE_BELOW;
    return retold.minutes === 0 || share >= (retold.isPlain ? plain : byTheMinute);
  });
}
