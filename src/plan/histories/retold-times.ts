/**
 * Deeds that may be accepted ones with a different time. When a source's zone is corrected, or its log is saved by a
 * spreadsheet that drops seconds, every time changes and every deed looks new, though nothing happened.
 */

/** A timed deed of a history. */
export interface TimedSaying {
  /** Its number among the deeds of its side. */
  readonly at: number;
  /** Seconds since 1970. */
  readonly time: bigint;
  /** What it says beside its time; of a resale, whom it goes to. */
  readonly rest: string;
}

/** A deed that would be sent. */
export interface OpenSaying extends TimedSaying {
  /**
   * Place, among what was sent, at which the service rejected just this deed; what was accepted before that is another one.
   * -1 for none.
   */
  readonly rejectedAt: number;
}

/** An accepted deed. */
export interface AcceptedSaying extends TimedSaying {
  /** The input does not have it itself. */
  readonly isMissing: boolean;
}

/** A deed of the input beside the accepted ones that agree in the rest and lie within a zone's reach. */
export interface Compared {
  readonly at: number;
  readonly time: bigint;
  /** Whether one of them is missing. */
  readonly isBesideMissing: boolean;
  /** What it may be: those of them whose times a zone or lost seconds explain. */
  readonly retold: readonly Retold[];
}

/** The accepted deed that a deed may be. */
export interface Retold extends Difference {
  readonly of: number;
  readonly isMissing: boolean;
}

interface Difference {
  /** By how much a zone moved it, below 0 where it is earlier now; 0 where only its seconds were cut off. */
  readonly minutes: number;
  /** Their seconds agree, or they lie in one minute: hardly a coincidence. */
  readonly isPlain: boolean;
}

const MINUTE = 60;
const QUARTER = 15 * MINUTE;
const HOUR = 60 * MINUTE;
/**
 * The distance of UTC+14 from UTC. Dates without a time of day lie further apart, so a pass for several days does not match.
 */
const REACH = 14 * HOUR;
/**
 * Minutes from which zones differ by half and three quarter hours too, such as those of Newfoundland, India and Nepal from UTC. A
 * guest who goes out and comes in again half an hour later is none of them.
 */
const ODD_ZONES_FROM = 150;

/**
 * One accepted deed may be found for several; nobody knows which of them it is.
 *
 * @param open of a history.
 * @returns those of `open` that have one to be compared with.
 */
export function findRetold(open: readonly OpenSaying[], accepted: readonly AcceptedSaying[]): readonly Compared[] {
  return open.flatMap(({ at, time, rest, rejectedAt }) => {
    const beside = accepted.filter(
      (each) => each.rest === rest && areInReach(each.time, time) && each.at >= rejectedAt,
    );
    if (beside.length === 0) return [];
    const retold = beside.flatMap(({ at: of, isMissing, time: other }) => {
      const difference = differenceOf(Number(time), Number(other));
      return difference === undefined ? [] : [{ ...difference, of, isMissing }];
    });
    return [{ at, time, isBesideMissing: beside.some(({ isMissing }) => isMissing), retold }];
  });
}

/** Whether a zone, or cut seconds, turn one time into the other. */
export const mayBeRetelling = (one: bigint, other: bigint): boolean =>
  areInReach(one, other) && differenceOf(Number(one), Number(other)) !== undefined;

function areInReach(one: bigint, other: bigint): boolean {
  const apart = Math.abs(Number(one - other));
  return apart !== 0 && apart < REACH + MINUTE;
}

/** Undefined where neither a zone nor cut seconds turn one time into the other. */
function differenceOf(one: number, other: number): Difference | undefined {
  const [seconds, others] = [one % MINUTE, other % MINUTE];
  if (seconds !== others && seconds !== 0 && others !== 0) return undefined;
  const minutes = Math.floor(one / MINUTE) - Math.floor(other / MINUTE);
  if (minutes === 0) return { minutes, isPlain: true };
  const apart = Math.abs(minutes);
  const isOfZones =
    apart * MINUTE <= REACH && (apart % 60 === 0 || (apart >= ODD_ZONES_FROM && [30, 45].includes(apart % 60)));
  return isOfZones ? { minutes, isPlain: seconds === others && seconds !== 0 } : undefined;
}

