import { labelKey, type Domain } from "../../../vocabulary/names.ts";
import type { Release } from "../../../base/releases.ts";
import { andThen } from "../../../base/turns/maybe-promise.ts";
import { Namespace } from "../../../kinds/core/namespace.ts";
import { Pod } from "../../../kinds/core/pod/pod.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import { type AdmissionPlugin, type AdmittedType, isOf } from "../../admission-chain.ts";
import type { AdmissionFacts } from "../../followed-objects.ts";
import type { PodSecuritySettings } from "./configuration.ts";
import { Evaluator, detailsOf } from "./evaluator.ts";
import type { PodSecurityCounters } from "./counters.ts";
import { namespaceCheck, type PodSource } from "./namespace-check.ts";
import { policyLabels, policyOf, isPrivileged, type Mode, type NamespacePolicy } from "./namespace-policy.ts";
import { templatedKinds, templateOf, type Template } from "./pod-templates.ts";
import { declarationOf, type ApiObject } from "../../../schema/kind.ts";
import { StatusError } from "../../../base/status-error.ts";
import type { AdmissionRequest } from "../../../resources/engine/engine.ts";
import { forbidden } from "../../forbidden.ts";
import { checkedPod, type CheckedPod, type Violation } from "./control.ts";
import { isSame, textOf } from "./levels.ts";
import type { Container } from "../../../kinds/core/pod/container.ts";

/** Dependencies of the plugin. */
export interface PodSecurityParts {
  readonly settings: PodSecuritySettings;
  readonly facts: AdmissionFacts;
  readonly counters: PodSecurityCounters;
  readonly vocabulary: Vocabulary;
  /** The release of the server; the reference release by default. */
  readonly release?: Release | undefined;
  readonly pods: PodSource;
}

/**
 * PodSecurity: rejects pods that violate the `enforce` level of their namespace, warns about violations of the `warn` level, and
 * records violations of the `audit` level in the audit log (spec: conventions 4.13). Objects with a pod template are never
 * rejected. Labels of the namespace define the levels.
 */
export function podSecurity(parts: PodSecurityParts): AdmissionPlugin {
  const { settings, facts, vocabulary } = parts;
  const prefix = labelKey(vocabulary.domain, "", "pod-security");
  const labels = policyLabels(prefix);
  const evaluator = new Evaluator(parts.release);
  const checkNamespace = namespaceCheck({ ...parts, labels, evaluator });
  const checkPods = new PodCheck({ ...parts, evaluator, prefix });
  const policies = facts.of(Namespace, ({ metadata }) =>
    policyOf(metadata.labels, labels, settings.defaults),
  );
  return {
    name: "PodSecurity",
    concerns: (operation, type) => (operation === "CREATE" || operation === "UPDATE") && isChecked(type),
    validate(request) {
      const { target } = request;
      if (declarationOf(target.resource.stored.kind) === Namespace) return checkNamespace(request);
      if (checkPods.isExempt(request)) return;
      return andThen(policies.get("", target.namespace, request.staged), (policy) =>
        checkPods.check(request, policy),
      );
    },
  };
}

function isChecked(type: AdmittedType): boolean {
  const { resource, subresource } = type;
  if (declarationOf(resource.stored.kind) === Pod)
    return subresource === "" || subresource === "ephemeralcontainers";
  return [Namespace, ...templatedKinds].some((kind) => isOf(type, kind));
}

interface PodCheckParts {
  readonly settings: PodSecuritySettings;
  readonly counters: PodSecurityCounters;
  readonly vocabulary: Vocabulary;
  readonly evaluator: Evaluator;
  /** Prefix of the audit annotations, with its slash. */
  readonly prefix: string;
}

/** Checks pods and pod templates by the policy of their namespace. */
class PodCheck {
  constructor(private readonly parts: PodCheckParts) {}

  /** Whether the namespace or the user of a request is exempt; records the exemption. */
  isExempt(request: AdmissionRequest): boolean {
    const { namespaces, usernames } = this.parts.settings.exemptions;
    if (namespaces.has(request.target.namespace)) return this.exempt(request, "namespace");
    if (usernames.has(request.user.name)) return this.exempt(request, "user");
    return false;
  }

  /** @param policy undefined if the namespace doesn't exist. */
  check(request: AdmissionRequest, policy: NamespacePolicy | undefined): void {
    const kind = declarationOf(request.target.resource.stored.kind);
    if (policy === undefined) this.missingNamespace(request);
    else if (kind === Pod) this.checkPod(request, policy);
    else this.checkTemplate(request, policy, templateOf(kind, request.object as ApiObject));
  }

  private checkPod(request: AdmissionRequest, policy: NamespacePolicy): void {
    const { counters, vocabulary } = this.parts;
    const { object, live } = request;
    if (isPrivileged(policy) && policy.faults.length === 0) {
      counters.passed(request);
      this.annotate(request, "enforce-policy", "privileged:latest");
      return;
    }
    const pod = object as Template;
    if (live !== undefined && !isSignificantUpdate(pod, live as Template, vocabulary.domain)) return;
    this.evaluate(request, policy, pod);
  }

