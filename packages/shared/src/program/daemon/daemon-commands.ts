/**
 * `service` and `logs`: what these commands of both programs have in common. Each program adds its
 * own `service install`, which checks what its service needs.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CommandError, EXIT } from '../command-error.js';
import { inShell } from '../disk.js';
import { isRoot } from '../owner.js';
import { printJson, printRecord, say } from '../print.js';
import type { Daemon, DaemonProgram, DaemonScope } from './daemon.js';
import { unitMark } from './systemd-units.js';

/** What is needed here of commander's options and commands. */
interface CommandOption {
  conflicts(name: string): CommandOption;
  argParser(parse: (written: string) => unknown): CommandOption;
  default(value: unknown): CommandOption;
}

interface Command<Flags> {
  command(name: string): Command<Flags>;
  description(text: string): Command<Flags>;
  createOption(flags: string, description: string): CommandOption;
  addOption(option: CommandOption): Command<Flags>;
  addHelpText(position: 'after', text: string): Command<Flags>;
  action(run: (options: Flags & StatusOptions & LogOptions) => Promise<void>): Command<Flags>;
}

export interface ScopeOptions {
  readonly user?: boolean;
  readonly system?: boolean;
}

interface StatusOptions {
  readonly json?: boolean;
}

interface LogOptions {
  readonly lines: number;
  readonly follow?: boolean;
}

/** How the services of one program are found and named. `Flags` name one of them. */
export interface ServiceKind<Flags extends ScopeOptions> {
  readonly program: DaemonProgram;
  /** `an agent`, in messages. */
  readonly article: string;
  /** What a service belongs to: `configuration`. Its owner runs a service of the machine. */
  readonly belongsTo: string;
  /** The path of that, for messages. */
  path(flags: Flags): string;
  /** Says what to do if there is no service: `install one with …`. */
  readonly ifMissing: string;
  /** The flags in examples, such as `--user`. */
  readonly example: string;
  /** Made anew for each command. */
  flags(): readonly CommandOption[];
  jsonOption(): CommandOption;
  /** Reads how many lines of the log are shown. */
  parseLines(written: string): number;
  /** The service of this scope, installed or not. */
  daemonIn(scope: DaemonScope, flags: Flags): Daemon | Promise<Daemon>;
  /** Whether the program runs, as a service or not. */
  isRunning(flags: Flags): Promise<boolean>;
  /** What `uninstall` leaves: `the data`; null: nothing of note. */
  readonly stays: string | null;
  /** Of the timer that may be beside a service; null: there never is one. */
  readonly timerSuffix: string | null;
}

/** Adds `uninstall`, `start`, `stop` and `status`. */
export function addServiceVerbs<Flags extends ScopeOptions>(
  service: Command<Flags>,
  kind: ServiceKind<Flags>,
): void {
  const { stays, program } = kind;
  const left = stays === null ? '' : `; ${stays} stays`;
  const add = (name: string, description: string): Command<Flags> =>
    addServiceFlags(service.command(name).description(description), kind).addHelpText(
      'after',
      `\nExample:\n  ${program.name} service ${name} ${kind.example}`,
    );
  add('uninstall', `stop the service and remove it${left}`).action((options) =>
    uninstall(kind, options),
  );
  add('start', 'start the service').action(async (options) => {
    await (await installedDaemon(kind, options)).start();
    say('Started.');
  });
  add('stop', 'let the service finish running work, and stop it').action(async (options) => {
    await (await installedDaemon(kind, options)).stop();
    say(`Stopped until "${program.name} service start", or the next start of this machine.`);
  });
  add('status', 'show whether the service runs; exits 9 if it does not')
    .addOption(kind.jsonOption())
    .action((options) => status(kind, options));
}

/** The flags that choose a service: its scope, and the program's own. */
export function addServiceFlags<Flags extends ScopeOptions>(
  command: Command<Flags>,
  kind: ServiceKind<Flags>,
): Command<Flags> {
  const system = `installed by root; runs as the owner of the ${kind.belongsTo}`;
  const user = 'a service of this user, which needs no privileges';
  command.addOption(command.createOption('--user', user).conflicts('system'));
  command.addOption(command.createOption('--system', `a service of the machine, ${system}`));
  for (const flag of kind.flags()) command.addOption(flag);
  return command;
}

async function uninstall<Flags extends ScopeOptions>(
  kind: ServiceKind<Flags>,
  options: Flags,
): Promise<void> {
  const { stays, timerSuffix } = kind;
  const daemon = await installedDaemon(kind, options);
  const timer = timerSuffix === null ? null : await daemon.timerState(timerSuffix);
  await daemon.uninstall(...(timerSuffix === null ? [] : [timerSuffix]));
  const files = timer === null ? `${daemon.file} is` : `${daemon.file} and ${timer.file} are`;
  say(`Stopped, and ${files} removed.${stays === null ? '' : ` ${sentence(stays)} stays.`}`);
}

