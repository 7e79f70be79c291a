/** The services as sent to the coordinator, within the limits of one message. */
import type {
  AdvertisedModel,
  AdvertisedService,
} from '@inference-gateway/shared/protocol/messages';
import { LINK, SOCKET_OPTIONS } from '@inference-gateway/shared/protocol/version';
import { isOpenAt } from '@inference-gateway/shared/day-hours';
import { withoutPath } from '../advertise.js';
import type { ServiceConfig } from '../backend.js';

/** A service that is up now. */
export interface LiveService {
  readonly config: ServiceConfig;
  readonly slots: number;
  readonly models: readonly AdvertisedModel[];
}

export interface Snapshot {
  readonly services: AdvertisedService[];
  /** The ids of models that did not fit. */
  readonly leftOut: readonly string[];
}

/** The rest of HELLO, including graphics cards and unfinished jobs, takes the rest of a message. */
const MAX_SNAPSHOT_BYTES = SOCKET_OPTIONS.maxPayload - 64 * 1024;

/** The message's limit; each service also costs some bytes besides its models. */
const MAX_SERVICES = 64;

const SERVICE_BYTES = 1_024;

/** In the configured order: the first services get the room. */
export function takeSnapshot(live: readonly LiveService[], now: number): Snapshot {
  const services: AdvertisedService[] = [];
  const leftOut: string[] = [];
  let models = 0;
  let bytes = 0;
  for (const service of live.slice(0, MAX_SERVICES)) {
    const taken: AdvertisedModel[] = [];
    for (const model of service.models) {
      const shown = { ...model, served_name: withoutPath(model.served_name) };
      const size = Buffer.byteLength(JSON.stringify(shown)) + 1;
      const fits = models < LINK.maxModels && bytes + size + SERVICE_BYTES <= MAX_SNAPSHOT_BYTES;
      if (!fits) {
        leftOut.push(model.id);
        continue;
      }
      taken.push(shown);
      models++;
      bytes += size;
    }
    if (taken.length === 0) continue;
    services.push({
      ...advertised(service, taken),
      ...(!isOpenToOthers(service.config, now) && { foreign: false }),
    });
    bytes += SERVICE_BYTES;
  }
  return { services, leftOut };
}

function advertised({ config, slots }: LiveService, models: AdvertisedModel[]): AdvertisedService {
  return {
    service_id: config.id,
    service_type: config.type,
    slots,
    ...(config.slotGroup !== null && { slot_group: config.slotGroup }),
    models,
  };
}

// Whether a service is open to others at a given time.

/** `now` is in Unix ms. */
export function isOpenToOthers(
  { foreign, hours }: Pick<ServiceConfig, 'foreign' | 'hours'>,
  now: number,
): boolean {
  return foreign && (hours === null || isOpenAt(hours, now));
}
