/** A service as a configuration would make it. */
import type { DaemonSetting } from '@inference-gateway/shared/program/daemon/daemon';

export function daemonSetting(changes: Partial<DaemonSetting> = {}): DaemonSetting {
  return {
    name: 'gateway-agent',
    scope: 'user',
    folder: '/nowhere',
    command: [process.execPath, '/opt/agent/bin.js', 'start', '--config', '/home/a/config.json'],
    environment: { PATH: '/usr/local/bin:/usr/bin' },
    runAs: null,
    writable: ['/home/a'],
    groups: [],
    logFile: '/home/a/config.json.state/agent.log',
    ...changes,
  };
}
