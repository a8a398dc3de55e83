import { lifeCycleOf } from "../../kinds/life-cycles.ts";
import type { Selection } from "../../resources/objects/selection.ts";
import { ShardSelection } from "../../resources/objects/shards.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";
import type { RequestContext } from "../request/context.ts";
import { isConnection, isSubscription, type RequestFacts, type ResourceFacts } from "../request/facts.ts";
import { shardedWatches } from "./definitions.ts";
import type { MetricSet, Sample } from "./metric-set.ts";

/** The samples of requests with the same labels; times and sizes only of requests that aren't long-running. */
interface RequestSamples {
  readonly total: Sample;
  readonly times: Sample | undefined;
  readonly sizes: Sample | undefined;
}

const ordinaryVerbs = ["get", "list", "create", "update", "patch", "delete", "deletecollection"];
const scopes = ["resource", "namespace", "cluster"];
const component = "apiserver";
const readOnly = new Set(["GET", "HEAD"]);

/** Counts requests, responses and durations. */
export class RequestMetrics {
  private readonly samples = new Map<string, RequestSamples>();
  /** Samples of requests to a whole resource without parameters, by a number for verb, scope and code. */
  private readonly ordinary = new WeakMap<Resource, Map<number, RequestSamples>>();
  private readonly watched = new WeakMap<Resource, { readonly events: Sample; readonly bytes: Sample }>();
  private readonly reading: Sample;
  private readonly changing: Sample;

  constructor(
    private readonly metrics: MetricSet,
    private readonly nowMs: () => number,
  ) {
    this.reading = metrics.sample("apiserver_current_inflight_requests", "readOnly");
    this.changing = metrics.sample("apiserver_current_inflight_requests", "mutating");
  }

  /**
   * Counts a received request.
   *
   * @returns the time in milliseconds of the metrics' clock.
   */
  begin(exchange: HttpExchange): number {
    this.inFlight(exchange).inc();
    return this.nowMs();
  }

  /** Counts a response, or the start of a watch's response. */
  end(request: RequestContext): void {
    const { startMs, exchange } = request;
    this.inFlight(exchange).dec();
    const samples = this.samplesOf(request);
    samples.total.inc();
    if (samples.times === undefined) return;
    samples.times.observe((this.nowMs() - startMs) / 1000);
    samples.sizes?.observe(exchange.sentBytes);
  }

  private inFlight({ method }: HttpExchange): Sample {
    return readOnly.has(method) ? this.reading : this.changing;
  }

  /** Returns the samples for a request. */
  private samplesOf({ served, facts: parsedFacts, resource, exchange }: RequestContext): RequestSamples {
    const facts = served ? parsedFacts : undefined;
    const code = exchange.status === 0 ? 200 : exchange.status;
    const sort = ordinarySort(facts, exchange, code);
    if (sort === undefined || resource === undefined) return this.samplesByKey(facts, exchange, code);
    let ofResource = this.ordinary.get(resource);
    if (ofResource === undefined) this.ordinary.set(resource, (ofResource = new Map()));
    let samples = ofResource.get(sort);
    if (samples === undefined) ofResource.set(sort, (samples = this.samplesByKey(facts, exchange, code)));
    return samples;
  }

  private samplesByKey(
    facts: RequestFacts | undefined,
    exchange: HttpExchange,
    code: number,
  ): RequestSamples {
    const dryRun = facts?.query.empty === false && facts.query.get("dryRun") !== undefined ? "All" : "";
    const verb = facts === undefined ? methodOf(exchange) : verbOf(facts, exchange);
    const key = `${verb} ${code} ${dryRun} ${facts === undefined ? "" : keyOf(facts)}`;
    let samples = this.samples.get(key);
    if (samples === undefined) {
      const labels = facts === undefined ? unknownLabels : labelsOf(facts);
      const isLongRunning = verb === "WATCH" || verb === "CONNECT";
      const { metrics } = this;
      samples = {
        total: metrics.sample("apiserver_request_total", verb, dryRun, ...labels, String(code)),
        times: isLongRunning
          ? undefined
          : metrics.sample("apiserver_request_duration_seconds", verb, dryRun, ...labels),
        sizes: isLongRunning ? undefined : metrics.sample("apiserver_response_sizes", verb, ...labels),
      };
      this.samples.set(key, samples);
    }
    return samples;
  }

