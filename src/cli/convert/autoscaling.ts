import { autoscaling } from "../../kinds/groups.ts";
import { groupVersion } from "./group-versions.ts";
import { at, change, find, isSet, move, put, rename, type Rule, type VersionChange } from "./notes.ts";

/** Rules that move the numbers of the older form into the target or the current value. */
function numbers(into: "target" | "current", names: Readonly<Record<string, string>>): Rule[] {
  return Object.entries(names).map(([from, to]) => move(from, `${into}.${to}`));
}

/** Sets the target's type by the first of these members that it has. */
function targetType(...forms: readonly (readonly [member: string, type: string])[]): Rule {
  return ({ value }) => {
    const form = forms.find(([member]) => isSet(find(value, `target.${member}`)));
    if (form !== undefined) put(value, "target.type", form[1]);
  };
}

const metricName = move("metricName", "metric.name");
const selector = move("selector", "metric.selector");
/** The older form required a target value; zero meant none. */
const noZeroValue: Rule = ({ value }) => {
  if (value["targetValue"] === "0" || value["targetValue"] === 0) delete value["targetValue"];
};

const resource: readonly Rule[] = [
  ...numbers("target", {
    targetAverageUtilization: "averageUtilization",
    targetAverageValue: "averageValue",
  }),
  targetType(["averageUtilization", "Utilization"], ["averageValue", "AverageValue"]),
];
const currentResource = numbers("current", {
  currentAverageUtilization: "averageUtilization",
  currentAverageValue: "averageValue",
});

const metrics: readonly Rule[] = [
  at(
    "object",
    rename("target", "describedObject"),
    metricName,
    selector,
    noZeroValue,
    ...numbers("target", { targetValue: "value", averageValue: "averageValue" }),
    targetType(["averageValue", "AverageValue"], ["value", "Value"]),
  ),
  at(
    "pods",
    metricName,
    selector,
    ...numbers("target", { targetAverageValue: "averageValue" }),
    targetType(["averageValue", "AverageValue"]),
  ),
  at("resource", ...resource),
  at("containerResource", ...resource),
  at(
    "external",
    metricName,
    move("metricSelector", "metric.selector"),
    ...numbers("target", { targetValue: "value", targetAverageValue: "averageValue" }),
    targetType(["value", "Value"], ["averageValue", "AverageValue"]),
  ),
];

const current: readonly Rule[] = [
  at(
    "object",
    rename("target", "describedObject"),
    metricName,
    selector,
    ...numbers("current", { currentValue: "value", averageValue: "averageValue" }),
  ),
  at("pods", metricName, selector, ...numbers("current", { currentAverageValue: "averageValue" })),
  at("resource", ...currentResource),
  at("containerResource", ...currentResource),
  at(
    "external",
    metricName,
    move("metricSelector", "metric.selector"),
    ...numbers("current", { currentValue: "value", currentAverageValue: "averageValue" }),
  ),
];

const v2 = groupVersion(autoscaling, "v2");

export const autoscalingChanges: readonly VersionChange[] = [
  change(
    groupVersion(autoscaling, "v2beta1"),
    v2,
    ["HorizontalPodAutoscaler"],
    at("spec.metrics[]", ...metrics),
    at("status.currentMetrics[]", ...current),
  ),
  change(groupVersion(autoscaling, "v2beta2"), v2, ["HorizontalPodAutoscaler"]),
];
