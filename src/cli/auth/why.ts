import type { BindingFault, Grant, NearMiss } from "../../authorization/insight/insight.ts";
import type { ExplanationStatus } from "../../authorization/reviews/explanation.ts";
import { named, ruleText } from "./names.ts";
import { actionOf, askInsight, subjectOf, type AuthAnswer, type AuthContext } from "./question.ts";

/** `plinth auth why USER VERB RESOURCE [NAME]`: posts an AccessExplanation. */
export async function why([user, ...words]: readonly string[], context: AuthContext): Promise<AuthAnswer> {
  const subject = subjectOf(user, context);
  const action = actionOf(words, context);
  const object = await askInsight(context, "AccessExplanation", "accessexplanations", {
    ...subject,
    ...action.spec,
  });
  const status = object["status"] as ExplanationStatus;
  const who = subject.groups.length === 0 ? subject.user : `${subject.user} (${subject.groups.join(", ")})`;
  return { object, text: explanationText(status, subject.user, `${who}: ${action.text}`) };
}

function explanationText(status: ExplanationStatus, user: string, question: string): string {
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
