/** The objects to which a pod refers and that its node's agent needs: keys of {@link objectKey}. */
export interface PodReferences {
  readonly node: string;
  readonly objects: readonly string[];
}

/** The objects that a volume refers to. */
export interface VolumeReferences {
  /** Key of the claim that it is bound to. */
  readonly claim: string;
  /** Keys of the secrets that a node needs to mount it. */
  readonly secrets: readonly string[];
}

/** The types of objects that a node may need. */
export type NeededType = SpecNeededType | "resourceclaim";

/** The types of objects that agents of all releases need for a pod. */
export type SpecNeededType = "secret" | "configmap" | "claim" | "serviceaccount";

/** Types of objects with a node, in releases whose agents read only the objects of their node. */
export type NodeOwnedType = "pod" | "resourceslice" | "podcertificaterequest";

/** Returns the key of an object in the graph. */
export function objectKey(type: NeededType | NodeOwnedType, namespace: string, name: string): string {
  return `${type} ${namespace}/${name}`;
}

/**
 * The objects that each node needs: those to which its pods refer, the volumes bound to their claims, the secrets of these
 * volumes, and the volume attachments of the node. A query takes a few map lookups, independent of the number of pods.
 */
export class NodeGraph {
  private readonly pods = new Map<string, PodReferences>();
  /** By object key, by node: number of pods that refer to the object. */
  private readonly podCounts = new Map<string, Map<string, number>>();
  private readonly volumes = new Map<string, VolumeReferences>();
  private readonly volumesBySecret = new Map<string, Set<string>>();
  private readonly attachments = new Map<string, string>();
  /** By object key; only in later releases. */
  private nodes: Map<string, string> | undefined;

  /** Sets the references of a pod; undefined if it was deleted or has no node. */
  setPod(key: string, references: PodReferences | undefined): void {
    const previous = this.pods.get(key);
    if (previous !== undefined) for (const one of previous.objects) this.addToCount(one, previous.node, -1);
    if (references === undefined) this.pods.delete(key);
    else {
      this.pods.set(key, references);
      for (const one of references.objects) this.addToCount(one, references.node, 1);
    }
  }

  /** Sets the references of a volume; undefined if it was deleted or isn't bound. */
  setVolume(name: string, references: VolumeReferences | undefined): void {
    for (const secret of this.volumes.get(name)?.secrets ?? []) {
      const others = this.volumesBySecret.get(secret);
      others?.delete(name);
      if (others?.size === 0) this.volumesBySecret.delete(secret);
    }
    if (references === undefined) {
      this.volumes.delete(name);
      return;
    }
    this.volumes.set(name, references);
    for (const secret of references.secrets) {
      const others = this.volumesBySecret.get(secret);
      if (others === undefined) this.volumesBySecret.set(secret, new Set([name]));
      else others.add(name);
    }
  }

  /** Sets the node of a volume attachment; undefined if it was deleted. */
  setAttachment(name: string, node: string | undefined): void {
    if (node === undefined) this.attachments.delete(name);
    else this.attachments.set(name, node);
  }

  /** Sets the node of another object, by its key; undefined if it was deleted or has no node. */
  setNode(key: string, node: string | undefined): void {
    if (node === undefined) this.nodes?.delete(key);
    else (this.nodes ??= new Map()).set(key, node);
  }

  /** Whether {@link setNode} has set this node for the object. */
  belongsTo(node: string, key: string): boolean {
    return this.nodes?.get(key) === node;
  }

  /** Whether the pod with this key is on the node. */
  isPodOn(node: string, key: string): boolean {
    return this.pods.get(key)?.node === node;
  }

  /** Whether a pod of the node, or a volume bound to a claim of such a pod, refers to the object. */
  needs(node: string, key: string): boolean {
    if (this.podCounts.get(key)?.has(node) === true) return true;
    for (const volume of this.volumesBySecret.get(key) ?? []) if (this.needsVolume(node, volume)) return true;
    return false;
  }

  /** Whether a pod of the node has a claim that is bound to the volume. */
  needsVolume(node: string, name: string): boolean {
    const claim = this.volumes.get(name)?.claim;
    return claim !== undefined && this.podCounts.get(claim)?.has(node) === true;
  }

  /** Whether the volume attachment is for the node. */
  isAttachedTo(node: string, name: string): boolean {
    return this.attachments.get(name) === node;
  }

  private addToCount(key: string, node: string, by: 1 | -1): void {
    let nodes = this.podCounts.get(key);
    if (nodes === undefined) this.podCounts.set(key, (nodes = new Map()));
    const addToCount = (nodes.get(node) ?? 0) + by;
    if (addToCount > 0) nodes.set(node, addToCount);
    else nodes.delete(node);
    if (nodes.size === 0) this.podCounts.delete(key);
  }
}
