/**
 * An `nvidia-smi` in its own folder, for the PATH. It prints the values that the test sets,
 * repeatedly if asked to.
 */
import { chmod, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from './temporary-folder.js';

interface FakeProcess {
  readonly pid: number;
  readonly name: string;
  readonly usePercent?: number;
  readonly memoryMib?: number;
}

export interface FakeNvidiaSmi {
  /** For the PATH. */
  readonly folder: string;
  readonly command: string;
  /** Sets the values of its only card. */
  load(usePercent: number): Promise<void>;
  /** Sets the processes on the card. */
  run(...processes: readonly FakeProcess[]): Promise<void>;
}

/** As driver 580 prints it: once, before the first round. */
const HEADER = [
  '# gpu         pid   type     sm    mem    enc    dec    jpg    ofa     fb   ccpm    command \n',
  '# Idx           #    C/G      %      %      %      %      %      %     MB     MB    name \n',
].join('');

/** Its columns of numbers. */
const NUMBERS = 8;

/**
 * If asked for the fields of HELLO, it reports one card; if asked to repeat itself, it does. It
 * starts few processes, to keep its interval on a busy machine as the real program does. It ends
 * when its folder is gone, in case an aborted test leaves it behind.
 */
const SCRIPT = `#!/bin/sh
here="\${0%/*}"
case "$*" in
  *driver_version*) echo '0, GPU-1, Fake RTX, 24564, 300, 0, 550.54.14, 8.9'; exit ;;
  pmon*) cat "$here/header"; shown="$here/processes"; pause=1 ;;
  *) shown="$here/cards"; pause=0.3 ;;
esac
while :; do
  while IFS= read -r line; do printf '%s\\n' "$line" || exit; done < "$shown" || exit
  case "$*" in *-lms*|*-d*) sleep "$pause" ;; *) exit ;; esac
done
`;

/** Its card starts idle, without processes. */
export async function fakeNvidiaSmi(): Promise<FakeNvidiaSmi> {
  const folder = await temporaryFolder();
  const command = join(folder, 'nvidia-smi');
  await writeFile(command, SCRIPT);
  await chmod(command, 0o755);
  await writeFile(join(folder, 'header'), HEADER);
  // Replaced atomically, so that no reader sees half of it.
  const show = async (name: string, text: string): Promise<void> => {
    await writeFile(join(folder, `${name}.new`), text);
    await rename(join(folder, `${name}.new`), join(folder, name));
  };
  const fake: FakeNvidiaSmi = {
    folder,
    command,
    load: (usePercent) => show('cards', `0, ${usePercent}, 300, 25.50, 41\n`),
    run: (...processes) => show('processes', processes.map(rowOf).join('') || IDLE),
  };
  await fake.load(0);
  await fake.run();
  return fake;
}

const UNKNOWN = '-';

const IDLE = rowText({ pid: UNKNOWN, type: UNKNOWN, numbers: [], name: UNKNOWN });

function rowOf({ pid, name, usePercent, memoryMib }: FakeProcess): string {
  const ofOtherEngines = [null, null, null, null, null];
  const numbers = [usePercent, ...ofOtherEngines, memoryMib, 0];
  return rowText({ pid: String(pid), type: 'G', numbers, name });
}

interface Row {
  readonly pid: string;
  readonly type: string;
  /** Those that are missing are not known. */
  readonly numbers: readonly (number | null | undefined)[];
  readonly name: string;
}

/** A line about the only card. */
function rowText({ pid, type, numbers, name }: Row): string {
  const known = Array.from({ length: NUMBERS }, (_, index) => numbers[index] ?? UNKNOWN);
  const cells = known.map((cell) => String(cell).padStart(7)).join('');
  return `    0${pid.padStart(11)}${type.padStart(6)}${cells}    ${name.padEnd(15)}\n`;
}
