import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { WebhookCaller } from "../../remote/webhook-caller.ts";
import type { KindContext } from "../../schema/context.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AdmissionFacts } from "../followed-objects.ts";
import type { WebhookObserver } from "./observer.ts";

/** What the plugins of webhooks work with. */
export interface WebhookServices {
  readonly facts: AdmissionFacts;
  readonly registry: Registry;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  readonly caller: WebhookCaller;
  readonly observer: WebhookObserver;
  readonly newUid: () => string;
  readonly log: Pick<Logger, "warn">;
  /** What declarations may know when objects are converted. */
  readonly contextOf: (request: AdmissionRequest) => KindContext;
  /** False while the server starts: its own first writes don't depend on webhooks. */
  readonly isServing: () => boolean;
}
