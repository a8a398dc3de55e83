import { StatusError } from "../base/status-error.ts";

/** Bytes that the bodies under way may take in all. */
const budgetBytes = 256 * 1024 * 1024;

/** Counts the bytes of bodies that are being read, so that many clients together can't take the server's memory. */
export class BodyBudget {
  private taken = 0;
  constructor(private readonly limit = budgetBytes) {}

  /** @throws {StatusError} TooManyRequests when the bodies under way leave no room. */
  take(bytes: number): void {
    if (this.taken + bytes > this.limit) {
      const message = "too many request bodies are under way; please try again";
      throw new StatusError("TooManyRequests", message, { retryAfterSeconds: 1 });
    }
    this.taken += bytes;
  }

  give(bytes: number): void {
    this.taken -= bytes;
  }
}
