/** Responses without an end of their own, such as watches. The server ends them when it stops, including later ones. */
export class OpenStreams {
  private readonly open = new Set<{ close(): void }>();
  private draining = false;

  /** Number of open streams. */
  get size(): number {
    return this.open.size;
  }

  add(stream: { close(): void }): void {
    if (this.draining) stream.close();
    else this.open.add(stream);
  }

  delete(stream: { close(): void }): void {
    this.open.delete(stream);
  }

  /** Ends all streams, including those that start later. */
  drain(): void {
    this.draining = true;
    for (const stream of this.open) stream.close();
  }
}
