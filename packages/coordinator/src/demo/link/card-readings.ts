/** What a demo machine's cards would do while it runs this work. */
import type { CardReading } from '@inference-gateway/shared/protocol/messages';
import { servicesOf } from '../machines.js';
import type { Machine } from '../machines.js';
import type { Random } from '../random.js';

/** `running` are the services that something runs on, by id. */
export function cardReadings(
  machine: Machine,
  running: ReadonlySet<string>,
  random: Random,
): CardReading[] {
  const busy = servicesOf(machine).filter(({ service_id: id }) => running.has(id));
  return machine.gpus.map((gpu, index) => {
    // A service without a group runs on all cards.
    const isBusy = busy.some(({ slot_group: group = `gpu${index}` }) => group === `gpu${index}`);
    const { vramGib } = gpu;
    const figure = (low: number, high: number): number => Math.round(random.between(low, high));
    const shared = {
      use_percent: isBusy ? figure(76, 98) : figure(0, 3),
      memory_used_mib: Math.round((vramGib ?? SHARED_GIB) * MIB_A_GIB * random.between(0.7, 0.74)),
    };
    // Apple's driver tells no more.
    if (vramGib === null) return { ...shared, temperature_c: null, power_watts: null };
    const temperature_c = isBusy ? figure(62, 71) : figure(36, 41);
    return { ...shared, temperature_c, power_watts: isBusy ? figure(240, 285) : figure(17, 26) };
  });
}

const MIB_A_GIB = 1_024;
/** What its models take where the card has no memory of its own. */
const SHARED_GIB = 14;
