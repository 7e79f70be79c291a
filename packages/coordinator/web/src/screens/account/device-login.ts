import type { MyResult } from '../../api/commands.js';

/** A machine that asks to be let in. */
export type DeviceLogin = MyResult<'device.find'>;

/** What somebody who sees both calls it. */
export function machineOf({ name, host, address }: DeviceLogin): string {
  return name ?? host ?? address;
}