  private checkTemplate(
    request: AdmissionRequest,
    policy: NamespacePolicy,
    template: Template | undefined,
  ): void {
    const { audit, warn, faults } = policy;
    const isSilent = audit.level === "privileged" && warn.level === "privileged" && faults.length === 0;
    if (template !== undefined && !isSilent) this.evaluate(request, policy, template);
  }

  /** Handles a missing namespace, which NamespaceLifecycle rejects unless it is disabled. */
  private missingNamespace(request: AdmissionRequest): void {
    const { target } = request;
    const why = `failed to lookup namespace ${JSON.stringify(target.namespace)}`;
    this.parts.counters.failed(true, request);
    this.annotate(request, "error", why);
    if (declarationOf(target.resource.stored.kind) !== Pod) return;
    throw new StatusError("InternalError", `Internal error occurred: ${why}`);
  }

  private evaluate(request: AdmissionRequest, policy: NamespacePolicy, { metadata, spec }: Template): void {
    const { settings, counters, evaluator, vocabulary } = this.parts;
    if (spec === undefined) return;
    if (settings.exemptions.runtimeClasses.has(spec.runtimeClassName ?? "")) {
      this.exempt(request, "runtimeClass");
      return;
    }
    if (policy.faults.length > 0) {
      this.annotate(request, "error", `Failed to parse policy: ${faultText(policy)}`);
      counters.failed(false, request);
    }
    this.report(request, new Verdict(evaluator, policy, checkedPod({ metadata, spec }, vocabulary.domain)));
  }

  /**
   * Records the verdict and rejects violating pods; templates are never rejected. The client of a rejected pod gets no warning.
   */
  private report(request: AdmissionRequest, verdict: Verdict): void {
    const { counters } = this.parts;
    const { policy } = verdict;
    const isEnforced = declarationOf(request.target.resource.stored.kind) === Pod;
    const isRejected = isEnforced && verdict.isViolated("enforce");
    if (isEnforced) {
      this.annotate(request, "enforce-policy", textOf(policy.enforce));
      counters.evaluated(isRejected ? "deny" : "allow", policy.enforce, "enforce", request);
    }
    if (verdict.isViolated("audit")) {
      this.annotate(request, "audit-violations", `would violate ${verdict.text("audit")}`);
      counters.evaluated("deny", policy.audit, "audit", request);
    }
    if (isRejected) throw forbidden(request.target, `violates ${verdict.text("enforce")}`);
    if (verdict.isViolated("warn")) {
      request.effects.warn(`would violate ${verdict.text("warn")}`);
      counters.evaluated("deny", policy.warn, "warn", request);
    }
  }

  private exempt(request: AdmissionRequest, reason: "namespace" | "user" | "runtimeClass"): true {
    this.parts.counters.exempted(request);
    this.annotate(request, "exempt", reason);
    return true;
  }

  private annotate({ effects }: AdmissionRequest, key: string, value: string): void {
    effects.annotate(`${this.parts.prefix}${key}`, value);
  }
}

/** The violations of a pod for each mode of a policy. Modes with the same level and version are evaluated once. */
class Verdict {
  private readonly cache: Partial<Record<Mode, readonly Violation[]>> = {};

  constructor(
    private readonly evaluator: Evaluator,
    readonly policy: NamespacePolicy,
    private readonly pod: CheckedPod,
  ) {}

  isViolated(mode: Mode): boolean {
    return this.violations(mode).length > 0;
  }

  /** `PodSecurity "restricted:latest": …`, with all violations. */
  text(mode: Mode): string {
    return `PodSecurity "${textOf(this.policy[mode])}": ${detailsOf(this.violations(mode))}`;
  }

  private violations(mode: Mode): readonly Violation[] {
    const { cache, policy } = this;
    const same = (Object.keys(cache) as Mode[]).find((other) => isSame(policy[other], policy[mode]));
    const violations = same === undefined ? this.evaluator.evaluate(policy[mode], this.pod) : cache[same]!;
    return (cache[mode] = violations);
  }
}

function faultText({ faults }: NamespacePolicy): string {
  const texts = faults.map(({ field, message }) => `${field}: ${message}`);
  return texts.length === 1 ? texts[0]! : `[${texts.join(", ")}]`;
}

/**
 * Whether an update of a pod must be evaluated: it changes an image, the set of containers or a seccomp annotation. Other
 * updates, such as of labels, are allowed in a violating pod.
 */
function isSignificantUpdate(pod: Template, live: Template, domain: Domain): boolean {
  const annotation = (name: string) => labelKey(domain, name, "container.seccomp.security.alpha");
  const differs = (container: Container, before: Container | undefined): boolean => {
    if (container.image !== before?.image) return true;
    const key = annotation(container.name);
    return pod.metadata?.annotations?.[key] !== live.metadata?.annotations?.[key];
  };
  for (const member of ["containers", "initContainers"] as const) {
    const now: readonly Container[] = pod.spec?.[member] ?? [];
    const before: readonly Container[] = live.spec?.[member] ?? [];
    if (now.length !== before.length) return true;
    if (now.some((container, index) => differs(container, before[index]))) return true;
  }
  const before = new Map(live.spec?.ephemeralContainers?.map((container) => [container.name, container]));
  return (pod.spec?.ephemeralContainers ?? []).some(
    (container) => !before.has(container.name) || differs(container, before.get(container.name)),
  );
}
