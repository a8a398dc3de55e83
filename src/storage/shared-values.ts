/**
 * Small values that the users of one store share, beside its keys: they take no revision, and are seen by no read and no
 * subscription of the store.
 */
export interface SharedValues {
  /** The newest value under a name. */
  get(name: string): Promise<Buffer | undefined>;

  /**
   * Puts a value in the place of another one, unless somebody else did so before.
   *
   * @param before what is to be replaced; undefined: there is nothing yet.
   * @returns what is there afterwards: `value`, or what somebody else put there.
   */
  replace(name: string, before: Buffer | undefined, value: Buffer): Promise<Buffer>;
}
