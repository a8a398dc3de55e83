import { useSignal } from "@preact/signals";
import type { ApiObject } from "../../api/objects.ts";
import { reportBug } from "../../state/bugs.ts";
import { writeYaml, type Json } from "../../model/yaml.ts";

/** Lines above this number are shown without colors. */
const maxColored = 3000;

/** The object as YAML. */
export function YamlText({ object }: { readonly object: ApiObject }) {
  const showsManaged = useSignal(false);
  const { managedFields: _managed, ...metadata } = object.metadata;
  const shown = showsManaged.value ? object : { ...object, metadata };
  const text = writeYaml(shown as unknown as Json);
  const lines = text.split("\n");
  return (
    <>
      <div class="buttons top">
        <label class="check">
          <input
            type="checkbox"
            checked={showsManaged.value}
            onChange={(event) => (showsManaged.value = event.currentTarget.checked)}
          />
          managedFields
        </label>
        <button type="button" onClick={() => void navigator.clipboard.writeText(text).catch(reportBug)}>
          Copy
        </button>
      </div>
      <pre class="yaml" tabIndex={0} aria-label="YAML">
        {lines.length > maxColored ? text : lines.map((line, at) => <Line key={at} line={line} />)}
      </pre>
    </>
  );
}

/** A line, with its key in a color. Lines of block texts may be colored too, which does no harm. */
function Line({ line }: { readonly line: string }) {
  const match = /^(\s*(?:- )*)([\w./-]+|"[^"]*")(:)(?= |$)(.*)$/.exec(line);
  if (match === null) return <>{`${line}\n`}</>;
  const [, start, key, colon, rest] = match;
  return (
    <>
      {start}
      <span class="key">{key}</span>
      {`${colon}${rest}\n`}
    </>
  );
}
