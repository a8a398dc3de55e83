import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { messageOf } from "../api/client.ts";

/**
 * Reads something when the component is shown, and again when one of `inputs` changes.
 *
 * @returns the result; a message if the read failed; undefined until then.
 */
export function useAsync<T extends object>(
  read: (aborted: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
): T | string | undefined {
  const result = useSignal<T | string | undefined>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    result.value = undefined;
    const finish = (value: T | string) => {
      if (!signal.aborted) result.value = value;
    };
    read(signal).then(finish, (error: unknown) => finish(messageOf(error)));
    return () => controller.abort();
  }, inputs);
  return result.value;
}
