import { signal } from "@preact/signals";
import { ApiError, messageOf } from "../api/client.ts";
import { getObject, type ApiObject } from "../api/objects.ts";
import { pause, watch } from "../api/streams.ts";
import { pathOf, type ResourceType } from "../model/resource-types.ts";

/** A version of an object, and when the page received it. */
export interface ObjectVersion {
  readonly object: ApiObject;
  readonly receivedMs: number;
}

/** Versions that are kept for the view of changes. */
const maxVersions = 50;
const retryMs = 3000;

/** An object that is followed while it is shown. */
export class LiveObject {
  /** The newest version; undefined until it is read. */
  readonly object = signal<ApiObject | undefined>(undefined);
  readonly versions = signal<readonly ObjectVersion[]>([]);
  readonly isDeleted = signal(false);
  /** Why the object can't be read; empty if it can. */
  readonly failure = signal("");
  /** Status of the failed request; 0 if the server can't be reached. */
  readonly failureStatus = signal(0);
  private readonly controller = new AbortController();

  constructor(
    private readonly type: ResourceType,
    private readonly namespace: string,
    private readonly name: string,
  ) {
    this.follow().catch((error: unknown) => (this.failure.value = messageOf(error)));
  }

  close(): void {
    this.controller.abort();
  }

  private async follow(): Promise<void> {
    const { signal: aborted } = this.controller;
    while (!aborted.aborted) {
      try {
        this.received(await getObject(this.type, this.namespace, this.name, aborted));
        this.failure.value = "";
        if (this.type.verbs.includes("watch")) await this.watchFrom(aborted);
        else await pause(retryMs, aborted);
      } catch (error) {
        if (aborted.aborted) return;
        const status = error instanceof ApiError ? error.status : 0;
        if (status === 404 && this.object.value !== undefined) this.isDeleted.value = true;
        else if (status !== 410) {
          this.failureStatus.value = status;
          this.failure.value = messageOf(error);
        }
        if (status === 401) return;
        await pause(retryMs, aborted);
      }
    }
  }

  /**
   * Watches the object from its present state, because the revision of its last change may be older than the history. A user who may
   * not watch it reads it again after a while.
   */
  private async watchFrom(aborted: AbortSignal): Promise<void> {
    const query = new URLSearchParams({ watch: "1", fieldSelector: `metadata.name=${this.name}` });
    try {
      await watch<ApiObject>(
        `${pathOf(this.type, this.namespace)}?${query.toString()}`,
        "application/json",
        aborted,
        (events) => {
          for (const { type, object } of events) {
            if (type === "DELETED") this.isDeleted.value = true;
            else this.received(object);
          }
        },
      );
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 403) throw error;
      await pause(retryMs, aborted);
    }
  }

  private received(object: ApiObject): void {
    const last = this.object.value;
    if (last?.metadata.resourceVersion === object.metadata.resourceVersion) return;
    this.isDeleted.value = false;
    this.object.value = object;
    const version = { object, receivedMs: Date.now() };
    this.versions.value = [...this.versions.value, version].slice(-maxVersions);
  }
}
