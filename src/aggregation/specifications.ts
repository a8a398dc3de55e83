import { encodeJson } from "../base/json/encode.ts";
import type { Clock } from "../base/time/clock.ts";
import { parseEmbeddedJson } from "../base/json/embedded.ts";
import { isObject, type JsonValue } from "../base/json/value.ts";
import { createYielder } from "../base/turns/yielding.ts";
import { RemoteFault } from "../remote/answer-reader.ts";
import { StatusError } from "../base/status-error.ts";
import type { ForwardedIdentity } from "./identity.ts";
import type { RemoteApiService } from "./remote-api-service.ts";
import { Slots } from "./slots.ts";
import { readSpecification, SpecificationFault, type RemoteSpecification } from "./specification.ts";

/** Interval of reading an extension server's documents. */
const intervalMs = 60_000;
/** Maximum number of extension servers read concurrently; documents may be large. */
const atOnce = 8;

/** Receives the outcome of reading documents. */
export interface SpecificationListener {
  /** The documents of an extension server have changed. */
  changed(): void;
  /** A document is left out; called once until the reason changes. */
  leftOut(name: string, message: string): void;
}

/**
 * Reads the OpenAPI documents of extension servers, in the background and bounded in size. An invalid document is
 * left out; the previous one remains while the service is unreachable.
 */
export class Specifications {
  private readonly slots = new Slots(atOnce);
  private readonly readAt = new WeakMap<RemoteApiService, number>();
  private readonly faults = new WeakMap<RemoteApiService, string>();

  constructor(
    private readonly clock: Clock,
    private readonly identity: ForwardedIdentity,
    private readonly listener: SpecificationListener,
  ) {}

  /** Reads the documents of an extension server if the interval has passed. */
  refresh(remote: RemoteApiService): void {
    const now = this.clock.monotonicNow();
    if (now < (this.readAt.get(remote) ?? Number.NEGATIVE_INFINITY) + intervalMs) return;
    this.readAt.set(remote, now);
    const { specification, specificationUrl } = remote;
    const work = async () => {
      await this.attempt(remote, () => this.readIndex(remote));
      await this.attempt(remote, () => this.readDocument(remote));
      const isAsBefore =
        specification === remote.specification && specificationUrl === remote.specificationUrl;
      if (!isAsBefore) this.listener.changed();
    };
    this.slots.run(work).catch((error: unknown) => this.listener.leftOut(remote.name, String(error)));
  }

  private async attempt(remote: RemoteApiService, read: () => Promise<void>): Promise<void> {
    try {
      await read();
    } catch (error) {
      const isExpected = [RemoteFault, SpecificationFault, StatusError].some((type) => error instanceof type);
      if (!isExpected) throw error;
      const { message } = error as Error;
      if (this.faults.get(remote) === message) return;
      this.faults.set(remote, message);
      this.listener.leftOut(remote.name, `its OpenAPI document is left out: ${message}`);
    }
  }

  /** Reads the index of OpenAPI 3.0 documents, which is optional. */
  private async readIndex(remote: RemoteApiService): Promise<void> {
    const answer = await remote.read("/openapi/v3", { ...this.identity, accept: "application/json" });
    const url = answer.status === 200 ? urlIn(answer.bytes.toString("utf8"), remote.path) : undefined;
    remote.specificationUrl = url;
  }

  private async readDocument(remote: RemoteApiService): Promise<void> {
    const tag = remote.specification?.tag;
    const headers = {
      ...this.identity,
      accept: "application/json",
      ...(tag === undefined ? {} : { "if-none-match": tag }),
    };
    const answer = await remote.read("/openapi/v2", headers);
    if (answer.status === 304) return;
    if (answer.status === 404) return void (remote.specification = undefined);
    if (answer.status !== 200) throw new SpecificationFault(`it is answered with status ${answer.status}`);
    const text = answer.bytes.toString("utf8");
    const read = await readSpecification(text, remote.path, tagOf(answer.header("etag")), createYielder());
    const before = remote.specification;
    // A server without ETags sends the same document each time.
    if (before !== undefined && isSame(before, read)) before.tag = read.tag;
    else remote.specification = read;
  }
}

function isSame(a: RemoteSpecification, b: RemoteSpecification): boolean {
  return encodeJson([a.paths, a.definitions]) === encodeJson([b.paths, b.definitions]);
}

/** Returns a valid ETag, which can be sent as `if-none-match`; else undefined. */
function tagOf(text: string | undefined): string | undefined {
  return text !== undefined && /^(?:W\/)?"[\x21\x23-\x7e]{0,200}"$/.test(text) ? text : undefined;
}

/**
 * Returns the URL of a group version's document in an OpenAPI 3.0 index. Only the hash comes from the index.
 *
 * @param path of the group version.
 */
function urlIn(text: string, path: string): string | undefined {
  let index: JsonValue;
  try {
    index = parseEmbeddedJson(text);
  } catch {
    return undefined;
  }
  const paths = isObject(index) ? index["paths"] : undefined;
  const entry = isObject(paths) ? paths[path.slice(1)] : undefined;
  if (!isObject(entry)) return undefined;
  const url = entry["serverRelativeURL"];
  const hash =
    typeof url === "string" ? /[?&]hash=([0-9A-Za-z%._-]{1,200})(?:&|$)/.exec(url)?.[1] : undefined;
  return `/openapi/v3${path}${hash === undefined ? "" : `?hash=${hash}`}`;
}
