import { getJson } from "../../../api/client.ts";
import { readSchema } from "../../../api/openapi.ts";
import type { ApiObject } from "../../../api/objects.ts";
import { isRecord } from "../../../model/paths.ts";
import { referencesOf, type Reference } from "../../../model/references.ts";
import { pathOf, type ResourceType } from "../../../model/resource-types.ts";
import { fieldsOf, type KindSchema } from "../../../model/schema.ts";
import type { ColumnDefinition, TableRow } from "../../../model/table.ts";
import { toneOf } from "../../../model/tones.ts";
import { StateText } from "../../../parts/state-text.tsx";
import { serverTypes } from "../../../state/session.ts";
import { useAsync } from "../../../state/use-async.ts";
import { FieldTree } from "./field-tree.tsx";
import { Facts, Section } from "./section.tsx";

interface CustomProps {
  readonly type: ResourceType;
  readonly object: ApiObject;
}

interface TableAnswer {
  readonly columnDefinitions?: readonly ColumnDefinition[];
  readonly rows?: readonly TableRow[];
}

/** The columns that the server has for the kind, also those that lists leave out. */
export function Columns({ type, object: { metadata } }: CustomProps) {
  const answer = useAsync(
    (signal) =>
      getJson<TableAnswer>(pathOf(type, metadata.namespace ?? "", metadata.name), {
        accept: `application/json;as=Table;v=v1;g=meta.${serverTypes.value.groupSuffix}`,
        signal,
      }),
    [metadata.resourceVersion],
  );
  if (typeof answer !== "object") return null;
  const { columnDefinitions = [], rows = [] } = answer;
  const columns = columnDefinitions
    .map(({ name, description = "" }, at) => ({ name, description, value: rows[0]?.cells[at] }))
    .filter(({ name, value }) => !["Name", "Age"].includes(name) && isShown(value));
  if (columns.length === 0) return null;
  return (
    <Section title="Summary">
      <Facts
        rows={columns.map(({ name, description, value }) => [
          name,
          <span key={name} title={description}>
            <StateText text={String(value)} tone={toneOf(String(value))} />
          </span>,
        ])}
      />
    </Section>
  );
}

function isShown(value: unknown): boolean {
  return value !== null && value !== undefined && value !== "" && !isRecord(value);
}

interface OtherFieldsProps extends CustomProps {
  /** Fields that other sections have. */
  readonly without: readonly string[];
  /** Whether the fields are shown only when the user asks, because other sections have the most of them. */
  readonly isFolded: boolean;
  /** Whether descriptions of the schema are visible. */
  readonly showsHelp: boolean;
}

/** All fields beside metadata that no other section has, with the descriptions of the schema. */
export function OtherFields({ type, object, without, isFolded, showsHelp }: OtherFieldsProps) {
  const schema = useAsync<{ readonly kind: KindSchema | undefined }>(
    async () => ({ kind: await readSchema(type) }),
    [type],
  );
  const links = new Map<string, Reference>(
    referencesOf(object, serverTypes.value).map((one) => [one.path, one]),
  );
  const left = new Set(["apiVersion", "kind", "metadata", ...without]);
  const fields =
    typeof schema === "object" && schema.kind !== undefined
      ? fieldsOf(schema.kind.schema, schema.kind.schemas)
      : [];
  const names = Object.keys(object).filter((name) => !left.has(name) && hasContent(object[name]));
  return (
    <>
      {names.map((name) => {
        const type_ = fields.find((one) => one.name === name)?.type;
        return (
          <Section key={name} title={titleOf(name)} isFolded={isFolded}>
            <FieldTree
              showsHelp={showsHelp}
              value={name === "status" ? withoutConditions(object[name]) : object[name]}
              path={name}
              links={links}
              schema={type_?.kind === "section" ? type_.schema : undefined}
              schemas={typeof schema === "object" ? schema.kind?.schemas : undefined}
            />
          </Section>
        );
      })}
    </>
  );
}

/** The conditions have a time line of their own. */
function withoutConditions(status: unknown): unknown {
  if (!isRecord(status)) return status;
  const { conditions: _conditions, ...others } = status;
  return others;
}

function hasContent(value: unknown): boolean {
  if (value === null || value === undefined) return false;
  if (isRecord(value)) return Object.keys(value).some((key) => key !== "conditions");
  return !Array.isArray(value) || value.length > 0;
}

function titleOf(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}
