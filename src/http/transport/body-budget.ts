import { StatusError } from "../../base/status-error.ts";
import { SharedBudget, type BudgetRefusal, type Spender } from "../../flow/shared-budget.ts";

/** Bytes of all request bodies that are being received. */
const budgetBytes = 256 * 1024 * 1024;
/** The least part of them for one of several processes, so that each accepts several of the largest bodies. */
const leastBytes = 32 * 1024 * 1024;

/** The part of them that is reserved for requests at an exempt priority level. */
const reservedPart = 1 / 8;

const retryAfterSeconds = 1;

/**
 * Limits the bytes of request bodies that are being received, in total and by user. A body is charged for the bytes that have
 * arrived.
 */
export class BodyBudget {
  private readonly budget: SharedBudget;

  /** @param refused is called for each rejected body. */
  constructor(
    private readonly refused: (reason: BudgetRefusal) => void,
    limit = budgetBytes,
  ) {
    this.budget = new SharedBudget(limit, limit * reservedPart);
  }

  /** Opens the account of a body. */
  open(reader: Spender): BodyAccount {
    return new BodyAccount(this.budget, reader, this.refused);
  }
}

/** Returns the limit for each of several processes that serve the same port, in bytes. */
export function bodyBytesOfProcess(processes: number): number {
  return Math.max(leastBytes, budgetBytes / processes);
}

/** The received bytes of one body. */
export class BodyAccount {
  private chargedBytes = 0;
  constructor(
    private readonly budget: SharedBudget,
    private readonly reader: Spender,
    private readonly refused: (reason: BudgetRefusal) => void,
  ) {}

  /**
   * Charges bytes that arrived.
   *
   * @throws {StatusError} TooManyRequests if the share of the user or the total is used up.
   */
  arrived(bytes: number): void {
    const refusal = this.budget.take(this.reader, bytes);
    if (refusal === undefined) {
      this.chargedBytes += bytes;
      return;
    }
    this.refused(refusal);
    throw new StatusError("TooManyRequests", messages[refusal], { retryAfterSeconds });
  }

  /** Releases all bytes: the body is complete or abandoned. */
  close(): void {
    if (this.chargedBytes > 0) this.budget.give(this.reader, this.chargedBytes);
    this.chargedBytes = 0;
  }
}

const messages: Readonly<Record<BudgetRefusal, string>> = {
  caller: "too many bytes of this user's request bodies are under way; please try again",
  server: "too many bytes of request bodies are under way; please try again",
};
