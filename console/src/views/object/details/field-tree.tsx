import type { ComponentChildren } from "preact";
import { isRecord, memberOf } from "../../../model/paths.ts";
import type { Reference } from "../../../model/references.ts";
import { fieldsOf, type Schema } from "../../../model/schema.ts";
import { Fold } from "../../../parts/fold.tsx";
import { ObjectLink } from "../../../parts/object-link.tsx";
import { StateText } from "../../../parts/state-text.tsx";
import { TableHead } from "../../../parts/table-head.tsx";

interface TreeProps {
  readonly value: unknown;
  /** Path of the value in the object. */
  readonly path: string;
  /** References by the path of their field. */
  readonly links: ReadonlyMap<string, Reference>;
  /** The schema of the value, and those that it refers to; undefined if the kind has none. */
  readonly schema?: Schema | undefined;
  readonly schemas?: Schema | undefined;
  /** Whether descriptions of the schema are visible. */
  readonly showsHelp: boolean;
}

/** Levels that are shown; deeper values are one text. */
const maxDepth = 8;
const [maxFields, maxItems, maxColumns] = [30, 10, 6];

/** Any value by its form: facts, a list, a table of equal objects, or a text; names of objects are links. */
export function FieldTree(props: TreeProps): ComponentChildren {
  return <Value {...props} depth={0} />;
}

type ValueProps = TreeProps & { readonly depth: number };

function Value(props: ValueProps): ComponentChildren {
  const { value, depth } = props;
  if (depth > maxDepth) return <code>{JSON.stringify(value)}</code>;
  if (Array.isArray(value)) return <List {...props} items={value} />;
  if (isRecord(value)) return <Fields {...props} record={value} />;
  return <Scalar {...props} />;
}

function Scalar({ value, path, links }: ValueProps): ComponentChildren {
  const link = links.get(path);
  if (link !== undefined)
    return <ObjectLink type={link.type} namespace={link.namespace} name={link.name} text={String(value)} />;
  if (value === null || value === undefined) return <span class="note">none</span>;
  if (typeof value !== "string") return <>{String(value)}</>;
  if (value === "") return <span class="note">empty</span>;
  const isState = /(?:^|\.)(?:phase|state|status)$/.test(path);
  if (isState) return <StateText text={value} />;
  return value.includes("\n") || value.length > 300 ? (
    <pre tabIndex={0} aria-label={path}>
      {value.slice(0, 20_000)}
    </pre>
  ) : (
    <>{value}</>
  );
}

function Fields(props: ValueProps & { readonly record: Readonly<Record<string, unknown>> }) {
  const { record, path, schema, schemas = {}, depth, showsHelp } = props;
  const described = new Map(
    (schema === undefined ? [] : fieldsOf(schema, schemas)).map((one) => [one.name, one]),
  );
  const names = Object.keys(record);
  if (names.length === 0) return <span class="note">empty</span>;
  return (
    <Fold items={names} limit={maxFields} noun="fields">
      {(visible) => (
        <dl class="facts">
          {visible.map((name) => {
            const value = memberOf(record, name);
            const field = described.get(name);
            const isNested = isRecord(value) || (Array.isArray(value) && value.some(isRecord));
            return (
              <div key={name} class={isNested ? "nested" : ""}>
                <dt title={field?.description}>
                  {name}
                  {field !== undefined && field.description !== "" && showsHelp && (
                    <span class="help note">{firstSentence(field.description)}</span>
                  )}
                </dt>
                <dd>
                  <Value
                    {...props}
                    value={value}
                    path={path === "" ? name : `${path}.${name}`}
                    schema={field?.type.kind === "section" ? field.type.schema : undefined}
                    depth={depth + 1}
                  />
                </dd>
              </div>
            );
          })}
        </dl>
      )}
    </Fold>
  );
}

function firstSentence(text: string): string {
  const end = text.indexOf(". ");
  const sentence = end === -1 ? text : text.slice(0, end + 1);
  return sentence.length > 120 ? `${sentence.slice(0, 120)}…` : sentence;
}

function List(props: ValueProps & { readonly items: readonly unknown[] }) {
  const { items, path, depth } = props;
  if (items.length === 0) return <span class="note">none</span>;
  const columns = columnsOf(items);
  if (columns !== undefined) {
    return (
      <Fold items={items as readonly Readonly<Record<string, unknown>>[]} limit={maxItems} noun="entries">
        {(visible) => (
          <table class="plain">
            <TableHead columns={columns} />
            <tbody>
              {visible.map((item, at) => (
                <tr key={at}>
                  {columns.map((column) => (
                    <td key={column}>
                      {Object.hasOwn(item, column) && (
                        <Value
                          {...props}
                          value={item[column]}
                          path={`${path}[${at}].${column}`}
                          schema={undefined}
                          depth={depth + 1}
                        />
                      )}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Fold>
    );
  }
  if (!items.some((item) => isRecord(item) || Array.isArray(item))) {
    return (
      <Fold items={items} limit={maxFields} noun="entries">
        {(visible) => visible.map((item) => (item === null ? "none" : String(item))).join(", ")}
      </Fold>
    );
  }
  return (
    <Fold items={items} limit={maxItems} noun="entries">
      {(visible) => (
        <ol class="entries">
          {visible.map((item, at) => (
            <li key={at}>
              <Value {...props} value={item} path={`${path}[${at}]`} schema={undefined} depth={depth + 1} />
            </li>
          ))}
        </ol>
      )}
    </Fold>
  );
}

/** Returns the columns of a list of flat objects; undefined if they have other values or too many members. */
function columnsOf(items: readonly unknown[]): string[] | undefined {
  const columns = new Set<string>();
  for (const item of items) {
    if (!isRecord(item)) return undefined;
    for (const [key, value] of Object.entries(item)) {
      const isFlat = !isRecord(value) && !(Array.isArray(value) && value.some(isRecord));
      if (!isFlat || columns.add(key).size > maxColumns) return undefined;
    }
  }
  return columns.size === 0 ? undefined : [...columns];
}
