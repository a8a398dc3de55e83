/** A turn of the event loop. */
export interface Turn {
  /** Processor time of the process in the turn, in milliseconds; threads of the garbage collector and the compiler are included. */
  readonly ms: number;
  /** Begin and end, in milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

/** Turns that are measured after the last call of {@link TurnMeter.begin}. */
const measuredTurns = 40;

/**
 * Measures the processor time of turns of the event loop, from one check phase to the next. It measures only for some turns after a
 * call of `begin`, because a measured loop never waits.
 */
export class TurnMeter {
  private left = 0;
  private longest = 0;
  private cpu = process.cpuUsage();
  private from = Date.now();

  /** @param onTurn is called after each measured turn. */
  constructor(private readonly onTurn: (turn: Turn) => void) {}

  /** Measures this turn and the following ones. */
  begin(): void {
    const isIdle = this.left === 0;
    this.left = measuredTurns;
    if (!isIdle) return;
    this.restart();
    setImmediate(this.measure);
  }

  /** Returns the longest turn since the last call, in milliseconds. */
  takeLongest(): number {
    const { longest } = this;
    this.longest = 0;
    return longest;
  }

  private readonly measure = (): void => {
    const { user, system } = process.cpuUsage(this.cpu);
    const ms = (user + system) / 1000;
    const { from } = this;
    this.longest = Math.max(this.longest, ms);
    this.restart();
    this.onTurn({ ms, from, to: this.from });
    if (--this.left > 0) setImmediate(this.measure);
  };

  private restart(): void {
    this.cpu = process.cpuUsage();
    this.from = Date.now();
  }
}
