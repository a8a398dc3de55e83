import { StatusError } from "../../base/status-error.ts";
import type { JsonObject } from "../../base/json/value.ts";
import type { ServerClient } from "../library/server-client.ts";
import type { KnownObjects } from "../../kinds/typed-objects.ts";
import { groupVersion } from "../../vocabulary/names.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { podSpecOf } from "./pod-specs.ts";
import { textOf } from "./documents.ts";

/** An object that admission looks up. */
interface Needed {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** Members of a placeholder. */
  readonly content?: JsonObject;
}

/**
 * Creates the objects that admission requires before it judges an object: its namespace, and the service account and classes of a pod. A
 * missing one is reported as a reference, and must not hide the problems of the object itself.
 */
export class Placeholders {
  private readonly checked = new Set<string>();
  private readonly created = new Set<string>();

  /** @param labels labels of namespaces that are created. */
  constructor(
    private readonly client: ServerClient<KnownObjects>,
    private readonly vocabulary: Vocabulary,
    private readonly labels: Readonly<Record<string, string>>,
  ) {}

  /** Whether an object exists only because {@link Placeholders.provide} created it. */
  has(kind: string, namespace: string, name: string): boolean {
    return this.created.has(keyOf(kind, namespace, name));
  }

  /** Creates what is missing for an object. @param namespace empty for a cluster-scoped object. */
  async provide(object: JsonObject, namespace: string): Promise<void> {
    if (namespace !== "") await this.ensureNamespace(namespace);
    const pod = object["kind"] === "Pod" ? podSpecOf(object)?.spec : undefined;
    if (pod === undefined) return;
    await this.ensureAccount(namespace, textOf(pod["serviceAccountName"]) || "default");
    const { groupSuffix } = this.vocabulary;
    const priorityClass = textOf(pod["priorityClassName"]);
    const { priority = 0 } = pod;
    if (priorityClass !== "")
      await this.ensure({
        apiVersion: groupVersion(groupSuffix, "scheduling", "v1"),
        kind: "PriorityClass",
        name: priorityClass,
        content: { value: priority },
      });
    const runtimeClass = textOf(pod["runtimeClassName"]);
    if (runtimeClass !== "")
      await this.ensure({
        apiVersion: groupVersion(groupSuffix, "node", "v1"),
        kind: "RuntimeClass",
        name: runtimeClass,
        content: { handler: "none" },
      });
  }

  /** Creates a namespace unless it exists. */
  private async ensureNamespace(name: string): Promise<void> {
    await this.ensure({ apiVersion: "v1", kind: "Namespace", name }, this.labels);
  }

  private ensureAccount(namespace: string, name: string): Promise<void> {
    return this.ensure({ apiVersion: "v1", kind: "ServiceAccount", namespace, name });
  }

  private async ensure(
    { apiVersion, kind, namespace, name, content }: Needed,
    labels: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const key = keyOf(kind, namespace, name);
    if (this.checked.has(key)) return;
    this.checked.add(key);
    const metadata = { name, labels, ...(namespace === undefined ? {} : { namespace }) };
    try {
      await this.client.create({ apiVersion, kind, metadata, ...content });
      this.created.add(key);
    } catch (error) {
      // It exists, or its name is wrong, which the validation of the object reports.
      if (!(error instanceof StatusError)) throw error;
    }
  }
}

function keyOf(kind: string, namespace: string | undefined, name: string): string {
  return `${kind} ${namespace ?? ""}/${name}`;
}
