import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import {
  compileLabelSelector,
  labelSelectorFaults,
  type LabelMatcher,
  type LabelSelectorObject,
} from "../../base/selectors/label-selector.ts";
import { baseOfGroup } from "../../vocabulary/names.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { listAt, nameOf, objectAt } from "./documents.ts";
import { podSpecOf } from "./pod-specs.ts";
import { backendsOf, referencesIn, type Reference } from "./references-in.ts";

/** A reference to something that doesn't exist. */
export interface BrokenReference {
  /** Index of the object, in the order in which they were added. */
  readonly object: number;
  readonly field: string;
  readonly message: string;
}

/** Pods that the manifests create. */
interface Pods {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ports: ReadonlySet<string>;
}

/** A selector, or a name of a port, of an object. */
interface Selection {
  readonly object: number;
  readonly namespace: string;
  readonly matches: LabelMatcher;
  readonly field: string;
  /** Names of ports that the selected pods must have, by field. */
  readonly ports: readonly { readonly name: string; readonly field: string }[];
}

/** A port of a Service that an Ingress names. */
interface PortUse {
  readonly object: number;
  readonly service: string;
  /** Name or number. */
  readonly port: string;
  readonly field: string;
}

/** Finds references of the manifests to objects, pods and ports that exist neither there nor in the context. */
export class References {
  private readonly objects = new Set<string>();
  private readonly references: (Reference & { readonly object: number })[] = [];
  private readonly pods: Pods[] = [];
  private readonly selections: Selection[] = [];
  /** Names and numbers of ports by `namespace/name` of the Service. */
  private readonly servicePorts = new Map<string, ReadonlySet<string>>();
  private readonly portUses: PortUse[] = [];
  /** Namespaces with objects of custom kinds: their controllers may create pods that the manifests don't have. */
  private readonly withCustomObjects = new Set<string>();
  private count = 0;

  constructor(private readonly vocabulary: Vocabulary) {}

  /**
   * Adds an object.
   *
   * @param namespace empty for a cluster-scoped object.
   * @param isCustom whether a controller outside of the server may create pods for it.
   */
  add(value: JsonObject, namespace: string, isCustom: boolean): void {
    const object = this.count++;
    if (isCustom) this.withCustomObjects.add(namespace);
    this.provide(value, namespace);
    for (const one of referencesIn(value, namespace, this.vocabulary))
      this.references.push({ ...one, object });
    this.addSelections(value, namespace, object);
    if (this.kindOf(value) === "networking/Ingress") this.addPortUses(value, namespace, object);
  }

  /** Adds an object of the context, to which others may refer. */
  provide(value: JsonObject, namespace: string): void {
    const { group, kind, name } = nameOf(value);
    this.objects.add(keyOf(group, kind, namespace, name));
    const pod = podSpecOf(value);
    if (pod !== undefined)
      this.pods.push({ namespace, labels: textsOf(pod.labels), ports: portNames(pod.spec) });
    if (this.kindOf(value) === "/Service")
      this.servicePorts.set(`${namespace}/${name}`, portsOfService(value));
  }

  /**
   * Returns the references to what doesn't exist, in the order of the objects.
   *
   * @param exists whether a server has an object by default.
   */
  async broken(exists: (reference: Reference) => Promise<boolean>): Promise<BrokenReference[]> {
    const broken: BrokenReference[] = [];
    const checked = new Map<string, boolean>();
    for (const one of this.references) {
      const { apiVersion, kind, namespace, name, field, object } = one;
      const key = keyOf(groupOf(apiVersion), kind, namespace, name);
      if (this.objects.has(key)) continue;
      const isPresent = checked.get(key) ?? (await exists(one));
      checked.set(key, isPresent);
      if (isPresent) continue;
      const where = namespace === "" ? "" : ` in namespace ${JSON.stringify(namespace)}`;
      broken.push({ object, field, message: `${kind} ${JSON.stringify(name)} not found${where}` });
    }
    for (const selection of this.selections) broken.push(...this.brokenSelection(selection));
    for (const { object, service, port, field } of this.portUses) {
      const ports = this.servicePorts.get(service);
      if (ports === undefined || ports.has(port)) continue;
      const name = JSON.stringify(service.slice(service.indexOf("/") + 1));
      broken.push({ object, field, message: `Service ${name} has no port ${JSON.stringify(port)}` });
    }
    return broken.toSorted((a, b) => a.object - b.object);
  }

