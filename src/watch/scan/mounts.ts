import { statfsSync } from 'node:fs';

/**
 * File systems whose content others can change without this kernel knowing, by the numbers that
 * statfs(2) gives them. virtiofs counts as FUSE.
 */
const SILENT: ReadonlySet<number> = new Set([
  0x65735546, // FUSE
  0x6969, // NFS
  0x517b, // SMB
  0xfe534d42, // SMB 2
  0xff534d42, // CIFS
  0x01021997, // 9p
  0x786f4256, // VirtualBox
  0x5346414f, // AFS
  0x00c36400, // Ceph
]);

/** Looks once at each file system the tree reaches into. */
export class Mounts {
  readonly #seen = new Set<number>();
  readonly #silent: () => void;

  constructor(silent: () => void) {
    this.#silent = silent;
  }

  look(device: number, path: string): void {
    if (this.#seen.has(device)) return;
    this.#seen.add(device);
    try {
      // Some of the numbers come out negative.
      if (SILENT.has(statfsSync(path).type >>> 0)) this.#silent();
    } catch {
      // Gone again, or a system without the call: then it counts as any local disk.
    }
  }
}
