/** Who listens on which port of this machine, as Linux tells it in `/proc/net/tcp`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface ListeningSocket {
  readonly port: number;
  /** Whether it takes connections to a loopback address. */
  readonly isOnLoopback: boolean;
  /** Of the user whose process opened it. */
  readonly uid: number;
  /** `socket:[12345]`, as a process' own list of files names it. */
  readonly link: string;
}

const LISTEN = '0A';
/** As the kernel writes 127.0.0.0/8 (of which the last byte comes first), any, and ::1. */
const LOOPBACK = /^(?:[0-9A-F]{6}7F|0{8}|0{32}|0{24}01000000|0{16}F{4}0{4}[0-9A-F]{6}7F)$/;

export async function readListeningSockets(proc: string): Promise<ListeningSocket[]> {
  const files = ['net/tcp', 'net/tcp6'].map((name) =>
    readFile(join(proc, name), 'utf8').catch(() => ''),
  );
  return (await Promise.all(files)).flatMap((text) => text.split('\n').flatMap(parseSocket));
}

/** `0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 1000 0 12345 …` */
function parseSocket(line: string): ListeningSocket[] {
  const cells = line.trim().split(/\s+/);
  const [, local = '', , state] = cells;
  const [uid, inode] = [Number(cells[7]), cells[9]];
  const [address = '', hex = ''] = local.split(':');
  const port = Number.parseInt(hex, 16);
  if (state !== LISTEN || Number.isNaN(port) || inode === undefined) return [];
  return [{ port, isOnLoopback: LOOPBACK.test(address), uid, link: `socket:[${inode}]` }];
}
