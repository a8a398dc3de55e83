import { Pod } from "../../../kinds/core/pod/pod.ts";
import type { AdmissionRequest } from "../../../resources/engine/engine.ts";
import { defaultRelease, isLater, type Release } from "../../../base/releases.ts";
import { latest, type LevelVersion } from "./levels.ts";
import type { Mode } from "./namespace-policy.ts";
import { declarationOf } from "../../../schema/kind.ts";

/** A count and its labels. */
export interface Count {
  readonly labels: readonly string[];
  value: number;
}

/** Counts by combinations of labels. Each label has few values, so the number of combinations is bounded. */
export class LabelledCounts {
  private readonly counts = new Map<string, Count>();

  /** Returns the count for the labels; a new one is 0. */
  of(...labels: readonly string[]): Count {
    const key = labels.join(" ");
    let count = this.counts.get(key);
    if (count === undefined) this.counts.set(key, (count = { labels, value: 0 }));
    return count;
  }

  all(): Iterable<Count> {
    return this.counts.values();
  }
}

/** The attributes of a request that are counted. */
type Counted = Pick<AdmissionRequest, "operation" | "target">;

/** Counters of PodSecurity, for metrics. */
export class PodSecurityCounters {
  /** By decision, level, version, mode, operation, resource and subresource. */
  readonly evaluations = new LabelledCounts();
  /** By operation, resource and subresource. */
  readonly exemptions = new LabelledCounts();
  /** By fatal (nothing could be evaluated), operation, resource and subresource. */
  readonly errors = new LabelledCounts();

  /** Looked up once, because most pods are in `privileged` namespaces. */
  private readonly created = this.privilegedCount("create");
  private readonly updated = this.privilegedCount("update");

  /** @param release of the server. */
  constructor(private readonly release: Release = defaultRelease) {}

  /** Counts a pod in a `privileged` namespace. */
  passed({ operation }: Counted): void {
    (operation === "CREATE" ? this.created : this.updated).value++;
  }

  /** Counts a pod or template that was evaluated for a level. */
  evaluated(
    decision: "allow" | "deny",
    level: LevelVersion,
    mode: Mode,
    { operation, target }: Counted,
  ): void {
    const { subresource } = target;
    const version = versionLabel(level, this.release);
    const labels = [operationLabel(operation), resourceLabel(target), subresource];
    this.evaluations.of(decision, level.level, version, mode, ...labels).value++;
  }

  /** Counts an exempt request. */
  exempted({ operation, target }: Counted): void {
    this.exemptions.of(operationLabel(operation), resourceLabel(target), target.subresource).value++;
  }

  /**
   * Counts an error.
   *
   * @param fatal whether nothing could be evaluated.
   */
  failed(fatal: boolean, { operation, target }: Counted): void {
    const labels = [operationLabel(operation), resourceLabel(target), target.subresource];
    this.errors.of(String(fatal), ...labels).value++;
  }

  private privilegedCount(operation: string): Count {
    return this.evaluations.of("allow", "privileged", "latest", "enforce", operation, "pod", "");
  }
}

/** All future releases are counted as `future`, as labels of namespaces may name any. */
function versionLabel({ level, minor }: LevelVersion, release: Release): string {
  if (minor === latest || level === "privileged") return "latest";
  return isLater(`1.${minor}`, release) ? "future" : `v1.${minor}`;
}

function operationLabel(operation: AdmissionRequest["operation"]): string {
  return operation === "CREATE" ? "create" : "update";
}

function resourceLabel({ resource }: AdmissionRequest["target"]): string {
  return declarationOf(resource.stored.kind) === Pod ? "pod" : "controller";
}
