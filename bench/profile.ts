/** Sums up the processor profiles that Node writes with `--cpu-prof`. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const shown = 30;

/** Prints the functions of the newest profile in a folder by the time they took themselves, idleness left out. */
export function printProfile(folder: string, name: string): void {
  const file = readdirSync(folder).toSorted().at(-1);
  if (file === undefined) return;
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(join(folder, file), "utf8")) as Profile;
  const labels = new Map(nodes.map(({ id, callFrame }) => [id, labelOf(callFrame)]));
  const spent = new Map<string, number>();
  let total = 0;
  for (const [index, id] of samples.entries()) {
    const label = labels.get(id)!;
    const time = timeDeltas[index] ?? 0;
    if (label.startsWith("(idle)") || label.startsWith("(program)")) continue;
    total += time;
    spent.set(label, (spent.get(label) ?? 0) + time);
  }
  console.log(`\nprofile of ${name}: ${(total / 1e6).toFixed(1)} s busy (${join(folder, file)})`);
  const top = [...spent].toSorted((a, b) => b[1] - a[1]).slice(0, shown);
  for (const [label, time] of top)
    console.log(`${((time / total) * 100).toFixed(1).padStart(6)} %  ${label}`);
}

function labelOf({ functionName, url, lineNumber }: Profile["nodes"][number]["callFrame"]): string {
  const file = url.split("/").slice(-2).join("/");
  return `${functionName || "(anonymous)"} ${file === "" ? "" : `${file}:${lineNumber + 1}`}`;
}
