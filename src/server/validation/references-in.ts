import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { apiGroup, baseOfGroup, groupVersion } from "../../vocabulary/names.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { listAt, nameOf, objectAt, textOf } from "./documents.ts";
import { podSpecOf } from "./pod-specs.ts";

/** A field that names another object. */
export interface Reference {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  /** Path of the field with the name. */
  readonly field: string;
}

/** Returns the references of an object of a built-in kind to other objects. @param namespace empty for a cluster-scoped object. */
export function referencesIn(object: JsonObject, namespace: string, vocabulary: Vocabulary): Reference[] {
  return new ReferenceReader(object, namespace, vocabulary).read();
}

class ReferenceReader {
  private readonly found: Reference[] = [];

  constructor(
    private readonly object: JsonObject,
    private readonly namespace: string,
    private readonly vocabulary: Vocabulary,
  ) {}

  read(): Reference[] {
    const { object } = this;
    const { namespace } = objectAt(object, "metadata") ?? {};
    if (this.namespace !== "") this.addText("v1", "Namespace", namespace, "metadata.namespace", "");
    const pod = podSpecOf(object);
    if (pod !== undefined) this.readPod(pod.spec, pod.path);
    const { group, kind } = nameOf(object);
    const base = baseOfGroup(this.vocabulary.groupSuffix, group);
    const read = this.readers[`${base}/${kind}`];
    if (read !== undefined) read.call(this, object);
    return this.found;
  }

  private readonly readers: Readonly<Record<string, (object: JsonObject) => void>> = {
    "/PersistentVolumeClaim": (object) => this.readClaim(object, ""),
    "/ServiceAccount": (object) => {
      this.addNames(listAt(object, "imagePullSecrets"), "Secret", "imagePullSecrets");
    },
    "apps/StatefulSet": (object) => {
      this.addText("v1", "Service", objectAt(object, "spec")?.["serviceName"], "spec.serviceName");
      for (const [at, claim] of listAt(object, "spec", "volumeClaimTemplates").entries())
        this.readClaim(claim, `spec.volumeClaimTemplates[${at}].`);
    },
    "autoscaling/HorizontalPodAutoscaler": (object) => {
      const target = objectAt(object, "spec", "scaleTargetRef") ?? {};
      const apiVersion = textOf(target["apiVersion"]);
      const kind = textOf(target["kind"]);
      if (apiVersion !== "") this.addText(apiVersion, kind, target["name"], "spec.scaleTargetRef.name");
    },
    "networking/Ingress": (object) => this.readIngress(object),
    "rbac.authorization/RoleBinding": (object) => this.readBinding(object),
    "rbac.authorization/ClusterRoleBinding": (object) => this.readBinding(object),
    "admissionregistration/ValidatingAdmissionPolicyBinding": (object) =>
      this.readPolicyBinding(object, "ValidatingAdmissionPolicy"),
    "admissionregistration/MutatingAdmissionPolicyBinding": (object) =>
      this.readPolicyBinding(object, "MutatingAdmissionPolicy"),
  };

  private readPod(spec: JsonObject, path: string): void {
    const account = spec["serviceAccountName"] ?? spec["serviceAccount"];
    const accountField = spec["serviceAccountName"] === undefined ? "serviceAccount" : "serviceAccountName";
    // Every namespace has this one.
    if (account !== "default") this.addText("v1", "ServiceAccount", account, `${path}.${accountField}`);
    this.addNames(listAt(spec, "imagePullSecrets"), "Secret", `${path}.imagePullSecrets`);
    this.addClass("scheduling", "PriorityClass", spec["priorityClassName"], `${path}.priorityClassName`);
    this.addClass("node", "RuntimeClass", spec["runtimeClassName"], `${path}.runtimeClassName`);
    for (const [at, volume] of listAt(spec, "volumes").entries())
      this.readVolume(volume, `${path}.volumes[${at}]`);
    for (const list of ["initContainers", "containers", "ephemeralContainers"])
      for (const [at, container] of listAt(spec, list).entries())
        this.readContainer(container, `${path}.${list}[${at}]`);
  }

  private readVolume(volume: JsonValue, path: string): void {
    this.addOptional("ConfigMap", objectAt(volume, "configMap"), "name", `${path}.configMap`);
    this.addOptional("Secret", objectAt(volume, "secret"), "secretName", `${path}.secret`);
    const claim = objectAt(volume, "persistentVolumeClaim");
    if (claim !== undefined)
      this.addText(
        "v1",
        "PersistentVolumeClaim",
        claim["claimName"],
        `${path}.persistentVolumeClaim.claimName`,
      );
    for (const [at, source] of listAt(volume, "projected", "sources").entries()) {
      const below = `${path}.projected.sources[${at}]`;
      this.addOptional("ConfigMap", objectAt(source, "configMap"), "name", `${below}.configMap`);
      this.addOptional("Secret", objectAt(source, "secret"), "name", `${below}.secret`);
    }
  }

