import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Authorizer } from "../../authorization/authorizer.ts";
import { namesOf, type Registry } from "../../resources/registry/registry.ts";
import { uidOf } from "../../resources/objects/stored.ts";
import type { EntryFilter } from "../../storage/filtered-store.ts";
import type { Entry, Revision, Store } from "../../storage/store.ts";

/** The base of a workspace and the rights in it. */
export interface BaseRights {
  readonly store: Store;
  /** The revision with which the workspace begins. */
  readonly at: Revision;
  /** Decides about requests in the base at present; undefined if the base is gone, so that nothing of it is visible. */
  readonly authorizer: Authorizer | undefined;
  readonly registry: Registry;
  /** Decides what of the base's own base is visible; undefined if all is. */
  readonly further: EntryFilter | undefined;
}

/**
 * Decides which objects of a workspace a user may see: those that came from its base, changed or not, only if the user may get them in the
 * base at present. An object came from the base if it has the uid of the base's object with its name.
 */
export class BaseVisibility implements EntryFilter {
  constructor(
    private readonly base: BaseRights,
    private readonly user: UserInfo,
  ) {}

  showsAll(prefix: string): MaybePromise<boolean> {
    return andThen(
      this.allows(prefix, "", ""),
      (all) => all && (this.base.further?.showsAll(prefix) ?? true),
    );
  }

  isVisible(entry: Entry): MaybePromise<boolean> {
    const { store, at, further } = this.base;
    return andThen(store.get(entry.key, at), (before) => {
      if (before === undefined) return true;
      if (entry.revision > at && uidOf(before) !== uidOf(entry)) return true;
      return andThen(this.mayGet(entry.key), (may) => may && (further?.isVisible(before) ?? true));
    });
  }

  /** Asks for all objects first, because most users who may get one may get them all. */
  private mayGet(key: string): MaybePromise<boolean> {
    const { namespace, name } = namesOf(key);
    return andThen(
      this.allows(key, "", ""),
      (all) =>
        all ||
        andThen(
          namespace === "" ? false : this.allows(key, namespace, ""),
          (inNamespace) => inNamespace || this.allows(key, namespace, name),
        ),
    );
  }

  private allows(key: string, namespace: string, name: string): MaybePromise<boolean> {
    const { authorizer, registry } = this.base;
    const resource = registry.ofKey(key);
    if (authorizer === undefined || resource === undefined) return false;
    const decision = authorizer.authorize({
      kind: "resource",
      user: this.user,
      verb: "get",
      group: resource.group,
      version: resource.version,
      resource: resource.name,
      subresource: "",
      namespace,
      name,
    });
    return andThen(decision, ({ verdict }) => verdict === "allow");
  }
}
