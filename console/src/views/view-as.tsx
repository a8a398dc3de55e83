import { useSignal } from "@preact/signals";
import { messageOf } from "../api/client.ts";
import { signedInUser, viewAs } from "../state/session.ts";

/** Says that the console shows what another user may see, and ends it. */
export function ViewAsBanner() {
  const failure = useSignal("");
  const { name, groups, impersonatedBy } = signedInUser.value;
  if (impersonatedBy === undefined) return null;
  return (
    <p class="message waiting view-as" role="status">
      <span>
        You see the console as <strong>{name}</strong>
        {groups.length > 0 && ` (${groups.join(", ")})`}. Changes are made with their rights, and recorded
        with your name {impersonatedBy.name}. {failure.value}
      </span>
      <button
        type="button"
        onClick={() => {
          viewAs(undefined).catch((error: unknown) => (failure.value = messageOf(error)));
        }}
      >
        Be {impersonatedBy.name} again
      </button>
    </p>
  );
}
