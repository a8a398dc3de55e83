/** The operations of a store that have begun, for which its `close` waits. */
export class PendingOperations {
  private readonly operations = new Set<Promise<unknown>>();

  /** Registers an operation; returns its result. */
  async add<T>(operation: Promise<T>): Promise<T> {
    this.operations.add(operation);
    try {
      return await operation;
    } finally {
      this.operations.delete(operation);
    }
  }

  /** Resolves when all operations that have begun so far have ended, with or without success. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.operations);
  }
}
