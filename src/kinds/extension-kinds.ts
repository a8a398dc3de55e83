import { isInDomain } from "../vocabulary/names.ts";
import { dnsSubdomainFaults } from "../base/names.ts";
import { groupName, type Kind, type Subresource } from "../schema/kind.ts";
import { ObjectMeta } from "../schema/object-meta.ts";
import type { Field, StructType, Type } from "../schema/types.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { builtInKinds } from "./all.ts";

/** A kind of the embedding program can't be served; the message names the kind and the reason. */
export class KindFault extends Error {
  override name = "KindFault";
}

const versionForm = /^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$/;
const resourceForm = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const kindForm = /^[A-Z][A-Za-z0-9]{0,62}$/;

/**
 * Checks the kinds that an embedding program declares for its own groups.
 *
 * @throws {KindFault}
 */
export function checkExtensionKinds(kinds: readonly Kind[], vocabulary: Vocabulary): void {
  const usedNames = new Set<string>();
  for (const kind of kinds) {
    const refuse = (why: string): never => {
      throw new KindFault(`${String(kind?.name)}: ${why}`);
    };
    checkNames(kind, vocabulary, refuse);
    checkNotTaken(kind, usedNames, refuse);
    checkServed(kind, kinds, refuse);
    checkType(kind, refuse);
  }
}

type Refuse = (why: string) => never;

function checkNames(kind: Kind, vocabulary: Vocabulary, refuse: Refuse): void {
  if (!kindForm.test(kind.name)) refuse("the name of a kind is a word like `Order`");
  if (!resourceForm.test(kind.resource))
    refuse(`${quoted(kind.resource)} is not a resource name like "orders"`);
  if (!resourceForm.test(kind.singular)) refuse(`${quoted(kind.singular)} is not a singular like "order"`);
  if (!versionForm.test(kind.version))
    refuse(`${quoted(kind.version)} is not a version like "v1" or "v1beta1"`);
  if (kind.scope !== "Namespaced" && kind.scope !== "Cluster")
    refuse(`scope ${quoted(kind.scope)} is not Namespaced or Cluster`);
  const group = groupName(kind.group, vocabulary);
  if (!group.includes(".") || dnsSubdomainFaults(group).length > 0)
    refuse(`${quoted(group)} is not a group like "shop.example.com"`);
  const suffix = vocabulary.groupSuffix;
  if (isInDomain(suffix, group)) refuse(`groups below ${suffix} are the server's own`);
  if (builtInKinds.some((one) => groupName(one.group, vocabulary) === group))
    refuse(`the group ${group} is the server's own`);
}

/** A kind is looked up in its group version by kind, resource, singular and short name, so all of them must be unique. */
function checkNotTaken({ group, version, ...names }: Kind, usedNames: Set<string>, refuse: Refuse): void {
  const { name, resource, singular, shortNames = [] } = names;
  const all = new Set([`kind ${name}`, ...[resource, singular, ...shortNames].map((one) => `name ${one}`)]);
  for (const one of all) {
    const qualifiedName = `${group.base}/${version} ${one}`;
    if (usedNames.has(qualifiedName)) refuse(`the ${one} is declared twice in ${group.base}/${version}`);
    usedNames.add(qualifiedName);
  }
}

function checkServed(kind: Kind, kinds: readonly Kind[], refuse: Refuse): void {
  const { verbs, conversion } = kind;
  if (
    !verbs.includes("create") ||
    !verbs.includes("get") ||
    kind.computed === true ||
    kind.subresourceAlias !== undefined
  )
    refuse("only kinds whose objects are stored, with the verbs create and get, can be added");
  if (conversion !== undefined) {
    const stored = conversion.stored();
    if (!kinds.includes(stored))
      refuse("the kind that its conversion names as stored is not among the kinds");
    if (stored.conversion !== undefined) refuse("the stored kind of its conversion has a conversion itself");
  }
  for (const [name, one] of Object.entries<Subresource>(kind.subresources)) {
    if (one.shape === "action" || one.shape === "connect")
      refuse(`subresource ${name}: only parts and views of the object can be added`);
  }
}

function checkType({ type }: Kind, refuse: Refuse): void {
  let fields: StructType["fields"];
  try {
    fields = type.fields;
  } catch (error) {
    return refuse(`its fields can't be read: ${String(error)}`);
  }
  if (!isObjectMeta(fields["metadata"])) refuse("the field metadata must have the type ObjectMeta");
  for (const struct of structsOf(type)) {
    const numbers = Object.values(struct.fields).flatMap(({ facts: { number, inside } }) =>
      number === undefined ? [] : [[...inside, number].join("/")],
    );
    const twice = numbers.find((one, at) => numbers.indexOf(one) !== at);
    if (twice !== undefined) refuse(`${struct.name}: two fields have the number ${twice}`);
  }
}

/** Also recognizes the ObjectMeta of another copy of the module, such as the package's CommonJS form. */
function isObjectMeta(field: Field | undefined): boolean {
  const type = field?.type;
  if (type?.shape !== "struct" || type.name !== ObjectMeta.name) return false;
  return type.groupVersion.group.base === ObjectMeta.groupVersion.group.base;
}

/** Returns all structs in a type, starting with the type itself. */
function structsOf(type: Type, structs = new Set<StructType>()): ReadonlySet<StructType> {
  if (type.shape === "list") structsOf(type.element, structs);
  else if (type.shape === "map") structsOf(type.value, structs);
  else if (type.shape === "union") {
    for (const form of Object.values(type.forms)) structsOf(form.type, structs);
  } else if (type.shape === "struct" && !structs.has(type)) {
    structs.add(type);
    for (const field of Object.values(type.fields)) structsOf(field.type, structs);
  }
  return structs;
}

function quoted(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
