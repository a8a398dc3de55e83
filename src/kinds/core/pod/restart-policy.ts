import { struct } from "../v1.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { field, int32, list, string } from "../../../schema/types.ts";

const resizePolicies = ["NotRequired", "RestartContainer"];
const resizableResources = ["cpu", "memory"];

export const ContainerResizePolicy = struct(
  "ContainerResizePolicy",
  "Restart policy of a container for resizes of a resource.",
  {
    resourceName: field(1, string, "Name of the resource: cpu or memory.").declaredRequired(),
    restartPolicy: field(
      2,
      string,
      "Restart of the container on a resize: NotRequired or RestartContainer.",
    ).declaredRequired(),
  },
);

interface ResizePolicy {
  readonly resourceName: string;
  readonly restartPolicy: string;
}

/** Requires one policy per resource; the faults are reported at the list, as in the reference. */
export function resizePolicy(policies: readonly ResizePolicy[], report: FieldReport): void {
  const seen = new Set<string>();
  for (const [index, { resourceName, restartPolicy }] of policies.entries()) {
    if (report.full) return;
    if (seen.has(resourceName)) report.at(index).duplicate(resourceName);
    seen.add(resourceName);
    if (resourceName === "") report.required();
    else if (!resizableResources.includes(resourceName))
      report.notSupported(resourceName, resizableResources);
    if (restartPolicy === "") report.required();
    else if (!resizePolicies.includes(restartPolicy)) report.notSupported(restartPolicy, resizePolicies);
  }
}

const ContainerRestartRuleOnExitCodes = struct(
  "ContainerRestartRuleOnExitCodes",
  "A requirement on the exit code of a container.",
  {
    operator: field(1, string, "Whether the exit code must be in the values (In) or not (NotIn).")
      .mustBeGiven()
      .oneOf("In", "NotIn"),
    values: field(2, list(int32), "Exit codes, at most 255.").set(),
  },
  {
    check({ values = [] }, report) {
      if (values.length > 255) report.at("values").tooMany(values.length, 255);
    },
  },
);

export const ContainerRestartRule = struct(
  "ContainerRestartRule",
  "An action for certain exit codes of a container.",
  {
    action: field(1, string, "Action if the exit code matches, such as Restart.")
      .mustBeGiven()
      .check((action, report, { enabled }) => {
        const actions = enabled("RestartAllContainersOnContainerExits")
          ? ["Restart", "RestartAllContainers"]
          : ["Restart"];
        if (!actions.includes(action)) report.notSupported(action, actions);
      }),
    exitCodes: field(2, ContainerRestartRuleOnExitCodes, "Requirement on the exit code.")
      .nullable()
      .mustBeGiven(),
  },
);

const maxRestartRules = 20;
const restartPolicies = ["Always", "Never", "OnFailure"];

interface RestartSettings {
  readonly restartPolicy?: string | undefined;
  readonly restartPolicyRules?: readonly unknown[] | undefined;
}

/**
 * Checks the restart policy of a container. Without `ContainerRestartRules`, only init containers have one, and it is Always.
 *
 * @param isInit whether it is an init container.
 * @param hasRules whether `ContainerRestartRules` is enabled.
 */
export function checkRestartPolicy(
  { restartPolicy, restartPolicyRules = [] }: RestartSettings,
  isInit: boolean,
  hasRules: boolean,
  report: FieldReport,
): void {
  const at = report.at("restartPolicy");
  if (restartPolicy === undefined) {
    if (restartPolicyRules.length > 0) at.required("when restartPolicyRules are set");
  } else if (!hasRules && !isInit) {
    at.forbidden("may not be set for non-init containers");
  } else {
    const allowed = hasRules ? restartPolicies : ["Always"];
    if (!allowed.includes(restartPolicy)) at.notSupported(restartPolicy, allowed);
  }
  if (restartPolicyRules.length === 0) return;
  const rules = report.at("restartPolicyRules");
  if (restartPolicyRules.length > maxRestartRules) rules.tooMany(restartPolicyRules.length, maxRestartRules);
  if (isInit && restartPolicy === "Always") {
    rules.invalid(restartPolicyRules, "must not be set for init containers with restartPolicy Always");
  }
}

/** Whether an init container is a sidecar: it keeps running, and is restarted, while the pod runs. */
export function isSidecar({ restartPolicy }: { readonly restartPolicy?: string | undefined }): boolean {
  return restartPolicy === "Always";
}
