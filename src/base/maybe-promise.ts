/** A value that is there at once where the source can answer from memory, else a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/** Applies `next` to a value that may still be a promise, without a promise where none is needed. */
export function andThen<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Runs work in the background. When its promise rejects, `failed` is called with the reason; it must not throw. */
export function detach(work: MaybePromise<unknown>, failed: (error: unknown) => void): void {
  if (work instanceof Promise) work.catch(failed);
}
