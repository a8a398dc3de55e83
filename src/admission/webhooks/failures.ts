import { RelayedStatusError, StatusError } from "../../base/status-error.ts";
import type { RefusalStatus } from "./review-response.ts";

/** A webhook that couldn't be asked, or whose answer can't be used: its failure policy decides. */
export class WebhookFailure extends Error {
  override name = "WebhookFailure";
  constructor(
    readonly webhook: string,
    why: string,
    /** The code by which the metrics count it. */
    readonly code: number,
  ) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${why}`);
  }

  /** The answer to a request that fails with the webhook. */
  refusal(): StatusError {
    return new StatusError("InternalError", `Internal error occurred: ${this.message}`, {
      causes: [{ reason: "", message: this.message, field: "" }],
    });
  }
}

const lowestCode = 400;
const highestCode = 599;

/** The refusal by a webhook: the code, reason and details that it gives; 400 where it gives no code of an error. */
export function webhookRefusal(webhook: string, status: RefusalStatus | undefined): RelayedStatusError {
  const { code = 0, message = "", reason = "", details } = status ?? {};
  const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const why = message === "" ? reason : message;
  return new RelayedStatusError(why === "" ? `${denied} without explanation` : `${denied}: ${why}`, {
    code: Number.isInteger(code) ? Math.min(Math.max(code, lowestCode), highestCode) : lowestCode,
    reason,
    details,
  });
}

/** The refusal of a dry run that a webhook can't be asked about. */
export function dryRunUnsupported(webhook: string): StatusError {
  return new StatusError(
    "BadRequest",
    `admission webhook ${JSON.stringify(webhook)} does not support dry run`,
  );
}

/** The request's time was over before all webhooks were asked. */
export function requestTimedOut(): StatusError {
  return new StatusError("Timeout", "request did not complete within requested timeout");
}
