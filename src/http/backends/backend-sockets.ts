import { StatusError } from "../../base/status-error.ts";
import { SharedBudget, type BudgetRefusal, type Spender } from "../../flow/shared-budget.ts";

/** Of the sockets for backends, the part that only requests at an exempt priority level may take. */
const reservedPart = 1 / 8;

const retryAfterSeconds = 1;

/**
 * Counts the sockets to pods, services and node agents. Clients choose how many there are and how long they last, and each
 * takes a file descriptor as a client's connection does. So they are bounded, each user has a share of them, and what they
 * take is left out of what clients' connections may be.
 */
export class BackendSockets {
  private readonly budget: SharedBudget;
  private changed: (open: number) => void = () => undefined;

  /** @param note called with how many are open, and with each that was refused. */
  constructor(
    limit: number,
    private readonly note: { open(count: number): void; refused(reason: BudgetRefusal): void },
  ) {
    this.budget = new SharedBudget(limit, Math.floor(limit * reservedPart));
  }

  /** Calls a listener with how many sockets are open, whenever that changes. */
  follow(changed: (open: number) => void): void {
    this.changed = changed;
  }

  /**
   * Takes a socket for a request.
   *
   * @returns what gives it back, however often it is called.
   * @throws {StatusError} TooManyRequests when the user has their share, or all are taken.
   */
  take(spender: Spender): () => void {
    const refusal = this.budget.take(spender, 1);
    if (refusal !== undefined) {
      this.note.refused(refusal);
      throw new StatusError("TooManyRequests", messages[refusal], { retryAfterSeconds });
    }
    this.tell();
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      this.budget.give(spender, 1);
      this.tell();
    };
  }

  private tell(): void {
    this.note.open(this.budget.taken);
    this.changed(this.budget.taken);
  }
}

const messages: Readonly<Record<BudgetRefusal, string>> = {
  caller: "too many connections to pods, services and nodes are open for this user; please try again",
  server: "too many connections to pods, services and nodes are open; please try again",
};
