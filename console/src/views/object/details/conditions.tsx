import { recordAt, records, textAt } from "../../../model/containers.ts";
import { conditionTone } from "../../../model/tones.ts";
import { StateText } from "../../../parts/state-text.tsx";
import { Time } from "../../../parts/time.tsx";
import { Section, type DetailProps } from "./section.tsx";

/** The conditions of the status as a time line, the newest first. */
export function Conditions({ object }: DetailProps) {
  const list = records(recordAt(object, "status")?.["conditions"]).map((one) => ({
    type: textAt(one, "type"),
    state: textAt(one, "status"),
    reason: textAt(one, "reason"),
    message: textAt(one, "message"),
    time: textAt(one, "lastTransitionTime") || textAt(one, "lastUpdateTime"),
  }));
  if (list.length === 0) return null;
  const ordered = list.toSorted((one, other) => (one.time < other.time ? 1 : one.time > other.time ? -1 : 0));
  return (
    <Section title="Conditions">
      <ol class="timeline">
        {ordered.map(({ type, state, reason, message, time }) => (
          <li key={type} class={conditionTone(type, state)}>
            <Time at={time} />
            <div>
              <strong>{type}</strong> <StateText text={state} tone={conditionTone(type, state)} />{" "}
              <span class="note">{reason}</span>
              {message !== "" && <p>{message}</p>}
            </div>
          </li>
        ))}
      </ol>
    </Section>
  );
}
