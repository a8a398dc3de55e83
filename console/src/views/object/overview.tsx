import type { ApiObject } from "../../api/objects.ts";
import type { Metadata } from "../../model/metadata.ts";
import { builtInType, kindKey, plainGroup } from "../../model/references.ts";
import type { ResourceType } from "../../model/resource-types.ts";
import { formatRoute, listRoute } from "../../model/routes.ts";
import { Breakable } from "../../parts/breakable.tsx";
import { Fold } from "../../parts/fold.tsx";
import { ObjectLink } from "../../parts/object-link.tsx";
import { Time } from "../../parts/time.tsx";
import { serverTypes } from "../../state/session.ts";
import { Conditions } from "./details/conditions.tsx";
import { Columns, OtherFields } from "./details/custom.tsx";
import { AccessLinks, Links } from "./details/links.tsx";
import { Facts, Section, type Fact } from "./details/section.tsx";
import { sectionsByKind, type KindSections } from "./details/sections.ts";
import { OwnerLink } from "./relations.tsx";

interface OverviewProps {
  readonly type: ResourceType;
  readonly object: ApiObject;
}

const noSections: KindSections = { sections: [] };

/** What an object is, by its kind: its own sections first, then all its fields, and its links to other objects. */
export function Overview({ type, object }: OverviewProps) {
  const { groupSuffix } = serverTypes.value;
  const key = kindKey(type, groupSuffix);
  const { sections, shows = [] } = Object.hasOwn(sectionsByKind, key) ? sectionsByKind[key]! : noSections;
  // Built-in groups have no dot without the suffix; role-based access is the exception.
  const isCustom = plainGroup(type.group, groupSuffix) === type.group && type.group.includes(".");
  return (
    <div class="overview">
      <div class="column">
        {isCustom && <Columns type={type} object={object} />}
        {sections.map((Part, at) => (
          <Part key={at} object={object} />
        ))}
        <Conditions object={object} />
        <OtherFields
          type={type}
          object={object}
          without={shows}
          isFolded={sections.length > 0}
          showsHelp={isCustom}
        />
      </div>
      <div class="column">
        <MetadataSection type={type} object={object} />
        <Links type={type} object={object} />
      </div>
    </div>
  );
}

function MetadataSection({ type, object }: OverviewProps) {
  const { metadata } = object;
  const { namespace = "", ownerReferences = [] } = metadata;
  const namespaces = builtInType(serverTypes.value, ["", "Namespace"]);
  const rows: Fact[] = [
    ["Created", <Time key="created" at={metadata.creationTimestamp} />],
    ["Deleted", metadata.deletionTimestamp ? <Time key="deleted" at={metadata.deletionTimestamp} /> : ""],
    [
      "Namespace",
      namespace === "" || namespaces === undefined ? (
        namespace
      ) : (
        <ObjectLink key="namespace" type={namespaces} namespace="" name={namespace} text={namespace} />
      ),
    ],
    [
      "Owners",
      ownerReferences.length === 0
        ? ""
        : ownerReferences.map((owner) => (
            <span key={owner.uid}>
              <OwnerLink owner={owner} namespace={namespace} />{" "}
            </span>
          )),
    ],
    ["Finalizers", (metadata.finalizers ?? []).join(", ")],
    ["Labels", <Labels key="labels" type={type} metadata={metadata} />],
    ["Annotations", <Annotations key="annotations" metadata={metadata} />],
    ["UID", <code key="uid">{metadata.uid}</code>],
    ["Version", metadata.resourceVersion ?? ""],
    ["Access", <AccessLinks key="access" type={type} object={object} />],
  ];
  return (
    <Section title="Metadata">
      <Facts rows={rows} />
    </Section>
  );
}

/** Each label leads to the list of the objects that have it too. */
function Labels({
  type,
  metadata: { labels = {}, namespace = "" },
}: {
  readonly type: ResourceType;
  readonly metadata: Metadata;
}) {
  const entries = Object.entries(labels);
  if (entries.length === 0) return <span class="note">none</span>;
  return (
    <Fold items={entries} limit={12} noun="labels">
      {(shown) => (
        <ul class="chips">
          {shown.map(([key, value]) => (
            <li key={key}>
              <a
                href={formatRoute(listRoute(type, namespace, { labels: `${key}=${value}` }))}
                title={`All ${type.name} with ${key}=${value}`}
              >
                <Breakable text={`${key}=${value}`} />
              </a>
            </li>
          ))}
        </ul>
      )}
    </Fold>
  );
}

function Annotations({ metadata: { annotations = {} } }: { readonly metadata: Metadata }) {
  const entries = Object.entries(annotations);
  if (entries.length === 0) return <span class="note">none</span>;
  return (
    <Fold items={entries} limit={5} noun="annotations">
      {(shown) => (
        <ul class="annotations">
          {shown.map(([key, value]) => (
            <li key={key}>
              <span class="note">
                <Breakable text={key} />
              </span>{" "}
              {value.length > 500 ? `${value.slice(0, 500)}…` : value}
            </li>
          ))}
        </ul>
      )}
    </Fold>
  );
}
