import type { FieldReport } from "../../schema/faults.ts";
import { reviewVersions, webhookClient, type WebhookClient } from "../checks/webhooks.ts";

interface Conversion {
  readonly strategy: string;
  readonly webhook?:
    | {
        readonly clientConfig?: WebhookClient | undefined;
        readonly conversionReviewVersions: readonly string[] | null;
      }
    | undefined;
}

const strategies = ["None", "Webhook"];

/** Requires a webhook exactly if the strategy is Webhook. Faults have the field names of the reference. */
export function checkConversion({ strategy, webhook }: Conversion, report: FieldReport): void {
  if (strategy !== "" && !strategies.includes(strategy)) {
    report.at("strategy").notSupported(strategy, strategies);
  }
  const client = report.at("webhookClientConfig");
  const versions = webhook?.conversionReviewVersions ?? [];
  if (strategy === "Webhook") {
    if (webhook?.clientConfig === undefined) client.required("required when strategy is set to Webhook");
    else webhookClient(webhook.clientConfig, client);
    reviewVersions(versions, report.at("conversionReviewVersions"));
    return;
  }
  const message = "should not be set when strategy is not set to Webhook";
  if (webhook?.clientConfig !== undefined) client.forbidden(message);
  if (versions.length > 0) report.at("conversionReviewVersions").forbidden(message);
}
