/** What waits, by whose it is: each flow's in the order in which it came, and the flows in rotation. */
export class Rotation<T> {
  private readonly lines = new Map<string, T[]>();

  add(flow: string, item: T): void {
    const line = this.lines.get(flow);
    if (line === undefined) this.lines.set(flow, [item]);
    else line.push(item);
  }

  /** Takes the first of the flow whose turn it is; the flow goes to the end. There must be one. */
  take(): T {
    const [flow, line] = this.lines.entries().next().value!;
    const item = line.shift()!;
    this.lines.delete(flow);
    if (line.length > 0) this.lines.set(flow, line);
    return item;
  }

  has(flow: string): boolean {
    return this.lines.has(flow);
  }

  get isEmpty(): boolean {
    return this.lines.size === 0;
  }
}
