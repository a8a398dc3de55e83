import { expect } from "vitest";
import type { UserInfo } from "../../../src/base/user-info.ts";
import { systemClock } from "../../../src/base/time/clock.ts";
import { AbacAuthorizer, type AbacPolicy } from "../../../src/authorization/abac.ts";
import { authorizationChain, type AuthorizerChain } from "../../../src/authorization/authorizer-chain.ts";
import { RbacIndex } from "../../../src/authorization/rbac/rbac-index.ts";
import { putGrant } from "../../../src/authorization/rbac/grant-entries.ts";
import { StoredRbac } from "../../../src/authorization/rbac/stored-rbac.ts";
import { builtInKinds } from "../../../src/kinds/all.ts";
import type { Engine } from "../../../src/resources/engine/engine.ts";
import { parseSelection, type Selection } from "../../../src/resources/objects/selection.ts";
import { keyOf, namesOf, prefixOf, type Resource } from "../../../src/resources/registry/registry.ts";
import type { Entry, Revision, Store } from "../../../src/storage/store.ts";
import { platform } from "../../../src/vocabulary/platform.ts";
import { removeObject, typeNamed, writeObject } from "../../authorization/stored-objects.ts";
import { ask, clusterRole, role, toGroup, toUser, user } from "../../authorization/support.ts";
import type { Dice } from "../../support/dice.ts";
import { engineOver } from "../engine.ts";

const namespaces = ["a", "b", "c"];
const names = ["x", "y", "z"];
const writtenTypes = [
  "configmaps",
  "configmaps",
  "configmaps",
  "namespaces",
  "roles",
  "rolebindings",
  "rolebindings",
  "clusterroles",
  "clusterrolebindings",
];
const roleNames = ["r0", "r1", "r2"];
const types = Object.fromEntries(
  ["configmaps", "namespaces", "roles", "rolebindings", "clusterroles", "clusterrolebindings"].map((name) => [
    name,
    typeNamed(name),
  ]),
) as Record<string, Resource>;
const users = [user("u1", "g1"), user("u2", "g1", "g2"), user("u3")];

/** The policy of an authorizer whose grants never change. */
const policies: readonly AbacPolicy[] = [
  {
    user: "u3",
    group: "",
    readonly: true,
    namespace: "c",
    resource: "configmaps",
    apiGroup: "",
    nonResourcePath: "",
  },
];

/** A watched view. */
export interface Watched {
  readonly who: UserInfo;
  readonly resource: Resource;
  readonly namespace: string;
  readonly selection: Selection;
}

export function randomWatched(dice: Dice): Watched {
  const resource =
    types[
      dice.pick(["configmaps", "configmaps", "configmaps", "namespaces", "rolebindings", "clusterroles"])
    ]!;
  const [labels, fields] = dice.pick([
    ["", ""],
    ["", ""],
    ["parity=odd", ""],
    ["", "metadata.name=x"],
  ] as const);
  return {
    who: dice.pick(users),
    resource,
    // Namespace c is visible to u3 for good, so that it isn't followed.
    namespace: resource.namespaced && dice.chance(0.4) ? dice.pick(["a", "b"]) : "",
    selection: parseSelection(resource, labels, fields),
  };
}

/** The stored objects after one write. */
interface Snapshot {
  readonly revision: number;
  readonly objects: ReadonlyMap<string, Entry>;
  index?: RbacIndex;
}

/** A store with roles, bindings and objects, and everything that was ever written to it. */
export class World {
  rbac: StoredRbac;
  readonly engine: Engine;
  private readonly history: Snapshot[] = [];

  /** @param watchedStore the store as watches see it. */
  constructor(
    readonly store: Store,
    watchedStore: Store,
  ) {
    this.engine = engineOver(watchedStore, builtInKinds);
    this.rbac = this.newRbac();
  }

  async start(): Promise<void> {
    this.history.push({ revision: await this.store.latestRevision(), objects: new Map() });
    await this.rbac.start();
  }

  /** Replaces the authorizer, as a restart of the server does. */
  async restart(): Promise<void> {
    this.rbac.close();
    this.rbac = this.newRbac();
    await this.rbac.start();
  }

  async close(): Promise<void> {
    this.rbac.close();
    this.engine.pages.close();
    await this.engine.selectors.close();
    await this.store.close();
  }

  get chain(): AuthorizerChain {
    return authorizationChain(["ABAC", "RBAC"], this.rbac, platform, { ABAC: new AbacAuthorizer(policies) });
  }

