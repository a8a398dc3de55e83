import type { NamedAuthorizer } from "../../authorization/guarded-authorizer.ts";
import { andThen } from "../../base/turns/maybe-promise.ts";
import { adminsMode } from "./workspace-options.ts";
import type { WorkspaceReader } from "./workspace-reader.ts";

/** Allows everything to the administrators of a workspace, as they are at present. */
export function administrators(reader: WorkspaceReader, name: string, uid: string): NamedAuthorizer {
  const noOpinion = { verdict: "noOpinion", reason: "", evaluationError: "" } as const;
  return {
    name: adminsMode,
    authorize: ({ user }) =>
      andThen(reader.find(name), (workspace) => {
        if (workspace?.metadata.uid !== uid) return noOpinion;
        const { admins = [] } = workspace.spec ?? {};
        const isAdmin = admins.some(({ kind, name: one }) =>
          kind === "User" ? one === user.name : user.groups.includes(one),
        );
        if (!isAdmin) return noOpinion;
        return { verdict: "allow", reason: "an administrator of the workspace", evaluationError: "" };
      }),
  };
}
