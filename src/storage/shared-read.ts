/**
 * Lets concurrent callers share one read of a value that changes. A call during a read waits for the next read, because the
 * result of the current one may be older than the call.
 */
export class SharedRead<T> {
  private current: Promise<T> | undefined;
  private next: Promise<T> | undefined;
  /** Whether the current read has begun, so that a call must wait for the next one. */
  private hasBegun = false;

  /** @param gather delays each read; the calls until then share it. By default a read begins with its first call. */
  constructor(
    private readonly read: () => Promise<T>,
    private readonly gather?: () => Promise<unknown>,
  ) {}

  /** Returns the value at some time after this call. */
  get(): Promise<T> {
    if (this.current === undefined) return this.start();
    if (!this.hasBegun) return this.current;
    return (this.next ??= this.current.then(
      () => this.startNext(),
      () => this.startNext(),
    ));
  }

  private start(): Promise<T> {
    const reading = this.begin().finally(() => {
      if (this.current === reading) this.current = undefined;
    });
    this.current = reading;
    return reading;
  }

  private async begin(): Promise<T> {
    this.hasBegun = false;
    await this.gather?.();
    this.hasBegun = true;
    return this.read();
  }

  private startNext(): Promise<T> {
    this.next = undefined;
    return this.start();
  }
}
