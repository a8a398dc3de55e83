import { andThen, detach, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { SkippedRequest } from "../admission-chain.ts";
import type { FollowedObjects } from "../followed-objects.ts";
import { isForFilesOnly, type StaticObjects } from "../manifests/static-objects.ts";
import { PolicySet, type Candidate } from "./policy-set.ts";
import type { Binding, PolicyBase } from "./policy.ts";

const noBindings: readonly Binding[] = [];

/** Policies in files, with their bindings. */
export interface StaticPolicies<P extends PolicyBase> {
  readonly policies: readonly P[];
  readonly bindings: readonly Binding[];
}

/** A set of policies and what it was made of. */
interface CachedSet<P extends PolicyBase> extends StaticPolicies<P> {
  readonly set: PolicySet<P>;
}

/** Finds the policies that match a request by rules: those in files, then those in the store. A change of a policy or binding is effective for the next request. */
export class FollowedPolicies<P extends PolicyBase> {
  private cached: CachedSet<P> | undefined;
  private cachedOfFiles: CachedSet<P> | undefined;

  constructor(
    private readonly policies: FollowedObjects<P>,
    private readonly bindings: FollowedObjects<Binding>,
    private readonly registry: Registry,
    private readonly files?: StaticObjects<StaticPolicies<P>>,
  ) {}

  /** Whether no policy matches; false if policies must be read first. */
  matchesNone(request: SkippedRequest): boolean {
    const candidates = this.matching(request);
    // The next call of `matching` waits for the same read and reports its failure.
    detach(candidates, () => undefined);
    return !(candidates instanceof Promise) && candidates.length === 0;
  }

  /** @throws {StoreUnavailableError} the policies can't be read. */
  matching(request: SkippedRequest): MaybePromise<readonly Candidate<P>[]> {
    if (this.files === undefined) return this.inStore(request);
    const files = this.inFiles(this.files.current, request);
    if (isForFilesOnly(request)) return files;
    return andThen(this.inStore(request), (stored) => {
      if (files.length === 0) return stored;
      return stored.length === 0 ? files : [...files, ...stored];
    });
  }

  private inStore(request: SkippedRequest): MaybePromise<readonly Candidate<P>[]> {
    return andThen(this.policies.in(""), (policies) => {
      if (policies.length === 0) return [];
      return andThen(this.bindings.in(""), (bindings) => this.setOf(policies, bindings).matching(request));
    });
  }

  private inFiles(
    { policies, bindings }: StaticPolicies<P>,
    request: SkippedRequest,
  ): readonly Candidate<P>[] {
    if (policies.length === 0) return [];
    if (this.cachedOfFiles?.policies !== policies) {
      this.cachedOfFiles = { policies, bindings, set: new PolicySet(policies, bindings, this.registry) };
    }
    return this.cachedOfFiles.set.matching(request);
  }

  private setOf(policies: readonly P[], currentBindings: readonly Binding[]): PolicySet<P> {
    const bindings = currentBindings.length === 0 ? noBindings : currentBindings;
    if (this.cached?.policies !== policies || this.cached.bindings !== bindings) {
      this.cached = { policies, bindings, set: new PolicySet(policies, bindings, this.registry) };
    }
    return this.cached.set;
  }
}
