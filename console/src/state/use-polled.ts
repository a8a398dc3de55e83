import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { messageOf } from "../api/client.ts";
import { pause } from "../api/streams.ts";

/**
 * Reads something at once, and again after an interval while the component is shown.
 *
 * @returns the last result; a message if the last read failed; undefined until the first one.
 */
export function usePolled<T extends object>(
  read: (aborted: AbortSignal) => Promise<T>,
  intervalMs: number,
): T | string | undefined {
  const result = useSignal<T | string | undefined>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    const { signal: aborted } = controller;
    const follow = async () => {
      while (!aborted.aborted) {
        const next = await read(aborted).catch(messageOf);
        if (!aborted.aborted) result.value = next;
        await pause(intervalMs, aborted);
      }
    };
    follow().catch((error: unknown) => (result.value = messageOf(error)));
    return () => controller.abort();
  }, []);
  return result.value;
}
