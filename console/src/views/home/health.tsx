import { sendText } from "../../api/client.ts";
import { StateText } from "../../parts/state-text.tsx";
import { usePolled } from "../../state/use-polled.ts";
import { currentWorkspace } from "../../state/workspace.ts";
import { Card } from "./card.tsx";

const intervalMs = 10_000;

async function readHealth(aborted: AbortSignal): Promise<{ readonly checks: readonly string[] }> {
  const text = await sendText("/readyz?verbose", aborted);
  return { checks: text.split("\n").filter((line) => /^\[[+-]\]/.test(line)) };
}

/** The health checks of the server: their number, or those that fail. */
export function HealthCard() {
  const answer = usePolled(readHealth, intervalMs);
  return (
    <Card title="Health" answer={answer}>
      {({ checks }) => {
        const failing = checks.filter((line) => line.startsWith("[-]"));
        return (
          <>
            <p>
              {failing.length === 0 ? (
                <StateText text="Ready" />
              ) : (
                <StateText text={`${failing.length} of ${checks.length} checks fail`} tone="bad" />
              )}{" "}
              {failing.length === 0 && <span class="note">all {checks.length} checks pass</span>}
            </p>
            <ul>
              {failing.map((line) => (
                <li key={line} class="bad">
                  {line.slice("[-]".length)}
                </li>
              ))}
            </ul>
            {currentWorkspace.value === "" && <a href="#/server">Server</a>}
          </>
        );
      }}
    </Card>
  );
}
