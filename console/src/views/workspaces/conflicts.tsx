import {
  conflictText,
  nameText,
  sentenceOf,
  type Conflict,
  type SideNames,
} from "../../model/workspace-changes.ts";

interface ConflictsProps {
  readonly conflicts: readonly Conflict[];
  /** Number of those that aren't listed. */
  readonly more: number;
  readonly names: SideNames;
}

/** What both sides have changed: the value at the start and those of both, with their field managers. */
export function Conflicts({ conflicts, more, names }: ConflictsProps) {
  if (conflicts.length === 0) return null;
  return (
    <section aria-label="Conflicts" class="conflicts">
      <h2>Conflicts</h2>
      <ul>
        {conflicts.map((one) => (
          <li key={`${one.apiVersion} ${nameText(one)} ${one.path ?? ""}`} class="conflict">
            <h3>
              {nameText(one)} <span class="code">{one.path}</span>
            </h3>
            {one.reason !== "Changed" && <p>{sentenceOf(conflictText(one, names))}</p>}
            {one.path !== undefined && <Values conflict={one} names={names} />}
            {one.resolution !== undefined && (
              <p class="good">Resolved: that of {names[one.resolution]} is taken.</p>
            )}
          </li>
        ))}
      </ul>
      {more > 0 && <p class="note">and {more} more conflicts</p>}
    </section>
  );
}

function Values({ conflict, names }: { readonly conflict: Conflict; readonly names: SideNames }) {
  const { base, theirs, ours, theirManagers = [], ourManagers = [] } = conflict;
  return (
    <dl class="facts">
      <Value title="At the start" value={base} managers={[]} />
      <Value title={`In ${names.theirs}`} value={theirs} managers={theirManagers} />
      <Value title={`In ${names.ours}`} value={ours} managers={ourManagers} />
    </dl>
  );
}

interface ValueProps {
  readonly title: string;
  /** Undefined if there is none. */
  readonly value: string | undefined;
  readonly managers: readonly string[];
}

function Value({ title, value, managers }: ValueProps) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        {value === undefined ? <span class="note">absent</span> : <span class="code">{value}</span>}
        {managers.length > 0 && <span class="note"> by {managers.join(", ")}</span>}
      </dd>
    </div>
  );
}
