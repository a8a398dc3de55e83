/** Items of a list that a cell shows. */
const shownItems = 3;

/** The first items of lists that may be long, and how many more there are: `a,b,c + 5 more...`. */
export class TruncatedList {
  private readonly items: string[] = [];
  private count = 0;

  /** Adds a number of items. @param item is called for those that are shown only. */
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
