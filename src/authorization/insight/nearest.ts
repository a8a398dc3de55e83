/** Keeps the items with the smallest distances and counts the others. */
export class Nearest<T> {
  private readonly entries: { readonly distance: number; readonly item: T }[] = [];
  private added = 0;

  /** @param max maximum number of items to keep. */
  constructor(private readonly max: number) {}

  /** Adds an item. Of items with equal distance the earlier one is kept. */
  add(distance: number, item: T): void {
    this.added++;
    const last = this.entries.at(-1);
    if (this.entries.length === this.max && last!.distance <= distance) return;
    const index = this.entries.findIndex((one) => one.distance > distance);
    this.entries.splice(index === -1 ? this.entries.length : index, 0, { distance, item });
    if (this.entries.length > this.max) this.entries.pop();
  }

  /** In order of distance. */
  get items(): readonly T[] {
    return this.entries.map(({ item }) => item);
  }

  /** Number of added items that were not kept. */
  get leftOut(): number {
    return this.added - this.entries.length;
  }
}
