import { objectAs } from "../schema/api-object.ts";
import { labelKey } from "../vocabulary/names.ts";
import { APIService } from "../kinds/apiregistration/api-service.ts";
import { Follower } from "../resources/followers/follower.ts";
import { namesOf, resourceOf, type ServedGroupVersion } from "../resources/registry/registry.ts";
import { decodeEntry } from "../resources/objects/stored.ts";
import type { Entry, Store } from "../storage/store.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import {
  builtInPriority,
  customPriority,
  inDiscoveryOrder,
  isRegistration,
  type Priority,
} from "./priorities.ts";
import {
  RemoteApiService,
  type Availability,
  type RemoteConnections,
  type RemoteTarget,
} from "./remote-api-service.ts";

/** The fields of an APIService that the server uses. */
export interface ApiServiceRecord {
  /** `version.group`. */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly priority: Priority;
  /** Value of the label of APIServices that the server manages; undefined for an operator's. */
  readonly automanaged: string | undefined;
  /** The extension server; undefined for a group version that this server serves. */
  readonly remote: RemoteApiService | undefined;
  /** The condition `Available` of its status; undefined if absent. */
  readonly stored: Availability | undefined;
}

/** A group version in the order of discovery. */
export interface DiscoveredVersion {
  readonly group: string;
  readonly version: string;
  readonly priority: Priority;
  /** Exactly one of the two is defined. */
  readonly local: ServedGroupVersion | undefined;
  readonly remote: RemoteApiService | undefined;
}

/** Dependencies of {@link ApiServices}. */
export interface ApiServiceSources extends RemoteConnections {
  readonly store: Store;
  readonly vocabulary: Vocabulary;
  /** Whether no extension server is called: their group versions aren't served. */
  readonly isIsolated: boolean;
  /** Called when loading fails; it is retried. */
  readonly failed: (error: unknown) => void;
}

/** Called with the name of an APIService that was created, updated or deleted, or whose availability changed. */
export type ApiServiceListener = (name: string) => void;

/** Returns the label of APIServices that the server manages. */
export function automanagedLabel({ components, domain }: Vocabulary): string {
  return labelKey(domain, "automanaged", components.aggregator);
}

/**
 * Group versions of extension servers, from the stored APIServices, with their availability. Every server checks the availability
 * itself.
 */
export class ApiServices {
  /** Incremented with every change of discovery. */
  revision = 0;
  /** Incremented with every change of the OpenAPI documents of extension servers. */
  specificationRevision = 0;
  /** Whether {@link endCalls} was called. */
  callsEnded = false;
  private readonly records = new Map<string, ApiServiceRecord>();
  /** Extension servers to which requests are forwarded, by group and version. */
  private readonly routes = new Map<string, Map<string, RemoteApiService>>();
  private readonly listeners = new Set<ApiServiceListener>();
  private readonly follower: Follower;
  private readonly label: string;

  constructor(private readonly sources: ApiServiceSources) {
    const { store, vocabulary, clock, failed } = sources;
    this.label = automanagedLabel(vocabulary);
    const { storePrefix } = resourceOf(APIService, vocabulary);
    const handler = {
      put: (entry: Entry) => this.put(namesOf(entry.key).name, objectAs<APIService>(decodeEntry(entry))),
      remove: (key: string) => this.remove(namesOf(key).name),
      failed,
    };
    this.follower = new Follower(store, storePrefix, handler, clock);
  }

  /** Loads the stored APIServices. */
  start(): Promise<void> {
    return this.follower.start();
  }

  /** Ends the server's own calls of extension servers, and rejects further ones, so that nothing waits for them when the server stops. */
  async endCalls(): Promise<void> {
    this.callsEnded = true;
    await Promise.all([...this.records.values()].map(({ remote }) => remote?.endCalls()));
  }

  async close(): Promise<void> {
    this.follower.close();
    await Promise.all([...this.records.values()].map(({ remote }) => remote?.close()));
  }

  /** Registers a listener and calls it for every existing APIService. It must not throw. */
  listen(listener: ApiServiceListener): void {
    this.listeners.add(listener);
    for (const name of this.records.keys()) listener(name);
  }

  unlisten(listener: ApiServiceListener): void {
    this.listeners.delete(listener);
  }

  get(name: string): ApiServiceRecord | undefined {
    return this.records.get(name);
  }

  list(): IterableIterator<ApiServiceRecord> {
    return this.records.values();
  }

  /** Returns the extension server of a group version; undefined if this server serves it, or none does. */
  find(group: string, version: string): RemoteApiService | undefined {
    return this.routes.size === 0 ? undefined : this.routes.get(group)?.get(version);
  }

