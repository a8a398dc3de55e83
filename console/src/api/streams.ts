import { LineSplitter } from "../model/lines.ts";
import { ApiError, send, type StatusBody } from "./client.ts";

/** An event of a watch. */
export interface WatchEvent<T> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: T;
}

/**
 * Watches a path until the server ends the stream.
 *
 * @param path with the parameters of the watch.
 * @throws {ApiError} also for an event of type ERROR, with its code.
 */
export async function watch<T>(
  path: string,
  accept: string,
  signal: AbortSignal,
  received: (events: readonly WatchEvent<T>[]) => void,
): Promise<void> {
  const response = await send(path, { accept, signal });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const splitter = new LineSplitter();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = splitter.add(value).map((line) => JSON.parse(line) as WatchEvent<T>);
    const failed = events.findIndex(({ type }) => type === "ERROR");
    if (failed === -1) {
      if (events.length > 0) received(events);
      continue;
    }
    received(events.slice(0, failed));
    await reader.cancel();
    const status = events[failed]!.object as StatusBody & { readonly code?: number };
    throw new ApiError(status.code ?? 500, status.message ?? "the watch failed", status);
  }
}

/** Resolves after a time, or at once if the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}
