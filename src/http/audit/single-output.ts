import type { EventOutput } from "./backend.ts";

/** Maximum number of events that are being sent; further events are lost. */
const maxPending = 1000;

/** Sends each event in a request of its own; `write` resolves when the backend has accepted the event. */
export class SingleOutput implements EventOutput {
  private readonly pending = new Set<Promise<boolean>>();

  /**
   * @param send sends the texts of events; a rejected promise means that they are lost.
   * @param lost called with the number of lost events and the reason.
   * @param end closes the connection to the backend.
   */
  constructor(
    private readonly send: (texts: readonly string[]) => Promise<void>,
    private readonly lost: (events: number, error: unknown) => void,
    private readonly end: () => Promise<void>,
  ) {}

  async write(text: string): Promise<boolean> {
    if (this.pending.size >= maxPending) {
      this.lost(1, new Error("too many events are being sent"));
      return false;
    }
    const sending = this.sendOne(text);
    this.pending.add(sending);
    const written = await sending;
    this.pending.delete(sending);
    return written;
  }

  async close(): Promise<void> {
    await Promise.all(this.pending);
    await this.end();
  }

  private async sendOne(text: string): Promise<boolean> {
    try {
      await this.send([text]);
      return true;
    } catch (error) {
      this.lost(1, error);
      return false;
    }
  }
}
