import { jsonOf } from "../../base/json/value.ts";
import { systemClock } from "../../base/time/clock.ts";
import { encodeJson } from "../../base/json/encode.ts";
import { StatusError } from "../../base/status-error.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { StoreClosedError } from "../../storage/store.ts";
import type { Client, ObjectReference } from "../../resources/clients/client.ts";
import type { WaitOptions } from "./server-client.ts";

/** Less than the time limit that common test runners have for a test, so that this error is reported. */
const defaultTimeoutMs = 4000;
/** Maximum number of characters of the last state in an error. */
const maxStateLength = 600;
/** The errors with which a watch ends for good; after any other the objects are listed again. */
const finalReasons: ReadonlySet<string> = new Set([
  "Forbidden",
  "NotFound",
  "MethodNotAllowed",
  "BadRequest",
]);

/** Waits for a state of an object; see {@link ServerClient.waitFor}. */
export function waitFor(
  client: Pick<Client, "list" | "watch">,
  reference: ObjectReference,
  predicate: (object: ApiObject | undefined) => boolean,
  { timeoutMs = defaultTimeoutMs }: WaitOptions = {},
): Promise<ApiObject | undefined> {
  if (typeof predicate !== "function")
    return Promise.reject(new TypeError(`a predicate is needed, not ${JSON.stringify(predicate)}`));
  if (typeof timeoutMs !== "number" || !(timeoutMs >= 0))
    return Promise.reject(new TypeError(`timeoutMs must be at least 0, not ${JSON.stringify(timeoutMs)}`));
  return new Promise((resolve, reject) => {
    new Wait(client, reference, predicate, { timeoutMs, resolve, reject }).start();
  });
}

interface WaitOutcome {
  readonly timeoutMs: number;
  readonly resolve: (object: ApiObject | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** One call of {@link waitFor}. */
class Wait {
  private isOver = false;
  private last: ApiObject | undefined;
  private isListed = false;
  private watch: { close(): void } | undefined;
  private readonly timer;

  constructor(
    private readonly client: Pick<Client, "list" | "watch">,
    private readonly reference: ObjectReference,
    private readonly predicate: (object: ApiObject | undefined) => boolean,
    private readonly outcome: WaitOutcome,
  ) {
    this.timer = systemClock.setTimer(() => this.fail(this.timeoutError()), outcome.timeoutMs);
  }

  start(): void {
    this.listAndWatch().catch((error: unknown) => this.fail(error));
  }

  private async listAndWatch(): Promise<void> {
    const { apiVersion, kind, name, namespace } = this.reference;
    if (typeof name !== "string" || name === "")
      throw new StatusError("BadRequest", `${kind}: a name is needed, not ${JSON.stringify(name)}`);
    const selected = {
      apiVersion,
      kind,
      ...(namespace === undefined ? {} : { namespace }),
      fieldSelector: `metadata.name=${name}`,
    };
    const { items, resourceVersion } = await this.client.list(selected);
    this.isListed = true;
    this.check(items[0]);
    if (this.isOver) return;
    this.watch = this.client.watch(
      { ...selected, resourceVersion },
      ({ type, object }) => this.check(type === "DELETED" ? undefined : object),
      (error) => this.watchEnded(error),
    );
    // The predicate may have been satisfied, or the time may have elapsed, within the call.
    if (this.isOver) this.watch.close();
  }

  private watchEnded(error: Error): void {
    if (this.isOver) return;
    if (error instanceof StoreClosedError) {
      this.fail(new StatusError("ServiceUnavailable", "the server was closed during waitFor"));
    } else if (error instanceof StatusError && finalReasons.has(error.reason)) this.fail(error);
    else this.start();
  }

  private check(object: ApiObject | undefined): void {
    if (this.isOver) return;
    this.last = object;
    try {
      if (!this.predicate(object)) return;
    } catch (error) {
      return this.fail(error);
    }
    this.finish();
    this.outcome.resolve(object);
  }

  private fail(error: unknown): void {
    if (this.isOver) return;
    this.finish();
    this.outcome.reject(error);
  }

  private finish(): void {
    this.isOver = true;
    this.timer.cancel();
    this.watch?.close();
  }

  private timeoutError(): StatusError {
    const { kind, name, namespace } = this.reference;
    const subject = `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
    const state = this.isListed ? shortState(this.last) : "it was not read in this time";
    return new StatusError(
      "Timeout",
      `${subject} did not meet the condition within ${this.outcome.timeoutMs} ms; ${state}`,
    );
  }
}

/** Describes the last state of an object: its status and metadata before the rest, cut off after some hundred characters. */
function shortState(object: ApiObject | undefined): string {
  if (object === undefined) return "it doesn't exist";
  const { apiVersion: _apiVersion, kind: _kind, metadata, status, ...rest } = object;
  const { managedFields: _managedFields, name: _name, namespace: _namespace, uid: _uid, ...shown } = metadata;
  const parts = { ...(status === undefined ? {} : { status }), metadata: shown, ...rest };
  const text = encodeJson(jsonOf(parts));
  return `its last state is ${text.length > maxStateLength ? `${text.slice(0, maxStateLength)}…` : text}`;
}
