import { useSignal } from "@preact/signals";
import type { ApiObject } from "../../api/objects.ts";
import { ownedFields, type FieldOwner } from "../../model/managed-fields.ts";
import { ageText } from "../../model/time.ts";
import { Breakable } from "../../parts/breakable.tsx";
import { TableHead } from "../../parts/table-head.tsx";

/** Rows beyond this number are left out until the user searches. */
const maxShown = 500;

/** Each field with its owners, and since when. */
export function Fields({ object }: { readonly object: ApiObject }) {
  const search = useSignal("");
  const fields = ownedFields(object, object.metadata.managedFields ?? []);
  const word = search.value.toLowerCase();
  const shown = fields.filter(
    ({ path, owners }) =>
      path.toLowerCase().includes(word) || owners.some(({ manager }) => manager.toLowerCase().includes(word)),
  );
  return (
    <>
      <div class="buttons top">
        <input
          type="search"
          aria-label="Search fields and managers"
          placeholder="Field or manager"
          value={search.value}
          onInput={(event) => (search.value = event.currentTarget.value)}
        />
        <span class="note">
          {shown.length} of {fields.length} fields
        </span>
      </div>
      <div class="wide" tabIndex={0} role="region" aria-label="Fields as a table">
        <table class="plain">
          <TableHead columns={["Field", "Value", "Owner", "Since"]} />
          <tbody>
            {shown.slice(0, maxShown).map(({ path, value, owners }) => (
              <tr key={path}>
                <td class="code">
                  <Breakable text={path} />
                </td>
                <td class="code value">{valueText(value)}</td>
                <td>{owners.map(ownerText).join(", ")}</td>
                <td>{owners.map(({ time }) => sinceText(time)).join(", ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length > maxShown && <p class="note">{shown.length - maxShown} more: search for them.</p>}
    </>
  );
}

function ownerText({ manager, operation, subresource }: FieldOwner): string {
  const part = subresource === "" ? "" : `, ${subresource}`;
  return `${manager} (${operation === "Apply" ? "applied" : "updated"}${part})`;
}

function sinceText(time: string): string {
  return time === "" ? "" : `${ageText(Date.now() - Date.parse(time))}`;
}

/** A value in one line. */
export function valueText(value: unknown): string {
  if (value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
