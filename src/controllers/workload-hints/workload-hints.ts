import type { Timer } from "../../base/time/clock.ts";
import { detach } from "../../base/turns/maybe-promise.ts";
import { unlessRaced } from "../../resources/clients/races.ts";
import { namesOf } from "../../resources/registry/registry.ts";
import { StoreClosedError, type Revision, type StoreEvent, type Subscription } from "../../storage/store.ts";
import type { Controller, ControllerContext, QueueDependencies, RunningController } from "../controller.ts";
import { WorkQueue } from "../work-queue.ts";
import { RunnerLeases } from "./runners.ts";
import { workloads, type Workload, type WorkloadObject } from "./workloads.ts";

/** Age at which a workload that nothing has worked on gets its event. */
const delayMs = 10_000;
/** Maximum number of workloads that wait for this age. Above it a program creates them, and the hints pause. */
const maxPending = 100;
/** Pause after more workloads; those that are created in it get no event. While it lasts, creates cost nothing more. */
const pauseMs = 60_000;
/** Maximum number of events in a minute: they are for people, who create few workloads. */
const maxPerMinute = 30;
const minuteMs = 60_000;
/** Time after which an interrupted subscription begins again. */
const retryMs = 1000;

/** Dependencies of {@link workloadHints}. */
type HintDependencies = QueueDependencies & Pick<ControllerContext, "client" | "registry" | "store">;

/**
 * Writes one Event about a new workload that nothing will run, because no controllers or nodes use the server. Only objects that are created
 * while the server runs get one, so that a restart repeats none.
 */
export const workloadHints: Controller<HintDependencies> = {
  name: "workload-hints",
  start: (context) => new WorkloadHints(context, workloads),
};

class WorkloadHints implements RunningController {
  private readonly queue: WorkQueue;
  private readonly leases: RunnerLeases;
  private readonly subscriptions = new Map<Workload, Subscription>();
  private readonly retries = new Set<Timer>();
  /** Keys of the workloads that wait for their age. */
  private readonly pending = new Set<string>();
  private minute = 0;
  private inMinute = 0;
  private closed = false;

  constructor(
    private readonly context: HintDependencies,
    private readonly rows: readonly Workload[],
  ) {
    const { client, registry, clock, failed, queueObserver } = context;
    this.leases = new RunnerLeases(client, registry, clock);
    this.queue = new WorkQueue(
      clock,
      (key) => this.consider(key),
      (key, error) => failed(workloadHints.name, key, error),
      queueObserver?.(workloadHints.name),
    );
    for (const row of rows) if (registry.serves(row.kind)) this.follow(row);
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const one of this.retries) one.cancel();
    for (const one of this.subscriptions.values()) one.close();
    await this.queue.close();
  }

  /** Follows the objects of a kind from now on. */
  private follow(row: Workload): void {
    const { store, failed } = this.context;
    const begin = async () => {
      const after = await store.latestRevision();
      if (!this.closed) this.subscribe(row, after);
    };
    detach(begin(), (error) => {
      failed(workloadHints.name, row.kind.resource, error);
      this.followLater(row);
    });
  }

  private followLater(row: Workload, afterMs = retryMs): void {
    if (this.closed) return;
    const timer = this.context.clock.setTimer(() => {
      this.retries.delete(timer);
      this.follow(row);
    }, afterMs);
    this.retries.add(timer);
  }

  private subscribe(row: Workload, after: Revision): void {
    const { store, registry } = this.context;
    const prefix = registry.require(row.kind).stored.storePrefix;
    const subscription = store.subscribe(
      { prefix, after },
      {
        events: (batch) => {
          if (!batch.every((event) => this.noticed(row, event))) this.pause(row);
        },
        ended: (error) => {
          if (!(error instanceof StoreClosedError)) this.followLater(row);
        },
      },
    );
    this.subscriptions.set(row, subscription);
  }

  /** Adds a new workload to those that wait. Returns false if there are too many. */
  private noticed({ kind }: Workload, { key, entry, previous }: StoreEvent): boolean {
    if (entry === undefined || previous !== undefined) return true;
    if (this.pending.size >= maxPending) return false;
    const { namespace, name } = namesOf(key);
    const pendingKey = `${kind.resource}/${namespace}/${name}`;
    this.pending.add(pendingKey);
    this.queue.addLater(pendingKey, delayMs);
    return true;
  }

  /** Stops following the objects of a kind for a while. */
  private pause(row: Workload): void {
    this.subscriptions.get(row)?.close();
    this.subscriptions.delete(row);
    this.followLater(row, pauseMs);
  }

  /** Writes the event about a workload unless something works on it. */
  private async consider(key: string): Promise<void> {
    const [resource, namespace, name] = key.split("/") as [string, string, string];
    const row = this.rows.find(({ kind }) => kind.resource === resource)!;
    const { client, registry } = this.context;
    const reference = {
      apiVersion: registry.require(row.kind).apiVersion,
      kind: row.kind.name,
      namespace,
      name,
    };
    const object = await client.find<WorkloadObject>(reference);
    if (object !== undefined && !isLeftAlone(row, object) && !(await this.leases.read())[row.needs]) {
      if (this.mayWrite()) await unlessRaced(() => client.add(this.eventAbout(row, object)));
    }
    this.pending.delete(key);
  }

  /** Counts an event, unless there were too many in this minute. */
  private mayWrite(): boolean {
    const minute = Math.floor(this.context.clock.monotonicNow() / minuteMs);
    if (minute !== this.minute) [this.minute, this.inMinute] = [minute, 0];
    return this.inMinute++ < maxPerMinute;
  }

  private eventAbout({ kind, needs }: Workload, object: WorkloadObject) {
    const { clock, registry } = this.context;
    const { name = "", namespace = "", uid = "", resourceVersion = "" } = object.metadata;
    const { apiVersion } = object;
    const time = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
    const reason =
      needs === "controllers"
        ? `this server runs no controller of ${kind.name}s, and no controller manager is connected, so no pods will be created`
        : "no scheduler or node is connected to this server, so the pod will not run";
    return {
      apiVersion: "v1",
      kind: "Event",
      // Derived from the object, so that servers in turn write it once.
      metadata: { name: `workload-hint.${uid}`, namespace },
      involvedObject: { apiVersion, kind: kind.name, name, namespace, uid, resourceVersion },
      type: "Warning",
      reason: needs === "controllers" ? "NoController" : "NoNode",
      message: `${reason}; see docs/pods.md of Plinth for programs to connect; --workload-hints=false turns this hint off`,
      source: { component: registry.vocabulary.components.apiServer },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    };
  }
}

/** Whether an object needs no event: it is settled, being deleted, or created by a controller. */
function isLeftAlone(row: Workload, object: WorkloadObject): boolean {
  const { deletionTimestamp, ownerReferences = [] } = object.metadata;
  const hasController = ownerReferences.some(({ controller }) => controller === true);
  return deletionTimestamp !== undefined || hasController || row.isSettled(object);
}
