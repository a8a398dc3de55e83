/** So many of a list are shown in a cell. */
const shownItems = 3;

/** The first items of lists that may be long, and how many more there are: `a,b,c + 5 more...`. */
export class FirstFew {
  private readonly items: string[] = [];
  private count = 0;

  /** Adds so many items; only those that are shown are asked for. */
  add(count: number, item: (index: number) => string): void {
    for (let index = 0; index < count && this.items.length < shownItems; index++)
      this.items.push(item(index));
    this.count += count;
  }

  /** @param empty what is shown for nothing. */
  text(empty = ""): string {
    const text = this.items.join(",");
    if (this.count > shownItems) return `${text} + ${this.count - shownItems} more...`;
    return text === "" ? empty : text;
  }
}
