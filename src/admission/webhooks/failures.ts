import { RelayedStatusError, StatusError } from "../../base/status-error.ts";
import type { RejectionStatus } from "./review-response.ts";

/** Codes of failures in metrics: no response, an invalid response, a patch that can't be applied. */
export const noResponseCode = 500;
export const invalidResponseCode = 503;
export const unusablePatchCode = 500;

/** The failure of a call: no response or an invalid one. The failure policy of the webhook decides about the request. */
export class WebhookFailure extends Error {
  override name = "WebhookFailure";
  constructor(
    readonly webhook: string,
    why: string,
    /** Label of the failure in metrics. */
    readonly code: number,
  ) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${why}`);
  }

  /** The error of a request that fails with the webhook (failure policy `Fail`). */
  toStatusError(): StatusError {
    return new StatusError("InternalError", `Internal error occurred: ${this.message}`, {
      causes: [{ reason: "", message: this.message, field: "" }],
    });
  }
}

const lowestCode = 400;
const highestCode = 599;

/** The rejection by a webhook with its code, reason and details; codes outside of 400 to 599 are limited to that range. */
export function webhookRejection(webhook: string, status: RejectionStatus | undefined): RelayedStatusError {
  const { code = 0, message = "", reason = "", details } = status ?? {};
  const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const why = message === "" ? reason : message;
  return new RelayedStatusError(why === "" ? `${denied} without explanation` : `${denied}: ${why}`, {
    code: Number.isInteger(code) ? Math.min(Math.max(code, lowestCode), highestCode) : lowestCode,
    reason,
    details,
  });
}

/** The rejection of a dry run that matches a webhook with side effects. */
export function dryRunUnsupported(webhook: string): StatusError {
  return new StatusError(
    "BadRequest",
    `admission webhook ${JSON.stringify(webhook)} does not support dry run`,
  );
}

/** The error of a request whose deadline passes before all webhooks and policies have run. */
export function requestTimedOut(): StatusError {
  return new StatusError("Timeout", "request did not complete within requested timeout");
}
