/** Names of the values that are private keys of the servers. */
export const sharedKeyNames = ["authority", "service-account-signing-key"] as const;

/**
 * Small named values shared by the servers that use one store. They are not keys: they take no revision, and neither reads
 * nor subscriptions return them.
 */
export interface SharedValues {
  /** Returns the latest value of a name. */
  get(name: string): Promise<Buffer | undefined>;

  /**
   * Replaces a value if it still equals `before` (compare-and-swap).
   *
   * @param before the expected current value; undefined if the name must have no value.
   * @returns the value afterwards: `value`, or the one that another server wrote.
   */
  replace(name: string, before: Buffer | undefined, value: Buffer): Promise<Buffer>;
}
