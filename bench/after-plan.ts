/** What an action takes once the plan is made: processor time from the first request to the last answer. */

import { readFileSync } from "node:fs";
import { type AllFigures, addTo, type Bench, type Figures, inNewFolder, sending } from "./bench.ts";
import { actionCount, type Span, salesCsv } from "./generate.ts";
import { cpuSecondsOf, measure, median } from "./measure.ts";

export const AFTER_PLAN = {
  thread: "the sending thread, µs an action",
  process: "all threads, µs an action",
} as const;

/** In seconds, of the thread that sends and of the whole process. */
interface Used {
  readonly thread: number;
  readonly process: number;
}

export async function afterPlan(
  bench: Bench,
  span: Span,
): Promise<{ readonly contenders: AllFigures; readonly figures: Readonly<Record<string, number>> }> {
  const { service, rounds } = bench;
  const actions = actionCount(span.rows);
  const contender = sending(bench, "tickets", span, salesCsv(bench.folder, span), {});
  const contenders: Record<string, Figures> = {};
  const taken: Used[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    await service.be({ ...contender.service, tellAfter: actions });
    let pid: number | undefined;
    const looks = [service.firstRequest(), service.allAnswered()].map((moment) => moment.then(() => usedBy(pid)));
    const measured = await inNewFolder(bench, (work) =>
      measure({
        ...contender.command(work),
        onSpawn: (child) => {
          pid = child.pid;
        },
      }),
    );
    const [before, after] = await Promise.all(looks);
    if (before === undefined || after === undefined) throw new Error("the process was not looked at twice");
    taken.push({ thread: after.thread - before.thread, process: after.process - before.process });
    addTo(contenders, contender.name, measured);
    console.error(`  round ${round}  ${contender.name}: ${measured.seconds.toFixed(3)} s`);
  }
  const each = (what: keyof Used): number =>
    (median(taken.map((used) => used[what])) / actions) * MICROSECONDS_PER_SECOND;
  return { contenders, figures: { [AFTER_PLAN.thread]: each("thread"), [AFTER_PLAN.process]: each("process") } };
}

const MICROSECONDS_PER_SECOND = 1e6;
const NANOSECONDS_PER_SECOND = 1e9;

/** The first thread sends; it has the number of its process. */
function usedBy(pid: number | undefined): Used {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ");
  return { thread: Number(nanoseconds) / NANOSECONDS_PER_SECOND, process: cpuSecondsOf(pid) };
}
