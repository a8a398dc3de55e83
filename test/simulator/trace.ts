import { createHash, type Hash } from "node:crypto";

/** One event of a simulation. */
export interface TraceEvent {
  /** Virtual time in milliseconds since the start. */
  readonly atMs: number;
  readonly actor: string;
  readonly action: string;
  readonly outcome: string;
}

/** What happened in a simulation, in order: a digest of everything, and the newest events as text. */
export class Trace {
  private readonly hash: Hash = createHash("sha256");
  private readonly newest: TraceEvent[] = [];
  private total = 0;

  /**
   * @param nowMs returns the virtual time.
   * @param keep number of events that are kept as text.
   */
  constructor(
    private readonly nowMs: () => number,
    private readonly keep: number,
  ) {}

  add(actor: string, action: string, outcome: string): void {
    const atMs = this.nowMs();
    this.total++;
    this.hash.update(`${atMs} ${actor} ${action} ${outcome}\n`);
    if (this.keep === 0) return;
    this.newest.push({ atMs, actor, action, outcome });
    if (this.newest.length > 2 * this.keep) this.newest.splice(0, this.newest.length - this.keep);
  }

  get events(): number {
    return this.total;
  }

  /** Returns the digest of all events so far. */
  digest(): string {
    return this.hash.copy().digest("hex");
  }

  /** Returns the newest events, one a line. */
  lines(): string[] {
    return this.newest
      .slice(-this.keep)
      .map(({ atMs, actor, action, outcome }) => `${atMs.toFixed(3)} ${actor}: ${action}: ${outcome}`);
  }
}
