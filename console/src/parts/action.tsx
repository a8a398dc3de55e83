import { useSignal } from "@preact/signals";
import type { ResourceAction } from "../api/access.ts";
import { useAccess } from "../state/use-access.ts";
import { Lazy } from "./lazy.tsx";

interface ActionProps {
  readonly action: ResourceAction;
  readonly label: string;
  /** Name for screen readers, if the label alone doesn't say what the action is on. */
  readonly fullLabel?: string;
  readonly isDangerous?: boolean;
  readonly isPrimary?: boolean;
  readonly isDisabled?: boolean;
  /** Whether the action is on the server itself, also while a workspace is shown. */
  readonly isOnServer?: boolean;
  readonly onRun: () => void;
}

/** A button for an action of the API. If the user may not do it, the button explains why. */
export function Action({
  action,
  label,
  fullLabel,
  isDangerous = false,
  isPrimary = false,
  isDisabled = false,
  isOnServer = false,
  onRun,
}: ActionProps) {
  const decision = useAccess(action, isOnServer);
  const explains = useSignal(false);
  const isDenied = decision.value?.allowed === false;
  const tone = isDangerous ? "danger" : isPrimary ? "primary" : "";
  return (
    <>
      <button
        type="button"
        class={isDenied ? `${tone} denied` : tone}
        disabled={isDisabled}
        aria-disabled={isDenied}
        aria-label={fullLabel}
        title={isDenied ? `You may not ${action.verb} this. Press for the reason.` : undefined}
        onClick={() => (isDenied ? (explains.value = true) : onRun())}
      >
        {label}
      </button>
      {explains.value && (
        <Lazy
          load={async () => (await import("./why-not.tsx")).WhyNot}
          props={{ action, isOnServer, onClose: () => (explains.value = false) }}
        />
      )}
    </>
  );
}