  private brokenSelection({ object, namespace, matches, field, ports }: Selection): BrokenReference[] {
    const selected = this.pods.filter((pod) => pod.namespace === namespace && matches(pod.labels));
    if (selected.length === 0 && this.withCustomObjects.has(namespace)) return [];
    if (selected.length === 0) {
      const where = `in namespace ${JSON.stringify(namespace)}`;
      return [{ object, field, message: `the selector matches no pods ${where}` }];
    }
    return ports
      .filter(({ name }) => !selected.some((pod) => pod.ports.has(name)))
      .map((port) => ({
        object,
        field: port.field,
        message: `no selected pod has a port ${JSON.stringify(port.name)}`,
      }));
  }

  private addSelections(value: JsonObject, namespace: string, object: number): void {
    const kind = this.kindOf(value);
    if (kind === "/Service") {
      const selector = objectAt(value, "spec", "selector");
      if (selector === undefined || Object.keys(selector).length === 0) return;
      const labels = Object.entries(textsOf(selector));
      const matches: LabelMatcher = (own) => labels.every(([key, text]) => own?.[key] === text);
      const ports = listAt(value, "spec", "ports").flatMap((port, at) => {
        const target = isObject(port) ? port["targetPort"] : undefined;
        return typeof target === "string" && !/^\d+$/.test(target)
          ? [{ name: target, field: `spec.ports[${at}].targetPort` }]
          : [];
      });
      this.selections.push({ object, namespace, matches, field: "spec.selector", ports });
    }
    const path = selectorPaths[kind];
    if (path === undefined) return;
    const matches = matcherOf(objectAt(value, ...path));
    if (matches !== undefined)
      this.selections.push({ object, namespace, matches, field: path.join("."), ports: [] });
  }

  private addPortUses(value: JsonObject, namespace: string, object: number): void {
    for (const { backend, path } of backendsOf(value)) {
      const service = objectAt(backend, "service");
      const port = objectAt(service, "port") ?? {};
      const member = port["name"] === undefined ? "number" : "name";
      const text = port[member];
      if (service === undefined || (typeof text !== "string" && typeof text !== "number")) continue;
      const field = `${path}.service.port.${member}`;
      this.portUses.push({
        object,
        service: `${namespace}/${String(service["name"])}`,
        port: String(text),
        field,
      });
    }
  }

  private kindOf(value: JsonObject): string {
    const { group, kind } = nameOf(value);
    return `${baseOfGroup(this.vocabulary.groupSuffix, group)}/${kind}`;
  }
}

/** Selectors of pods that are useless if they match none, by group and kind. */
const selectorPaths: Readonly<Record<string, readonly string[]>> = {
  "networking/NetworkPolicy": ["spec", "podSelector"],
  "policy/PodDisruptionBudget": ["spec", "selector"],
};

/** Returns the function of a label selector; undefined for one that selects everything, or is invalid. */
function matcherOf(selector: JsonObject | undefined): LabelMatcher | undefined {
  if (selector === undefined || Object.keys(selector).length === 0) return undefined;
  const { matchLabels, matchExpressions } = selector;
  const labels = isObject(matchLabels) ? textsOf(matchLabels) : {};
  const expressions = Array.isArray(matchExpressions) ? matchExpressions.filter((one) => isObject(one)) : [];
  const read: LabelSelectorObject = {
    matchLabels: labels,
    matchExpressions: expressions.map(({ key, operator, values }) => ({
      key: String(key),
      operator: String(operator),
      values: Array.isArray(values) ? values.map(String) : [],
    })),
  };
  return labelSelectorFaults(read).length > 0 ? undefined : compileLabelSelector(read);
}

function keyOf(group: string, kind: string, namespace: string, name: string): string {
  return `${group}/${kind}/${namespace}/${name}`;
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
}

function textsOf(object: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, String(value)]));
}

function portNames(spec: JsonObject): ReadonlySet<string> {
  const containers = [...listAt(spec, "containers"), ...listAt(spec, "initContainers")];
  return new Set(containers.flatMap((one) => listAt(one, "ports")).flatMap(namesOfPort));
}

function namesOfPort(port: JsonValue): string[] {
  const { name } = isObject(port) ? port : {};
  return typeof name === "string" ? [name] : [];
}

function portsOfService(service: JsonObject): ReadonlySet<string> {
  const ports = listAt(service, "spec", "ports");
  return new Set(
    ports.flatMap((port) => [...namesOfPort(port), ...(isObject(port) ? [String(port["port"])] : [])]),
  );
}
