import { StatusError } from "../../base/status-error.ts";
import { SharedBudget, type BudgetRefusal, type Spender } from "../../flow/shared-budget.ts";

/** Bytes that the bodies under way may take in all. */
const budgetBytes = 256 * 1024 * 1024;

/** Of these, the bytes that only requests at an exempt priority level may take: `reservedPart` of one. */
const reservedPart = 1 / 8;

const retryAfterSeconds = 1;

/**
 * Counts the bytes of bodies that are being read, so that many clients together can't take the server's memory, nor one
 * user all of what is meant for bodies. A body is charged for what has arrived.
 */
export class BodyBudget {
  private readonly budget: SharedBudget;

  /** @param refused is called for each body that is refused. */
  constructor(
    private readonly refused: (reason: BudgetRefusal) => void,
    limit = budgetBytes,
  ) {
    this.budget = new SharedBudget(limit, limit * reservedPart);
  }

  /** Begins the account of one body. */
  open(reader: Spender): BodyAccount {
    return new BodyAccount(this.budget, reader, this.refused);
  }
}

/** The bytes of one body. */
export class BodyAccount {
  private taken = 0;
  constructor(
    private readonly budget: SharedBudget,
    private readonly reader: Spender,
    private readonly refused: (reason: BudgetRefusal) => void,
  ) {}

  /**
   * Charges bytes that arrived.
   *
   * @throws {StatusError} TooManyRequests when the user has their share, or the bodies under way leave no room.
   */
  arrived(bytes: number): void {
    const refusal = this.budget.take(this.reader, bytes);
    if (refusal === undefined) {
      this.taken += bytes;
      return;
    }
    this.refused(refusal);
    throw new StatusError("TooManyRequests", messages[refusal], { retryAfterSeconds });
  }

  /** Gives everything back: the body was read, or never will be. */
  close(): void {
    if (this.taken > 0) this.budget.give(this.reader, this.taken);
    this.taken = 0;
  }
}

const messages: Readonly<Record<BudgetRefusal, string>> = {
  caller: "too many bytes of this user's request bodies are under way; please try again",
  server: "too many bytes of request bodies are under way; please try again",
};
