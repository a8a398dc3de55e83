import type { QuotaIndex } from "../admission/plugins/resource-quota/quota-index.ts";
import type { ApiServices } from "../aggregation/api-services.ts";
import type { Authorizer } from "../authorization/authorizer.ts";
import type { LegacyFacts } from "../authentication/service-accounts/legacy-claims.ts";
import type { Clock } from "../base/clock.ts";
import type { Client } from "../resources/clients/client.ts";
import type { ObjectInformer } from "../resources/followers/informer.ts";
import type { Registry, Resource } from "../resources/registry/registry.ts";
import type { Store } from "../storage/store.ts";
import type { QueueObserver } from "./work-queue.ts";
import type { SigningAuthorities } from "./certificates/authorities.ts";

/** What controllers work with. */
export interface ControllerContext {
  readonly client: Client;
  readonly registry: Registry;
  /** To read from; whatever is written goes through the client. */
  readonly store: Store;
  readonly clock: Clock;
  /** How long events are kept after they were last seen, in milliseconds. */
  readonly eventLifeMs: number;
  /** PEM of the authority that clients of this server are to trust; undefined where none is known. It may change. */
  readonly rootCertificate: () => string | undefined;
  /** @internal What the quotas of namespaces limit, and what is used. */
  readonly quotas: QuotaIndex;
  /** @internal Who may do what. */
  readonly authorizer: Authorizer;
  /** @internal With what certificate requests are signed. */
  readonly signing: SigningAuthorities;
  /** @internal Which group versions are served by others, and whether they can be reached. */
  readonly apiServices: ApiServices;
  /** @internal Signs the tokens of service accounts that lie in Secrets. */
  readonly issueLegacyToken: (facts: LegacyFacts) => Promise<string>;
  /** @internal Logs what an operator should know, and what isn't tried again. */
  noted(controller: string, key: string, message: string): void;
  /** @internal Told what happens in the queue of a controller; undefined where nobody counts. */
  queueObserver?(controller: string): QueueObserver;
  /** The informer of a resource type, started, and shared by all who ask. */
  informer(resource: Resource): ObjectInformer;
  /** Told of work that failed and will be tried again. */
  failed(controller: string, key: string, error: unknown): void;
}

/** A controller under way. */
export interface RunningController {
  /**
   * Whether something that it works with can't be followed at present, which readiness shows; informers of the context are
   * looked at in any case.
   */
  failing?(): boolean;
  close(): Promise<void>;
}

/** A controller: it watches objects and reconciles others with the state that they ask for. */
export interface Controller {
  /** As `--controllers` names it; where the reference has the same, by the reference's name. */
  readonly name: string;
  /** It runs only where it is named, not by `*`. */
  readonly onlyByName?: boolean;
  /** It runs on each of several servers over one store; others run on one of them at a time. */
  readonly onEveryServer?: boolean;
  start(context: ControllerContext): RunningController;
}
