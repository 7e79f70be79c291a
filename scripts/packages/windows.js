// The executable for Windows, on a machine without Windows.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { platformOf, runtimeOf } from '../../packaging/executable.js';
import { Missing, outcome, requireProgram, run } from './processes.js';

/** Offsets of the format PE32+, https://learn.microsoft.com/windows/win32/debug/pe-format */
const PE_OFFSET = 0x3c;
const COFF_BYTES = 24;
const SECTION_COUNT = 6;
const OPTIONAL_BYTES = 20;
const CERTIFICATE_TABLE = 112 + 4 * 8;
const SECTION_BYTES = 40;
const PE32_PLUS = 0x20b;
const AMD64 = 0x8664;

/**
 * @param {string} executable
 * @param {Buffer} blob What was put into it.
 */
export function readHeaders(executable, blob) {
  const bytes = readFileSync(executable);
  const header = bytes.readUInt32LE(PE_OFFSET);
  if (bytes.toString('latin1', header, header + 4) !== 'PE\0\0') throw new Error('no PE header');
  if (bytes.readUInt16LE(header + 4) !== AMD64) throw new Error('not for x64');
  const optional = header + COFF_BYTES;
  if (bytes.readUInt16LE(optional) !== PE32_PLUS) throw new Error('not PE32+');
  const certificate = bytes.readBigUInt64LE(optional + CERTIFICATE_TABLE);
  if (certificate !== 0n) throw new Error('it has a certificate table');
  const first = optional + bytes.readUInt16LE(header + OPTIONAL_BYTES);
  const sections = [];
  for (let index = 0; index < bytes.readUInt16LE(header + SECTION_COUNT); index += 1) {
    const at = first + index * SECTION_BYTES;
    const name = bytes.toString('latin1', at, at + 8).replace(/\0+$/, '');
    const [size, start] = [bytes.readUInt32LE(at + 16), bytes.readUInt32LE(at + 20)];
    if (start + size > bytes.length) throw new Error(`section ${name} ends after the file`);
    sections.push(name);
  }
  if (!sections.includes('.rsrc')) throw new Error(`no resources in ${sections.join(' ')}`);
  const at = bytes.indexOf(blob);
  if (at < 0) throw new Error('the program is not in it');
  const content = `${blob.length} bytes of program at ${at}`;
  return `PE32+ x64, ${sections.length} sections, no certificate; ${content}`;
}

/**
 * Wine of Debian 12 loads Node 24 and cannot run it: then the machine is at fault, and not what
 * was put into the executable.
 * @param {string} executable
 * @param {string} scratch
 */
export async function tryWine(executable, scratch) {
  requireProgram('wine', 'apt-get install wine64 wine');
  const env = { WINEPREFIX: join(scratch, 'wine'), WINEDEBUG: '-all' };
  const wine = ['timeout', '120', 'wine'];
  const windows10 = ['/v', 'Version', '/d', 'win10', '/f'];
  await run([...wine, 'reg', 'add', String.raw`HKCU\Software\Wine`, ...windows10], { env });
  const told = await outcome([...wine, executable, 'version'], { env });
  if (told.code === 0) return told.stdout.trim();
  const platform = platformOf('windows-x64');
  const node = await runtimeOf(platform);
  const [version, script] = [['--version'], ['-e', 'console.log(1)']];
  const plain = await outcome([...wine, node, ...version], { env });
  const running = await outcome([...wine, node, ...script], { env });
  const wineVersion = await run([...wine, '--version'], { env });
  const both =
    `${wineVersion}: it exits ${told.code}; the unmodified node.exe prints ` +
    `"${plain.stdout.trim()}" for --version, and exits ${running.code} with a script`;
  if (running.code === 0) throw new Error(both);
  throw new Missing(both);
}
