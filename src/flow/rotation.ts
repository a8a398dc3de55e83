/** What waits, by whose it is: each flow's in the order in which it came, and the flows in rotation. */
export class Rotation<T> {
  private readonly lines = new Map<string, Line<T>>();
  /** Whose turn is last; undefined when nothing waits. */
  private last: Line<T> | undefined;

  add(flow: string, item: T): void {
    const line = this.lines.get(flow);
    if (line === undefined) this.join(new Line(flow, item));
    else line.add(item);
  }

  /** Takes the first of the flow whose turn it is; the flow goes to the end. There must be one. */
  take(): T {
    const last = this.last!;
    const line = last.next;
    const item = line.take();
    if (!line.isEmpty) this.last = line;
    else {
      this.lines.delete(line.flow);
      last.next = line.next;
      if (line === last) this.last = undefined;
    }
    return item;
  }

  has(flow: string): boolean {
    return this.lines.has(flow);
  }

  get isEmpty(): boolean {
    return this.last === undefined;
  }

  private join(line: Line<T>): void {
    const { last } = this;
    if (last !== undefined) {
      line.next = last.next;
      last.next = line;
    }
    this.last = line;
    this.lines.set(line.flow, line);
  }
}

/** Taken items are let go of when they are so many, and at least half of all. */
const letGo = 32;

/** What of one flow waits. */
class Line<T> {
  /** Whose turn is after this one's; round and round. */
  next: Line<T> = this;
  private readonly items: T[];
  private taken = 0;

  constructor(
    readonly flow: string,
    first: T,
  ) {
    this.items = [first];
  }

  get isEmpty(): boolean {
    return this.taken === this.items.length;
  }

  add(item: T): void {
    this.items.push(item);
  }

  take(): T {
    const item = this.items[this.taken++]!;
    if (this.taken >= letGo && 2 * this.taken >= this.items.length) {
      this.items.splice(0, this.taken);
      this.taken = 0;
    }
    return item;
  }
}
