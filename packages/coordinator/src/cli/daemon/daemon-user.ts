/** The user of a service of the machine, and the folders that belong to that user. */
import { chmod, chown, mkdir, mkdtemp, readdir, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { Tools } from '@inference-gateway/shared/program/daemon/run-tool';
import { inShell } from '@inference-gateway/shared/program/disk';
import { actAsOwnerOf, firstUnreadable, ownerName } from '@inference-gateway/shared/program/owner';

const ROOT = 0;
const PRIVATE_FOLDER = 0o700;
/** `id` only looks into a table. */
const ID_SECONDS = 10;
/** As `useradd` takes them; never an option. */
const USER_NAME = /^[a-z_][\w.-]{0,31}$/i;

interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * The user that owns the data folder, or that is to own it: then the folder is made. Throws a
 * `CommandError` if that is nobody, or root: what serves strangers must not run as root.
 */
export async function takeDataFolder(folder: string, runAs: string | undefined): Promise<string> {
  const found = await stat(folder).catch(() => null);
  if (found !== null && found.uid !== ROOT) return ownerOf(folder, found.uid, runAs);
  const account = await accountFor(folder, found === null ? 'does not exist' : ROOTS, runAs);
  if (found !== null && (await readdir(folder)).length > 0) throw notEmpty(folder, account.name);
  await makeFolder(folder, account);
  return account.name;
}

const ROOTS = 'belongs to root';

async function ownerOf(folder: string, uid: number, runAs: string | undefined): Promise<string> {
  const owner = ownerName(folder) ?? String(uid);
  const account = runAs === undefined ? null : await findAccount(runAs, folder);
  if (account === null || account.uid === uid) return owner;
  const message = `${folder} belongs to ${owner}, whom its service runs as: omit --run-as.`;
  throw new CommandError(EXIT.usage, message);
}

async function accountFor(
  folder: string,
  why: string,
  runAs: string | undefined,
): Promise<Account> {
  const rule = `${folder} ${why}, and what serves strangers must not run as root: `;
  if (runAs === undefined) {
    const advice = `name its user with --run-as USER. To create one: ${userAdd('gateway', folder)}`;
    throw new CommandError(EXIT.usage, rule + advice);
  }
  const account = await findAccount(runAs, folder);
  if (account.uid !== ROOT) return account;
  throw new CommandError(EXIT.usage, `${rule}name another user with --run-as.`);
}

/** Asks `id`, which also knows the users of a directory service. */
async function findAccount(name: string, folder: string): Promise<Account> {
  const tools = new Tools('gateway-coordinator', ID_SECONDS);
  const ask = (flag: string) => tools.run('id', [flag, name]);
  const answers = USER_NAME.test(name) ? await Promise.all([ask('-u'), ask('-g')]) : [];
  const [uid, gid] = answers.map(({ code, stdout }) => (code === 0 ? Number(stdout) : null));
  if (typeof uid === 'number' && typeof gid === 'number') return { name, uid, gid };
  const message = `there is no user '${name}'. Create it first: ${userAdd(name, folder)}`;
  throw new CommandError(EXIT.notFound, message);
}

function userAdd(name: string, folder: string): string {
  if (process.platform !== 'linux') return `a user '${name}' without a login`;
  const home = `--home-dir ${inShell(folder)}`;
  return `useradd --system ${home} --shell /usr/sbin/nologin ${inShell(name)}`;
}

function notEmpty(folder: string, user: string): CommandError {
  const advice = `If it is the gateway's, give it away first: chown -R ${user}: ${inShell(folder)}`;
  return new CommandError(EXIT.usage, `${folder} ${ROOTS} and is not empty. ${advice}`);
}

/** A missing parent is not made: it may be a disk that is not mounted. */
async function makeFolder(folder: string, { uid, gid }: Account): Promise<void> {
  try {
    await mkdir(folder, { mode: PRIVATE_FOLDER });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw noParent(folder);
    if (code !== 'EEXIST') {
      throw new CommandError(EXIT.failure, `cannot make ${folder}: ${message}`, { cause });
    }
  }
  await chown(folder, uid, gid);
  await chmod(folder, PRIVATE_FOLDER);
}

function noParent(folder: string): CommandError {
  const message = `there is no folder ${dirname(folder)}: create it, or mount its disk.`;
  return new CommandError(EXIT.notFound, message);
}

/** Makes the folder of backups if it is missing, and checks that the owner may write there. */
export async function takeBackupFolder(folder: string, dataDir: string): Promise<void> {
  const { uid, gid } = await ownerOfData(dataDir);
  const found = await stat(folder).catch(() => null);
  if (found === null) await makeFolder(folder, { name: '', uid, gid });
  else if (!found.isDirectory()) throw new CommandError(EXIT.usage, `${folder} is no folder.`);
  const becomeRoot = actAsOwnerOf(dataDir);
  try {
    await rmdir(await mkdtemp(join(folder, '.gateway-')));
  } catch (cause) {
    const user = ownerName(dataDir) ?? String(uid);
    const message = `${user}, who makes the backups, may not write to ${folder}: `;
    const reason = (cause as Error).message;
    throw new CommandError(EXIT.notAuthorised, message + reason, { cause });
  } finally {
    becomeRoot();
  }
}

/** In a service of one user the data folder may be made by the start: it is this user's then. */
async function ownerOfData(
  dataDir: string,
): Promise<{ readonly uid: number; readonly gid: number }> {
  const own = { uid: process.getuid?.() ?? ROOT, gid: process.getgid?.() ?? ROOT };
  return stat(dataDir).catch(() => own);
}

/** Programs and settings of root's home are not for the service's user. */
export function requireReadable(dataDir: string, files: readonly string[]): void {
  const file = firstUnreadable(dataDir, [dataDir, ...files]);
  if (file === null) return;
  const user = ownerName(dataDir) ?? 'its owner';
  const message =
    `${user}, whom the service runs as, may not read ${file}: correct its mode and those of the ` +
    'folders above it, or move it to another place, such as below /opt or /etc.';
  throw new CommandError(EXIT.notAuthorised, message);
}
