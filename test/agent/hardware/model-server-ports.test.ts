import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { modelServerPorts } from '@inference-gateway/agent/hardware/sockets';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n';
const IDLE = '00000000:00000000 00:00000000 00000000';
const row = (address: string, state: string, inode: number) =>
  `   0: ${address} 00000000:0000 ${state} ${IDLE}  1000 0 ${inode} 1\n`;
const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0');

interface FakeProcess {
  readonly words: readonly string[];
  readonly inodes: readonly number[];
  readonly parent?: number;
  readonly cwd?: string;
}

/** A folder like `/proc`. */
async function procFolder(
  tables: Readonly<Record<'tcp' | 'tcp6', string>>,
  processes: Readonly<Record<number, FakeProcess>>,
): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'net'));
  for (const [name, rows] of Object.entries(tables)) {
    await writeFile(join(folder, 'net', name), HEAD + rows);
  }
  for (const [pid, { words, inodes, parent = 1, cwd = '/' }] of Object.entries(processes)) {
    await mkdir(join(folder, pid, 'fd'), { recursive: true });
    await writeFile(join(folder, pid, 'cmdline'), words.map((word) => `${word}\0`).join(''));
    await writeFile(join(folder, pid, 'stat'), `${pid} (a) name) S ${parent} 1 1`);
    await symlink(cwd, join(folder, pid, 'cwd'));
    for (const [i, inode] of inodes.entries()) {
      await symlink(`socket:[${inode}]`, join(folder, pid, 'fd', String(i)));
    }
  }
  return folder;
}

test('only model servers that listen on this machine are found', async () => {
  const tcp = [
    row(`0100007F:${hex(5_801)}`, '0A', 1),
    row(`00000000:${hex(5_802)}`, '0A', 2),
    row(`0A00A8C0:${hex(5_803)}`, '0A', 3),
    row(`0100007F:${hex(5_804)}`, '01', 4),
    row(`0100007F:${hex(5_805)}`, '0A', 5),
    row(`0100007F:${hex(5_806)}`, '0A', 6),
  ].join('');
  const tcp6 = [
    row(`${'0'.repeat(24)}01000000:${hex(5_811)}`, '0A', 11),
    row(`0000000000000000FFFF00000100007F:${hex(5_812)}`, '0A', 12),
    row(`${'0'.repeat(32)}:${hex(5_813)}`, '0A', 13),
    row(`000080FE000000000000000001000000:${hex(5_814)}`, '0A', 14),
  ].join('');
  const folder = await procFolder(
    { tcp, tcp6 },
    {
      100: { words: ['/opt/llama/llama-server', '-m', 'x.gguf'], inodes: [1, 3, 4, 14] },
      101: { words: ['python3', 'main.py'], inodes: [2], cwd: '/home/ann/ComfyUI' },
      102: { words: ['postgres'], inodes: [5] },
      103: {
        words: ['python3', 'app.py', 'vllm-notes.txt'],
        inodes: [6],
        cwd: '/home/ann/text-generation',
      },
      104: { words: ['/usr/bin/python3.12', '/usr/local/bin/vllm', 'serve', 'x'], inodes: [11] },
      105: { words: ['C:\\Ollama\\ollama', 'serve'], inodes: [12, 13] },
    },
  );
  const ports = await modelServerPorts(folder);
  expect(ports.toSorted((a, b) => a - b)).toEqual([5_801, 5_802, 5_811, 5_812, 5_813]);
});

test('what a server starts for itself is not found beside it', async () => {
  const tcp = row(`0100007F:${hex(9_292)}`, '0A', 1) + row(`0100007F:${hex(5_800)}`, '0A', 2);
  const folder = await procFolder(
    { tcp, tcp6: '' },
    {
      200: { words: ['llama-swap', '--listen', ':9292'], inodes: [1] },
      201: { words: ['llama-server', '--port', '5800'], inodes: [2], parent: 200 },
    },
  );
  expect(await modelServerPorts(folder)).toEqual([9_292]);
});

test('where the system does not tell, there is nothing', async () => {
  expect(await modelServerPorts(join(await temporaryFolder(), 'absent'))).toEqual([]);
});

test.skipIf(process.platform !== 'linux')('a real program is found by its name', async () => {
  const listen = "require('net').createServer().listen(0, '127.0.0.1', function () {";
  const script = `${listen} console.log(this.address().port); })`;
  const child = spawn(process.execPath, ['-e', script], { argv0: 'llama-server' });
  onTestFinished(() => void child.kill());
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  expect(await modelServerPorts()).toContain(Number(String(said)));
});
