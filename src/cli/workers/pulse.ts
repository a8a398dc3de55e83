/** Interval at which a child process tells its parent that its event loop runs, in milliseconds. */
export const pulseMs = 1000;
/** Number of missed messages after which a process is frozen. */
const maxMissed = 10;

/** A message of a child process to its parent: its event loop runs. */
export const pulseMessage = "pulse";

/** Sends the messages of a child process until it ends or its parent does. */
export function sendPulses(): void {
  const timer = setInterval(() => {
    if (process.connected) process.send!(pulseMessage);
  }, pulseMs);
  timer.unref();
}

/**
 * Finds child processes that don't run any more although they have not ended: stopped ones, and those whose event loop is blocked. It counts
 * ticks, not time, so that a suspended machine doesn't make all processes frozen.
 */
export class Pulses<Child> {
  /** Number of ticks since the last message of each process. */
  private readonly missed = new Map<Child, number>();

  /** @param frozen called once for a process that has sent nothing for {@link maxMissed} ticks. */
  constructor(private readonly frozen: (child: Child) => void) {}

  /** Records that the event loop of a process runs; the first call starts the observation. */
  beat(child: Child): void {
    this.missed.set(child, 0);
  }

  /** Ends the observation of a process. */
  remove(child: Child): void {
    this.missed.delete(child);
  }

  /** Counts a tick; called every {@link pulseMs}. */
  tick(): void {
    for (const [child, missed] of this.missed) {
      if (missed < maxMissed) this.missed.set(child, missed + 1);
      else {
        this.missed.delete(child);
        this.frozen(child);
      }
    }
  }
}
