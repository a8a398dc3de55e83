import { createHash } from "node:crypto";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { StatusError } from "../base/status-error.ts";
import type { YieldIfDue } from "../base/yielding.ts";
import type { ObjectView, ViewPart } from "../resources/objects/object-view.ts";
import type { Resource } from "../resources/registry/registry.ts";
import { compareKeys } from "../storage/keys.ts";
import { AccessScopes } from "./access-scopes.ts";
import type { ResourceAttributes } from "./authorizer.ts";
import type { AuthorizerChain } from "./authorizer-chain.ts";

/** Maximum number of namespaces and names that are enumerated; a view with more is filtered object by object. */
const maxParts = 16_384;

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
  const scopes = new AccessScopes();
  let isComplete = true;
  for (const { name, scopes: resolver } of chain.links) {
    if (scopes.everything) break;
    if (resolver === undefined) throw notEnumerable(name);
    isComplete = (await resolver.addScopes(get, scopes, yieldIfDue)) && isComplete;
  }
  return new UserView(scopes, get, resource, isComplete ? undefined : chain);
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
  readonly parts: readonly ViewPart[] | undefined;
  /** The last object that the chain decided about, and the keys of those that it allowed up to there. */
  private decidedUpTo = "";
  private readonly allowedKeys = new Set<string>();

  /**
   * @param get attributes of a `get` without its name; the namespace is that of the collection.
   * @param chain decides about objects that `scopes` doesn't have; undefined if these are hidden.
   */
  constructor(
    private readonly scopes: AccessScopes,
    private readonly get: ResourceAttributes,
    private readonly resource: Resource,
    private readonly chain: AuthorizerChain | undefined,
  ) {
    this.id = createHash("sha256").update(get.user.name).digest("base64url").slice(0, 16);
    this.everything = isNamespaceItself(resource) ? scopes.everything : scopes.allowsWhole(get.namespace);
    this.parts = chain === undefined && !this.everything ? visibleParts(scopes, get, resource) : undefined;
  }

  allows(namespace: string, name: string): MaybePromise<boolean> {
    const scope = isNamespaceItself(this.resource) ? name : namespace;
    if (this.scopes.allows(scope, name)) return true;
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
): readonly ViewPart[] | undefined {
  if (isNamespaceItself(resource)) return visibleNamespaces(scopes);
  const parts =
    resource.namespaced && namespace === "" ? scopes.parts(maxParts) : scopes.partsIn(namespace, maxParts);
  return parts?.filter((part) => isKey(part) && (part.namespace !== "") === resource.namespaced);
}

/** Returns the visible namespaces: those with a grant for all names or their own, and those with a grant in the whole cluster. */
function visibleNamespaces(scopes: AccessScopes): readonly ViewPart[] | undefined {
  const clusterWide = scopes.partsIn("", maxParts);
  if (clusterWide === undefined) return undefined;
  const names = new Set(clusterWide.map(({ name }) => name));
  for (const { namespace } of scopes.namespaces()) {
    if (scopes.allows(namespace, namespace)) names.add(namespace);
  }
  if (names.size > maxParts) return undefined;
  return [...names].map((name) => ({ namespace: "", name })).filter(isKey);
}

/** Whether objects of a part can exist: its names are segments of a key. Rules can have any text as names. */
function isKey({ namespace, name }: ViewPart): boolean {
  return !namespace.includes("/") && (name === undefined || (name !== "" && !name.includes("/")));
}