  private readContainer(container: JsonValue, path: string): void {
    for (const [at, source] of listAt(container, "envFrom").entries()) {
      const below = `${path}.envFrom[${at}]`;
      this.addOptional("ConfigMap", objectAt(source, "configMapRef"), "name", `${below}.configMapRef`);
      this.addOptional("Secret", objectAt(source, "secretRef"), "name", `${below}.secretRef`);
    }
    for (const [at, variable] of listAt(container, "env").entries()) {
      const from = objectAt(variable, "valueFrom");
      const below = `${path}.env[${at}].valueFrom`;
      this.addOptional("ConfigMap", objectAt(from, "configMapKeyRef"), "name", `${below}.configMapKeyRef`);
      this.addOptional("Secret", objectAt(from, "secretKeyRef"), "name", `${below}.secretKeyRef`);
    }
  }

  private readClaim(claim: JsonValue, prefix: string): void {
    const name = objectAt(claim, "spec")?.["storageClassName"];
    this.addClass("storage", "StorageClass", name, `${prefix}spec.storageClassName`);
  }

  private readIngress(object: JsonObject): void {
    const name = objectAt(object, "spec")?.["ingressClassName"];
    this.addClass("networking", "IngressClass", name, "spec.ingressClassName");
    for (const [at, tls] of listAt(object, "spec", "tls").entries()) {
      const secret = isObject(tls) ? tls["secretName"] : undefined;
      this.addText("v1", "Secret", secret, `spec.tls[${at}].secretName`);
    }
    for (const { backend, path } of backendsOf(object))
      this.addText("v1", "Service", objectAt(backend, "service")?.["name"], `${path}.service.name`);
  }

  private readBinding(object: JsonObject): void {
    const role = objectAt(object, "roleRef") ?? {};
    const kind = textOf(role["kind"]);
    const apiVersion = groupVersion(this.vocabulary.groupSuffix, "rbac.authorization", "v1");
    if (kind === "ClusterRole") this.addText(apiVersion, kind, role["name"], "roleRef.name", "");
    if (kind === "Role") this.addText(apiVersion, kind, role["name"], "roleRef.name");
    for (const [at, subject] of listAt(object, "subjects").entries()) {
      const { kind: subjectKind, name, namespace } = isObject(subject) ? subject : {};
      if (subjectKind !== "ServiceAccount" || name === "default") continue;
      this.addText("v1", "ServiceAccount", name, `subjects[${at}].name`, textOf(namespace) || this.namespace);
    }
  }

  private readPolicyBinding(object: JsonObject, kind: string): void {
    const apiVersion = textOf(object["apiVersion"]);
    const group = apiGroup(this.vocabulary.groupSuffix, "admissionregistration");
    if (!apiVersion.startsWith(`${group}/`)) return;
    this.addText(apiVersion, kind, objectAt(object, "spec")?.["policyName"], "spec.policyName", "");
  }

  private addNames(list: readonly JsonValue[], kind: string, path: string): void {
    for (const [at, one] of list.entries())
      this.addText("v1", kind, isObject(one) ? one["name"] : undefined, `${path}[${at}].name`);
  }

  /** Adds a reference unless it is optional. */
  private addOptional(kind: string, source: JsonObject | undefined, member: string, path: string): void {
    if (source === undefined || source["optional"] === true) return;
    this.addText("v1", kind, source[member], `${path}.${member}`);
  }

  private addClass(group: string, kind: string, name: JsonValue | undefined, field: string): void {
    const apiVersion = groupVersion(this.vocabulary.groupSuffix, group, "v1");
    this.addText(apiVersion, kind, name, field, "");
  }

  private addText(
    apiVersion: string,
    kind: string,
    name: JsonValue | undefined,
    field: string,
    namespace = this.namespace,
  ): void {
    if (typeof name === "string" && name !== "") this.add(apiVersion, kind, name, field, namespace);
  }

  private add(apiVersion: string, kind: string, name: string, field: string, namespace: string): void {
    this.found.push({ apiVersion, kind, namespace, name, field });
  }
}

/** A backend of an Ingress. */
export interface IngressBackend {
  readonly backend: JsonObject;
  readonly path: string;
}

/** Returns the backends of an Ingress. */
export function backendsOf(ingress: JsonObject): IngressBackend[] {
  const fallback = objectAt(ingress, "spec", "defaultBackend");
  const backends = fallback === undefined ? [] : [{ backend: fallback, path: "spec.defaultBackend" }];
  for (const [rule, one] of listAt(ingress, "spec", "rules").entries()) {
    for (const [at, path] of listAt(one, "http", "paths").entries()) {
      const backend = objectAt(path, "backend");
      if (backend !== undefined)
        backends.push({ backend, path: `spec.rules[${rule}].http.paths[${at}].backend` });
    }
  }
  return backends;
}
