/** A value if it is available synchronously, for example from memory; otherwise a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/** Applies `next` to a value or to the result of a promise. Stays synchronous if the value is no promise. */
export function andThen<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Runs work in the background. When its promise rejects, `failed` is called with the reason; it must not throw. */
export function detach(work: MaybePromise<unknown>, failed: (error: unknown) => void): void {
  if (work instanceof Promise) work.catch(failed);
}
