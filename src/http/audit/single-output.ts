import type { EventOutput } from "./backend.ts";

/** Events that may be on their way at a time; one more is lost. */
const maxUnderWay = 1000;

/** Sends each event by itself; a request whose coming is recorded waits until that event has arrived. */
export class WaitingOutput implements EventOutput {
  private readonly underWay = new Set<Promise<boolean>>();

  /**
   * @param send takes the texts of events; a promise that is rejected tells that they are lost.
   * @param lost called with how many events are lost, and why.
   */
  constructor(
    private readonly send: (texts: readonly string[]) => Promise<void>,
    private readonly lost: (events: number, error: unknown) => void,
    private readonly end: () => Promise<void>,
  ) {}

  async write(text: string): Promise<boolean> {
    if (this.underWay.size >= maxUnderWay) {
      this.lost(1, new Error("too many events are on their way"));
      return false;
    }
    const sent = this.sendOne(text);
    this.underWay.add(sent);
    const written = await sent;
    this.underWay.delete(sent);
    return written;
  }

  async close(): Promise<void> {
    await Promise.all(this.underWay);
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
