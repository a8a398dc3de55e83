import type { AnnotationKeys } from "../../http/audit/annotation-keys.ts";
import { AuditBackend } from "../../http/audit/backend.ts";
import { BatchOutput } from "../../http/audit/batch-output.ts";
import { encodeMembers } from "../../http/audit/event.ts";
import { auditVersion } from "../../http/audit/policy-file.ts";
import { WaitingOutput } from "../../http/audit/waiting-output.ts";
import { serviceLimits } from "../../remote/remote-service.ts";
import type { AuditWebhookSettings } from "../options/types.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { remoteService } from "../webhooks/remote-services.ts";

/** Told how many events are lost, and why. */
export type Lost = (events: number, error: unknown) => void;

/** Batches that may be on their way at a time, so that one that has to be sent again doesn't keep the others. */
const parallelBatches = 10;

/**
 * The backend that sends events, as an EventList, to a service of others.
 *
 * @throws {OptionsError} its configuration can't be used.
 */
export async function webhookBackend(
  options: ServerOptions,
  wanted: AuditWebhookSettings,
  { keys, lost }: { readonly keys: AnnotationKeys; readonly lost: (plugin: string) => Lost },
): Promise<AuditBackend> {
  const { vocabulary, clock } = options;
  const limits = { ...serviceLimits, backoffMs: wanted.backoffMs };
  const service = await remoteService(options, "--audit-webhook-config-file", wanted.configFile, limits);
  const head = `{"kind":"EventList","apiVersion":"${auditVersion(vocabulary)}","metadata":{},"items":[`;
  const send = (texts: readonly string[]) => service.deliver(`${head}${texts.join(",")}]}`);
  const end = () => service.close();
  const told = lost("webhook");
  const tooLarge = lost("truncate");
  const settings = { ...wanted.batch, batchBytes: wanted.truncate?.maxBatchBytes, parallel: parallelBatches };
  return new AuditBackend({
    format: (event) => `{${encodeMembers(event)}}`,
    output:
      wanted.mode === "batch"
        ? new BatchOutput(settings, clock, send, told, end)
        : new WaitingOutput(send, told, end),
    maxEventBytes: wanted.truncate?.maxEventBytes,
    truncatedKey: keys.truncated,
    strict: wanted.mode === "blocking-strict",
    tooLarge: () => tooLarge(1, new Error("an event is too large even without its objects")),
  });
}
