import { qualifiedName } from "../../base/object-errors.ts";
import type { BindingFault, Grant, NearMiss } from "../insight/insight.ts";
import { named, ruleText } from "../insight/insight-text.ts";
import type { ExplanationStatus } from "./explanation.ts";

/** An action on a resource, for {@link actionText}. */
export interface DescribedAction {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty for cluster scope and for all namespaces. */
  readonly namespace: string;
  readonly name: string;
}

/**
 * Describes an action on a resource: `get deployments.apps/scale web in the namespace shop`.
 *
 * @param isClusterScoped whether the resource has no namespace; its scope is not mentioned then.
 */
export function actionText(action: DescribedAction, isClusterScoped: boolean): string {
  const { verb, group, resource, subresource, namespace, name } = action;
  const whole = `${qualifiedName(resource, group === "*" ? "" : group)}${subresource === "" ? "" : `/${subresource}`}`;
  const allNamespaces = isClusterScoped ? "" : " in every namespace";
  const scope = namespace === "" ? allNamespaces : ` in the namespace ${namespace}`;
  return `${verb} ${whole}${name === "" ? "" : ` ${name}`}${scope}`;
}

/**
 * Formats an explanation as paragraphs: the decision, the rules that allow the action or come close, and notes.
 *
 * @param subject the user, with the groups that decided.
 * @param action description of the action, such as `get pods in the namespace web`; see {@link actionText}.
 */
export function explanationText(
  status: ExplanationStatus,
  { user, groups }: { readonly user: string; readonly groups: readonly string[] },
  action: string,
): string {
  const question = `${groups.length === 0 ? user : `${user} (${groups.join(", ")})`}: ${action}`;
  const { grants = [], moreGrants, nearMisses = [], nearMissesLeftOut = 0, faults = [], notes = [] } = status;
  const paragraphs = [
    [`${status.allowed ? "yes" : "no"}: ${question}`, decisionText(status)],
    section("granted by", [...grants.flatMap(grantLines), ...(moreGrants === true ? ["and others"] : [])]),
    section("closest", [
      ...nearMisses.flatMap(nearMissLines),
      ...leftOut(nearMissesLeftOut, "that match less"),
    ]),
    section(
      "closest",
      status.allowed || nearMisses.length > 0 ? [] : ["nothing that the user or their groups are granted"],
    ),
    section("groups", groupLines(status, user)),
    section("doesn't count", [...faults.map(faultLine), ...leftOut(status.faultsLeftOut, "more")]),
    section("note", notes),
  ];
  return paragraphs
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join("\n")}\n`)
    .join("\n");
}

function decisionText({ decidedBy, authorizers, denied }: ExplanationStatus): string {
  if (decidedBy === undefined)
    return `nobody allows it: ${authorizers.map(({ name }) => name).join(", ")} were asked`;
  const { reason = "" } = authorizers.at(-1) ?? {};
  return `${denied === true ? "denied" : "allowed"} by ${decidedBy}${reason === "" ? "" : `: ${reason}`}`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
}

function grantLines({ binding, role, subject, rule, ruleIndex, aggregatedFrom }: Grant): string[] {
  const origin = aggregatedFrom === undefined ? "" : ` (written in ${aggregatedFrom.join(", ")})`;
  return [
    `${named(binding)} of ${named(role)} to ${named(subject)}`,
    `  rule ${ruleIndex}: ${ruleText(rule)}${origin}`,
  ];
}

function nearMissLines(miss: NearMiss): string[] {
  return [...grantLines(miss), ...miss.missing.map(({ message }) => `  lacks: ${message}`)];
}

/** Returns lines about the groups with which the user would be allowed. */
function groupLines({ allowedGroups = [], moreAllowedGroups }: ExplanationStatus, user: string): string[] {
  const lines = allowedGroups.map(({ name, grants, moreGrants }) => {
    const others = grants.length > 1 || moreGrants === true ? " and others" : "";
    const bindings = grants.slice(0, 1).map(({ binding }) => ` (${named(binding)}${others})`);
    return `${user} would be allowed as a member of group ${name}${bindings.join("")}`;
  });
  return [...lines, ...(moreAllowedGroups === true ? ["or of further groups: see plinth auth who-can"] : [])];
}

function faultLine({ binding, message }: BindingFault): string {
  return `${named(binding)}: ${message}`;
}

function leftOut(count: number | undefined, what: string): string[] {
  return count === undefined || count === 0 ? [] : [`and ${count} ${what}`];
}
