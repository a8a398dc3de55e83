import { StatusError } from "../../base/status-error.ts";
import { SharedBudget, type BudgetRefusal } from "../../flow/shared-budget.ts";
import type { SortMemory } from "../../resources/reads/sorted-list.ts";

/** Bytes of the sorted lists of all users; a single user gets at most half of them. */
const budgetBytes = 128 * 1024 * 1024;
/** The least part of them for one of several processes, so that each can sort the largest list. */
const leastBytes = 64 * 1024 * 1024;
/** Bytes of a sorted list that aren't taken from the budget: lists in chunks need less. */
const freeBytes = 1024 * 1024;
/** Bytes that are taken from the budget at a time. */
const stepBytes = 1024 * 1024;

const retryAfterSeconds = 1;

/** Returns the budget of sorted lists for each of several processes that serve the same port. */
export function sortedListsOfProcess(processes: number): SharedBudget {
  return new SharedBudget(Math.max(leastBytes, budgetBytes / processes), 0);
}

/** The memory of the sorted list of one request. */
export class RequestSortMemory implements SortMemory {
  private takenBytes = 0;

  /** @param caller name of the user, of whose share the bytes are taken. */
  constructor(
    private readonly budget: SharedBudget,
    private readonly caller: string,
  ) {}

  /** See {@link SortMemory.reserve}. */
  reserve(bytes: number): void {
    const missing = bytes - freeBytes - this.takenBytes;
    if (missing <= 0) return;
    const amount = Math.ceil(missing / stepBytes) * stepBytes;
    const refusal = this.budget.take(this.spender, amount);
    if (refusal !== undefined) {
      throw new StatusError("TooManyRequests", messages[refusal], { retryAfterSeconds });
    }
    this.takenBytes += amount;
  }

  /** Releases all bytes. */
  release(): void {
    if (this.takenBytes > 0) this.budget.give(this.spender, this.takenBytes);
    this.takenBytes = 0;
  }

  private get spender() {
    return { caller: this.caller, exempt: false };
  }
}

const advice = "use a limit of at most 2000, or try again";
const messages: Readonly<Record<BudgetRefusal, string>> = {
  caller: `parameter sort: the sorted lists of this user need too much memory; ${advice}`,
  server: `parameter sort: the sorted lists of all users need too much memory; ${advice}`,
};
