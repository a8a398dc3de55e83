import { lineOf, type FuzzRequest } from "./request.ts";
import type { Turn } from "./turn-meter.ts";

/** A request and the processor time of its longest turn in the server, in milliseconds, when it is sent alone. */
export interface WorstInput {
  readonly ms: number;
  readonly line: string;
}

/** A request with its time, in milliseconds since 1970. */
interface SentRequest {
  readonly request: FuzzRequest;
  readonly start: number;
  end: number;
}

const listed = 20;
/** Number of requests that are remembered. */
const remembered = 256;
/** Number of turns, the longest ones, whose requests are repeated together. */
const turnsPerRepetition = 5;
/** Times of repetition: the compiler and the garbage collector lengthen single turns. */
const repetitions = 4;
/** A turn of this length isn't repeated, because neither of them lengthens it that much; in milliseconds. */
const surelySlowMs = 250;
/** Difference of the clocks of two processes and of the time until a message is read, in milliseconds. */
const slackMs = 5;

/** Finds the requests that caused long turns of the server's event loop. */
export class WorstInputs {
  private readonly recent: SentRequest[] = [];
  private readonly turns: Turn[] = [];
  private worst: WorstInput[] = [];

  /** The worst inputs, the longest turn first. */
  get list(): readonly WorstInput[] {
    return this.worst;
  }

  /** Records a request that is sent now. @returns must be called at the end of the response. */
  record(request: FuzzRequest): () => void {
    const sent: SentRequest = { request, start: Date.now(), end: Number.POSITIVE_INFINITY };
    this.recent.push(sent);
    if (this.recent.length > remembered) this.recent.shift();
    return () => {
      sent.end = Date.now();
    };
  }

  /** Records a long turn of the server. */
  addTurn(turn: Turn): void {
    this.turns.push(turn);
  }

  /**
   * Sends the requests that were under way during the recorded turns again, one at a time, and lists them with the time of their longest
   * turn, the smallest of several repetitions. No other request may be under way.
   *
   * @param measure sends a request and returns the processor time of the server's longest turn, in milliseconds.
   */
  async repeat(measure: (request: FuzzRequest) => Promise<number>): Promise<void> {
    const suspects = new Set<FuzzRequest>();
    const turns = this.turns.splice(0).toSorted((a, b) => b.ms - a.ms);
    for (const { from, to } of turns.slice(0, turnsPerRepetition)) {
      for (const { request, start, end } of this.recent) {
        if (start <= to + slackMs && end >= from - slackMs) suspects.add(request);
      }
    }
    for (const request of suspects) {
      const line = lineOf(request);
      if (this.worst.some((known) => known.line === line)) continue;
      let ms = await measure(request);
      const isUncertain = (): boolean => ms < surelySlowMs && ms > (this.worst.at(listed - 1)?.ms ?? 0);
      for (let attempt = 1; attempt < repetitions && isUncertain(); attempt++) {
        ms = Math.min(ms, await measure(request));
      }
      this.worst.push({ ms, line });
    }
    this.worst = this.worst.toSorted((a, b) => b.ms - a.ms).slice(0, listed);
  }
}
