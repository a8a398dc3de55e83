/** Queued items: first in, first out within a flow; the flows in rotation. */
export class Rotation<T> {
  private readonly lines = new Map<string, Line<T>>();
  /** The flow that is last in the rotation; undefined if the queue is empty. */
  private last: Line<T> | undefined;

  add(flow: string, item: T): void {
    const line = this.lines.get(flow);
    if (line === undefined) this.join(new Line(flow, item));
    else line.add(item);
  }

  /** Removes and returns the first item of the next flow, which then goes to the end. The queue must not be empty. */
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

/** Removed items are freed once there are this many and at least half of all. */
const letGo = 32;

/** The queued items of one flow. */
class Line<T> {
  /** The next flow in the rotation, a circular list. */
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
