import { decodeJson } from "../../base/json/decode.ts";
import { deepEqual, isObject, type JsonObject } from "../../base/json/value.ts";
import type { Release } from "../../base/releases.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import type { NewObject } from "../../resources/clients/client.ts";
import type { KnownObjects } from "../../kinds/typed-objects.ts";
import { labelKey } from "../../vocabulary/names.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { LocalAnswer } from "../library/local-exchange.ts";
import type { ServerClient } from "../library/server-client.ts";
import { isEstablished } from "../library/load.ts";
import { serverOptionsOf } from "../options/library-options.ts";
import { startServer, type Server } from "../server.ts";
import { decodingFindings, rejectionFindings, rejectionOf, warningFindings } from "./answer-findings.ts";
import { asContext, inOrder, isPolicy } from "./context.ts";
import { listAt, nameOf, objectAt, textOf, type ManifestObject } from "./documents.ts";
import { sentForm, withLabels, withNamespace } from "./sent-objects.ts";
import { missingKind } from "./missing-kind.ts";
import type { Finding } from "./problem.ts";
import type { Reference } from "./references-in.ts";
import { Placeholders } from "./placeholders.ts";
import { withoutField } from "./without-field.ts";

/** Level of the Pod Security Standards. */
export type PodSecurityLevel = "privileged" | "baseline" | "restricted";

/** What a {@link Session} needs to know. */
export interface SessionOptions {
  readonly vocabulary: Vocabulary;
  /** Namespace of objects that name none. */
  readonly namespace: string;
  /** Enforced in namespaces without a level of their own; undefined for none. */
  readonly podSecurity: PodSecurityLevel | undefined;
  /** Applies the objects; undefined for the administrator. */
  readonly user: string | undefined;
  readonly groups: readonly string[];
}

/** Time limit for a definition to become established, in milliseconds. */
const establishMs = 10_000;
/** Values of wrong types in one object that are reported; decoding ends at each of them. */
const maxTypeFaults = 20;
/** Verbs with which an object is applied. */
const applyVerbs = ["get", "create", "patch"] as const;
const definitionKind = "CustomResourceDefinition";

/** A server of one release in memory, with the context of the objects that it judges. */
export class Session {
  private readonly placeholders: Placeholders;
  /** Namespaces in which objects are created, so that quotas count them. */
  private readonly countedNamespaces = new Set<string>();
  /** Problems of objects of the context that the server has created as they are: they need no dry run. */
  private readonly createdContext = new WeakMap<JsonObject, readonly Finding[]>();
  /** Warnings about definitions of the context that the server has created without their unknown fields. */
  private readonly definitionWarnings = new WeakMap<JsonObject, readonly Finding[]>();
  /** Resource types by `apiVersion kind`; definitions don't change after {@link load}. */
  private readonly resources = new Map<string, Resource>();
  private isLoaded = false;

  private constructor(
    readonly release: Release,
    private readonly options: SessionOptions,
    private readonly server: Server,
  ) {
    this.placeholders = new Placeholders(server.client, options.vocabulary, this.podSecurityLabels());
  }

