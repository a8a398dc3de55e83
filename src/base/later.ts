/** A part that others use once they work, and that is made after them because it needs them. */
export class Later<T extends object> {
  private part: T | undefined;

  /** @param name what it is, for the error of a use before it is made. */
  constructor(private readonly name: string) {}

  /**
   * Returns the part.
   *
   * @throws {TypeError} (a bug) it isn't made yet.
   */
  readonly get = (): T => {
    if (this.part === undefined) throw new TypeError(`${this.name} is used before it is made`);
    return this.part;
  };

  /**
   * Sets the part and returns it.
   *
   * @throws {TypeError} (a bug) it was made before.
   */
  set(part: T): T {
    if (this.part !== undefined) throw new TypeError(`${this.name} is made twice`);
    return (this.part = part);
  }
}
