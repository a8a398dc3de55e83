import type { AdmissionRequest } from "../../resources/engine/engine.ts";

/** The two types of webhooks, as the metrics name them. */
export type WebhookType = "admit" | "validating";

/** A completed call of a webhook. */
export interface ObservedCall {
  readonly webhook: string;
  readonly type: WebhookType;
  readonly operation: AdmissionRequest["operation"];
  readonly seconds: number;
  /** Whether the call ended the request. */
  readonly rejected: boolean;
  /** 200, the code of the rejection or failure, or 0 for an internal error of this server. */
  readonly code: number;
  /** For rejections: `calling_webhook_error`, `no_error` or `apiserver_internal_error`. */
  readonly errorType: string;
}

/** Receives calls of webhooks, for metrics. */
export interface WebhookObserver {
  called(call: ObservedCall): void;
  /** Called if a webhook failed and the request continues. */
  failedOpen(webhook: string, type: WebhookType): void;
}

/** Forwards to an observer that is set later, as metrics are created after admission. */
export class DeferredWebhookObserver implements WebhookObserver {
  private observer: WebhookObserver | undefined;

  /** Sets the observer. */
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
