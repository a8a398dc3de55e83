import { watch, type FSWatcher } from "node:fs";

/** Milliseconds without another change after which work begins: an editor writes a file in several steps. */
const quietMs = 50;

/**
 * Runs work after each change of files or folders, one run at a time, until the signal is aborted.
 *
 * @param ready called before it waits for a change, each time.
 * @returns the exit code of the last run; 0 without one.
 */
export async function whenFilesChange(
  paths: readonly string[],
  work: () => Promise<number>,
  stop: AbortSignal | undefined,
  ready: () => void,
): Promise<number> {
  let wake: () => void = () => undefined;
  let hasChanged = false;
  let timer: NodeJS.Timeout | undefined;
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      hasChanged = true;
      wake();
    }, quietMs);
  };
  const watchers: FSWatcher[] = paths.map((path) => watch(path, { recursive: true }, changed));
  stop?.addEventListener("abort", () => wake(), { once: true });
  let code = 0;
  try {
    for (;;) {
      ready();
      if (!hasChanged && stop?.aborted !== true) await new Promise<void>((resolve) => (wake = resolve));
      if (stop?.aborted === true) return code;
      hasChanged = false;
      code = await work();
    }
  } finally {
    clearTimeout(timer);
    for (const one of watchers) one.close();
  }
}
