import type { Workplace } from "./bin.ts";

/** Arguments for Node by which a process takes a later moment for now. */
export function fastClock(place: Workplace, hours: number): readonly string[] {
  const ms = hours * 3_600_000;
  const path = place.write(
    `fast-clock-${hours}.cjs`,
    `const Real = Date;
globalThis.Date = class extends Real {
  constructor(...given) {
    super(...(given.length === 0 ? [Real.now() + ${ms}] : given));
  }
  static now() {
    return Real.now() + ${ms};
  }
};
`,
  );
  return ["--require", path];
}
