/** A machine with an AMD card, as files below a folder. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../../support/temporary-folder.js';

export const CARD = 'sys/class/drm/card1/device';

/** Writes these files, by path below the root; a value that begins with `->` is a link. */
export async function writeFiles(root: string, files: Readonly<Record<string, string>>) {
  for (const [path, text] of Object.entries(files)) {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    if (text.startsWith('->')) await symlink(text.slice(2), file);
    else await writeFile(file, text);
  }
}

export async function fakeAmd(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const root = await temporaryFolder();
  await writeFiles(root, {
    'sys/class/drm/card0/device/vendor': '0x8086\n',
    'sys/class/drm/card1-DP-1/status': 'connected\n',
    [`${CARD}/vendor`]: '0x1002\n',
    [`${CARD}/gpu_busy_percent`]: '63\n',
    [`${CARD}/mem_info_vram_used`]: '1073741824\n',
    [`${CARD}/mem_info_vram_total`]: '17163091968\n',
    [`${CARD}/hwmon/hwmon4/power1_average`]: '187000000\n',
    [`${CARD}/hwmon/hwmon4/temp1_input`]: '58500\n',
    ...files,
  });
  return root;
}

/** A process that has the card open twice, as one client. */
export function clientFiles(pid: number, name: string, facts: { kib: number; busyNs: number }) {
  const text =
    `pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t${pid}7\ndrm-pdev:\t0000:03:00.0\n` +
    `drm-memory-vram:\t${facts.kib} KiB\ndrm-engine-gfx:\t${facts.busyNs} ns\n` +
    'drm-engine-capacity-gfx:\t1\n';
  return {
    [`proc/${pid}/comm`]: `${name}\n`,
    [`proc/${pid}/fd/3`]: '->/dev/dri/renderD128',
    [`proc/${pid}/fd/4`]: '->/dev/dri/renderD128',
    [`proc/${pid}/fd/5`]: '->/dev/null',
    [`proc/${pid}/fdinfo/3`]: text,
    [`proc/${pid}/fdinfo/4`]: text,
  };
}
