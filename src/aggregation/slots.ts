/** A counting semaphore: limits concurrent work. Further work waits in FIFO order. */
export class Slots {
  private taken = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly limit: number) {}

  /** Runs work when a slot is free. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.taken >= this.limit) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.taken++;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.taken--;
      else next();
    }
  }
}
