import type { Explanation, Grant, Reference, Rule } from "../api/insight.ts";

/** Shows an explanation of the server: the grants, or what is missing. */
export function ExplanationView({ explanation }: { readonly explanation: Explanation }) {
  const {
    allowed,
    reason,
    authorizers = [],
    grants = [],
    nearMisses = [],
    faults = [],
    notes = [],
  } = explanation;
  return (
    <div class="explanation">
      <p>
        <strong class={allowed ? "good" : "bad"}>{allowed ? "Allowed" : "Not allowed"}</strong>
        {reason ? `: ${reason}` : ""}
      </p>
      <p class="note">
        Authorizers: {authorizers.map(({ name, opinion }) => `${name} (${opinionText(opinion)})`).join(", ")}
      </p>
      {grants.length > 0 && <h2>Granted by</h2>}
      {grants.map((grant) => (
        <GrantView key={keyOf(grant)} grant={grant} missing={[]} />
      ))}
      {nearMisses.length > 0 && <h2>Closest rules, and what they lack</h2>}
      {nearMisses.map((grant) => (
        <GrantView key={keyOf(grant)} grant={grant} missing={grant.missing.map(({ message }) => message)} />
      ))}
      {!allowed && nearMisses.length === 0 && <p>Nothing is granted to this user that comes close.</p>}
      {faults.length > 0 && <h2>Without effect</h2>}
      {faults.map(({ binding, message = "" }) => (
        <p key={message} class="waiting">
          {binding === undefined ? "" : `${referenceText(binding)}: `}
          {message}
        </p>
      ))}
      {notes.map((note) => (
        <p key={note} class="note">
          {note}
        </p>
      ))}
    </div>
  );
}

function GrantView({ grant, missing }: { readonly grant: Grant; readonly missing: readonly string[] }) {
  const { binding, role, subject, rule } = grant;
  return (
    <div class="grant">
      <p>
        {referenceText(subject)} → {referenceText(binding)} → {referenceText(role)}
      </p>
      <p class="code">{ruleText(rule)}</p>
      {missing.map((message) => (
        <p key={message} class="bad">
          {message}
        </p>
      ))}
    </div>
  );
}

function keyOf({ binding, role, subject, ruleIndex }: Grant): string {
  return [binding, role, subject].map(referenceText).join(" ") + String(ruleIndex);
}

export function referenceText({ kind, namespace, name }: Reference): string {
  return `${kind} ${namespace ? `${namespace}/` : ""}${name}`;
}

export function ruleText({
  verbs = [],
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: Rule) {
  if (nonResourceURLs.length > 0) return `${verbs.join(", ")} ${nonResourceURLs.join(", ")}`;
  const groups = apiGroups.map((group) => (group === "" ? "core" : group)).join(", ");
  const names = resourceNames.length === 0 ? "" : ` named ${resourceNames.join(", ")}`;
  return `${verbs.join(", ")} ${resources.join(", ")}${names} of ${groups}`;
}

function opinionText(opinion: string): string {
  return opinion === "NoOpinion" ? "no opinion" : opinion.toLowerCase();
}
