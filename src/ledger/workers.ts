/** Who sends what, where several machines share a ledger. All times are the database's clock. */

/** A worker's right to send a lane. The highest fence counts. */
export interface Claim {
  readonly run: number;
  readonly lane: number;
  readonly worker: number;
  readonly fence: number;
}

export interface OpenLane {
  readonly lane: number;
  /** The lowest in which something of the lane is left to send. */
  readonly stage: number;
  /** Actions that are planned or being sent. */
  readonly actions: number;
  /** Of these, those of a request that may be on its way. */
  readonly inFlight: number;
  /** Undefined while nobody has it. */
  readonly worker: number | undefined;
}

export interface Worker {
  readonly worker: number;
  readonly host: string;
  readonly pid: number;
  readonly command: string;
  readonly since: string;
  readonly seenAgoMs: number;
}

/** Who sends what right now, on all machines. */
export interface Team {
  readonly workers: readonly Worker[];
  /** Of open runs, the oldest first. */
  readonly lanes: readonly (OpenLane & { readonly run: string })[];
}

/** What a person wants to know of the server that holds a ledger. */
export interface ServerFacts {
  /** Such as `15.18`. */
  readonly version: string;
  /** Standbys that have each commit before it is confirmed, as the server names them; empty for none. */
  readonly standbys: string;
}

export interface Workers {
  facts(): Promise<ServerFacts>;
  /**
   * From now on the server ends this session once it has asked nothing for so long: its process is frozen then.
   *
   * @returns the worker's number.
   */
  enter(command: string, silentMs: number): Promise<number>;
  /** Shows that the worker is there; `left`: it is going. */
  seen(worker: number, left?: true): Promise<void>;
  team(): Promise<Team>;
  /** Lanes in which something is left, the longest first. */
  openLanes(run: number): Promise<readonly OpenLane[]>;
  /** Claims a lane, unless another worker's session holds it, or a request of it may still be on its way. */
  claim(lane: Omit<Claim, "fence">): Promise<Claim | undefined>;
  /** Gives a lane back; if another one has claimed it since, it stays that one's. */
  release(claim: Claim): Promise<void>;
  /** Whether more of the run may be sent: it waits for a person, for the runs before it, and while it is paused. */
  maySend(run: number): Promise<boolean>;
  /** Nobody sends before so many milliseconds have gone. */
  putOff(ms: number): Promise<void>;
  /** Resolves when something was entered, settled or paused, or after so long, or when the signal comes. */
  woken(waitMs: number, signal: AbortSignal): Promise<void>;
}
