/** Chooses the service manager of this operating system. */
import { CommandError, EXIT } from '../command-error.js';
import { LaunchdDaemon } from './launchd.js';
import type { Daemon, DaemonSetting } from './daemon.js';
import { ScheduledTask } from './scheduled-task.js';
import { SystemdDaemon } from './systemd.js';

/** `platform` is Node's name of it. Throws if this program supports no service manager there. */
export function chooseDaemon(setting: DaemonSetting, platform: NodeJS.Platform): Daemon {
  if (platform === 'linux') return new SystemdDaemon(setting);
  if (platform === 'darwin') return new LaunchdDaemon(setting);
  if (platform === 'win32') return new ScheduledTask(setting);
  throw new CommandError(
    EXIT.failure,
    `services of ${platform} are not known: run "${setting.program.name} start" under what ` +
      'starts services here.',
  );
}