  /**
   * Returns all group versions in the order of discovery; those of extension servers replace the server's own.
   *
   * @param isBuiltIn whether a group is a built-in one.
   */
  discovered(
    own: readonly ServedGroupVersion[],
    isBuiltIn: (group: string) => boolean,
  ): readonly DiscoveredVersion[] {
    const { vocabulary } = this.sources;
    const local = own.flatMap((one) => {
      const { group, version } = one;
      if (this.find(group, version) !== undefined) return [];
      const usual = isBuiltIn(group) ? builtInPriority(group, version, vocabulary) : customPriority;
      const record = this.records.get(`${version}.${group}`);
      const priority = record?.remote === undefined ? (record?.priority ?? usual) : usual;
      return [{ group, version, priority, local: one, remote: undefined }];
    });
    const remote = [...this.routes.values()]
      .flatMap((versions) => [...versions.values()])
      .map((one) => ({
        group: one.group,
        version: one.version,
        priority: one.priority,
        local: undefined,
        remote: one,
      }));
    return inDiscoveryOrder<DiscoveredVersion>([...local, ...remote]);
  }

  /** Must be called when the availability or the resource types of an extension server have changed. */
  changed(name: string): void {
    this.revision++;
    this.tell(name);
  }

  /** Must be called when the OpenAPI document of an extension server has changed. */
  described(): void {
    this.specificationRevision++;
  }

  private tell(name: string): void {
    for (const listener of this.listeners) listener(name);
  }

  private put(name: string, object: APIService): void {
    const { metadata, spec, status } = object;
    const { group = "", version = "", groupPriorityMinimum, versionPriority } = spec!;
    const before = this.records.get(name);
    const priority = { group: groupPriorityMinimum, version: versionPriority };
    const condition = status?.conditions?.find(({ type }) => type === "Available");
    const stored = condition && {
      status: condition.status as Availability["status"],
      reason: condition.reason ?? "",
      message: condition.message ?? "",
    };
    const remote = this.remoteOf(name, object, before?.remote);
    if (remote !== before?.remote) this.release(before?.remote);
    if (remote !== undefined) {
      remote.priority = priority;
      this.route(remote);
    }
    const automanaged = metadata.labels?.[this.label];
    this.records.set(name, { name, group, version, priority, automanaged, remote, stored });
    if (remote !== before?.remote) this.specificationRevision++;
    if (remote !== before?.remote || !isEqual(priority, before?.priority)) this.revision++;
    this.tell(name);
  }

  /** Returns the existing object unless its address or TLS options have changed. */
  private remoteOf(
    name: string,
    { spec, status }: APIService,
    before: RemoteApiService | undefined,
  ): RemoteApiService | undefined {
    const target = targetOf(spec!);
    if (target === undefined || this.sources.isIsolated) return undefined;
    if (before !== undefined && isSame(before.target, target)) return before;
    const { group = "", version = "", groupPriorityMinimum, versionPriority } = spec!;
    const priority = { group: groupPriorityMinimum, version: versionPriority };
    const trusted = (status?.conditions ?? []).some(
      (one) => one.type === "Available" && one.status === "True",
    );
    const remote = new RemoteApiService(name, group, version, priority, target, trusted, this.sources);
    remote.callsEnded = this.callsEnded;
    return remote;
  }

  private remove(name: string): void {
    const record = this.records.get(name);
    this.records.delete(name);
    this.release(record?.remote);
    if (record?.remote !== undefined) this.specificationRevision++;
    this.changed(name);
  }

  /** Adds a route, except for the core group and the group of APIServices, with which operators repair wrong registrations. */
  private route(remote: RemoteApiService): void {
    const { group, version } = remote;
    if (group === "" || isRegistration(group, this.sources.vocabulary)) return;
    let versions = this.routes.get(group);
    if (versions === undefined) this.routes.set(group, (versions = new Map()));
    versions.set(version, remote);
  }

  private release(remote: RemoteApiService | undefined): void {
    if (remote === undefined) return;
    const versions = this.routes.get(remote.group);
    if (versions?.get(remote.version) === remote) versions.delete(remote.version);
    if (versions?.size === 0) this.routes.delete(remote.group);
    // If closing fails, the connections are closed anyway.
    remote.close().catch((error: unknown) => void error);
  }
}

function isEqual(a: Priority, b: Priority | undefined): boolean {
  return a.group === b?.group && a.version === b.version;
}

const defaultPort = 443;

function targetOf(spec: NonNullable<APIService["spec"]>): RemoteTarget | undefined {
  const { service, caBundle = "", insecureSkipTLSVerify = false } = spec;
  if (service === undefined || service === null) return undefined;
  const { namespace = "", name = "", port } = service;
  return { service: { namespace, name, port: port ?? defaultPort }, caBundle, insecureSkipTLSVerify };
}

function isSame(a: RemoteTarget, b: RemoteTarget): boolean {
  return (
    a.caBundle === b.caBundle &&
    a.insecureSkipTLSVerify === b.insecureSkipTLSVerify &&
    a.service.namespace === b.service.namespace &&
    a.service.name === b.service.name &&
    a.service.port === b.service.port
  );
}