  /** Writes or deletes random roles, bindings and objects, all at once. */
  async burst(dice: Dice, count: number): Promise<void> {
    const writes = new Map<string, () => Promise<Revision | undefined>>();
    for (let i = 0; i < count; i++) this.addWrite(dice, writes);
    const done = await Promise.all(
      [...writes].map(async ([key, write]) => ({ key, revision: await write() })),
    );
    for (const { key, revision } of done.toSorted(
      (one, other) => (one.revision ?? 0) - (other.revision ?? 0),
    )) {
      if (revision !== undefined) this.note(revision, key, await this.store.get(key, revision));
    }
  }

  private addWrite(dice: Dice, writes: Map<string, () => Promise<Revision | undefined>>): void {
    const kind = dice.pick(writtenTypes);
    const resource = types[kind]!;
    const namespace = resource.namespaced ? dice.pick(namespaces) : "";
    const isGrant = resource.group !== "";
    const name = dice.pick(isGrant ? roleNames : kind === "namespaces" ? namespaces : names);
    const content = dice.chance(0.3) ? undefined : randomContent(dice, kind);
    writes.set(keyOf(resource, namespace, name), () =>
      content === undefined
        ? removeObject(this.store, resource, namespace, name)
        : writeObject(this.store, resource, namespace, name, content),
    );
  }

  private note(revision: number, key: string, entry: Entry | undefined): void {
    const objects = new Map(this.history.at(-1)!.objects);
    if (entry === undefined) objects.delete(key);
    else objects.set(key, entry);
    this.history.push({ revision, objects });
  }

  private snapshotAt(revision: number): Snapshot {
    return this.history.findLast((one) => one.revision <= revision)!;
  }

  /** Whether a `get` at a revision is allowed. */
  allows(who: UserInfo, resource: Resource, key: string, revision: number): boolean {
    const snapshot = this.snapshotAt(revision);
    if (snapshot.index === undefined) {
      snapshot.index = new RbacIndex(platform);
      for (const [at, entry] of snapshot.objects)
        if (at.startsWith("/rbac.")) putGrant(snapshot.index, entry, false);
    }
    const { namespace, name } = namesOf(key);
    const get = ask(who, "get", {
      group: resource.group,
      resource: resource.name,
      namespace: resource.name === "namespaces" ? name : namespace,
      name,
    });
    if (new AbacAuthorizer(policies).authorize(get).verdict === "allow") return true;
    return snapshot.index.authorize(get).verdict === "allow";
  }

  /** The visible objects at a revision with the revisions of their values. */
  visibleAt({ who, resource, namespace, selection }: Watched, revision: number): Record<string, number> {
    const visible: Record<string, number> = {};
    for (const [key, entry] of this.snapshotAt(revision).objects) {
      if (!key.startsWith(prefixOf(resource, namespace)) || !selection.matches(entry)) continue;
      if (this.allows(who, resource, key, revision)) visible[key] = entry.revision;
    }
    return sorted(visible);
  }

  private newRbac(): StoredRbac {
    return new StoredRbac(this.store, platform, systemClock, (error) => expect.fail(String(error)));
  }
}

function randomContent(dice: Dice, kind: string): object {
  if (kind === "roles" || kind === "clusterroles") return { rules: [randomRule(dice)] };
  if (kind === "rolebindings" || kind === "clusterrolebindings") {
    const name = dice.pick([...roleNames, "absent"]);
    const subjects = Array.from({ length: 1 + dice.below(2) }, () =>
      dice.pick([toUser("u1"), toUser("u2"), toUser("u3"), toGroup("g1"), toGroup("g2")]),
    );
    const isRole = kind === "rolebindings" && dice.chance(0.5);
    return { roleRef: isRole ? role(name) : clusterRole(name), subjects };
  }
  return { metadata: { labels: { parity: dice.pick(["odd", "even"]) } } };
}

function randomRule(dice: Dice): object {
  const resourceNames = dice.chance(0.5)
    ? [dice.pick([...names, ...namespaces]), dice.pick([...roleNames, ...names])]
    : undefined;
  return {
    verbs: dice.pick([["get"], ["get"], ["*"], ["list"]]),
    apiGroups: ["*"],
    resources: dice.pick([
      ["configmaps"],
      ["configmaps", "namespaces"],
      ["*"],
      ["rolebindings", "clusterroles"],
    ]),
    ...(resourceNames === undefined ? {} : { resourceNames }),
  };
}

export function sorted(objects: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(objects).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