  /** Counts a long-running request until its connection or stream is closed. */
  longRunning(facts: RequestFacts, exchange: HttpExchange): void {
    const sample = this.metrics.sample(
      "apiserver_longrunning_requests",
      verbOf(facts, exchange),
      ...labelsOf(facts),
    );
    sample.inc();
    exchange.onClose(() => sample.dec());
  }

  /** Counts a watch with a shard selector until the returned function is called; counts no other watch. */
  shardedWatch({ group, name }: Resource, selection: Selection): (() => void) | undefined {
    if (!(selection instanceof ShardSelection)) return undefined;
    const sample = this.metrics.sample(shardedWatches, group, name);
    sample.inc();
    return () => sample.dec();
  }

  /** Counts events sent to a watcher. */
  watchEvents(resource: Resource, count: number, bytes: number): void {
    let samples = this.watched.get(resource);
    if (samples === undefined) {
      const { group, version, kind } = resource;
      samples = {
        events: this.metrics.sample("apiserver_watch_events_total", group, version, kind.name),
        bytes: this.metrics.sample("apiserver_watch_events_bytes_total", group, version, kind.name),
      };
      this.watched.set(resource, samples);
    }
    samples.events.inc(count);
    samples.bytes.inc(bytes);
  }

  /** Records a request for a deprecated version. */
  deprecated(resource: Resource, subresource: string): void {
    const { group, version, name, kind } = resource;
    const removed = lifeCycleOf(kind.group, kind.version, kind.name)?.removed ?? "";
    this.metrics
      .sample("apiserver_requested_deprecated_apis", group, version, name, subresource, removed)
      .set(1);
  }
}

/**
 * Returns a number for the labels of a common request to a resource type, without creating a text; undefined for
 * uncommon requests. HEAD counts as uncommon, because its verb is that of a GET but its label is its own.
 */
function ordinarySort(
  facts: RequestFacts | undefined,
  { method }: HttpExchange,
  code: number,
): number | undefined {
  if (facts?.kind !== "resource" || facts.subresource !== "" || !facts.query.empty) return undefined;
  const verb = ordinaryVerbs.indexOf(facts.verb);
  if (verb === -1 || method === "HEAD") return undefined;
  return (code * ordinaryVerbs.length + verb) * scopes.length + scopes.indexOf(scopeOf(facts));
}

/** Returns a key for the labels of a request. */
function keyOf(facts: RequestFacts): string {
  if (facts.kind === "path") return facts.path.split("/", 2).join("/");
  const { group, version, resource, subresource } = facts;
  return `${group}/${version}/${resource}/${subresource} ${scopeOf(facts)}`;
}

function scopeOf({ namespace, name }: ResourceFacts): string {
  return name !== "" ? "resource" : namespace !== "" ? "namespace" : "cluster";
}

const unknownLabels = ["", "", "", "", "", component];

function labelsOf(facts: RequestFacts): readonly string[] {
  if (facts.kind === "path") return ["", "", "", facts.path.split("/", 2).join("/"), "", component];
  const { group, version, resource, subresource } = facts;
  return [group, version, resource, subresource, scopeOf(facts), component];
}

/** Over HTTP/2 a method can be any text; unknown methods share one label. */
function methodOf({ method }: HttpExchange): string {
  return methods.has(method) ? method : "other";
}

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT"]);

/** Returns the HTTP method, except for lists (LIST), watches (WATCH), deletecollection (DELETECOLLECTION) and connections (CONNECT). */
function verbOf(facts: RequestFacts, exchange: HttpExchange): string {
  if (isSubscription(facts)) return "WATCH";
  if (facts.kind === "path") return methodOf(exchange);
  if (isConnection(facts)) return "CONNECT";
  switch (facts.verb) {
    case "list":
    case "watch":
    case "deletecollection":
      return facts.verb.toUpperCase();
    default:
      return methodOf(exchange);
  }
}
