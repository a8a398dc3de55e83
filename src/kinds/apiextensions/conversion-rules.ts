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

/** A webhook is described where it is asked. Faults are told by the names that the reference gives the fields inside. */
export function checkConversion({ strategy, webhook }: Conversion, place: FieldReport): void {
  if (strategy !== "" && !strategies.includes(strategy)) {
    place.at("strategy").notSupported(strategy, strategies);
  }
  const client = place.at("webhookClientConfig");
  const versions = webhook?.conversionReviewVersions ?? [];
  if (strategy === "Webhook") {
    if (webhook?.clientConfig === undefined) client.required("required when strategy is set to Webhook");
    else webhookClient(webhook.clientConfig, client);
    reviewVersions(versions, place.at("conversionReviewVersions"));
    return;
  }
  const told = "should not be set when strategy is not set to Webhook";
  if (webhook?.clientConfig !== undefined) client.forbidden(told);
  if (versions.length > 0) place.at("conversionReviewVersions").forbidden(told);
}
