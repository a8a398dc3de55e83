import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { certificateRequest } from "../support/certificate-request.ts";

export type Json = Record<string, unknown>;

export function isPlain(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A kind in one version, and an object of it whose life is followed. */
export interface Subject {
  /** The path of its group and version and its resource, such as `apis/apps/v1/deployments`. */
  readonly in: string;
  /** The object, with its apiVersion and the label that the collections of a life are chosen by. */
  readonly object: Json & { readonly metadata: Json & { readonly name: string } };
  readonly status?: Json;
  readonly scale?: boolean;
  /** Members of the spec that release 1.37 requires. */
  readonly laterSpec?: Json;
}

/** The namespace of namespaced objects. */
export const namespace = "lives";
/** Chooses the objects of lives among those that a server has of itself. */
export const chosen = "labelSelector=life%3Dhere";

const names = new Set(
  [
    "namespaces nodes persistentvolumes mutatingwebhookconfigurations validatingwebhookconfigurations",
    "validatingadmissionpolicies validatingadmissionpolicybindings certificatesigningrequests flowschemas",
    "prioritylevelconfigurations storageversions ingressclasses clustercidrs runtimeclasses clusterroles clusterrolebindings",
    "resourceclasses priorityclasses csidrivers csinodes storageclasses volumeattachments",
    "deviceclasses resourceslices devicetaintrules resourcepoolstatusrequests ipaddresses",
  ].flatMap((line) => line.split(" ")),
);

/** The path of a subject's collection; that of all namespaces for `everywhere`. */
export function collection(subject: Subject, everywhere = false): string {
  const parts = subject.in.split("/");
  const resource = parts.pop()!;
  if (everywhere || names.has(resource)) return `/${subject.in}`;
  return `/${parts.join("/")}/namespaces/${namespace}/${resource}`;
}

/** Whether the subject is an object of a namespace. */
export const namespaced = (subject: Subject): boolean => collection(subject) !== `/${subject.in}`;

/** The path of a subject's object. */
export const item = (subject: Subject): string => `${collection(subject)}/${subject.object.metadata.name}`;

/** Versions of the API: those whose answers are recorded. */
export const releases = ["1.26", "1.37"] as const;
export type Release = (typeof releases)[number];

/** What release 1.37 has of the versions in `objects.yaml` that it removed: the version that replaces it, or nothing. */
const replacedVersions: readonly (readonly [from: string, to: string | undefined])[] = [
  ["apis/admissionregistration.k8s.io/v1alpha1/", "apis/admissionregistration.k8s.io/v1/"],
  ["apis/flowcontrol.apiserver.k8s.io/v1beta3/", "apis/flowcontrol.apiserver.k8s.io/v1/"],
  ["apis/flowcontrol.apiserver.k8s.io/v1beta2/", undefined],
  ["apis/networking.k8s.io/v1alpha1/clustercidrs", undefined],
  ["apis/resource.k8s.io/v1alpha1/", undefined],
  ["apis/storage.k8s.io/v1beta1/csistoragecapacities", undefined],
];

function inRelease(subject: Subject, release: Release): Subject[] {
  if (release === "1.26") return [subject];
  const replaced = replacedVersions.find(([from]) => subject.in.startsWith(from));
  if (replaced === undefined) return [subject];
  const [from, to] = replaced;
  if (to === undefined) return [];
  const spec = { ...(subject.object["spec"] as Json), ...subject.laterSpec };
  return [{ ...subject, in: subject.in.replace(from, to), object: { ...subject.object, spec } }];
}

/** An object of each kind that the release has, as `objects.yaml` and `added-objects.yaml` tell them. */
export const subjects = (release: Release): Subject[] => [
  ...read("objects.yaml", release),
  ...(release === "1.26" ? [] : read("added-objects.yaml", release)),
];

/** Objects with many members, as `whole-objects.yaml` tells them. */
export const wholeObjects = (release: Release): Subject[] => read("whole-objects.yaml", release);

function read(file: string, release: Release): Subject[] {
  const told = parse(readFileSync(path.join(import.meta.dirname, file), "utf8"), {
    merge: true,
  }) as Subject[];
  const request = Buffer.from(certificateRequest("someone")).toString("base64");
  const served = told.flatMap((subject) => inRelease(subject, release));
  return served.map((subject) => {
    const groupVersion = subject.in.split("/").slice(1, -1).join("/");
    const metadata = { ...subject.object.metadata, labels: { life: "here" } };
    const object = JSON.parse(
      JSON.stringify({ apiVersion: groupVersion, ...subject.object, metadata }).replace("REQUEST", request),
    ) as Subject["object"];
    return { ...subject, object };
  });
}
