import { resolve } from 'node:path';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { LOG_LEVELS } from '@inference-gateway/shared/program/logger';
import { becomeOwnerOf } from '@inference-gateway/shared/program/owner';
import { print } from '@inference-gateway/shared/program/print';
import { createLogger, logFile } from '@inference-gateway/shared/program/logger';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { onShutdown } from '@inference-gateway/shared/program/shutdown';
import type { Command } from 'commander';
import { loadConfig } from '../config/config.js';
import type { Config, ConfigFlags } from '../config/config.js';
import type { Coordinator } from '../coordinator.js';
import { markDatabase } from '../store/open.js';
import { databaseOption, dataOption, example, filesOption } from './options.js';

interface StartOptions extends ConfigFlags {
  readonly logFile?: string;
  readonly demo?: boolean;
}

export function addStart(program: Command): void {
  program
    .command('start')
    .description('serve callers and agents until SIGTERM or Ctrl-C')
    .addOption(dataOption())
    .addOption(databaseOption())
    .addOption(filesOption())
    .option('--host <host>', 'address to listen on (GATEWAY_HOST; default 127.0.0.1)')
    .option('--port <port>', 'port to listen on, 0 for a free one (GATEWAY_PORT; default 7070)')
    .option('--public-url <url>', 'origin that callers and agents use (GATEWAY_PUBLIC_URL)')
    .option('--metrics-port <port>', 'another port for /metrics alone (GATEWAY_METRICS_PORT)')
    .option('--log-level <level>', `${LOG_LEVELS.join(', ')} (GATEWAY_LOG_LEVEL; default info)`)
    .option(
      '--log-format <format>',
      'json or pretty (GATEWAY_LOG_FORMAT); default: pretty on a terminal, else json',
    )
    .option('--config <file>', 'configuration file in JSON (GATEWAY_CONFIG)')
    .option(
      '--log-file <file>',
      'log to this file instead of stderr; keeps 10 MiB and one older file',
    )
    .option(
      '--demo',
      'start with sample members, machines and jobs; without --data, they are removed at the end',
    )
    .addHelpText(
      'after',
      example('start --data /var/lib/gateway --public-url https://gateway.example.org'),
    )
    .action(start);
}

async function start({ demo, ...flags }: StartOptions): Promise<void> {
  const config = loadConfig(flags);
  if (demo !== true || flags.data !== undefined) becomeOwnerOf(config.dataDir);
  if (demo === true) return startDemo(config, flags);
  await serve(config, flags);
}

/**
 * The demo makes many calls itself, so it logs them only if a lower level than the default is set.
 */
async function startDemo(settings: Config, flags: StartOptions): Promise<void> {
  // Loaded here for the same reason as the servers.
  const [{ announceDemo, prepareDemo, temporaryData }, { enliven }] = await Promise.all([
    import('./demo.js'),
    import('../demo/demo.js'),
  ]);
  const isTemporary = flags.data === undefined;
  const dataDir = isTemporary ? await temporaryData() : settings.dataDir;
  const { retentionMs } = settings;
  const { scene, password } = await prepareDemo({ dataDir, retentionMs });
  const logLevel = settings.logLevel === 'info' ? 'warn' : settings.logLevel;
  const elsewhere = { databaseUrl: null, filesUrl: null };
  const config = { ...settings, dataDir, ...elsewhere, logLevel };
  const { address } = await serve(config, flags, (origin) => enliven(scene, origin));
  announceDemo({ dataDir, url: settings.publicUrl ?? address, isTemporary, password });
}

/**
 * `accompany` starts once the coordinator listens, and is stopped before the coordinator drains.
 */
async function serve(
  config: Config,
  flags: StartOptions,
  accompany: (address: string) => { stop(): void } = () => ({ stop: () => {} }),
): Promise<Coordinator> {
  const coordinator = await startOn(config, loggerOf(config, flags));
  const company = accompany(coordinator.address);
  let draining: Promise<void> | null = null;
  const drain = (): Promise<void> => {
    company.stop();
    return (draining ??= coordinator.drain());
  };
  onShutdown(drain, 'Draining: waiting for work under way.');
  void coordinator.ended.then(async () => {
    await drain().catch(() => {});
    process.exit(EXIT.conflict);
  });
  print(`listening on ${coordinator.address}`);
  const { setupLink } = coordinator;
  if (setupLink !== null) print(`Nobody is a member yet. The first admin: ${setupLink}`);
  return coordinator;
}

function loggerOf({ logLevel, logFormat }: Config, { logFile: file }: StartOptions): Logger {
  const elsewhere = file === undefined ? null : logFile(resolve(file));
  return createLogger(logLevel, elsewhere, logFormat);
}

async function startOn(config: Config, logger: Logger): Promise<Coordinator> {
  // Loaded here, so that every other command starts without the HTTP and WebSocket servers.
  const { startCoordinator } = await import('../coordinator.js');
  try {
    const coordinator = await startCoordinator(config, { logger });
    markDatabase(config.dataDir, config.databaseUrl);
    return coordinator;
  } catch (error) {
    throw asCommandError(error, config);
  }
}

/** Explanations of errors of `listen`; other errors are passed on unchanged. */
const LISTEN_FAULTS: Readonly<Record<string, (flag: string) => string>> = {
  EADDRINUSE: (flag) => `another program has it. Choose another ${flag}, or stop that one.`,
  EACCES: (flag) => `this user may not. Choose a ${flag} from 1024 on.`,
  EADDRNOTAVAIL: () => 'this machine does not have that address. Choose another --host.',
  ENOTFOUND: () => 'this machine does not know that name. Choose another --host.',
};

/** Node sets the port, except for errors about the host. */
interface ListenError extends NodeJS.ErrnoException {
  readonly port?: number;
}

function asCommandError(error: unknown, config: Config): unknown {
  const { code = '', port = config.port } = error as ListenError;
  const fault = LISTEN_FAULTS[code];
  if (fault === undefined) return error;
  const flag = port === config.metricsPort ? '--metrics-port' : '--port';
  const message = `cannot listen on ${config.host} port ${port}: ${fault(flag)}`;
  return new CommandError(EXIT.conflict, message, { cause: error });
}
