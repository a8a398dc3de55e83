/** The few things that came nearest, and how many others there were. */
export class Nearest<T> {
  private readonly kept: { readonly distance: number; readonly item: T }[] = [];
  private seen = 0;

  /** @param max so many are kept. */
  constructor(private readonly max: number) {}

  /** Takes one in; of equally near ones the first stays. */
  add(distance: number, item: T): void {
    this.seen++;
    const last = this.kept.at(-1);
    if (this.kept.length === this.max && last!.distance <= distance) return;
    const place = this.kept.findIndex((one) => one.distance > distance);
    this.kept.splice(place === -1 ? this.kept.length : place, 0, { distance, item });
    if (this.kept.length > this.max) this.kept.pop();
  }

  /** The nearest first. */
  get items(): readonly T[] {
    return this.kept.map(({ item }) => item);
  }

  get leftOut(): number {
    return this.seen - this.kept.length;
  }
}
