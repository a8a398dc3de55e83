import { keyLayers } from "../state/keys.ts";
import { Dialog } from "./dialog.tsx";

/** The keys of the current view. */
export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  const commands = keyLayers.value.toReversed().flat();
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {commands.map(({ keys, label }) => (
          <div key={`${keys.join()} ${label}`}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>
                  {key.replace("Arrow", "").replace("Escape", "Esc").replace(/^ $/, "Space")}
                </kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
