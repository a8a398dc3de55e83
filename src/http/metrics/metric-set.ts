import type { OtherProcesses, Topic } from "../../base/other-processes.ts";
import { isLater, releaseAfter } from "../../base/releases.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import type { MetricDefinition } from "./metric-definition.ts";
import { Metric, type Sample, type SampleValues } from "./metric.ts";

export type { Sample } from "./metric.ts";

/** Settings of {@link MetricSet}. */
export interface MetricSettings {
  /** The release of this server. */
  readonly release: string;
  /** The release whose hidden metrics are still shown; empty to hide them. */
  readonly showHiddenFor: string;
  readonly warn: (message: string) => void;
}

/** The values of all metrics of one process, by name of the metric. */
export type MetricValues = Readonly<Record<string, SampleValues>>;

/** What the processes of a server share about one set of metrics. */
export interface MetricTopics {
  readonly values: Topic<MetricValues>;
  /** Has each process clear its metrics; the value says nothing. */
  readonly clearing: Topic<true>;
}

/** Returns the topics of a set of metrics. @param name unique among the sets of a server */
export function metricTopics(name: string): MetricTopics {
  return { values: { name }, clearing: { name: `clear ${name}` } };
}

/** What the processes of a server share about the metrics of the server. */
export const serverTopics = metricTopics("metrics");

const ignored: Sample = {
  inc: () => undefined,
  dec: () => undefined,
  set: () => undefined,
  observe: () => undefined,
};

/** Media type of the text format. */
export const metricsContentType = "text/plain; version=0.0.4; charset=utf-8";

/** Number of characters of a piece of the text. */
const pieceLength = 64 * 1024;

/** The metrics of one server. A sample stays valid until its metric is reset. */
export class MetricSet {
  private readonly metrics = new Map<string, Metric>();
  private readonly collectors: (() => Promise<void> | void)[] = [];

  constructor(definitions: readonly MetricDefinition[], settings: MetricSettings) {
    for (const definition of definitions) {
      if (isHidden(definition, settings)) continue;
      const { name, since, deprecated } = definition;
      if (since !== undefined && isLater(since, settings.release)) continue;
      if (deprecated !== undefined && !isLater(deprecated.since, settings.release)) {
        settings.warn(`the metric ${name} is deprecated since ${deprecated.since}`);
      }
      this.metrics.set(name, new Metric(definition, helpOf(definition, settings)));
    }
  }

  /** Returns the sample of a metric with these labels, in the order of the definition. Metrics that the release doesn't show ignore changes. */
  sample(name: string, ...labels: readonly string[]): Sample {
    return this.metrics.get(name)?.sample(labels) ?? ignored;
  }

  /** Removes all samples of a metric. */
  reset(name: string): void {
    this.metrics.get(name)?.reset();
  }

  /** Sets what counts since the start to zero, in all samples; gauges of a current state keep it. Samples stay valid. */
  clear(): void {
    for (const metric of this.metrics.values()) metric.clear();
  }

  /** Registers a function that updates metrics before they are shown. */
  collectWith(collector: () => Promise<void> | void): void {
    this.collectors.push(collector);
  }

  /** Returns the current values of all metrics. */
  async values(): Promise<MetricValues> {
    await this.collect();
    return Object.fromEntries([...this.metrics].map(([name, metric]) => [name, metric.values()]));
  }

  /**
   * Returns all metrics in the text format, in pieces. Other requests are processed between the pieces.
   *
   * @param others combined with those of this process.
   * @param topic under which the others share them.
   */
  async *pieces(others?: OtherProcesses, topic = serverTopics.values): AsyncGenerator<Buffer> {
    await this.collect();
    const processes = others === undefined ? [] : await others.collect(topic);
    const yieldIfDue = createYielder();
    let text = "";
    for (const [name, metric] of this.metrics) {
      for (const piece of metric.pieces(processes.map((process) => process[name] ?? []))) {
        text += piece;
        if (text.length < pieceLength) continue;
        yield Buffer.from(text);
        text = "";
        await yieldIfDue();
      }
    }
    yield Buffer.from(text);
  }

  private async collect(): Promise<void> {
    for (const collector of this.collectors) await collector();
  }
}

function helpOf({ help, stability, deprecated }: MetricDefinition, { release }: MetricSettings): string {
  const old =
    deprecated === undefined || isLater(deprecated.since, release)
      ? ""
      : `(Deprecated from ${deprecated.since}) `;
  return `${old}[${stability}] ${help}`;
}

/** Returns true if a metric is hidden and not enabled by the operator. */
function isHidden(definition: MetricDefinition, { release, showHiddenFor }: MetricSettings): boolean {
  const hidden = hiddenFrom(definition);
  if (hidden === undefined || isLater(hidden, release)) return false;
  const isDeleted = hidden !== release;
  return isDeleted || showHiddenFor === "" || !isLater(hidden, showHiddenFor);
}

/**
 * Returns the release that hides a metric; undefined for one that isn't deprecated. The following release removes it. A
 * metric is shown for three releases after its deprecation, a stable one for at least four in total (spec: conventions
 * 9.2, rules 9a and 9b).
 */
export function hiddenFrom({ deprecated, stability }: MetricDefinition): string | undefined {
  if (deprecated === undefined) return undefined;
  const usual = releaseAfter(deprecated.since, 3);
  const least = releaseAfter(deprecated.introduced, 4);
  return stability === "STABLE" && isLater(least, usual) ? least : usual;
}
