/** What is typed for a command: each flag and argument by its name. What they mean is said where they are declared (src/cli/). */

import type { ActionName } from "../actions/actions.ts";
import type { Allowance, Order } from "../plan/plan.ts";
import type { EnvironmentOptions } from "../run/settings.ts";

/** Flags without a value. */
type Switch =
  | ("quiet" | "verbose" | "json" | "dryRun" | "resend" | "adopt" | "publish" | "moveAside" | "yes")
  | ("untilIdle" | "sent" | "notSent" | "abandon" | "pause" | "follow" | "trust" | "reset")
  | ("remote" | "check" | "all");

type Text = "source" | "format" | "encoding" | "output" | "reason" | "report" | "metrics" | "log" | "faults";

type Whole = "limit" | "chunk" | "first" | "port";

/** All that can be typed; a command reads what it has declared. */
export interface Given
  extends EnvironmentOptions,
    Readonly<Partial<Record<Switch, boolean | undefined>>>,
    Readonly<Partial<Record<Text, string | undefined>>>,
    Readonly<Partial<Record<Whole, number | undefined>>> {
  /** The arguments, by their names. */
  readonly files: readonly string[];
  readonly run: string | undefined;
  readonly name: string | undefined;
  readonly id: string;
  /** Commands that read input have one. */
  readonly order?: Order;
  readonly action?: ActionName | undefined;
  readonly maxInvalid?: Allowance | undefined;
  /** `true`: as many rows as is usual. */
  readonly preview?: number | true | undefined;
  readonly import?: readonly string[] | undefined;
  /** What follows is in milliseconds. */
  readonly maxDuration?: number | undefined;
  readonly maxAge?: number | undefined;
  readonly waitLock: number;
  readonly olderThan: number;
}

/** What one command reads of it. */
export type Options<Name extends keyof Given> = Pick<Given, Name | keyof EnvironmentOptions>;

/** The options of a command that checks input. */
export type InputOptions = Options<
  "files" | "action" | "source" | "format" | "encoding" | "limit" | "order" | "maxInvalid" | "json"
>;
