import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ResourceAction } from "../api/access.ts";
import { explain, type Explanation } from "../api/insight.ts";
import { ApiError, messageOf } from "../api/client.ts";
import { whyCommand } from "../model/why-command.ts";
import { serverTypes, session } from "../state/session.ts";
import { Dialog } from "./dialog.tsx";
import { ExplanationView } from "./explanation.tsx";

/** Explains why the user may not do something: from the explanation of the server, if they may ask for it. */
export function WhyNot({
  action,
  onClose,
}: {
  readonly action: ResourceAction;
  readonly onClose: () => void;
}) {
  const answer = useSignal<Explanation | string | undefined>(undefined);
  const user = session.value.kind === "signed-in" ? session.value.userName : "";
  useEffect(() => {
    explain(
      serverTypes.value.groupSuffix,
      { user, groups: ["system:authenticated"] },
      { resourceAttributes: action },
    )
      .then((status) => (answer.value = status))
      .catch((error: unknown) => {
        answer.value =
          error instanceof ApiError && error.status === 403
            ? "An administrator sees the missing rule with the command below."
            : messageOf(error);
      });
  }, []);
  const { value } = answer;
  return (
    <Dialog title={`You may not ${textOf(action)}`} onClose={onClose}>
      {value === undefined && <p>Asking the server…</p>}
      {typeof value === "string" && (
        <>
          <p>No role that is bound to you or your groups allows it. {value}</p>
          <pre>{whyCommand(user, action)}</pre>
        </>
      )}
      {typeof value === "object" && <ExplanationView explanation={value} />}
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

/** `delete configmaps/settings in team-a` */
function textOf({ verb, resource, group, subresource, namespace, name }: ResourceAction): string {
  const type = `${resource}${group === "" ? "" : `.${group}`}${subresource ? `/${subresource}` : ""}`;
  return `${verb} ${type}${name ? ` ${name}` : ""}${namespace ? ` in ${namespace}` : ""}`;
}
