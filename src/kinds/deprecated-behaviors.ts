import { releaseAfter } from "../base/releases.ts";

/** A deprecated behavior of the server (spec: conventions 9.2, rule 7). */
export interface DeprecatedBehavior {
  /** Description; `*` stands for the domain. */
  readonly what: string;
  /** The release since which it is deprecated, such as `1.18`. */
  readonly deprecated: string;
  /** The first release without it, if it is known. */
  readonly removed?: string;
  /** Replacement; `*` stands for the domain. */
  readonly instead: string;
}

/** Behaviors that are deprecated in the reference release, and one that was removed earlier. */
export const deprecatedBehaviors = {
  orphanDependents: {
    what: "orphanDependents, of the options of a delete",
    deprecated: "1.7",
    instead: "propagationPolicy",
  },
  classOfVolume: {
    what: "the annotation volume.beta.*/storage-class of volumes and claims",
    deprecated: "1.8",
    instead: "storageClassName",
  },
  gitRepo: {
    what: "volumes of the source gitRepo",
    deprecated: "1.11",
    instead: "an init container that fetches into an emptyDir",
  },
  osLabel: { what: "beta.*/os", deprecated: "1.14", instead: "*/os" },
  archLabel: { what: "beta.*/arch", deprecated: "1.14", instead: "*/arch" },
  selfLink: {
    what: "metadata.selfLink",
    deprecated: "1.16",
    removed: "1.20",
    instead: "the path under which the object is asked for",
  },
  zoneLabel: { what: "failure-domain.beta.*/zone", deprecated: "1.17", instead: "topology.*/zone" },
  regionLabel: { what: "failure-domain.beta.*/region", deprecated: "1.17", instead: "topology.*/region" },
  typeLabel: { what: "beta.*/instance-type", deprecated: "1.17", instead: "node.*/instance-type" },
  ingressClass: {
    what: "the annotation */ingress.class of ingresses",
    deprecated: "1.18",
    instead: "spec.ingressClassName",
  },
  seccompOfPod: {
    what: "the annotation seccomp.security.alpha.*/pod of pods",
    deprecated: "1.19",
    removed: "1.27",
    instead: "securityContext.seccompProfile",
  },
} as const satisfies Readonly<Record<string, DeprecatedBehavior>>;

/** Since 2020 there are three releases a year, before there were four. */
const firstOfThree = 19;

/** Returns the first release that may remove a deprecated behavior, which is a year later. */
export function earliestEnd({ deprecated }: Pick<DeprecatedBehavior, "deprecated">): string {
  const minor = Number(deprecated.split(".")[1]);
  return releaseAfter(deprecated, minor < firstOfThree ? 4 : 3);
}
