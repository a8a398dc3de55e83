/**
 * Small values that all servers of a store share. They aren't keys of the store: they have no revision, and reads and subscriptions
 * don't include them.
 */
export interface SharedValues {
  /** Returns the latest value. */
  get(name: string): Promise<Buffer | undefined>;

  /**
   * Replaces a value if it is still `before` (compare-and-swap).
   *
   * @param before the expected value; undefined if none is expected.
   * @returns the value afterwards: `value`, or the one that another server has written.
   */
  replace(name: string, before: Buffer | undefined, value: Buffer): Promise<Buffer>;
}
