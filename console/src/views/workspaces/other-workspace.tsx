import { listWorkspaces } from "../../api/workspaces.ts";
import { useAsync } from "../../state/use-async.ts";
import { workspaceType } from "../../state/workspace.ts";

interface OtherWorkspaceProps {
  readonly label: string;
  /** Text of the choice without another workspace. */
  readonly base: string;
  /** Name of the workspace that can't be chosen. */
  readonly name: string;
  /** Name of the chosen one; empty for `base`. */
  readonly value: string;
  readonly onChange: (name: string) => void;
}

/** Chooses the base of a workspace, or another workspace that the user may list. */
export function OtherWorkspace({ label, base, name, value, onChange }: OtherWorkspaceProps) {
  const type = workspaceType("workspaces")!;
  const list = useAsync((signal) => listWorkspaces(type, signal), []);
  const items = typeof list === "object" ? list.items.map(({ metadata }) => metadata.name) : [];
  const names = [...new Set([...(value === "" ? [] : [value]), ...items])].filter((one) => one !== name);
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{base}</option>
        {names.map((one) => (
          <option key={one} value={one}>
            workspace {one}
          </option>
        ))}
      </select>
    </label>
  );
}
