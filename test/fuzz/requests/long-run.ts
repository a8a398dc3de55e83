import { fuzzRequests, type RequestFuzzReport } from "./fuzz-requests.ts";
import { heapGrowth, maxHeapGrowth } from "./heap-growth.ts";

/** Longest turn of the event loop that one request may cause, in milliseconds of processor time. */
export const maxTurnMs = 50;

/**
 * Sends random requests to a server with each vocabulary, half of them each, and prints figures.
 *
 * @throws {Error} for wrong responses, turns above {@link maxTurnMs}, and growing memory.
 */
export async function fuzzServers(requests: number, seed: number): Promise<void> {
  const failures: string[] = [];
  for (const vocabulary of ["platform", "kubernetes"] as const) {
    const print = (report: RequestFuzzReport) =>
      process.stdout.write(`${vocabulary} (seed ${seed}): ${summaryOf(report)}\n${worstOf(report)}`);
    const goOn = (count: number) => count < requests / 2;
    const report = await fuzzRequests({ seed, vocabulary, goOn, onWindow: print });
    print(report);
    failures.push(...failuresOf(report));
  }
  for (const failure of failures) process.stdout.write(`failure: ${failure}\n`);
  if (failures.length > 0) throw new Error(`${failures.length} failures`);
}

/** Returns what a report violates of the promises about requests. */
function failuresOf({ defects, worst, heapBytes }: RequestFuzzReport): string[] {
  const slow = worst.filter(({ ms }) => ms > maxTurnMs);
  const growth = heapGrowth(heapBytes);
  return [
    ...defects,
    ...slow.map(({ ms, line }) => `a turn of ${ms.toFixed(1)} ms: ${line}`),
    ...(growth > maxHeapGrowth ? [`the used heap grows by ${(growth * 100).toFixed(0)} %`] : []),
  ];
}

function worstOf({ worst }: RequestFuzzReport): string {
  return worst.map(({ ms, line }) => `  ${ms.toFixed(1)} ms: ${line}\n`).join("");
}

function summaryOf({ requests, seconds, statuses, defects, worst, heapBytes }: RequestFuzzReport): string {
  const heap = heapBytes.map((bytes) => Math.round(bytes / 2 ** 20));
  const codes = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  return (
    `${requests} requests, ${Math.round(requests / seconds)}/s, ${defects.length} defects, ` +
    `longest turn ${(worst[0]?.ms ?? 0).toFixed(1)} ms, heap ${heap.slice(-8).join(" ")} MiB; ${codes.join(", ")}`
  );
}
