import type { Clock } from "./time/clock.ts";

/**
 * How long the server waits for a promise of an extension, in milliseconds: half of the time limit of a request, so that the
 * client still gets a response.
 */
export const extensionLimitMs = 30_000;

/** An extension failed: it threw, rejected, violated its contract, or exceeded the time limit. */
export class ExtensionError extends Error {
  override name = "ExtensionError";
}

/** Dependencies of the code that guards extensions: objects of the embedding program, which may fail in any way. */
export interface ExtensionGuard {
  readonly clock: Clock;
  /** Logs the failure of an extension, which `extension` names: `admission plugin "x"`. */
  readonly failed: (extension: string, error: unknown) => void;
}

/**
 * Returns the result of an extension's promise. Rejects with an {@link ExtensionError} after {@link extensionLimitMs}; a later
 * result or rejection is ignored.
 *
 * @param awaited name of the called method for the error message: `authenticate`.
 */
export function inTime<T>(clock: Clock, answer: PromiseLike<T>, awaited: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(() => {
      reject(new ExtensionError(`${awaited} did not answer within ${extensionLimitMs / 1000} seconds`));
    }, extensionLimitMs);
    answer.then(
      (value) => {
        timer.cancel();
        resolve(value);
      },
      (error: unknown) => {
        timer.cancel();
        // A StatusError is passed on unchanged: it is a response.
        reject(
          error instanceof Error ? error : new ExtensionError(`${awaited} rejected with ${String(error)}`),
        );
      },
    );
  });
}

/** Whether a result of an extension is a promise or another object with `then`. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return (
    (typeof value === "object" || typeof value === "function") &&
    value !== null &&
    typeof (value as { then?: unknown }).then === "function"
  );
}

/** Whether a value is an object with members, not a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