/**
 * A zone moves all times of a file alike. So what few of a file's deeds show, of many that could, is chance: two times that have
 * seconds lie whole hours apart once in 3600, and times by the minute once in 60.
 */
const SHARE_IS_CHANCE_BELOW = { plain: 1 / 100, byTheMinute: 1 / 10 } as const;
/** Minutes by which the distance of two zones varies in a year, where each has summer time: London and Sydney. */
const SUMMER_TIMES = 120;

/**
 * Those that may be accepted ones: without their seconds, or moved as the file is. Where it is, so may one be whose accepted deed
 * has the time of another row now: that row was moved onto it.
 *
 * @param compared all of one file.
 * @returns each with what it is likeliest to be.
 */
export function retoldAmong<C extends Compared>(compared: readonly C[]): readonly (readonly [C, Retold])[] {
  const shifts = shiftsOf(compared);
  const fromShift = ({ minutes }: Retold): number =>
    Math.min(...[0, ...shifts].map((shift) => Math.abs(shift - minutes)));
  return compared.flatMap((each) => {
    const [likeliest] = each.retold
      .filter(({ minutes, isMissing }) =>
        minutes === 0 ? isMissing : shifts.some((shift) => Math.abs(shift - minutes) <= SUMMER_TIMES),
      )
      .sort((one, other) => fromShift(one) - fromShift(other));
    return likeliest === undefined ? [] : [[each, likeliest] as const];
  });
}

/** Whether two times do not tell which came first: they are equal, or of one minute, and one of them has no seconds. */
export function areOfOneMoment(one: bigint, other: bigint): boolean {
  const minute = BigInt(MINUTE);
  return one === other || (one / minute === other / minute && (one % minute === 0n || other % minute === 0n));
}

/** Seconds by which a zone may have moved a time to a later one, with its summer time; 0 where none has. */
export function shiftBetween(was: bigint, now: bigint): number {
  const minutes = areInReach(was, now) ? differenceOf(Number(now), Number(was))?.minutes : undefined;
  return minutes === undefined || minutes <= 0 ? 0 : (minutes + SUMMER_TIMES) * MINUTE;
}

/** Seconds by which a file may be moved to later times; 0 where none of it is. */
export function greatestShift(compared: readonly Compared[]): number {
  const later = shiftsOf(compared).filter((shift) => shift > 0);
  return later.length === 0 ? 0 : (Math.max(...later) + SUMMER_TIMES) * MINUTE;
}

/**
 * Minutes by which a file is moved: shifts that more deeds show than chance explains. A single deed shows none beside what
 * most others show, since in a file of few rows it is no small share.
 */
function shiftsOf(compared: readonly Compared[]): readonly number[] {
  const couldBe = compared.filter(({ isBesideMissing }) => isBesideMissing);
  const areHours = tellOnlyHours(couldBe);
  const moved = couldBe.flatMap(({ retold }) =>
    retold.filter(({ minutes, isMissing }) => isMissing && minutes !== 0 && !(areHours && minutes % 60 === 0)),
  );
  const byShift = [...Map.groupBy(moved, ({ minutes }) => minutes)];
  const most = Math.max(...byShift.map(([, alike]) => alike.length));
  const { plain, byTheMinute } = SHARE_IS_CHANCE_BELOW;
  return byShift.flatMap(([shift, alike]) => {
    const share = alike.length / couldBe.length;
    const plainShare = alike.filter(({ isPlain }) => isPlain).length / couldBe.length;
    const isVisible = share >= byTheMinute || plainShare >= plain;
    return isVisible && (alike.length > 1 || alike.length === most) ? [shift] : [];
  });
}

/**
 * Whether the times give the hour and nothing finer, so that any two of them lie whole hours apart. Dates have no more than
 * two hours of the day, that of winter and that of summer, and lie further apart than a zone reaches.
 */
function tellOnlyHours(compared: readonly Compared[]): boolean {
  const times = compared.map(({ time }) => Number(time));
  const hours = new Set(times.map((time) => Math.floor(time / HOUR) % 24));
  return hours.size > 2 && times.every((time) => time % QUARTER === 0 && (time - (times[0] ?? 0)) % HOUR === 0);
}
