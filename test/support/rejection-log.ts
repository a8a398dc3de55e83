import type { Logger } from "../../src/base/logger.ts";

/** A log that collects the reasons why the server rejected credentials. */
export class RejectionLog implements Logger {
  readonly reasons: string[] = [];

  warn(fields: { readonly reason?: string }, message: string): void {
    if (message === "authentication failed") this.reasons.push(fields.reason!);
  }

  info(): void {}
  error(): void {}
}
