/** Sums up the processor profiles that Node writes with `--cpu-prof`. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./processes.ts";

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: CallFrame;
    readonly children?: readonly number[];
  }[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

type Window = readonly [from: number, to: number];

const windows = new Map<number, Window[]>();
const shown = 25;

/** Flags with which Node writes a profile into a folder when it ends. */
export function profileFlags(folder: string | undefined): string[] {
  return folder === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${folder}`];
}

/** The machine's monotonic clock, which is also that of profiles, in microseconds. */
export function monotonicMicros(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Remembers when a process was being measured: only that part of its profile counts. */
export function noteMeasured(pid: number, from: number, to: number): void {
  windows.set(pid, [...(windows.get(pid) ?? []), [from, to]]);
}

/**
 * Prints what a process did while it was measured, idleness left out: functions by the time they took themselves, then
 * the product's own functions by the time that they and what they call took.
 */
export function printProfile(folder: string, name: string, pid: number): void {
  // The main thread's: thread 0.
  const file = readdirSync(folder).findLast((one) => one.includes(`.${pid}.0.`));
  if (file === undefined) return;
  const profile = JSON.parse(readFileSync(join(folder, file), "utf8")) as Profile;
  const { own, whole, total } = times(profile, windows.get(pid) ?? []);
  const print = (spent: readonly (readonly [string, number])[]): void => {
    const top = spent.toSorted((a, b) => b[1] - a[1]).slice(0, shown);
    for (const [label, time] of top)
      console.log(`${((time / total) * 100).toFixed(1).padStart(6)} %  ${label}`);
  };
  console.log(`\nprofile of ${name}: ${(total / 1e6).toFixed(1)} s busy (${join(folder, file)})\nself:`);
  print([...own]);
  console.log("with what they call:");
  print([...whole].filter(([label]) => label.includes("  src/") || label.includes("  bench/")));
}

interface Times {
  readonly own: ReadonlyMap<string, number>;
  readonly whole: ReadonlyMap<string, number>;
  readonly total: number;
}

function times({ nodes, startTime, samples, timeDeltas }: Profile, counted: readonly Window[]): Times {
  const stacks = stacksOf(nodes);
  const own = new Map<string, number>();
  const whole = new Map<string, number>();
  const add = (to: Map<string, number>, label: string, time: number) =>
    to.set(label, (to.get(label) ?? 0) + time);
  let total = 0;
  let at = startTime;
  for (const [index, id] of samples.entries()) {
    const time = timeDeltas[index] ?? 0;
    at += time;
    const stack = stacks.get(id)!;
    if (stack[0] === "(idle)" || !counted.some(([from, to]) => at >= from && at <= to)) continue;
    total += time;
    add(own, stack[0]!, time);
    for (const label of new Set(stack)) add(whole, label, time);
  }
  return { own, whole, total };
}

/** The labels of each node and its callers, innermost first. */
function stacksOf(nodes: Profile["nodes"]): Map<number, string[]> {
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const stacks = new Map<number, string[]>();
  const labels = new Map(nodes.map(({ id, callFrame }) => [id, labelOf(callFrame)]));
  for (const { id } of nodes) {
    const stack: string[] = [];
    for (let at: number | undefined = id; at !== undefined; at = callers.get(at)) stack.push(labels.get(at)!);
    stacks.set(id, stack);
  }
  return stacks;
}

const maps = new Map<string, SourceMap | undefined>();

function labelOf({ functionName, url, lineNumber, columnNumber }: CallFrame): string {
  const name = functionName === "" ? "(anonymous)" : functionName;
  if (!url.startsWith("file:")) return url === "" ? name : `${name}  ${url}`;
  const file = fileURLToPath(url);
  if (!maps.has(file)) maps.set(file, readMap(`${file}.map`));
  const entry = maps.get(file)?.findEntry(lineNumber, columnNumber);
  if (entry !== undefined && "originalSource" in entry) {
    return `${name}  ${entry.originalSource.replace(/^(\.\.\/)+/, "")}:${entry.originalLine + 1}`;
  }
  return `${name}  ${relative(root, file)}:${lineNumber + 1}`;
}

function readMap(file: string): SourceMap | undefined {
  if (!existsSync(file)) return undefined;
  return new SourceMap(JSON.parse(readFileSync(file, "utf8")) as ConstructorParameters<typeof SourceMap>[0]);
}
