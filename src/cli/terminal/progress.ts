import type { Progress } from "../../storage/lmdb/progress.ts";

/** A command shows no progress in its first second on a terminal, and at most as often as this afterwards. */
const firstAfterMs = 1000;
const onTerminalMs = 100;
/** How often, and first after which time, a script gets a line. */
const inFileMs = 10_000;

/** Where progress is written; standard error by default. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/**
 * Runs the work of a command, and shows its progress on standard error when it takes longer than a second: as one line that changes on
 * a terminal, otherwise as a line every ten seconds.
 *
 * @param nowMs a monotonic clock.
 */
export async function showingProgress<T>(
  work: (progress: Progress) => Promise<T>,
  output: ProgressOutput = process.stderr,
  nowMs: () => number = () => performance.now(),
): Promise<T> {
  const isTerminal = output.isTTY === true;
  let nextMs = nowMs() + (isTerminal ? firstAfterMs : inFileMs);
  let isShown = false;
  const progress: Progress = (step, share) => {
    const now = nowMs();
    if (now < nextMs) return;
    nextMs = now + (isTerminal ? onTerminalMs : inFileMs);
    const text = `${step}: ${Math.floor(share * 100)} %`;
    output.write(isTerminal ? `${startOfLine}${text}` : `${text}\n`);
    isShown = true;
  };
  try {
    return await work(progress);
  } finally {
    if (isShown && isTerminal) output.write(startOfLine);
  }
}

/** Moves the cursor to the start of the line and erases the line. */
const startOfLine = "\r\u001b[2K";
