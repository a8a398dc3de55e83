import { tooManyRequests, type Ticket } from "./request.ts";

/** Limits the number of concurrent requests. */
export class PlainLimit implements Ticket {
  private underWay = 0;

  /** @param most 0 for no limit. */
  constructor(private readonly most: number) {}

  /**
   * Admits a request. The limit itself is the ticket.
   *
   * @throws {StatusError} TooManyRequests.
   */
  enter(): Ticket {
    if (this.most > 0 && this.underWay >= this.most) throw tooManyRequests();
    this.underWay++;
    return this;
  }

  get contended(): boolean {
    return this.most > 0 && this.underWay >= this.most;
  }

  release(): void {
    this.underWay--;
  }
}
