import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { readSchema } from "../../api/openapi.ts";
import { fits } from "../../model/form-values.ts";
import { isRecord, memberOf } from "../../model/paths.ts";
import type { ResourceType } from "../../model/resource-types.ts";
import { fieldsOf, topFields, type FormField, type KindSchema, type Schema } from "../../model/schema.ts";
import { ChoiceControl, ListControl, MapControl, TextControl, type ControlProps } from "./form-controls.tsx";

/** Fields of a section that are shown at once. */
const pageSize = 50;

/** Sets a field; undefined removes it. */
export type SetField = (path: readonly string[], value: unknown) => void;

interface FormProps {
  readonly type: ResourceType;
  /** Whether the object is created. */
  readonly isNew: boolean;
  /** The object of the edited text; undefined if the text has an error. */
  readonly object: Readonly<Record<string, unknown>> | undefined;
  readonly onSet: SetField;
}

/** A form for an object, from the schema of its kind. */
export function Form({ type, isNew, object, onSet }: FormProps) {
  const schema = useSignal<KindSchema | string | undefined>(undefined);
  useEffect(() => {
    readSchema(type)
      .then((result) => (schema.value = result ?? "The server has no schema of this kind. Edit it as YAML."))
      .catch((error: unknown) => (schema.value = messageOf(error)));
  }, []);
  const { value } = schema;
  const fields = useMemo(() => (typeof value === "object" ? topFields(value, isNew) : []), [value]);
  if (value === undefined) return <p class="note">Reading the schema…</p>;
  if (typeof value === "string") return <p class="message">{value}</p>;
  if (object === undefined)
    return <p class="message">The YAML has an error. The form is back when it is corrected.</p>;
  return (
    <div class="form" role="group" aria-label={`Fields of ${type.kind}`}>
      <FieldList
        isNew={isNew}
        fields={fields}
        schemas={value.schemas}
        object={object}
        path={[]}
        onSet={onSet}
      />
    </div>
  );
}

interface FieldListProps {
  readonly fields: readonly FormField[];
  readonly schemas: Schema;
  readonly object: Readonly<Record<string, unknown>>;
  readonly path: readonly string[];
  /** Whether the object is created: sections with required fields are open then. */
  readonly isNew: boolean;
  readonly onSet: SetField;
}

/** Required fields come first, then those that have a value when they are first shown; the others on pages. */
function FieldList({ fields, schemas, object, path, isNew, onSet }: FieldListProps) {
  const count = useSignal(pageSize);
  const ordered = useMemo(() => {
    const hasValue = ({ name }: FormField) => memberOf(object, name) !== undefined;
    const rank = (field: FormField) => (field.isRequired ? 0 : hasValue(field) ? 1 : 2);
    return fields.toSorted((one, other) => rank(one) - rank(other));
  }, [fields]);
  const remaining = ordered.length - count.value;
  return (
    <>
      {ordered.slice(0, count.value).map((field) => (
        <Field
          key={field.name}
          field={field}
          schemas={schemas}
          value={memberOf(object, field.name)}
          path={[...path, field.name]}
          isNew={isNew}
          onSet={onSet}
        />
      ))}
      {remaining > 0 && (
        <button type="button" class="link" onClick={() => (count.value += pageSize)}>
          {remaining} more fields
        </button>
      )}
    </>
  );
}

interface FieldProps {
  readonly field: FormField;
  readonly schemas: Schema;
  readonly value: unknown;
  readonly path: readonly string[];
  readonly isNew: boolean;
  readonly onSet: SetField;
}

/** Levels of sections that are open in the form of a new object. */
const maxOpenLevels = 3;

function Field({ field, schemas, value, path, isNew, onSet }: FieldProps) {
  const { name, description, isRequired, type, defaultText } = field;
  if (type.kind === "yaml" || !fits(type, value)) {
    return (
      <p class="note">
        <strong>{name}</strong> is edited as YAML.
      </p>
    );
  }
  if (type.kind === "section") {
    const object = isRecord(value) ? value : {};
    const isOpen = isNew && (path.length === 1 || (isRequired && path.length <= maxOpenLevels));
    const section = { name, schema: type.schema, schemas, object, path, isNew, onSet, description };
    return <Section {...section} opensAtFirst={isOpen} />;
  }
  const id = `field-${path.join("/")}`;
  const control = {
    attributes: { id, ...(description !== "" && { "aria-describedby": `${id}-help` }) },
    name,
    type,
    value,
    placeholder: defaultText,
    onSet: (next: unknown) => onSet(path, next),
  };
  return (
    <div class="field">
      <label for={id}>
        {name}
        {isRequired && <span class="note"> required</span>}
      </label>
      <div>
        <Control {...control} />
        {description !== "" && (
          <p class="note" id={`${id}-help`}>
            {description}
          </p>
        )}
      </div>
    </div>
  );
}

function Control(props: ControlProps): ComponentChildren {
  switch (props.type.kind) {
    case "boolean":
      return <ChoiceControl {...props} values={["true", "false"]} />;
    case "choice":
      return <ChoiceControl {...props} values={props.type.values} />;
    case "list":
      return <ListControl {...props} />;
    case "map":
      return <MapControl {...props} />;
    default:
      return <TextControl {...props} />;
  }
}

interface SectionProps extends Omit<FieldListProps, "fields"> {
  readonly name: string;
  readonly description: string;
  readonly schema: Schema;
  readonly opensAtFirst: boolean;
}

/** A nested object. Its fields are computed and rendered when it is opened, so schemas may be large or recursive. */
function Section({
  name,
  description,
  schema,
  schemas,
  object,
  path,
  isNew,
  opensAtFirst,
  onSet,
}: SectionProps) {
  const isOpen = useSignal(opensAtFirst);
  const fields = useMemo(() => (isOpen.value ? fieldsOf(schema, schemas) : []), [isOpen.value, schema]);
  const count = Object.keys(object).length;
  return (
    <details
      class="section"
      open={isOpen.value}
      onToggle={(event) => (isOpen.value = event.currentTarget.open)}
    >
      <summary title={description}>
        {name} <span class="note">{count === 0 ? "empty" : `${count} set`}</span>
      </summary>
      {isOpen.value && (
        <div>
          {description !== "" && <p class="note">{description}</p>}
          <FieldList
            fields={fields}
            schemas={schemas}
            object={object}
            path={path}
            isNew={isNew}
            onSet={onSet}
          />
        </div>
      )}
    </details>
  );
}
