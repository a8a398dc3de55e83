import { applies, gate, since } from "../../base/release-rows.ts";
import type { KindContext } from "../../schema/context.ts";
import { groupName, type Kind } from "../../schema/kind.ts";
import { authentication, authorization } from "../groups.ts";

const excludesReviews = applies(since("1.37", gate("ExcludeAdmissionWebhookVirtualResources")));

/** Reviews, which are answered and not stored, by their group. A webhook or policy that rejects them would lock out its administrators. */
const reviews = [
  { group: authentication, names: ["selfsubjectreviews", "tokenreviews"] },
  {
    group: authorization,
    names: [
      "localsubjectaccessreviews",
      "selfsubjectaccessreviews",
      "selfsubjectrulesreviews",
      "subjectaccessreviews",
    ],
  },
] as const;

/** Whether a kind is a review that webhooks (from release 1.37 on) and policies (from 1.30 on) don't receive. */
export function isExcludedReview({ group, resource }: Pick<Kind, "group" | "resource">): boolean {
  return reviews.some(
    (one) =>
      one.group.base === group.base &&
      one.group.suffixed === group.suffixed &&
      (one.names as readonly string[]).includes(resource),
  );
}

interface RuledWebhook {
  readonly rules?: readonly Rule[] | undefined;
}

interface Rule {
  readonly apiGroups?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
}

/** Warns of rules of webhooks that name reviews which webhooks don't receive; a wildcard may mean other resources. */
export function excludedRuleWarnings(
  { webhooks = [] }: { readonly webhooks?: readonly RuledWebhook[] | undefined },
  context: KindContext,
): string[] {
  if (!excludesReviews(context)) return [];
  return webhooks.flatMap(({ rules = [] }, index) =>
    rules.flatMap((rule, at) =>
      excludedIn(rule, context).map(
        (review) =>
          `webhooks[${index}].rules[${at}]: ${review} is excluded from admission webhooks; this rule will have no effect`,
      ),
    ),
  );
}

/** Returns the reviews that a rule names. */
function excludedIn(
  { apiGroups = [], resources = [] }: Rule,
  { vocabulary }: KindContext,
): readonly string[] {
  if (apiGroups.includes("*") || resources.includes("*")) return [];
  const excluded = reviews.flatMap(({ group, names }) => {
    const name = groupName(group, vocabulary);
    return apiGroups.includes(name)
      ? names.filter((one) => resources.includes(one)).map((one) => `${one}.${name}`)
      : [];
  });
  return excluded;
}
