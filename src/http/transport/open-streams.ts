/** What is under way and has no end of its own, such as watches: they are ended when the server stops, and so is one that begins after that. */
export class OpenStreams {
  private readonly open = new Set<{ close(): void }>();
  private draining = false;

  add(stream: { close(): void }): void {
    if (this.draining) stream.close();
    else this.open.add(stream);
  }

  delete(stream: { close(): void }): void {
    this.open.delete(stream);
  }

  /** Ends all of them, and those to come. */
  drain(): void {
    this.draining = true;
    for (const stream of this.open) stream.close();
  }
}
