import { useSignal } from "@preact/signals";
import { decodedText } from "../../../model/base64.ts";
import { isRecord } from "../../../model/paths.ts";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { Fold } from "../../../parts/fold.tsx";
import { Section, type DetailProps } from "./section.tsx";

/** Texts beyond this length are cut. */
const maxShown = 20_000;

interface Entry {
  readonly key: string;
  readonly value: string;
  readonly isBinary: boolean;
}

function entriesOf(value: unknown, isBinary: boolean): Entry[] {
  return Object.entries(isRecord(value) ? value : {}).map(([key, one]) => ({
    key,
    value: typeof one === "string" ? one : JSON.stringify(one),
    isBinary,
  }));
}

/** The keys and values of a config map. */
export function ConfigData({ object }: DetailProps) {
  const entries = [...entriesOf(object["data"], false), ...entriesOf(object["binaryData"], true)];
  return (
    <Section title="Data" note={`${entries.length} ${entries.length === 1 ? "key" : "keys"}`}>
      {entries.length === 0 ? (
        <p class="note">It has no keys yet. Edit it to add some below data.</p>
      ) : (
        <Fold items={entries} limit={20} noun="keys">
          {(visible) => (
            <dl class="data">
              {visible.map(({ key, value, isBinary }) => (
                <div key={key}>
                  <dt>{key}</dt>
                  <dd>
                    {isBinary ? (
                      <span class="note">binary, {byteCount(value)} bytes</span>
                    ) : (
                      <Value text={value} label={`Value of ${key}`} />
                    )}
                  </dd>
                </div>
              ))}
            </dl>
          )}
        </Fold>
      )}
    </Section>
  );
}

/** The keys of a secret. The values are masked, and decoded only when the user asks for one. */
export function SecretData({ object }: DetailProps) {
  const entries = entriesOf(object["data"], true);
  return (
    <Section
      title="Data"
      note={[object["type"], `${entries.length} keys`].filter((one) => typeof one === "string").join(", ")}
    >
      {entries.length === 0 ? (
        <p class="note">It has no keys yet. Edit it to add some below stringData.</p>
      ) : (
        <Fold items={entries} limit={20} noun="keys">
          {(visible) => (
            <dl class="data">
              {visible.map((entry) => (
                <div key={entry.key}>
                  <dt>{entry.key}</dt>
                  <dd>
                    <SecretValue entry={entry} />
                  </dd>
                </div>
              ))}
            </dl>
          )}
        </Fold>
      )}
    </Section>
  );
}

function SecretValue({ entry: { key, value } }: { readonly entry: Entry }) {
  const isShown = useSignal(false);
  const text = isShown.value ? decodedText(value) : undefined;
  return (
    <>
      <div class="buttons inline">
        <span class="note">
          {isShown.value ? "" : "•••••••• "}
          {byteCount(value)} bytes
        </span>
        <button
          type="button"
          aria-label={isShown.value ? `Hide ${key}` : `Show ${key}`}
          onClick={() => (isShown.value = !isShown.value)}
        >
          {isShown.value ? "Hide" : "Show"}
        </button>
        <CopyButton text={() => decodedText(value) ?? value} />
      </div>
      {isShown.value &&
        (text === undefined ? (
          <span class="note">not a text; the YAML has it in Base64</span>
        ) : (
          <Value text={text} label={`Value of ${key}`} />
        ))}
    </>
  );
}

function Value({ text, label }: { readonly text: string; readonly label: string }) {
  if (text === "") return <span class="note">empty</span>;
  const isLong = text.includes("\n") || text.length > 200;
  if (!isLong) return <code>{text}</code>;
  return (
    <pre tabIndex={0} aria-label={label}>
      {text.slice(0, maxShown)}
      {text.length > maxShown ? `\n… ${text.length - maxShown} more characters are in the YAML` : ""}
    </pre>
  );
}

/** Number of the bytes of a Base64 text. */
function byteCount(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.max(0, (base64.length / 4) * 3 - padding);
}