async function status<Flags extends ScopeOptions>(
  kind: ServiceKind<Flags>,
  options: Flags & StatusOptions,
): Promise<void> {
  const daemon = await installedDaemon(kind, options);
  const { running, detail } = await daemon.state();
  const shown = { file: daemon.file, running, detail, ...(await timerFields(kind, daemon)) };
  (options.json === true ? printJson : printRecord)(shown);
  if (running) return;
  const message = `it does not run: see "${kind.program.name} logs" for why.`;
  throw new CommandError(EXIT.checkFailed, message);
}

async function timerFields<Flags extends ScopeOptions>(
  { timerSuffix }: ServiceKind<Flags>,
  daemon: Daemon,
): Promise<Record<string, string | null>> {
  if (timerSuffix === null) return {};
  const timer = await daemon.timerState(timerSuffix);
  return {
    [`${timerSuffix}_timer`]: timer?.file ?? null,
    [`${timerSuffix}_detail`]: timer?.detail ?? null,
  };
}

function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

const DEFAULT_LINES = 50;

/** Adds `logs`: the log of the program that runs as a service. */
export function addServiceLogs<Flags extends ScopeOptions>(
  program: Command<Flags>,
  kind: ServiceKind<Flags>,
): void {
  const logs = program
    .command('logs')
    .description(
      `show the log of the service; ${kind.article} started in a terminal logs to that terminal`,
    );
  const lines = logs.createOption('-n, --lines <count>', 'how many of the last lines');
  logs.addOption(lines.argParser((written) => kind.parseLines(written)).default(DEFAULT_LINES));
  logs.addOption(logs.createOption('-f, --follow', 'keep printing new lines, until Ctrl-C'));
  for (const flag of kind.flags()) logs.addOption(flag);
  logs.addHelpText('after', `\nExample:\n  ${kind.program.name} logs --lines 20 --follow`);
  logs.action(async (options) => {
    const { lines: count, follow = false } = options;
    await (await installedDaemon(kind, options)).showLogs({ lines: count, follow });
  });
}

// Which service a command is about, and what is in the way of a new one.

/** The scope of a new service. */
export function scopeOf({ user, system }: ScopeOptions): DaemonScope {
  return system === true || (user !== true && isRoot()) ? 'system' : 'user';
}

/** The installed service of these flags; throws with exit code 3 if there is none. */
export async function installedDaemon<Flags extends ScopeOptions>(
  kind: ServiceKind<Flags>,
  flags: Flags,
  { user, system }: ScopeOptions = flags,
): Promise<Daemon> {
  const scopes: readonly DaemonScope[] =
    user === true ? ['user'] : system === true ? ['system'] : ['user', 'system'];
  for (const scope of scopes) {
    const daemon = await kind.daemonIn(scope, flags);
    if (existsSync(daemon.file)) return daemon;
  }
  const message = `no service is installed for ${kind.path(flags)}: ${kind.ifMissing}`;
  throw new CommandError(EXIT.notFound, message);
}

/** Only root installs a service of the machine, where there are such services. */
export function requirePrivileges(scope: DaemonScope): void {
  if (scope === 'user') return;
  if (process.platform === 'win32') {
    throw new CommandError(EXIT.usage, 'on Windows a service is of one user: give --user.');
  }
  if (isRoot()) return;
  const message = 'only root installs a service of the machine: run it with sudo, or give --user.';
  throw new CommandError(EXIT.notAuthorised, message);
}

/**
 * A service of the machine may write only to its own folder, and has its own /tmp. `path` names the
 * service in the message.
 */
export function requireSocketBeside(
  scope: DaemonScope,
  { socket, folder, path }: { socket: string; folder: string; path: string },
): void {
  if (scope === 'user' || dirname(socket) === folder || process.platform !== 'linux') return;
  const message =
    `the path of ${path} is too long for a service of the machine, as its control socket would ` +
    'lie elsewhere: choose a shorter one, or give --user.';
  throw new CommandError(EXIT.usage, message);
}

/** Only a running service may be replaced by its new version. */
export async function refuseWhileRunning<Flags extends ScopeOptions>(
  kind: ServiceKind<Flags>,
  flags: Flags,
): Promise<void> {
  if (!(await kind.isRunning(flags))) return;
  const daemon = await installedDaemon(kind, flags, {}).catch(() => null);
  if (daemon !== null && (await daemon.state()).running) return;
  throw new CommandError(
    EXIT.conflict,
    `${kind.article} runs on ${kind.path(flags)} already: stop it first (Ctrl-C where it was ` +
      'started, or its own service).',
  );
}

/** A unit that somebody wrote by hand holds settings that are nowhere else. */
export function refuseForeign({ file }: Daemon, program: DaemonProgram): void {
  if (process.platform !== 'linux' || !existsSync(file)) return;
  if (readFileSync(file, 'utf8').startsWith(unitMark(program.name))) return;
  const [from, to] = [inShell(file), inShell(`${file}.before`)];
  throw new CommandError(
    EXIT.conflict,
    `${file} was not written by this command, which would replace its settings. Stop ` +
      `that service, move the file with "mv ${from} ${to}", and pass its settings as flags or ` +
      'variables.',
  );
}
