import type { AnnotationKeys } from "../../http/audit/annotation-keys.ts";
import { AuditBackend } from "../../http/audit/backend.ts";
import { BatchOutput } from "../../http/audit/batch-output.ts";
import { encodeMembers } from "../../http/audit/event.ts";
import { auditVersion } from "../../http/audit/policy-file.ts";
import { SingleOutput } from "../../http/audit/single-output.ts";
import { serviceLimits } from "../../remote/remote-service.ts";
import type { AuditWebhookSettings } from "../options/settings-types.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { remoteService } from "../webhooks/remote-services.ts";

/** Called with the number of lost events and the reason. */
export type Lost = (events: number, error: unknown) => void;

/** Maximum number of batches sent in parallel, so that a retried batch doesn't block the others. */
const parallelBatches = 10;

/**
 * Creates the audit backend that posts events as an EventList to the webhook.
 *
 * @throws {OptionsError} if the client configuration can't be used.
 */
export async function webhookBackend(
  options: ServerOptions,
  settings: AuditWebhookSettings,
  { keys, lost }: { readonly keys: AnnotationKeys; readonly lost: (plugin: string) => Lost },
): Promise<AuditBackend> {
  const { vocabulary, clock } = options;
  const limits = { ...serviceLimits, backoffMs: settings.backoffMs };
  const service = await remoteService(options, "--audit-webhook-config-file", settings.configFile, limits);
  const head = `{"kind":"EventList","apiVersion":"${auditVersion(vocabulary)}","metadata":{},"items":[`;
  const send = (texts: readonly string[]) => service.deliver(`${head}${texts.join(",")}]}`);
  const end = () => service.close();
  const onLost = lost("webhook");
  const tooLarge = lost("truncate");
  const batch = {
    ...settings.batch,
    batchBytes: settings.truncate?.maxBatchBytes,
    parallel: parallelBatches,
  };
  return new AuditBackend({
    format: (event) => `{${encodeMembers(event)}}`,
    output:
      settings.mode === "batch"
        ? new BatchOutput(batch, clock, send, onLost, end)
        : new SingleOutput(send, onLost, end),
    maxEventBytes: settings.truncate?.maxEventBytes,
    truncatedKey: keys.truncated,
    strict: settings.mode === "blocking-strict",
    tooLarge: () => tooLarge(1, new Error("an event is too large even without its objects")),
  });
}
