import { useSignal } from "@preact/signals";
import type { ResourceAction } from "../api/access.ts";
import { explain, type Explanation } from "../api/insight.ts";
import { ApiError } from "../api/client.ts";
import { grantText } from "../model/grant.ts";
import { whyCommand } from "../model/why-command.ts";
import { serverTypes, signedInUser } from "../state/session.ts";
import { workspaceServer } from "../state/workspace.ts";
import { useAsync } from "../state/use-async.ts";
import { CopyButton } from "./copy-button.tsx";
import { Dialog } from "./dialog.tsx";
import { ExplanationView } from "./explanation.tsx";
import { Loading } from "./states.tsx";

interface WhyNotProps {
  readonly action: ResourceAction;
  /** Whether the action is on the server itself, also while a workspace is shown. */
  readonly isOnServer?: boolean;
  readonly onClose: () => void;
}

/** Undefined explanation: the user may not ask for it. */
interface Answer {
  readonly explanation: Explanation | undefined;
}

/** Explains why the user may not do something, from the explanation of the server if they may ask for it, and which grant would do. */
export function WhyNot({ action, isOnServer = false, onClose }: WhyNotProps) {
  const { name, groups } = signedInUser.value;
  const { groupSuffix } = serverTypes.value;
  const answer = useAsync<Answer>(async () => {
    try {
      return {
        explanation: await explain(
          groupSuffix,
          { user: name, groups },
          { resourceAttributes: action },
          isOnServer ? "" : undefined,
        ),
      };
    } catch (error) {
      if (error instanceof ApiError && error.status === 403) return { explanation: undefined };
      throw error;
    }
  }, []);
  const command = whyCommand(name, action, groups, isOnServer ? "" : workspaceServer());
  const grant = grantText(name, action, groupSuffix);
  return (
    <Dialog title={`You may not ${textOf(action)}`} onClose={onClose}>
      {answer === undefined && <Loading label="Asking the server…" />}
      {typeof answer === "string" && <p class="bad">{answer}</p>}
      {typeof answer === "object" && answer.explanation !== undefined && (
        <ExplanationView explanation={answer.explanation} />
      )}
      {typeof answer === "object" && answer.explanation === undefined && (
        <>
          <p>
            No role that is bound to you or your groups allows it. An administrator sees the missing rule with
            this command:
          </p>
          <pre tabIndex={0} aria-label="Command">
            {command}
          </pre>
          <CopyButton text={() => command} label="Copy the command" />
        </>
      )}
      <h3>A grant that would do</h3>
      <p class="note">An administrator can apply it; it allows this and nothing else.</p>
      <pre tabIndex={0} aria-label="Grant" class="grant-text">
        {grant}
      </pre>
      <div class="buttons">
        <CopyButton text={() => grant} label="Copy the grant" />
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

/** A button that opens {@link WhyNot}. */
export function WhyButton({ action }: { readonly action: ResourceAction }) {
  const isOpen = useSignal(false);
  return (
    <>
      <button type="button" onClick={() => (isOpen.value = true)}>
        Why not?
      </button>
      {isOpen.value && <WhyNot action={action} onClose={() => (isOpen.value = false)} />}
    </>
  );
}

/** `delete configmaps/settings in team-a` */
function textOf({ verb, resource, group, subresource, namespace, name }: ResourceAction): string {
  const type = `${resource}${group === "" ? "" : `.${group}`}${subresource ? `/${subresource}` : ""}`;
  return `${verb} ${type}${name ? ` ${name}` : ""}${namespace ? ` in ${namespace}` : ""}`;
}
