import {
  authorText,
  nameText,
  type ChangedField,
  type ChangedObject,
} from "../../model/workspace-changes.ts";
import { apiVersionOf } from "../../model/resource-types.ts";
import { formatRoute } from "../../model/routes.ts";
import { workspaceUrl } from "../../model/workspaces.ts";
import { Fold } from "../../parts/fold.tsx";
import { serverTypes } from "../../state/session.ts";
import { currentWorkspace } from "../../state/workspace.ts";

interface ObjectChangesProps {
  readonly objects: readonly ChangedObject[];
  /** Name of the workspace with the objects, empty for the server; undefined for no links. */
  readonly workspace: string | undefined;
}

/** Objects that differ or are written, each with its fields before and after. */
export function ObjectChanges({ objects, workspace }: ObjectChangesProps) {
  return (
    <Fold items={objects} limit={50} noun="objects">
      {(shown) => (
        <ul class="object-changes">
          {shown.map((one) => (
            <li key={`${one.apiVersion} ${nameText(one)}`}>
              <h2>
                <span class={`change ${toneOf(one.action)}`}>{one.action}</span>{" "}
                <ObjectName changed={one} workspace={workspace} />
              </h2>
              {one.fields !== undefined && <FieldChanges fields={one.fields} />}
              {one.moreFields !== undefined && <p class="note">and {one.moreFields} more fields</p>}
              {one.notes?.map((note) => (
                <p key={note} class="note">
                  {note}
                </p>
              ))}
            </li>
          ))}
        </ul>
      )}
    </Fold>
  );
}

function toneOf(action: string): string {
  if (action.startsWith("create")) return "good";
  return action.startsWith("delete") ? "bad" : "waiting";
}

interface ObjectNameProps {
  readonly changed: ChangedObject;
  readonly workspace: string | undefined;
}

/** The name of an object, as a link if it exists and its kind is one of this page. */
function ObjectName({ changed, workspace }: ObjectNameProps) {
  const { apiVersion, kind, namespace = "", name, action } = changed;
  const type = serverTypes.value.types.find((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
  const text = nameText(changed);
  if (type === undefined || workspace === undefined || action.startsWith("delete")) return <>{text}</>;
  const { group, name: resource } = type;
  const place = formatRoute({ view: "object", group, resource, namespace, name, tab: "overview" });
  return (
    <a
      href={workspace === currentWorkspace.value ? place : workspaceUrl(workspace, place)}
      title={apiVersion}
    >
      {text}
    </a>
  );
}

function FieldChanges({ fields }: { readonly fields: readonly ChangedField[] }) {
  return (
    <ul class="changes">
      {fields.map((field) => {
        const { path, from, to } = field;
        const author = authorText(field);
        return (
          <li key={path}>
            <span class="code">
              {path}: {from !== undefined && <del>{from}</del>}
              {from !== undefined && to !== undefined && " → "}
              {to !== undefined && <ins>{to}</ins>}
            </span>
            {author !== "" && <span class="note"> {author}</span>}
          </li>
        );
      })}
    </ul>
  );
}
