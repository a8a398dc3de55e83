import { tooManyRequests, type Ticket } from "./ticket.ts";

/** Counts requests under way up to a limit. */
export class PlainLimit implements Ticket {
  private underWay = 0;

  /** @param most 0: any number. */
  constructor(private readonly most: number) {}

  /**
   * A request begins. It is itself the ticket, as all are alike.
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
