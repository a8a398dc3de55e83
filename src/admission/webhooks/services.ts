import type { Authorizer } from "../../authorization/authorizer.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { WebhookCaller } from "../../remote/webhook-caller.ts";
import type { KindContext } from "../../schema/context.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AdmissionFacts } from "../followed-objects.ts";
import type { PolicyPrograms } from "../policies/environment.ts";
import type { WebhookObserver } from "./observer.ts";

/** Dependencies of the webhook plugins. */
export interface WebhookServices {
  readonly facts: AdmissionFacts;
  readonly registry: Registry;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  readonly caller: WebhookCaller;
  /** Compiled match conditions. */
  readonly programs: PolicyPrograms;
  /** Decides about the access checks of match conditions. */
  readonly authorizer: Authorizer;
  readonly observer: WebhookObserver;
  readonly newUid: () => string;
  readonly log: Pick<Logger, "warn">;
  /** The context of the functions of kinds, for decoding and conversion. */
  readonly contextOf: (request: AdmissionRequest) => KindContext;
  /** Whether reviews, which are not stored, are never sent to webhooks. */
  readonly excludesReviews: boolean;
  /** False until the server has written its default objects; these writes don't depend on webhooks. */
  readonly isServing: () => boolean;
  /** Whether webhooks with side effects are left out; see `isolatedPlugin`. */
  readonly isIsolated: boolean;
}
