import { scaleOf } from "../../../src/kinds/core/pod/workload-scale.ts";
import { declarationsIn, type ApiObject, type Conversion, type Kind } from "../../../src/schema/kind.ts";
import { ObjectMeta } from "../../../src/schema/object-meta.ts";
import { field, int32, int64, list, map, object, string, type Field } from "../../../src/schema/types.ts";

const group = { base: "tests", suffixed: true };

/** How one declaration of the kind differs from another: as one, or taken apart. */
export interface Topology {
  readonly labels?: "granular" | "atomic";
  readonly tags?: "set" | "atomic";
  readonly ports?: "map" | "atomic";
  readonly option?: "granular" | "atomic";
}

interface Scaled extends ApiObject {
  spec?: { replicas?: number | undefined } | undefined;
}

/**
 * A kind with a field of every sort that apply knows, in two versions: `v1`, in which it is stored, and `v1beta1`, in which
 * the image is called `picture`.
 */
export function thingKinds(topology: Topology = {}): readonly Kind[] {
  const v1 = declare("v1", "image", topology);
  const other = declare("v1beta1", "picture", topology, {
    stored: () => v1,
    toStored: (thing) => renamed(thing, "picture", "image"),
    fromStored: (thing) => renamed(thing, "image", "picture"),
  });
  return [v1, other];
}

function renamed(thing: ApiObject, from: string, to: string): ApiObject {
  const { [from]: value, ...rest } = thing;
  return (value === undefined ? rest : { ...rest, [to]: value }) as ApiObject;
}

function declare(version: string, image: string, topology: Topology, conversion?: Conversion): Kind {
  const { kind, struct, atomicStruct } = declarationsIn(group, version);
  const Option = struct("Option", "", { level: field(1, int32, ""), note: field(2, string, "") });
  const Selector = atomicStruct("Selector", "", { app: field(1, string, ""), tier: field(2, string, "") });
  const Link = atomicStruct("Link", "", { name: field(1, string, ""), target: field(2, string, "") });
  const Limits = struct("Limits", "", {
    most: field(1, int32, "").unpublishedDefault(10),
    least: field(2, int32, ""),
  });
  const Step = struct("Step", "", {
    name: field(1, string, ""),
    command: field(2, list(string), "").atomic(),
  });
  const Port = struct("Port", "", {
    port: field(1, int32, "").required(),
    protocol: field(2, string, "").default("TCP"),
    name: field(3, string, ""),
  });
  const Spec = struct("Spec", "", { replicas: field(1, int32, "").nullable() });
  const Status = struct("Status", "", { phase: field(1, string, ""), seen: field(2, int32, "") });
  const whole = <F extends Field>(plain: F, how: string | undefined): F =>
    how === "atomic" ? (plain.atomic() as F) : plain;
  const ports = field(8, list(Port), "");
  const tags = field(6, list(string), "");
  return kind({
    name: "Thing",
    resource: "things",
    singular: "thing",
    scope: "Cluster",
    doc: "",
    fields: {
      metadata: field(1, ObjectMeta, "").emitEmpty(),
      [image]: field(2, string, ""),
      labels: whole(field(3, map(string), ""), topology.labels),
      whole: field(4, map(string), "").atomic(),
      args: field(5, list(string), "").atomic(),
      tags: topology.tags === "atomic" ? tags.atomic() : tags.set(),
      ids: field(7, list(int64), "").set(),
      ports: topology.ports === "atomic" ? ports.atomic() : ports.mapBy("port", "protocol"),
      steps: field(9, list(Step), "").patchMerge("name"),
      words: field(10, list(string), "").patchMerge(),
      option: whole(field(11, Option, ""), topology.option),
      selector: field(12, Selector, ""),
      limits: field(13, Limits, ""),
      free: field(14, object, ""),
      spec: field(15, Spec, ""),
      status: field(16, Status, ""),
      links: field(17, list(Link), "").mapBy("name"),
    },
    subresources: {
      status: {
        verbs: ["get", "update", "patch"],
        merge(copy, { status }) {
          if (status === undefined) delete copy["status"];
          else copy["status"] = status;
        },
      },
      scale: scaleOf<Scaled>(() => ""),
    },
    prepareUpdate(copy, live) {
      if (live["status"] === undefined) delete copy["status"];
      else copy["status"] = live["status"];
    },
    ...(conversion === undefined ? {} : { conversion }),
  }) as Kind;
}
