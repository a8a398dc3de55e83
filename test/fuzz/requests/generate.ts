import { builtInKinds } from "../../../src/kinds/all.ts";
import { groupName, type Kind } from "../../../src/schema/kind.ts";
import type { Vocabulary } from "../../../src/vocabulary/vocabulary.ts";
import type { Dice } from "../../support/dice.ts";
import { mutate } from "../engine/mutate.ts";
import { LargeBodies } from "./large-bodies.ts";
import { randomPatch } from "./patches.ts";
import { RandomObject } from "./random-object.ts";
import type { FuzzRequest, Manner } from "./request.ts";
import { randomAccept, randomPath, randomQuery } from "./texts.ts";

/** Names of the objects that requests create. */
const objectNames = ["f-a", "f-b", "f-c", "f-d", "f-e", "f-f"] as const;
/** Namespaces in which requests create objects. */
export const objectNamespaces = ["default", "fuzz"] as const;

/** Kinds whose objects change how later requests are answered; they are written without storing. */
const influential = new Set([
  "APIService",
  "FlowSchema",
  "MutatingWebhookConfiguration",
  "PriorityLevelConfiguration",
  "ValidatingAdmissionPolicyBinding",
  "ValidatingWebhookConfiguration",
  "Namespace",
]);

/** What a request is about. */
interface Subject {
  readonly kind: Kind;
  /** Path of the collection. */
  readonly collection: string;
  readonly name: string;
}

/** Chooses random requests. */
export class RequestGenerator {
  private readonly objects: RandomObject;
  private readonly large: LargeBodies;

  /**
   * @param tokens bearer tokens; undefined stands for an anonymous request.
   * @param focus if present, all requests have many entries in a list or map whose name contains this text.
   */
  constructor(
    private readonly dice: Dice,
    private readonly vocabulary: Vocabulary,
    private readonly tokens: readonly (string | undefined)[],
    private readonly focus?: string,
  ) {
    this.objects = new RandomObject(dice, vocabulary, 0.004);
    this.large = new LargeBodies(dice, vocabulary, focus);
  }

  next(): FuzzRequest {
    const { dice } = this;
    if (this.focus !== undefined || dice.chance(0.03)) return this.large.next(this.tokens[0]);
    if (dice.chance(0.08)) return this.elsewhere();
    const kind = dice.pick(builtInKinds);
    const subject = { kind, collection: this.collectionOf(kind), name: dice.pick(objectNames) };
    const roll = dice.next();
    if (!kind.verbs.includes("get") || roll < 0.35) return this.create(subject);
    if (roll < 0.45) return this.update(subject);
    if (roll < 0.65) return this.patch(subject);
    if (roll < 0.75) return this.remove(subject);
    return this.read(subject);
  }

  private create(subject: Subject): FuzzRequest {
    return this.write("POST", subject.collection, this.objectOf(subject), subject.kind);
  }

  private update(subject: Subject): FuzzRequest {
    return this.write("PUT", this.itemOf(subject), this.objectOf(subject), subject.kind);
  }

  private patch(subject: Subject): FuzzRequest {
    const { dice } = this;
    const { contentType, body } = randomPatch(dice, this.objectOf(subject));
    const query = this.writeQuery(subject.kind);
    const path = `${this.itemOf(subject)}${query}${query === "" ? "?" : "&"}fieldManager=${dice.pick(["a", "b"])}`;
    const forced = dice.chance(0.3) ? "&force=true" : "";
    return this.request("PATCH", `${path}${forced}`, this.bytesOf(body), contentType);
  }

  private remove(subject: Subject): FuzzRequest {
    const { dice } = this;
    const isCollection = dice.chance(0.1) && subject.kind.scope === "Namespaced";
    const path = isCollection ? subject.collection : this.itemOf(subject);
    const options = {
      propagationPolicy: dice.pick(["Background", "Foreground", "Orphan", "x"]),
      ...(dice.chance(0.3) ? { gracePeriodSeconds: dice.pick([0, 1, -1]) } : {}),
      ...(dice.chance(0.2) ? { preconditions: { uid: "x", resourceVersion: dice.pick(["1", "x"]) } } : {}),
    };
    const query = this.writeQuery(subject.kind);
    if (dice.chance(0.4)) return this.request("DELETE", `${path}${query}`, undefined, undefined);
    return this.request("DELETE", `${path}${query}`, this.bytesOf(options), "application/json");
  }

