import { StatusError } from "../../../base/status-error.ts";
import { Pod } from "../../../kinds/core/pod/pod.ts";
import type { AdmissionRequest } from "../../../resources/engine/engine.ts";
import { declarationOf, type ApiObject } from "../../../schema/kind.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import { forbidden } from "../../forbidden.ts";
import type { PodSecuritySettings } from "./configuration.ts";
import { checkedPod, type CheckedPod, type Violation } from "./control.ts";
import { detailsOf, type Evaluator } from "./evaluator.ts";
import type { PodSecurityCounters } from "./counters.ts";
import { isSame, textOf } from "./levels.ts";
import { isPrivileged, type Mode, type NamespacePolicy } from "./namespace-policy.ts";
import { templateOf, type Template } from "./pod-templates.ts";
import { isSignificantUpdate } from "./significant-update.ts";

interface PodCheckParts {
  readonly settings: PodSecuritySettings;
  readonly counters: PodSecurityCounters;
  readonly vocabulary: Vocabulary;
  readonly evaluator: Evaluator;
  /** Prefix of the audit annotations, with its slash. */
  readonly prefix: string;
}

/** Checks pods and pod templates by the policy of their namespace. */
export class PodCheck {
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