  /** Starts the server and creates the context. What can't be created is left out: validation reports it. */
  static async open(
    release: Release,
    options: SessionOptions,
    context: readonly ManifestObject[],
  ): Promise<Session> {
    const { name: vocabulary } = options.vocabulary;
    // Clusters allow privileged containers; the default of a server is that they don't. There is one request at a time.
    const flow = { fair: false };
    const server = await startServer(
      serverOptionsOf({ port: false, vocabulary, release, allowPrivileged: true, flow }),
    );
    const session = new Session(release, options, server);
    try {
      await session.load(context);
      session.isLoaded = true;
      return session;
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  /** Whether the server has an object that isn't in the manifests: by default, or as part of the context. */
  async hasByDefault({ apiVersion, kind, name, namespace }: Reference): Promise<boolean> {
    if (kind === "Namespace" && name === this.options.namespace) return true;
    if (this.placeholders.has(kind, namespace, name)) return false;
    return (await this.server.client.find({ apiVersion, kind, name, namespace })) !== undefined;
  }

  /** Whether objects of a kind have namespaces; undefined if the release doesn't serve the kind. */
  async isNamespaced(apiVersion: string, kind: string): Promise<boolean | undefined> {
    return (await this.resourceOf(apiVersion, kind))?.namespaced;
  }

  /**
   * Returns the problems of an object.
   *
   * @param hasDefinition whether the manifests have a definition of its kind.
   */
  async check(object: ManifestObject, hasDefinition: boolean): Promise<Finding[]> {
    const { value, duplicates } = object;
    const created = this.createdContext.get(value);
    if (created !== undefined && duplicates.length === 0) return [...created];
    const { apiVersion, kind } = nameOf(value);
    const resource = await this.resourceOf(apiVersion, kind);
    if (resource === undefined)
      return [missingKind(value, this.release, this.options.vocabulary, hasDefinition)];
    const namespace = this.namespaceFor(resource, value);
    await this.placeholders.provide(value, namespace);
    const repeated = duplicates.map((path): Finding => ({
      severity: "error",
      rule: "schema",
      field: path,
      message: `duplicate field ${JSON.stringify(path)}`,
    }));
    const rights = await this.missingRights(resource, namespace, textOf(nameOf(value).name));
    const judged = await this.judge(resource, namespace, value, rights.length === 0);
    return [...repeated, ...rights, ...judged, ...(this.definitionWarnings.get(value) ?? [])];
  }

  /** Returns the object as the release would store it, with defaults; undefined if it rejects the object. */
  async resultOf({ value }: ManifestObject): Promise<JsonObject | undefined> {
    const { apiVersion, kind } = nameOf(value);
    const resource = await this.resourceOf(apiVersion, kind);
    if (resource === undefined) return undefined;
    const namespace = this.namespaceFor(resource, value);
    const answer = await this.post(resource, namespace, value, "dryRun=All&fieldValidation=Ignore", false);
    const result = answer.status < 300 ? decodeJson(answer.body).value : undefined;
    return isObject(result) ? result : undefined;
  }

  /** Reads a document of the server, such as `/openapi/v3`. @throws {Error} if there is none. */
  async document(url: string): Promise<JsonObject> {
    const headers = ["authorization", `Bearer ${this.server.adminToken}`, "accept", "application/json"];
    const { status, body } = await this.server.local.send({ method: "GET", url, headers });
    const value = status === 200 ? decodeJson(body).value : undefined;
    if (!isObject(value)) throw new Error(`GET ${url}: the server answers ${status}`);
    return value;
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private async load(context: readonly ManifestObject[]): Promise<void> {
    await this.placeholders.provide({}, "default");
    const labels = this.podSecurityLabels();
    if (Object.keys(labels).length > 0)
      await this.server.client.patch(
        { apiVersion: "v1", kind: "Namespace", name: "default" },
        { metadata: { labels } },
      );
    // Policies and the rights of a user decide about the context too, when all of it is there.
    const isDecided = this.options.user === undefined && !context.some(isPolicy);
    for (const step of inOrder(context, this.options.vocabulary)) {
      const created: NewObject[] = [];
      for (const object of step) {
        const one = await this.createContext(object, isDecided);
        if (one !== undefined) created.push(one);
      }
      for (const one of created.filter(({ kind }) => kind === definitionKind))
        await this.untilEstablished(one);
    }
  }

  /** Creates an object of the context, or replaces one that the server has by default; undefined if it is rejected. */
  private async createContext(object: ManifestObject, isDecided: boolean): Promise<NewObject | undefined> {
    const value = asContext(object);
    const { apiVersion, kind } = nameOf(value);
    const resource = await this.resourceOf(apiVersion, kind);
    if (resource === undefined) return undefined;
    const namespace = this.namespaceFor(resource, value);
    const named = withNamespace(value, namespace);
    const labeled = kind === "Namespace" ? withLabels(named, this.podSecurityLabels()) : named;
    if (namespace !== "") await this.placeholders.provide({}, namespace);
    const isWhole = isDecided && deepEqual(value, object.value) && labeled === named;
    const isCreated =
      (isWhole && (await this.createWhole(resource, namespace, object.value))) ||
      (kind === definitionKind && (await this.createDefinition(resource, labeled, object.value))) ||
      (await this.createOrReplace(labeled));
    if (!isCreated) return undefined;
    if (kind === "ResourceQuota") this.countedNamespaces.add(namespace);
    return labeled as NewObject;
  }

  /** Creates an object of the context in strict mode; its answer is the verdict. Returns whether it is accepted. */
  private async createWhole(resource: Resource, namespace: string, value: JsonObject): Promise<boolean> {
    const answer = await this.post(resource, namespace, value, "fieldValidation=Strict", false);
    if (rejectionOf(answer) !== undefined) return false;
    this.createdContext.set(value, this.raised(warningFindings(answer.warnings)));
    return true;
  }

  /**
   * Creates a definition without the fields that the release doesn't know: they are problems of the definition, and objects are judged by
   * its other fields. Returns whether it is accepted.
   *
   * @param value the definition in the manifests.
   */
  private async createDefinition(
    resource: Resource,
    definition: JsonObject,
    value: JsonObject,
  ): Promise<boolean> {
    const answer = await this.post(resource, "", definition, "fieldValidation=Ignore", false);
    if (rejectionOf(answer) !== undefined) return false;
    this.definitionWarnings.set(value, warningFindings(answer.warnings));
    return true;
  }

  /** Creates an object of the context, or replaces it; returns false if it is rejected. */
  private async createOrReplace(value: JsonObject): Promise<boolean> {
    const client: ServerClient<KnownObjects> = this.server.client;
    try {
      await client.create(value as never);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      if (error.reason !== "AlreadyExists") return false;
      await client.apply(value as NewObject, { force: true }).catch(ignoreStatus);
    }
    return true;
  }

  /** Waits until a definition is established. It is if the kind is served, which needs no watch. */
  private async untilEstablished({ apiVersion, kind, metadata, ...rest }: NewObject): Promise<void> {
    const spec = objectAt(rest as JsonObject, "spec");
    const versions = listAt(spec, "versions");
    const version = versions.map((one) => (isObject(one) ? textOf(one["name"]) : "")).at(-1);
    const served = objectAt(spec, "names")?.["kind"];
    if (await this.resourceOf(`${textOf(spec?.["group"])}/${version ?? ""}`, textOf(served))) return;
    const reference = { apiVersion, kind, name: metadata.name! };
    await this.server.client
      .waitFor(reference, isEstablished, { timeoutMs: establishMs })
      .catch(ignoreStatus);
  }

  private async resourceOf(apiVersion: string, kind: string): Promise<Resource | undefined> {
    const key = `${apiVersion} ${kind}`;
    const cached = this.resources.get(key);
    if (cached !== undefined) return cached;
    const { registry } = this.server.local;
    await registry.sync();
    const resource = registry.findKind(apiVersion, kind);
    if (this.isLoaded && resource !== undefined) this.resources.set(key, resource);
    return resource;
  }

  private namespaceFor({ namespaced }: Resource, value: JsonObject): string {
    return namespaced ? nameOf(value).namespace || this.options.namespace : "";
  }

  /** Labels of namespaces without a level of their own. */
  private podSecurityLabels(): Readonly<Record<string, string>> {
    const { podSecurity, vocabulary } = this.options;
    if (podSecurity === undefined) return {};
    const key = (mode: string) => labelKey(vocabulary.domain, mode, "pod-security");
    return { [key("enforce")]: podSecurity, [key("warn")]: podSecurity };
  }

  /** Returns a problem for each right that the user needs to apply an object and doesn't have. */
  private async missingRights(resource: Resource, namespace: string, name: string): Promise<Finding[]> {
    const { user, groups } = this.options;
    if (user === undefined) return [];
    const client = this.server.as(user, groups);
    const findings: Finding[] = [];
    for (const verb of applyVerbs) {
      const { group, name: plural } = resource;
      const target = {
        group,
        name: verb === "create" ? "" : name,
        ...(namespace === "" ? {} : { namespace }),
      };
      if (await client.can(verb, plural, target)) continue;
      const where =
        namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
      const type = group === "" ? plural : `${plural}.${group}`;
      const message = `user ${JSON.stringify(user)} may not ${verb} ${type} ${where}`;
      findings.push({ severity: "error", rule: "authorization", field: "", message });
    }
    return findings;
  }

  /** @param asUser whether the user of the options sends the request; otherwise the administrator. */
  private async judge(
    resource: Resource,
    namespace: string,
    value: JsonObject,
    asUser: boolean,
  ): Promise<Finding[]> {
    const kind = resource.kind.name;
    const isCustom = resource.kind.custom !== undefined;
    const findings: Finding[] = [];
    let body = value;
    let validation = "Strict";
    for (let attempt = 0; attempt < maxTypeFaults; attempt++) {
      const answer = await this.post(
        resource,
        namespace,
        body,
        `dryRun=All&fieldValidation=${validation}`,
        asUser,
      );
      const rejection = rejectionOf(answer);
      if (rejection?.code === 400) {
        // Decoding ends at the first kind of fault; without what it names, the other rules are checked too.
        const faults = decodingFindings(rejection.message, kind);
        findings.push(...faults);
        const [first] = faults;
        if (first === undefined || first.field === "") return findings;
        if (rejection.message.includes("strict decoding error: ")) validation = "Ignore";
        else body = withoutField(body, first.field);
        continue;
      }
      if (rejection === undefined) findings.push(...warningFindings(answer.warnings));
      // A dry run looks for an object of the same name after all other checks.
      else if (rejection.reason !== "AlreadyExists") findings.push(...rejectionFindings(rejection, isCustom));
      const isAccepted = findings.every(({ severity }) => severity !== "error");
      if (isAccepted && this.isCreated(resource, namespace, body))
        findings.push(...(await this.create(resource, namespace, body, isCustom)));
      // A value that was left out because of its type isn't missing.
      const ofWrongType = new Set(findings.filter(({ rule }) => rule === "schema").map(({ field }) => field));
      const isMissing = ({ message }: Finding) => message.startsWith("Required value");
      return this.raised(
        findings.filter((one) => one.rule === "schema" || !ofWrongType.has(one.field) || !isMissing(one)),
      );
    }
    return findings;
  }

  /** Whether an object is created, so that it counts for others: against a quota, or as it takes a port of the nodes. */
  private isCreated({ group, name }: Resource, namespace: string, value: JsonObject): boolean {
    if (this.countedNamespaces.has(namespace)) return true;
    if (group !== "" || name !== "services") return false;
    return listAt(value, "spec", "ports").some((port) => isObject(port) && port["nodePort"] !== undefined);
  }

  private async create(
    resource: Resource,
    namespace: string,
    value: JsonObject,
    isCustom: boolean,
  ): Promise<Finding[]> {
    const rejection = rejectionOf(
      await this.post(resource, namespace, value, "fieldValidation=Strict", false),
    );
    return rejection === undefined || rejection.reason === "AlreadyExists"
      ? []
      : rejectionFindings(rejection, isCustom);
  }

  /** With a level of pod security that was asked for, pods that a controller couldn't create are errors. */
  private raised(findings: readonly Finding[]): Finding[] {
    if (this.options.podSecurity === undefined) return [...findings];
    return findings.map((one) => (one.rule === "pod-security" ? { ...one, severity: "error" } : one));
  }

  private post(
    resource: Resource,
    namespace: string,
    value: JsonObject,
    query: string,
    asUser: boolean,
  ): Promise<LocalAnswer> {
    const { user, groups } = this.options;
    const base = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.apiVersion}`;
    const scope = namespace === "" ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
    const impersonated =
      asUser && user !== undefined
        ? ["impersonate-user", user, ...groups.flatMap((group) => ["impersonate-group", group])]
        : [];
    return this.server.local.send({
      method: "POST",
      url: `${base}${scope}/${resource.name}?fieldManager=plinth-validate&${query}`,
      headers: [
        "authorization",
        `Bearer ${this.server.adminToken}`,
        "content-type",
        "application/json",
        "accept",
        "application/json",
        ...impersonated,
      ],
      ...sentForm(value),
    });
  }
}

/** Ignores the error of an object of the context, whose validation reports it. */
function ignoreStatus(error: unknown): void {
  if (!(error instanceof StatusError)) throw error;
}
