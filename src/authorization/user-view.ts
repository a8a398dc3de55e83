import { createHash } from "node:crypto";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { StatusError } from "../base/status-error.ts";
import type { YieldIfDue } from "../base/yielding.ts";
import type { ObjectView, ViewPart } from "../resources/objects/object-view.ts";
import type { Resource } from "../resources/registry/registry.ts";
import { compareKeys } from "../storage/keys.ts";
import type { AccessScopes } from "./access-scopes.ts";
import type { ResourceAttributes } from "./authorizer.ts";
import type { AuthorizerChain } from "./authorizer-chain.ts";

/**
 * Returns the objects of a collection that a `get` of each would allow to a user. They are enumerated once, by the authorizers of the
 * chain in order; those of a node's agent are decided one by one.
 *
 * @param attributes of the list or watch; its verb and name are ignored.
 * @throws {StatusError} BadRequest if an authorizer that can neither enumerate objects nor is known never to deny may decide.
 */
export async function userView(
  chain: AuthorizerChain,
  attributes: ResourceAttributes,
  resource: Resource,
  yieldIfDue: YieldIfDue,
): Promise<ObjectView> {
  const get = { ...attributes, verb: "get", name: "" };
  const granted: AccessScopes[] = [];
  let isComplete = true;
  for (const { name, scopes: resolver } of chain.links) {
    if (granted.some(({ everything }) => everything)) break;
    if (resolver === undefined) throw notEnumerable(name);
    const scopes = await resolver.scopesFor(get, yieldIfDue);
    if (scopes === undefined) isComplete = false;
    else if (scopes.size > 0) granted.push(scopes);
  }
  return new UserView(granted, get, resource, isComplete ? undefined : chain);
}

function notEnumerable(authorizer: string): StatusError {
  return new StatusError(
    "BadRequest",
    `parameter view: the authorizer ${JSON.stringify(authorizer)} can't enumerate the objects that a user may get; ` +
      "list a namespace without the parameter",
  );
}

class UserView implements ObjectView {
  readonly id: string;
  readonly everything: boolean;
  /** The last object that the chain decided about, and the keys of those that it allowed up to there. */
  private decidedUpTo = "";
  private readonly allowedKeys = new Set<string>();
  private readonly isNamespaceItself: boolean;

  /**
   * @param granted the objects that authorizers enumerated.
   * @param get attributes of a `get` without its name; the namespace is that of the collection.
   * @param chain decides about objects that `granted` doesn't have; undefined if these are hidden.
   */
  constructor(
    private readonly granted: readonly AccessScopes[],
    private readonly get: ResourceAttributes,
    private readonly resource: Resource,
    private readonly chain: AuthorizerChain | undefined,
  ) {
    this.id = createHash("sha256").update(get.user.name).digest("base64url").slice(0, 16);
    this.isNamespaceItself = isNamespaceItself(resource);
    this.everything = granted.some((scopes) =>
      this.isNamespaceItself ? scopes.everything : scopes.allowsWhole(get.namespace),
    );
  }

  parts(limit: number): readonly ViewPart[] | undefined {
    // Parts of several authorizers could overlap.
    if (this.chain !== undefined || this.everything || this.granted.length > 1) return undefined;
    const [scopes] = this.granted;
    return scopes === undefined ? [] : visibleParts(scopes, this.get, this.resource, limit);
  }

  allows(namespace: string, name: string): MaybePromise<boolean> {
    const scope = this.isNamespaceItself ? name : namespace;
    for (const scopes of this.granted) if (scopes.allows(scope, name)) return true;
    return this.chain === undefined ? false : this.decide(this.chain, scope, name);
  }

  private decide(chain: AuthorizerChain, namespace: string, name: string): MaybePromise<boolean> {
    const key = `${namespace}/${name}`;
    if (compareKeys(key, this.decidedUpTo) <= 0) return this.allowedKeys.has(key);
    return andThen(chain.authorize({ ...this.get, namespace, name }), ({ verdict }) => {
      this.decidedUpTo = key;
      if (verdict === "allow") this.allowedKeys.add(key);
      return verdict === "allow";
    });
  }
}

/** Whether a `get` of an object has its name as namespace too, as for namespaces. */
function isNamespaceItself({ namespaced, name }: Resource): boolean {
  return !namespaced && name === "namespaces";
}

/** Returns the parts of a collection that have visible objects; undefined if they can't be enumerated or are too many. */
function visibleParts(
  scopes: AccessScopes,
  { namespace }: ResourceAttributes,
  resource: Resource,
  limit: number,
): readonly ViewPart[] | undefined {
  if (isNamespaceItself(resource)) return visibleNamespaces(scopes, limit);
  const parts =
    resource.namespaced && namespace === "" ? scopes.parts(limit) : scopes.partsIn(namespace, limit);
  return parts?.filter((part) => isKey(part) && (part.namespace !== "") === resource.namespaced);
}

/** Returns the visible namespaces: those with a grant for all names or their own, and those with a grant in the whole cluster. */
function visibleNamespaces(scopes: AccessScopes, limit: number): readonly ViewPart[] | undefined {
  const clusterWide = scopes.partsIn("", limit);
  if (clusterWide === undefined) return undefined;
  const names = new Set(clusterWide.map(({ name }) => name));
  for (const namespace of scopes.namespaces()) {
    if (scopes.allows(namespace, namespace)) names.add(namespace);
  }
  if (names.size > limit) return undefined;
  return [...names].map((name) => ({ namespace: "", name })).filter(isKey);
}

/** Whether objects of a part can exist: its names are segments of a key. Rules can have any text as names. */
function isKey({ namespace, name }: ViewPart): boolean {
  return !namespace.includes("/") && (name === undefined || (name !== "" && !name.includes("/")));
}
