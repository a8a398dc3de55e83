import { SharedBudget } from "../../flow/shared-budget.ts";

/** Bytes of the buffered lists of all users; a single user gets at most half of them. */
const budgetBytes = 128 * 1024 * 1024;

/** Returns the budget of buffered lists for each of several processes that serve the same port. */
export function bufferedListsOfProcess(processes: number): SharedBudget {
  return new SharedBudget(budgetBytes / processes, 0);
}

/** Bytes of a list that are buffered in addition to the budget: most lists are shorter. */
const freeBytes = 4 * 1024 * 1024;

/**
 * The encoded parts of a list whose length must be known before its first byte is sent. They are buffered up to
 * {@link freeBytes}, and above it as long as a budget of the server permits.
 */
export class BufferedParts {
  private readonly parts: Uint8Array[] = [];
  private chargedBytes = 0;
  private isComplete = true;
  /** Bytes of all parts, including those that aren't buffered. */
  length = 0;

  /** @param caller name of the user, of whose share the bytes are taken. */
  constructor(
    private readonly budget: SharedBudget,
    private readonly caller: string,
  ) {}

  /** Adds a part. If it exceeds the budget, all parts are dropped, and later ones are only counted. */
  add(part: Uint8Array): void {
    this.length += part.length;
    if (!this.isComplete) return;
    if (this.length <= freeBytes || this.charge(part.length)) this.parts.push(part);
    else this.drop();
  }

  /** Returns the parts in their order; undefined if they were dropped. */
  get all(): readonly Uint8Array[] | undefined {
    return this.isComplete ? this.parts : undefined;
  }

  /** Releases the memory and the budget. */
  drop(): void {
    this.isComplete = false;
    this.parts.length = 0;
    if (this.chargedBytes > 0) this.budget.give(this.spender, this.chargedBytes);
    this.chargedBytes = 0;
  }

  private charge(bytes: number): boolean {
    if (this.budget.take(this.spender, bytes) !== undefined) return false;
    this.chargedBytes += bytes;
    return true;
  }

  private get spender() {
    return { caller: this.caller, exempt: false };
  }
}