  private read(subject: Subject): FuzzRequest {
    const { dice } = this;
    const query = randomQuery(dice);
    if (dice.chance(0.08)) {
      const separator = query === "" ? "?" : "&";
      return this.request("GET", `${subject.collection}${query}${separator}watch=true`, undefined, undefined);
    }
    const path = dice.chance(0.5) ? subject.collection : this.itemOf(subject);
    return this.request(dice.chance(0.95) ? "GET" : "HEAD", `${path}${query}`, undefined, undefined);
  }

  private elsewhere(): FuzzRequest {
    const { dice } = this;
    const method = dice.pick(["GET", "GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"]);
    const body = method === "GET" || dice.chance(0.5) ? undefined : this.bytesOf({ a: [1, { b: null }] });
    const path = randomPath(dice);
    return this.request(method, `${path}${randomQuery(dice)}`, body, "application/json");
  }

  private write(method: string, path: string, object: object, kind: Kind): FuzzRequest {
    const { dice } = this;
    const contentType = dice.chance(0.9)
      ? "application/json"
      : dice.pick(["application/yaml", this.vocabulary.protobufMediaType, "text/plain", ""]);
    return this.request(method, `${path}${this.writeQuery(kind)}`, this.bytesOf(object), contentType);
  }

  private writeQuery({ name }: Kind): string {
    const { dice } = this;
    if (influential.has(name)) return "?dryRun=All";
    if (dice.chance(0.6)) return "";
    return dice.pick([
      "?dryRun=All",
      "?fieldValidation=Strict",
      "?fieldValidation=Ignore",
      randomQuery(dice),
    ]);
  }

  /** The bytes of a value in JSON, sometimes changed at random. */
  private bytesOf(value: unknown): Buffer {
    const bytes = Buffer.from(JSON.stringify(value));
    if (!this.dice.chance(0.06)) return bytes;
    return mutate(bytes, this.dice, { dictionary: [], other: bytes, maxBytes: 64 * 1024 });
  }

  private objectOf({ kind, name }: Subject): object {
    const { dice } = this;
    const group = groupName(kind.group, this.vocabulary);
    const metadata = {
      name,
      ...(dice.chance(0.3) ? { labels: { a: dice.pick(["b", "c"]) } } : {}),
      ...(dice.chance(0.05) ? { generateName: "f-" } : {}),
      ...(dice.chance(0.05) ? { resourceVersion: dice.pick(["1", "x", "999999"]) } : {}),
      ...(dice.chance(0.03) ? { finalizers: ["example.com/f"] } : {}),
      ...(dice.chance(0.05)
        ? { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "f-a", uid: "u" }] }
        : {}),
    };
    const apiVersion = group === "" ? kind.version : `${group}/${kind.version}`;
    return { apiVersion, kind: kind.name, metadata, ...this.objects.struct(kind.type) };
  }

  private collectionOf({ group, version, scope, resource }: Kind): string {
    const name = groupName(group, this.vocabulary);
    const base = name === "" ? `/api/${version}` : `/apis/${name}/${version}`;
    if (scope !== "Namespaced") return `${base}/${resource}`;
    return `${base}/namespaces/${this.dice.pick([...objectNamespaces, "default", "none"])}/${resource}`;
  }

  private itemOf({ kind, collection, name }: Subject): string {
    const { dice } = this;
    const subresources = Object.keys(kind.subresources);
    const below = subresources.length > 0 && dice.chance(0.25) ? `/${dice.pick(subresources)}` : "";
    return `${collection}/${name}${below}`;
  }

  private request(
    method: string,
    path: string,
    body: Buffer | undefined,
    contentType: string | undefined,
  ): FuzzRequest {
    const { dice } = this;
    const headers: Record<string, string> = {};
    if (body !== undefined && contentType !== undefined && contentType !== "")
      headers["content-type"] = contentType;
    if (dice.chance(0.15)) headers["accept"] = randomAccept(dice, this.vocabulary);
    if (dice.chance(0.05)) headers["accept-encoding"] = "gzip";
    if (dice.chance(0.02)) headers["impersonate-user"] = dice.pick(["a", "system:admin", ""]);
    const unusual: Manner = dice.chance(0.03) ? dice.pick(["abort", "pipeline"]) : "plain";
    const manner = path.includes("watch") ? "watch" : unusual;
    const token = dice.chance(0.75) ? this.tokens[0] : dice.pick(this.tokens);
    return { token, method, path, headers, body, manner };
  }
}
