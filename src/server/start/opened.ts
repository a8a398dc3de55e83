/** What was opened, to be closed in the reverse order: when a server stops, or when its start fails. */
export class Opened {
  private readonly closings: (() => unknown)[] = [];

  /** Notes how something is closed, and gives it back. */
  add<T>(opened: T, close: (opened: T) => unknown): T {
    this.closings.push(() => close(opened));
    return opened;
  }

  /** Closes everything, whatever fails; the first failure is thrown in the end. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.closings.splice(0).toReversed()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
