/** What a pod refers to, as far as its node's agent needs it: keys of {@link objectKey}. */
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
export type NeededType = "secret" | "configmap" | "claim" | "serviceaccount";

/** The name under which the graph knows an object. */
export function objectKey(type: NeededType, namespace: string, name: string): string {
  return `${type} ${namespace}/${name}`;
}

/**
 * Which node needs which objects: those that its pods refer to, the volumes behind their claims, those volumes' secrets,
 * and the attachments of volumes to it. Every question is answered by a few look-ups, whatever the number of pods.
 */
export class NodeGraph {
  private readonly pods = new Map<string, PodReferences>();
  /** How many pods of which node refer to an object. */
  private readonly needed = new Map<string, Map<string, number>>();
  private readonly volumes = new Map<string, VolumeReferences>();
  private readonly secretVolumes = new Map<string, Set<string>>();
  private readonly attachments = new Map<string, string>();

  /** Sets what a pod refers to; undefined: it is gone, or on no node. */
  setPod(key: string, references: PodReferences | undefined): void {
    const before = this.pods.get(key);
    if (before !== undefined) for (const one of before.objects) this.count(one, before.node, -1);
    if (references === undefined) this.pods.delete(key);
    else {
      this.pods.set(key, references);
      for (const one of references.objects) this.count(one, references.node, 1);
    }
  }

  /** Sets what a volume refers to; undefined: it was deleted, or is bound to no claim. */
  setVolume(name: string, references: VolumeReferences | undefined): void {
    for (const secret of this.volumes.get(name)?.secrets ?? []) {
      const others = this.secretVolumes.get(secret);
      others?.delete(name);
      if (others?.size === 0) this.secretVolumes.delete(secret);
    }
    if (references === undefined) {
      this.volumes.delete(name);
      return;
    }
    this.volumes.set(name, references);
    for (const secret of references.secrets) {
      const others = this.secretVolumes.get(secret);
      if (others === undefined) this.secretVolumes.set(secret, new Set([name]));
      else others.add(name);
    }
  }

  /** Sets the node to which a volume is attached; undefined: the attachment is gone. */
  setAttachment(name: string, node: string | undefined): void {
    if (node === undefined) this.attachments.delete(name);
    else this.attachments.set(name, node);
  }

  /** Whether a pod of the node refers to the object, or a volume behind one of its claims does. */
  needs(node: string, key: string): boolean {
    if (this.needed.get(key)?.has(node) === true) return true;
    for (const volume of this.secretVolumes.get(key) ?? []) if (this.needsVolume(node, volume)) return true;
    return false;
  }

  /** Whether a pod of the node has a claim that is bound to the volume. */
  needsVolume(node: string, name: string): boolean {
    const claim = this.volumes.get(name)?.claim;
    return claim !== undefined && this.needed.get(claim)?.has(node) === true;
  }

  /** Whether the attachment is one to the node. */
  isAttachedTo(node: string, name: string): boolean {
    return this.attachments.get(name) === node;
  }

  private count(key: string, node: string, by: 1 | -1): void {
    let nodes = this.needed.get(key);
    if (nodes === undefined) this.needed.set(key, (nodes = new Map()));
    const now = (nodes.get(node) ?? 0) + by;
    if (now > 0) nodes.set(node, now);
    else nodes.delete(node);
    if (nodes.size === 0) this.needed.delete(key);
  }
}
