/** Maximum number of items in a cell. */
const shownItems = 3;

/** Shows the first items of a list in a cell, and the number of the others: `a,b,c + 5 more...`. */
export class TruncatedList {
  private readonly items: string[] = [];
  private count = 0;

  /**
   * Adds a number of items.
   *
   * @param item returns an item; called only for those that are shown.
   */
  add(count: number, item: (index: number) => string): void {
    for (let index = 0; index < count && this.items.length < shownItems; index++)
      this.items.push(item(index));
    this.count += count;
  }

  /** @param empty the text of an empty list. */
  text(empty = ""): string {
    const text = this.items.join(",");
    if (this.count > shownItems) return `${text} + ${this.count - shownItems} more...`;
    return text === "" ? empty : text;
  }
}
