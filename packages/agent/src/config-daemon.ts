/**
 * What a service of the operating system is given of the environment in which it is installed: it
 * runs in another one.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Which a program needs to find others, and to trust the coordinator's certificate. */
const KEPT = ['PATH', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'] as const;
/** Never the token: units can be read by everybody. */
const OWN = ['URL', 'NAME', 'LOG_LEVEL'] as const;

/** The variables that are set, for the file that makes it a service. */
export function daemonEnvironment(): Record<string, string> {
  const names = [...KEPT, ...OWN.map((name) => `GATEWAY_AGENT_${name}`)];
  return Object.fromEntries(names.flatMap(variable));
}

/** Where each operating system looks for what one user has installed, and for what all have. */
export function daemonFolder(scope: 'user' | 'system', stateDir: string): string {
  if (process.platform === 'win32') return stateDir;
  if (process.platform === 'darwin') {
    return scope === 'system'
      ? '/Library/LaunchDaemons'
      : join(homedir(), 'Library', 'LaunchAgents');
  }
  if (scope === 'system') return '/etc/systemd/system';
  const configuration = process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config');
  return join(configuration, 'systemd', 'user');
}

function variable(name: string): [string, string][] {
  const value = process.env[name];
  return value === undefined || value === '' ? [] : [[name, value]];
}
