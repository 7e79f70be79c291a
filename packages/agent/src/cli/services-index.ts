/** Which of the configured services somebody means. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { didYouMean } from '@inference-gateway/shared/nearest';
import { serviceId } from '../config-schema.js';
import type { FileService } from '../config-schema.js';

/** Its place in the file. Throws with exit code 3 where there is none of that id. */
export function serviceIndex(id: string, services: readonly FileService[]): number {
  const index = services.findIndex((service) => serviceId(service) === id);
  if (index !== -1) return index;
  const meant = didYouMean(id, services.map(serviceId)) ?? 'see "services list".';
  throw new CommandError(EXIT.notFound, `no service has the id "${id}": ${meant}`);
}
