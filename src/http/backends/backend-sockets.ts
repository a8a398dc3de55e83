import { StatusError } from "../../base/status-error.ts";
import { SharedBudget, type BudgetRefusal, type Spender } from "../../flow/shared-budget.ts";

/** Fraction of the sockets that is reserved for requests at an exempt priority level. */
const reservedPart = 1 / 8;

const retryAfterSeconds = 1;

/**
 * Limits the sockets to pods, services and node agents. Clients choose their number and lifetime, and each uses a file
 * descriptor, like a client's connection. Their total is limited, each user has a share, and the limit of client
 * connections is reduced by it.
 */
export class BackendSockets {
  private readonly budget: SharedBudget;
  private changed: (open: number) => void = () => undefined;

  /** @param note called with the number of open sockets, and for each rejected one. */
  constructor(
    limit: number,
    private readonly note: { open(count: number): void; refused(reason: BudgetRefusal): void },
  ) {
    this.budget = new SharedBudget(limit, Math.floor(limit * reservedPart));
  }

  /** Calls a listener with the number of open sockets whenever it changes. */
  follow(changed: (open: number) => void): void {
    this.changed = changed;
  }

  /**
   * Acquires a socket for a request.
   *
   * @returns a function that releases it; further calls have no effect.
   * @throws {StatusError} TooManyRequests if the user's share or all sockets are in use.
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
