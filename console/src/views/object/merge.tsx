import type { Signal } from "@preact/signals";
import { mergeOf, type MergeConflict } from "../../model/merge.ts";
import { pathText } from "../../model/paths.ts";
import { withField } from "../../model/form-values.ts";
import { valueText } from "./fields.tsx";

type Fields = Readonly<Record<string, unknown>>;

/** An edit that continues on a newer version. */
export interface MergedEdit {
  /** The edited text with the fields that only the newer version has changed. */
  readonly text: string;
  readonly conflicts: readonly MergeConflict[];
}

/** Brings an edit to a newer version of the object. Comments and the form of the text stay. */
export function mergedEdit(text: string, base: Fields, mine: Fields, theirs: Fields): MergedEdit {
  const { changes, conflicts } = mergeOf(base, mine, theirs);
  return {
    text: changes.reduce((result, { path, value }) => withField(result, path, value), text),
    conflicts,
  };
}

interface MergeConflictsProps {
  /** Those that are open; a decision removes one. */
  readonly conflicts: Signal<readonly MergeConflict[]>;
  /** Puts a value of the newer version into the edited text. */
  readonly onTake: (conflict: MergeConflict) => void;
}

/** Fields that the edit and the newer version have both changed: the user decides for each. */
export function MergeConflicts({ conflicts, onTake }: MergeConflictsProps) {
  if (conflicts.value.length === 0) return null;
  const decide = (one: MergeConflict, takes: boolean) => {
    if (takes) onTake(one);
    conflicts.value = conflicts.peek().filter((other) => other !== one);
  };
  return (
    <div class="message waiting" role="group" aria-label="Changed by both">
      <h2>Changed by you and by others</h2>
      <p class="note">Your values are in the text. Decide for each field.</p>
      {conflicts.value.map((conflict) => {
        const field = pathText(conflict.path);
        return (
          <div key={field} class="grant" role="group" aria-label={field}>
            <p class="code">{field}</p>
            <div class="buttons inline">
              <button type="button" onClick={() => decide(conflict, false)}>
                Keep yours: <code>{shortText(conflict.mine)}</code>
              </button>
              <button type="button" onClick={() => decide(conflict, true)}>
                Take theirs: <code>{shortText(conflict.theirs)}</code>
              </button>
            </div>
          </div>
        );
      })}
    </div>
  );
}

function shortText(value: unknown): string {
  if (value === undefined) return "removed";
  const text = valueText(value);
  return text.length > 30 ? `${text.slice(0, 30)}…` : text;
}
