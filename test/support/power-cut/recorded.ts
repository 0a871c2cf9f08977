/** A story that was carried out once: where in its log what happened, and how the disk began. */

import { rmSync, statSync } from "node:fs";
import { expect, onTestFinished } from "vitest";
import { openWorkplace, type Workplace } from "../bin.ts";
import { type Disk, readDisk } from "./disk.ts";
import { type ProcessedRequest, type RememberingService, startRememberingService } from "./service.ts";
import { FILES, type Story } from "./stories.ts";
import { readTrace, type Traced, tracedWithBytes } from "./trace.ts";

/** A request, from which place of the log on the service may have processed it, and from which on it had. */
interface SentRequest {
  readonly request: ProcessedRequest;
  readonly leftAt: number;
  readonly processedAt: number;
}

export interface RecordedStory {
  readonly story: Story;
  readonly place: Workplace;
  readonly service: RememberingService;
  readonly env: Readonly<Record<string, string>>;
  /** As they were typed, and where in the log each began. */
  readonly steps: readonly { readonly args: readonly string[]; readonly from: number }[];
  readonly trace: readonly Traced[];
  /** What the service had processed before the first step. */
  readonly earlier: readonly ProcessedRequest[];
  /** In the order in which they were processed. */
  readonly sent: readonly SentRequest[];
  /** As it was before the first step. */
  disk(): Disk;
}

export async function recordStory(story: Story): Promise<RecordedStory> {
  const place = openWorkplace();
  for (const [name, text] of Object.entries(FILES)) place.write(name, text);
  // Outside of the folder, which is the disk.
  const log = `${place.folder}.log`;
  onTestFinished(() => rmSync(log, { force: true }));
  let from = 0;
  const loggedBytes = (): number => from + (statSync(log, { throwIfNoEntry: false })?.size ?? 0);
  const service = await startRememberingService(story.rules, loggedBytes);
  const env = { ...service.env, TICKETS_STATE_DIR: place.path("state") };
  for (const { args, exitCode } of story.before) {
    const ended = await place.tickets(args, { env });
    expect(ended.exitCode, ended.stderr).toBe(exitCode);
  }
  const earlier = [...service.processed()];
  const disk = readDisk(place.folder);
  const steps: RecordedStory["steps"][number][] = [];
  const trace: Traced[] = [];
  let run = "";
  for (const step of story.steps) {
    const args = step.args.map((word) => (word === "RUN" ? run : word));
    const ended = await place.tickets(args, { env, shell: tracedWithBytes(log) });
    expect(ended.exitCode, ended.stderr).toBe(step.exitCode);
    if (args.includes("--json")) run = String((JSON.parse(ended.stdout) as { readonly run: unknown }).run);
    steps.push({ args, from });
    trace.push(...readTrace(log, place.folder, from));
    from = loggedBytes();
    rmSync(log);
  }
  const processed = service.processed().slice(earlier.length);
  return { story, place, service, env, steps, trace, earlier, sent: whenSent(processed, trace), disk };
}

/** A request has left with its last bytes; what the log holds by the time it is processed came before the answer. */
function whenSent(requests: readonly ProcessedRequest[], trace: readonly Traced[]): readonly SentRequest[] {
  const left = new Map<number, number[]>();
  for (const { start, operation } of trace) {
    if (operation.kind !== "send") continue;
    const ofPort = left.get(operation.port) ?? [];
    left.set(operation.port, ofPort);
    if (operation.begins) ofPort.push(start);
    else ofPort.splice(-1, 1, start);
  }
  return requests.map((request) => {
    const leftAt = left.get(request.port)?.shift();
    if (leftAt === undefined) throw new Error(`no request of the log came from port ${request.port}`);
    return { request, leftAt, processedAt: Math.max(request.loggedBytes, leftAt + 1) };
  });
}
