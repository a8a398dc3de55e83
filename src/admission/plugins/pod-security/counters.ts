import { Pod } from "../../../kinds/core/pod/pod.ts";
import type { AdmissionRequest } from "../../../resources/engine/engine.ts";
import { referenceRelease } from "../../../vocabulary/vocabulary.ts";
import { latest, type LevelVersion } from "./levels.ts";
import type { Mode } from "./namespace-policy.ts";

/** A count that is shown with its labels. */
export interface Count {
  readonly labels: readonly string[];
  value: number;
}

/** A count for each combination of labels. Each label has few possible values, so that there are few combinations. */
export class LabelledCounts {
  private readonly counts = new Map<string, Count>();

  /** The count of these labels; it begins with 0. */
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

/** What a request counts as. */
type Counted = Pick<AdmissionRequest, "operation" | "target">;

/** How often pods and templates of pods were evaluated; shown as metrics. */
export class PodSecurityCounters {
  /** By decision, level, version, mode, operation, resource and subresource. */
  readonly evaluations = new LabelledCounts();
  /** By operation, resource and subresource. */
  readonly exemptions = new LabelledCounts();
  /** By whether nothing could be evaluated, operation, resource and subresource. */
  readonly errors = new LabelledCounts();

  /** Looked up beforehand: most pods are written in namespaces that allow everything. */
  private readonly created = this.passing("create");
  private readonly updated = this.passing("update");

  /** Counts a pod of a namespace that allows everything. */
  passed({ operation }: Counted): void {
    (operation === "CREATE" ? this.created : this.updated).value++;
  }

  /** Counts a pod, or a template, that was evaluated against a level. */
  evaluated(
    decision: "allow" | "deny",
    level: LevelVersion,
    mode: Mode,
    { operation, target }: Counted,
  ): void {
    const { subresource } = target;
    const version = versionLabel(level);
    const labels = [operationLabel(operation), resourceLabel(target), subresource];
    this.evaluations.of(decision, level.level, version, mode, ...labels).value++;
  }

  /** Counts a request that was not evaluated because it is exempt. */
  exempted({ operation, target }: Counted): void {
    this.exemptions.of(operationLabel(operation), resourceLabel(target), target.subresource).value++;
  }

  /** Counts a failure. @param fatal whether nothing could be evaluated. */
  failed(fatal: boolean, { operation, target }: Counted): void {
    const labels = [operationLabel(operation), resourceLabel(target), target.subresource];
    this.errors.of(String(fatal), ...labels).value++;
  }

  private passing(operation: string): Count {
    return this.evaluations.of("allow", "privileged", "latest", "enforce", operation, "pod", "");
  }
}

/** Labels of namespaces may name any release, so those to come are counted together. */
function versionLabel({ level, minor }: LevelVersion): string {
  if (minor === latest || level === "privileged") return "latest";
  return minor > Number(referenceRelease.minor) ? "future" : `v1.${minor}`;
}

function operationLabel(operation: AdmissionRequest["operation"]): string {
  return operation === "CREATE" ? "create" : "update";
}

function resourceLabel({ resource }: AdmissionRequest["target"]): string {
  return resource.stored.kind === Pod ? "pod" : "controller";
}
