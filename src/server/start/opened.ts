/** A stack of resources that are closed in reverse order when the server stops or its start fails. */
export class Opened {
  private readonly closings: (() => unknown)[] = [];

  /** Registers how a resource is closed, and returns the resource. */
  add<T>(opened: T, close: (opened: T) => unknown): T {
    this.closings.push(() => close(opened));
    return opened;
  }

  /** Closes everything even if some fail; then throws the first failure. */
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
