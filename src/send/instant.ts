/** By both clocks: the monotonic one stops while the machine sleeps, and the wall clock may be set back. */
export interface Instant {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export const instant = (): Instant => ({ monotonicMs: performance.now(), wallMs: Date.now() });
export const msSince = ({ monotonicMs, wallMs }: Instant): number =>
  Math.max(performance.now() - monotonicMs, Date.now() - wallMs);
