/** Services as configurations would make them. */
import { AGENT_SERVICE } from '@inference-gateway/agent/cli/daemon';
import type { DaemonSetting } from '@inference-gateway/shared/program/daemon/daemon';

/** Of the agent. */
export function daemonSetting(changes: Partial<DaemonSetting> = {}): DaemonSetting {
  return {
    program: AGENT_SERVICE,
    name: 'gateway-agent',
    scope: 'user',
    folder: '/nowhere',
    command: [process.execPath, '/opt/agent/bin.js', 'start', '--config', '/home/a/config.json'],
    environment: { PATH: '/usr/local/bin:/usr/bin' },
    runAs: null,
    writable: ['/home/a'],
    groups: [],
    logFile: '/home/a/config.json.state/agent.log',
    stopSeconds: 45,
    timer: null,
    ...changes,
  };
}
