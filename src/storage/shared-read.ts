/**
 * Lets concurrent callers share one read of a value that changes. A call during a read waits for the next read, because the
 * result of the current one may be older than the call.
 */
export class SharedRead<T> {
  private current: Promise<T> | undefined;
  private next: Promise<T> | undefined;

  constructor(private readonly read: () => Promise<T>) {}

  /** Returns the value at some time after this call. */
  get(): Promise<T> {
    if (this.current === undefined) return this.start();
    return (this.next ??= this.current.then(
      () => this.startNext(),
      () => this.startNext(),
    ));
  }

  private start(): Promise<T> {
    const reading = this.read().finally(() => {
      if (this.current === reading) this.current = undefined;
    });
    this.current = reading;
    return reading;
  }

  private startNext(): Promise<T> {
    this.next = undefined;
    return this.start();
  }
}
