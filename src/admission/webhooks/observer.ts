import type { AdmissionRequest } from "../../resources/engine/engine.ts";

/** The two sorts of webhooks, as the metrics name them. */
export type WebhookType = "admit" | "validating";

/** One call of a webhook that is over. */
export interface ObservedCall {
  readonly webhook: string;
  readonly type: WebhookType;
  readonly operation: AdmissionRequest["operation"];
  readonly seconds: number;
  /** Whether the request ended with it. */
  readonly rejected: boolean;
  /** 200, that of the refusal, or 0 for a failure of this server. */
  readonly code: number;
  /** Of a rejection: `calling_webhook_error`, `no_error` or `apiserver_internal_error`. */
  readonly errorType: string;
}

/** Takes what is counted of webhooks. */
export interface WebhookObserver {
  called(call: ObservedCall): void;
  /** A request went on although the webhook couldn't be asked. */
  failedOpen(webhook: string, type: WebhookType): void;
}

/** An observer that can be given later: metrics are made after admission. */
export class DeferredWebhookObserver implements WebhookObserver {
  private observer: WebhookObserver | undefined;

  /** Gives everything to an observer from now on. */
  show(observer: WebhookObserver): void {
    this.observer = observer;
  }

  called(call: ObservedCall): void {
    this.observer?.called(call);
  }

  failedOpen(webhook: string, type: WebhookType): void {
    this.observer?.failedOpen(webhook, type);
  }
}
